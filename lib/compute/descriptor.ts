import type { Matrix } from '../array/matrix.ts';
import type { Vector } from '../array/vector.ts';
import type { Volume } from '../array/volume.ts';
import { wrongArgument } from '../check.ts';
import type { Values } from '../dtype.ts';

/** The number types of kernels written in TypeScript; `u8` is the type of an array's elements alone. */
export type ScalarName = 'f32' | 'f64' | 'i32' | 'u32' | 'u8';

/** The element types of arrays, by the name of a number type. */
export interface DtypesOfScalars {
  /** Of `f32`. */
  readonly f32: 'float32';
  /** Of `f64`. */
  readonly f64: 'float64';
  /** Of `i32`. */
  readonly i32: 'int32';
  /** Of `u32`. */
  readonly u32: 'uint32';
  /** Of `u8`. */
  readonly u8: 'uint8';
}

/** The element type of the arrays of a type: `'float32'` of `f32`. */
export type DtypeOfScalar<N extends ScalarName> = DtypesOfScalars[N];

/**
 * A number type, as a value: {@link f32}, {@link f64}, {@link i32}, {@link u32} or {@link u8}. Called with a number, in
 * a kernel or elsewhere, it converts the number: `i32(x)` drops the fraction.
 */
export interface Scalar<N extends ScalarName = ScalarName> {
  /** The nearest number of this type. A whole-number type drops the fraction, and gives 0 for NaN. */
  (value: number | boolean): number;
  /** Its name. */
  readonly scalar: N;
}

function scalar<N extends ScalarName>(name: N, convert: (value: number) => number): Scalar<N> {
  const type = (value: number | boolean) => convert(Number(value));
  // Node prints it as [Function: f32].
  return Object.freeze(Object.assign(Object.defineProperty(type, 'name', { value: name }), { scalar: name }));
}

// As in kernels: beyond the range the nearest number, and 0 for NaN.
function whole(least: number, most: number): (value: number) => number {
  return (value) => (Number.isNaN(value) ? 0 : Math.max(least, Math.min(most, Math.trunc(value))) + 0);
}

const toInt = whole(-(2 ** 31), 2 ** 31 - 1);
const toUint = whole(0, 2 ** 32 - 1);

/** Numbers of 32 bits with a binary point, as in a Float32Array. */
export const f32: Scalar<'f32'> = scalar('f32', Math.fround);
/** Numbers of 64 bits with a binary point, where the device has them: `cpu`, `cuda` and `reference`. */
export const f64: Scalar<'f64'> = scalar('f64', (value) => value);
/** Whole numbers from -2^31 to 2^31 - 1; sums, differences and products wrap. */
export const i32: Scalar<'i32'> = scalar('i32', toInt);
/** Whole numbers from 0 to 2^32 - 1; sums, differences and products wrap. */
export const u32: Scalar<'u32'> = scalar('u32', toUint);
/** Bytes: elements of arrays. An element reads as an `i32`, and takes the lowest 8 bits of what is written. */
export const u8: Scalar<'u8'> = scalar('u8', (value) => toUint(value) & 255);

/** The parameter of a kernel that is an array: {@link input} and {@link output} make it. */
export interface Numbers<N extends ScalarName = ScalarName, Access extends 'read' | 'written' = 'read' | 'written'> {
  /** The type of its elements. */
  readonly element: N;
  /** `written` may be read too. */
  readonly access: Access;
}

const names: readonly unknown[] = ['f32', 'f64', 'i32', 'u32', 'u8'];

/** Returns `type` if it is a number type, of those that are `allowed`; throws `ERR_INVALID_ARGUMENT`. */
export function requireScalar<N extends ScalarName>(
  name: string,
  type: Scalar<N>,
  allowed: readonly unknown[] = names,
): Scalar<N> {
  if (typeof type === 'function' && allowed.includes(type.scalar)) return type;
  throw wrongArgument(name, type, `one of (${allowed.join(', ')})`);
}

/** The number types that a variable of a kernel can have. */
export const variableTypes: readonly unknown[] = names.slice(0, -1);

/**
 * The parameter of a kernel that is an array of numbers which the kernel reads: `input(f32)`. Throws
 * `ERR_INVALID_ARGUMENT` if `type` is not a number type.
 */
export function input<N extends ScalarName>(type: Scalar<N>): Numbers<N, 'read'> {
  return Object.freeze({ element: requireScalar('`type`', type).scalar, access: 'read' });
}

/**
 * The parameter of a kernel that is an array of numbers which the kernel writes, and may read: `output(f32)`. Throws
 * `ERR_INVALID_ARGUMENT` if `type` is not a number type.
 */
export function output<N extends ScalarName>(type: Scalar<N>): Numbers<N, 'written'> {
  return Object.freeze({ element: requireScalar('`type`', type).scalar, access: 'written' });
}

/** The parameters of a kernel, in order: a number type, {@link input} or {@link output}. */
export interface Descriptor {
  readonly [name: string]: Scalar | Numbers;
}

/** Numbers as a kernel's text reads them. */
export interface ReadNumbers {
  /** How many there are. */
  readonly length: number;
  readonly [index: number]: number;
}

/** Numbers as a kernel's text reads and writes them. */
export interface WrittenNumbers {
  /** How many there are. */
  readonly length: number;
  [index: number]: number;
}

/** The type of a parameter inside a kernel. */
export type Seen<P> = P extends Scalar ? number : P extends Numbers<ScalarName, 'read'> ? ReadNumbers : WrittenNumbers;

/** The types of all parameters inside a kernel, by name. */
export type SeenBy<D extends Descriptor> = { readonly [Name in keyof D]: Seen<D[Name]> };

/** An array that a launch takes as an argument, of any shape. */
export type Holder<N extends ScalarName> =
  | Matrix<DtypeOfScalar<N>>
  | Vector<DtypeOfScalar<N>>
  | Volume<DtypeOfScalar<N>>
  | Values<DtypeOfScalar<N>>;

/** The type of the argument that a launch takes for a parameter. */
export type Given<P> =
  P extends Numbers<infer N, infer Access>
    ? Access extends 'read'
      ? Holder<N> | readonly number[]
      : Holder<N>
    : number;

/** The types of the arguments that a launch takes, by name. */
export type GivenTo<D extends Descriptor> = { readonly [Name in keyof D]: Given<D[Name]> };
