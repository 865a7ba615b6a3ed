import { endianness } from 'node:os';
import { describe } from '../check.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { refuseInexact } from './complete-rows.ts';
import { malformedNpy, unsupportedNpy } from './npy-error.ts';
import { Inexact } from './numbers.ts';
import type { PythonValue } from './python-literal.ts';

/** The type of the numbers in an NPY file. */
export interface NpyNumbers {
  /** NumPy's letter: float, signed or unsigned integer, boolean. */
  readonly kind: 'f' | 'i' | 'u' | 'b';
  readonly bytes: number;
  /** True if the file's byte order is not this machine's. */
  readonly isSwapped: boolean;
  /** The type in which the numbers are read: `float32` for float16 and float32, otherwise `float64`. */
  readonly dtype: RealDtype;
}

const widths = { f: [2, 4, 8], i: [1, 2, 4, 8], u: [1, 2, 4, 8], b: [1] } as const;

/** The type that a header's `descr` gives. Throws `ERR_UNSUPPORTED` for a type that NumPy has and we do not read. */
export function npyNumbers(path: string, descr: PythonValue): NpyNumbers {
  if (Array.isArray(descr)) throw unsupportedNpy(path, `its rows are structures of (${descr.length}) fields`);
  const [, order, kind, width] = (typeof descr === 'string' && /^([<>=|])([a-zA-Z])(\d*)/.exec(descr)) || [];
  if (kind === undefined)
    throw malformedNpy(path, `its numbers are of type (${describe(descr)}), which NumPy does not have`);
  const bytes = Number(width);
  const known = Object.hasOwn(widths, kind) ? (widths[kind as 'f'] as readonly number[]) : [];
  if (!known.includes(bytes) || descr !== `${order}${kind}${bytes}`)
    throw unsupportedNpy(path, `its numbers are of type (${describe(descr)}), not real numbers of up to 64 bits`);
  const own = endianness() === 'LE' ? '<' : '>';
  return {
    kind: kind as NpyNumbers['kind'],
    bytes,
    isSwapped: bytes > 1 && (order === '<' || order === '>') && order !== own,
    dtype: kind === 'f' && bytes < 8 ? 'float32' : 'float64',
  };
}

/** True if the bytes of the file equal those of a typed array. */
export function isAsInMemory({ kind, bytes, isSwapped }: NpyNumbers): boolean {
  return kind === 'f' && bytes > 2 && !isSwapped;
}

/**
 * The numbers of whole elements, in memory of their own or in that of `bytes`, which may be changed and must be
 * aligned; `placeOf` says where they are in the file. Throws `ERR_OUT_OF_RANGE` for a 64-bit integer that float64
 * cannot hold, `ERR_MALFORMED_NPY` for a boolean that is neither 0 nor 1.
 */
export function realsOf(
  path: string,
  numbers: NpyNumbers,
  bytes: Uint8Array,
  placeOf: (index: number) => { readonly row: number; readonly column: number },
): Real {
  const { kind, bytes: width, isSwapped } = numbers;
  if (isSwapped) swap(bytes, width);
  const { buffer, byteOffset } = bytes;
  const length = bytes.length / width;
  if (kind === 'f') {
    if (width === 8) return new Float64Array(buffer as ArrayBuffer, byteOffset, length);
    if (width === 4) return new Float32Array(buffer as ArrayBuffer, byteOffset, length);
    return float16s(new Uint16Array(buffer, byteOffset, length));
  }
  const values = zerosOf('float64', length) as Float64Array;
  if (width === 8) {
    const inexact = fromInt64(kind === 'i', new Uint32Array(buffer, byteOffset, 2 * length), values);
    if (inexact === undefined) return values;
    const { row, column } = placeOf(inexact.index);
    throw refuseInexact(inexact.value, path, String(column), row);
  }
  if (kind === 'b') {
    const odd = bytes.find((byte) => byte > 1);
    if (odd !== undefined) throw malformedNpy(path, `it has a boolean of (${odd})`);
  }
  const [small, middle, large] =
    kind === 'i' ? [Int8Array, Int16Array, Int32Array] : [Uint8Array, Uint16Array, Uint32Array];
  const integers = width === 1 ? small : width === 2 ? middle : large;
  values.set(new integers(buffer as ArrayBuffer, byteOffset, length));
  return values;
}

function swap(bytes: Uint8Array, width: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (width === 2) buffer.swap16();
  else if (width === 4) buffer.swap32();
  else buffer.swap64();
}

let float16: Float32Array | undefined;

function float16s(halves: Uint16Array): Float32Array {
  float16 ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => float16Of(bits));
  const values = zerosOf('float32', halves.length) as Float32Array;
  for (let i = 0; i < halves.length; i++) values[i] = float16[halves[i]!]!;
  return values;
}

function float16Of(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

// Also the first integer that float64 does not hold, if there is one.
function fromInt64(isSigned: boolean, words: Uint32Array, values: Float64Array): Inexact | undefined {
  const [low, high] = endianness() === 'LE' ? [0, 1] : [1, 0];
  for (let i = 0; i < values.length; i++) {
    const upper = isSigned ? words[2 * i + high]! | 0 : words[2 * i + high]!;
    const value = upper * 4294967296 + words[2 * i + low]!;
    values[i] = value;
    if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) continue;
    const exact = BigInt(upper) * 4294967296n + BigInt(words[2 * i + low]!);
    if (BigInt(value) !== exact) return new Inexact(i, exact);
  }
  return undefined;
}
