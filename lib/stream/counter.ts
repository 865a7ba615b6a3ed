import { marked, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** A whole number from 0 to 2^64 - 1; as a number, up to 2^53 - 1. */
export type Word64 = number | bigint;

const limit = 1n << 64n;

/**
 * The counter of the normal stream that {@link Encoder} takes: six 32-bit words, low before high, of the seed, the
 * stream and the first element. Written to `counter` if given. Throws `ERR_OUT_OF_RANGE` and `ERR_INVALID_ARGUMENT`.
 */
export function normalCounter(
  seed: Word64,
  stream: Word64,
  firstElement: Word64,
  counter: Uint32Array = new Uint32Array(6),
): Uint32Array {
  writeWord64('Seed', seed, counter, 0);
  writeWord64('Stream', stream, counter, 2);
  writeWord64('First element', firstElement, counter, 4);
  return counter;
}

/**
 * The index in the stream of the first normal of row `firstRow` of dimension n. Throws `ERR_OUT_OF_RANGE` if one of the
 * normals of `count` rows has an index beyond 2^64 - 1. `name` is what an error calls `firstRow`.
 */
export function firstElement(firstRow: Word64, count: number, n: number, name = 'First row'): Word64 {
  if (typeof firstRow === 'number') {
    requireWord64(name, firstRow);
    if ((firstRow + count) * n <= Number.MAX_SAFE_INTEGER) return firstRow * n;
  }
  const row = requireWord64(name, firstRow);
  if ((row + BigInt(count)) * BigInt(n) <= limit) return row * BigInt(n);
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `${marked(name)} is (${firstRow}): from there (${count} x ${n}) normals go beyond the 2^64 of a stream.`,
  );
}

function writeWord64(name: string, value: unknown, counter: Uint32Array, at: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    counter[at] = value;
    counter[at + 1] = value / 4294967296;
    return;
  }
  const word = requireWord64(name, value);
  counter[at] = Number(word & 0xffffffffn);
  counter[at + 1] = Number(word >> 32n);
}

function requireWord64(name: string, value: unknown): bigint {
  if (typeof value === 'bigint' && value >= 0n && value < limit) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value !== 'bigint' && typeof value !== 'number')
    throw wrongArgument(name, value, 'a whole number, as 42 or 42n');
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `${marked(name)} is (${value}), not a whole number from 0 to 2^64 - 1 (as a number, to 2^53 - 1).`,
  );
}

/** 64 random bits from the system, for a run without a seed. */
export function randomSeed(): bigint {
  // Not imported: a run with a seed does not pay for loading it.
  return process.getBuiltinModule('node:crypto').randomBytes(8).readBigUInt64LE();
}

/** The counter (seed, stream, first element: two words each, the low one first) that is `elements` elements later. */
export function advanced(counter: Uint32Array, elements: number): Uint32Array {
  const next = counter.slice();
  const first = (BigInt(counter[5]!) << 32n) + BigInt(counter[4]!) + BigInt(elements);
  next[4] = Number(first & 0xffffffffn);
  next[5] = Number((first >> 32n) & 0xffffffffn);
  return next;
}
