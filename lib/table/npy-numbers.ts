import { endianness } from 'node:os';
import { describe } from '../check.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { refuseInexact } from './complete-rows.ts';
import { malformedNpy, unsupportedNpy } from './npy-error.ts';
import { Inexact, type NumberLayout, readNumbers } from './numbers.ts';
import type { PythonValue } from './python-literal.ts';

/** The type of the numbers in an NPY file. */
export interface NpyNumbers {
  /** NumPy's letter: float, signed or unsigned integer, boolean. */
  readonly kind: 'f' | 'i' | 'u' | 'b';
  readonly bytes: 1 | 2 | 4 | 8;
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
    bytes: bytes as NpyNumbers['bytes'],
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
  if (kind === 'f' && width === 8) return new Float64Array(buffer as ArrayBuffer, byteOffset, length);
  if (kind === 'f' && width === 4) return new Float32Array(buffer as ArrayBuffer, byteOffset, length);
  if (kind === 'b') {
    const odd = bytes.find((byte) => byte > 1);
    if (odd !== undefined) throw malformedNpy(path, `it has a boolean of (${odd})`);
  }
  const values = zerosOf(numbers.dtype, length) as Real;
  try {
    readNumbers(bytes, 0, layoutOf(numbers), values, 0, length);
  } catch (error) {
    if (!(error instanceof Inexact)) throw error;
    const { row, column } = placeOf(error.index);
    throw refuseInexact(error.value, path, String(column), row);
  }
  return values;
}

function layoutOf({ kind, bytes }: NpyNumbers): NumberLayout {
  const bits = (8 * bytes) as 8 | 16 | 32 | 64;
  return { kind: kind === 'f' ? 'float' : kind === 'i' ? 'int' : 'uint', bits, bytes };
}

function swap(bytes: Uint8Array, width: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (width === 2) buffer.swap16();
  else if (width === 4) buffer.swap32();
  else buffer.swap64();
}
