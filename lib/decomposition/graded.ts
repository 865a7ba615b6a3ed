import { norm } from '../reference/svd.ts';
import type { Work } from '../work.ts';

// Where rows differ in length by no more, the smallest singular value loses two digits at most to the largest.
const mildSpread = 100;

/**
 * Whether the singular values of a matrix (count rows of n) are to be computed as a graded one's, which takes five
 * times as long: unless no row is more than `spread` times as long as another.
 */
export function* isGraded(rows: Float64Array, count: number, n: number, spread: number = mildSpread): Work<boolean> {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < count; i++) {
    const length = norm(rows.subarray(i * n, (i + 1) * n));
    least = Math.min(least, length);
    most = Math.max(most, length);
    if (i % 32 === 0) yield;
  }
  return most > spread * least;
}
