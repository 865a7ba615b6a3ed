import { Buffer } from 'node:buffer';
import { oneOf, wrongNumbers } from './check.ts';
import { CovariumError } from './covarium-error.ts';

/** Element types of a {@link Matrix}. Sampling and linear algebra use the two real ones; kernels take all. */
export type Dtype = 'float32' | 'float64' | 'int32' | 'uint32' | 'uint8';

interface TypedArrays {
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  readonly int32: Int32Array;
  readonly uint32: Uint32Array;
  readonly uint8: Uint8Array;
}

/** A typed array of element type D: `Values<'float64'>` is a Float64Array. */
export type Values<D extends Dtype = Dtype> = TypedArrays[D];

/** A typed array over real numbers: what sampling and linear algebra compute with. */
export type Real = Values<RealDtype>;

const constructors = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  uint8: Uint8Array,
} as const;

// The engine's name of a typed array, in any realm: Jest's typed arrays have their own constructors.
const nameOfTypedArray = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
)!.get!;

const dtypeOfName = new Map<unknown, Dtype>(
  Object.entries(constructors).map(([dtype, { name }]) => [name, dtype as Dtype]),
);

/** All element types, in the order of the documentation. */
export const dtypes: readonly Dtype[] = Object.keys(constructors) as Dtype[];

/** Returns `value` if it is an element type; throws `ERR_INVALID_ARGUMENT`. */
export function requireDtype<D extends Dtype>(value: D, name = 'dtype'): D {
  return oneOf(name, value, dtypes) as D;
}

/** Bytes of one element. */
export function bytesOf(dtype: Dtype): number {
  return constructors[dtype].BYTES_PER_ELEMENT;
}

/** A typed array of `length` zeros in ordinary memory; throws `ERR_OUT_OF_MEMORY`. */
export function zerosOf<D extends Dtype>(dtype: D, length: number): Values<D> {
  try {
    return new constructors[dtype](length) as Values as Values<D>;
  } catch (cause) {
    throw new CovariumError('ERR_OUT_OF_MEMORY', `Cannot allocate (${length}) numbers.`, { cause });
  }
}

// Below, Buffer's own work outweighs the zeros.
const leastUnfilled = 1024;

/** Like {@link zerosOf}, but the numbers are what the memory held before: whoever takes it writes all of them. */
export function unfilledOf<D extends Dtype>(dtype: D, length: number): Values<D> {
  const size = length * bytesOf(dtype);
  if (size < leastUnfilled) return zerosOf(dtype, length);
  try {
    return viewOf(dtype, Buffer.allocUnsafeSlow(size).buffer, length);
  } catch (cause) {
    throw new CovariumError('ERR_OUT_OF_MEMORY', `Cannot allocate (${length}) numbers.`, { cause });
  }
}

/** A typed array of `length` elements of `dtype` in `memory`, from byte `offset` on. */
export function viewOf<D extends Dtype>(dtype: D, memory: ArrayBuffer, length: number, offset = 0): Values<D> {
  return new constructors[dtype](memory, offset, length) as Values as Values<D>;
}

/** Part `index` of numbers that lie in parts of `length`: a live view. */
export function part(values: Real, index: number, length: number): Real {
  return values.subarray(index * length, (index + 1) * length);
}

/** The {@link Dtype} of a typed array; undefined for any other value. */
export function knownDtypeOf(values: unknown): Dtype | undefined {
  return dtypeOfName.get(nameOfTypedArray.call(values));
}

/** The {@link Dtype} of a typed array; throws `ERR_INVALID_ARGUMENT` for any other value. */
export function dtypeOf(values: unknown): Dtype {
  const dtype = knownDtypeOf(values);
  if (dtype !== undefined) return dtype;
  throw wrongNumbers('values', values, `numbers: an array, or a typed array of (${dtypes.join(', ')})`);
}

/** Element types of a distribution. */
export type RealDtype = 'float32' | 'float64';

/** The smallest number with all digits: devices take smaller ones for 0. */
export const smallestNormal: Readonly<Record<RealDtype, number>> = { float32: 2 ** -126, float64: 2 ** -1022 };

/** What to do with a row that has a missing value (a null becomes NaN): refuse it or leave it out. */
export type Missing = 'error' | 'drop';

/** The option `missing`, by default `error`; throws `ERR_INVALID_ARGUMENT`. */
export function requireMissing(missing: Missing | undefined): Missing {
  return missing === undefined ? 'error' : oneOf('Missing', missing, ['error', 'drop']);
}
