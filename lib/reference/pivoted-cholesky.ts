import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

/**
 * The symmetric a (n x n; only the lower triangle is read) becomes a root A: A A' equals the matrix except for a
 * remainder. The variable with the largest remainder is eliminated next, until none exceeds `tolerance` (Higham:
 * Accuracy and Stability of Numerical Algorithms, section 10.3). Column k of the root belongs to variable order[k];
 * from the rank on, columns are zero and `order` is -1.
 */
export function* pivotedCholesky(a: Real, order: Real, n: number, tolerance: number): Work {
  const left = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) left[i * n + j] = left[j * n + i] = a[i * n + j]!;
  a.fill(0);
  order.fill(-1);
  yield;
  const rest = new Set(left.subarray(0, n).keys());
  for (let k = 0; k < n; k++) {
    let pivot = -1;
    let most = Math.max(0, tolerance);
    for (const i of rest)
      if (left[i * (n + 1)]! > most) {
        pivot = i;
        most = left[i * (n + 1)]!;
      }
    if (pivot < 0) return;
    rest.delete(pivot);
    order[k] = pivot;
    const root = Math.sqrt(most);
    const column = new Float64Array(n);
    for (const i of rest) column[i] = left[i * n + pivot]! / root;
    a[pivot * n + k] = root;
    let rows = 0;
    for (const i of rest) {
      a[i * n + k] = column[i]!;
      for (let j = 0; j < n; j++) left[i * n + j]! -= column[i]! * column[j]!;
      if (++rows % 16 === 0) yield;
    }
    yield;
  }
}
