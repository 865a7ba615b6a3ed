import type { Real } from '../dtype.ts';

const blockElements = 1 << 21;

/** Rows of a block, where a row takes n numbers and `width` besides. */
export function rowsAtOnce(n: number, width: number): number {
  return Math.max(1, Math.floor(blockElements / Math.max(n, width)));
}

/** Calls body for blocks of `atOnce` rows of n numbers, so that what a block needs besides is small. */
export function forRowBlocks(
  rows: Real,
  n: number,
  atOnce: number,
  body: (block: Real, count: number, first: number) => void,
): void {
  for (let first = 0; first < rows.length / n; first += atOnce) {
    const count = Math.min(atOnce, rows.length / n - first);
    body(rows.subarray(first * n, (first + count) * n), count, first);
  }
}

/** The counter (seed, stream, first element: two words each, the low one first) of so many elements later. */
export function advanced(counter: Uint32Array, elements: number): Uint32Array {
  const next = counter.slice();
  const first = (BigInt(counter[5]!) << 32n) + BigInt(counter[4]!) + BigInt(elements);
  next[4] = Number(first & 0xffffffffn);
  next[5] = Number((first >> 32n) & 0xffffffffn);
  return next;
}
