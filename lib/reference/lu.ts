import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Real, type RealDtype, smallestNormal } from '../dtype.ts';
import type { Work } from '../work.ts';

/**
 * a (n x n) becomes the triangles of a' = P L U with partial pivoting (Golub and Van Loan, Matrix Computations, 4th
 * ed., 3.4): row k has the diagonal's entry of U, L's column behind it and U's column before it. Step k swapped rows k
 * and pivots[k] of a'.
 */
export function* lu(a: Real, pivots: Real, n: number): Work {
  for (let k = 0; k < n; k++) {
    const row = a.subarray(k * n, (k + 1) * n);
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(row[i]!) > Math.abs(row[pivot]!)) pivot = i;
    pivots[k] = pivot;
    if (pivot !== k)
      for (let j = 0; j < n; j++) {
        const entry = a[j * n + k]!;
        a[j * n + k] = a[j * n + pivot]!;
        a[j * n + pivot] = entry;
      }
    yield;
    if (row[k] === 0) continue;
    for (let i = k + 1; i < n; i++) row[i]! /= row[k]!;
    for (let j = k + 1; j < n; j++) {
      const other = a.subarray(j * n, (j + 1) * n);
      const factor = other[k]!;
      if (factor !== 0) for (let i = k + 1; i < n; i++) other[i]! -= factor * row[i]!;
      if (j % 32 === 0) yield;
    }
  }
}

/** Each row x of `rows` becomes the y of a y = x, for the triangles of {@link lu}. Throws `ERR_SINGULAR`. */
export function* luSolve(triangles: Real, pivots: Real, rows: Real, n: number): Work {
  const least = smallestNormal[dtypeOf(triangles) as RealDtype];
  for (let i = 0; i < n; i++) {
    const pivot = triangles[i * (n + 1)]!;
    // Other devices take what is below for 0.
    if (Math.abs(pivot) < least)
      throw new CovariumError('ERR_SINGULAR', `Matrix is singular: pivot (${i}) is (${pivot}).`, { pivot: i });
  }
  for (let start = 0; start < rows.length; start += n) {
    const x = rows.subarray(start, start + n);
    for (let j = 0; j < n; j++) x[j] = (x[j]! - along(triangles, x, j * n, 0, j)) / triangles[j * (n + 1)]!;
    for (let k = n - 2; k >= 0; k--) x[k]! -= along(triangles, x, k * n, k + 1, n);
    for (let k = n - 1; k >= 0; k--) {
      const [entry, other] = [x[k]!, x[pivots[k]!]!];
      x[k] = other;
      x[pivots[k]!] = entry;
    }
    yield;
  }
}

function along(triangles: Real, x: Real, row: number, first: number, end: number): number {
  let sum = 0;
  for (let i = first; i < end; i++) sum += triangles[row + i]! * x[i]!;
  return sum;
}
