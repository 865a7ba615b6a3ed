import { hostZeros } from '../array/host-memory.ts';
import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

/**
 * The lower Cholesky factor (n x n) of F F' + S^2, for F (n x k) and the n positive entries of the diagonal S, in
 * float64. Rotations of the columns of [S F] make F zero, row by row; the covariance is not formed, so that entries of
 * S keep their digits beside an F that is larger. It takes k n^2 / 2 rotations. Throws `ERR_OUT_OF_MEMORY`.
 */
export function* lowRankRoot(factor: Real, deviations: Real): Work<Float64Array<ArrayBuffer>> {
  const n = deviations.length;
  const k = factor.length / n;
  const lower = hostZeros(n * n);
  const [cosines, sines] = [new Float64Array(n * k), new Float64Array(n * k)];
  for (let j = 0; j < n; j++) {
    const rest = Float64Array.from(factor.subarray(j * k, (j + 1) * k));
    for (let i = 0; i < j; i++) lower[j * n + i] = turned(rest, cosines, sines, i * k);
    let pivot = deviations[j]!;
    for (let u = 0; u < k; u++) {
      const length = Math.hypot(pivot, rest[u]!);
      cosines[j * k + u] = pivot / length;
      sines[j * k + u] = rest[u]! / length;
      pivot = length;
    }
    lower[j * (n + 1)] = pivot;
    yield;
  }
  return lower;
}

/** What the rotations of one column, from `at` on, leave of a row of F, and what they make of the 0 of that column. */
function turned(rest: Float64Array, cosines: Float64Array, sines: Float64Array, at: number): number {
  let entry = 0;
  for (let u = 0; u < rest.length; u++) {
    const [cosine, sine, before] = [cosines[at + u]!, sines[at + u]!, rest[u]!];
    rest[u] = cosine * before - sine * entry;
    entry = cosine * entry + sine * before;
  }
  return entry;
}
