import { endianness } from 'node:os';
import type { Real } from '../dtype.ts';
import { Contradiction } from './contradiction.ts';

/** The layout of a number in a file, lowest byte first. */
export interface NumberLayout {
  readonly kind: 'int' | 'uint' | 'float' | 'bool';
  /** The range of the number: Parquet stores 8 and 16 bits in four bytes. */
  readonly bits: 1 | 8 | 16 | 32 | 64;
  /** An eighth of a boolean, the first of a byte in its lowest bit. */
  readonly bytes: 0.125 | 1 | 2 | 4 | 8;
}

/** Booleans as 0 and 1: eight of them share a byte. */
export const booleans: NumberLayout = { kind: 'bool', bits: 1, bytes: 0.125 };

/** A 64-bit integer that float64 cannot hold. */
export class Inexact extends Error {
  /** Its index among the numbers requested. */
  readonly index: number;
  readonly value: bigint;

  constructor(index: number, value: bigint) {
    super(`(${value})`);
    this.index = index;
    this.value = value;
  }
}

/**
 * Writes `count` numbers from byte `at` on (an eighth is a bit) into `out` from `start` on. Throws an {@link Inexact},
 * or a {@link Contradiction} for a number outside its type's range.
 */
export function readNumbers(
  bytes: Uint8Array,
  at: number,
  layout: NumberLayout,
  out: Real,
  start: number,
  count: number,
): void {
  const { kind, bits } = layout;
  if (kind === 'bool') {
    for (let bit = 8 * at, to = start; to < start + count; bit++, to++) out[to] = (bytes[bit >>> 3]! >> (bit & 7)) & 1;
    return;
  }
  const length = count * layout.bytes;
  if (kind === 'float' && bits === 8 * out.BYTES_PER_ELEMENT) {
    const to = new Uint8Array(out.buffer, out.byteOffset + start * layout.bytes, length);
    to.set(bytes.subarray(at, at + length));
    return;
  }
  // A typed array must begin at a multiple of its element size.
  const isAligned = (bytes.byteOffset + at) % layout.bytes === 0;
  const memory = isAligned ? bytes.subarray(at, at + length) : bytes.slice(at, at + length);
  const view = [memory.buffer, memory.byteOffset, count] as const;
  if (kind === 'float') {
    if (bits === 64) copy(new Float64Array(...view), out, start);
    else if (bits === 32) copy(new Float32Array(...view), out, start);
    else copyHalves(new Uint16Array(...view), out, start);
  } else if (layout.bytes === 8)
    copyLong(new Int32Array(memory.buffer, memory.byteOffset, 2 * count), kind === 'uint', out, start);
  else if (layout.bytes === 4) copy(kind === 'int' ? new Int32Array(...view) : new Uint32Array(...view), out, start);
  else if (layout.bytes === 2) copy(kind === 'int' ? new Int16Array(...view) : new Uint16Array(...view), out, start);
  else copy(kind === 'int' ? new Int8Array(...view) : new Uint8Array(...view), out, start);
  if (kind !== 'float' && bits < 8 * layout.bytes) checkRange(out, start, count, layout);
}

/** The number with these two halves of a 64-bit integer; undefined if float64 cannot hold it. */
export function joinHalves(low: number, high: number, isUnsigned: boolean): number | undefined {
  const upper = isUnsigned ? high >>> 0 : high;
  const number = upper * 2 ** 32 + (low >>> 0);
  if (upper < 2 ** 21 && upper >= -(2 ** 21)) return number;
  return BigInt(number) === bigOf(low, high, isUnsigned) ? number : undefined;
}

export function bigOf(low: number, high: number, isUnsigned: boolean): bigint {
  return BigInt(isUnsigned ? high >>> 0 : high) * 2n ** 32n + BigInt(low >>> 0);
}

function copy(
  from: Real | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array,
  out: Real,
  start: number,
): void {
  out.set(from, start);
}

// In the machine's byte order, to which the NPY reader has swapped.
const low = endianness() === 'LE' ? 0 : 1;
const high = 1 - low;

function copyLong(halves: Int32Array, isUnsigned: boolean, out: Real, start: number): void {
  for (let index = 0; index < halves.length; index += 2) {
    const number = joinHalves(halves[index + low]!, halves[index + high]!, isUnsigned);
    if (number === undefined) {
      const value = bigOf(halves[index + low]!, halves[index + high]!, isUnsigned);
      throw new Inexact(index / 2, value);
    }
    out[start + index / 2] = number;
  }
}

let halfNumbers: Float32Array | undefined;

// There are few numbers of half precision, and a look into a table is several times as fast as a power of 2.
function copyHalves(halves: Uint16Array, out: Real, start: number): void {
  halfNumbers ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => halfNumber(bits));
  for (let index = 0; index < halves.length; index++) out[start + index] = halfNumbers[halves[index]!]!;
}

// Half precision: five bits of exponent, ten of significand.
function halfNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

function checkRange(out: Real, start: number, count: number, { kind, bits }: NumberLayout): void {
  const least = kind === 'int' ? -(2 ** (bits - 1)) : 0;
  const most = least + 2 ** bits - 1;
  for (let index = start; index < start + count; index++)
    if (out[index]! < least || out[index]! > most)
      throw new Contradiction(`(${out[index]}) is beyond its type of (${bits}) bits`);
}
