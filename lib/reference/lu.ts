import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Real, type RealDtype, smallestNormal } from '../dtype.ts';
import type { Work } from '../work.ts';

/**
 * a (n x n) becomes the triangles of a' = P L U with partial pivoting (Golub and Van Loan, Matrix Computations, 4th
 * ed., 3.4), which compares numbers by the units of their columns: row k has the diagonal's entry of U, L's column
 * behind it and U's column before it. Step k swapped rows k and pivots[k] of a'.
 */
export function* lu(a: Real, pivots: Real, n: number): Work {
  const scales = yield* columnScales(a, n);
  for (let k = 0; k < n; k++) {
    const row = a.subarray(k * n, (k + 1) * n);
    let pivot = k;
    const size = (i: number) => Math.abs(row[i]!) * scales[i]!;
    for (let i = k + 1; i < n; i++) if (size(i) > size(pivot)) pivot = i;
    pivots[k] = pivot;
    [scales[k], scales[pivot]] = [scales[pivot]!, scales[k]!];
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

// What makes the largest numbers of columns alike, in powers of two; ones where they are nearly so. Else the columns of
// large numbers would be the pivots, and the digits of the others would be lost beside them.
function* columnScales(a: Real, n: number): Work<Float64Array> {
  const largest = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) largest[j] = Math.max(largest[j]!, Math.abs(a[i * n + j]!));
    if (i % 32 === 0) yield;
  }
  const high = Math.floor(Math.log2(largest.reduce((one, other) => Math.max(one, other))));
  // A quotient of two numbers of one row is a number of the type.
  const least = high - (dtypeOf(a) === 'float32' ? 101 : 968);
  const exponents = largest.map((size) => Math.max(least, Math.floor(Math.log2(size))));
  const areNear = exponents.every((exponent) => high - exponent <= 4);
  return exponents.map((exponent) => (areNear ? 1 : 2 ** -exponent));
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
