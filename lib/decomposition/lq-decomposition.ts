import type { Work } from '../work.ts';

// Rows of a few thousand numbers between two yields.
const rowsAtOnce = 32;

/** A = L Q: L lower triangular (m x m) with a diagonal that is not negative, Q (m x n) with orthonormal rows. */
export interface LqDecomposition {
  readonly lower: Float64Array<ArrayBuffer>;
  readonly rows: Float64Array<ArrayBuffer>;
}

/**
 * Of m rows of n numbers, by Gram and Schmidt's process done twice for each row, which is enough for rows as orthogonal
 * as rounding allows (Giraud, Langou, Rozložník: The loss of orthogonality in the Gram-Schmidt orthogonalization
 * process. Computers and Mathematics with Applications 50, 2005). A row that the rows before it give, to rounding, has
 * a zero on the diagonal, and a row of zeros in Q. Each row of A is met to rounding of its own length, however the
 * lengths differ.
 */
export function* lqDecomposition(a: Float64Array, m: number, n: number): Work<LqDecomposition> {
  const rows = new Float64Array(a);
  const lower = new Float64Array(m * m);
  for (let i = 0; i < m; i++) {
    const row = rows.subarray(i * n, (i + 1) * n);
    const length = norm(row);
    for (let twice = 0; twice < 2; twice++)
      for (let j = 0; j < i; j++) {
        const other = rows.subarray(j * n, (j + 1) * n);
        const along = dot(row, other);
        for (let k = 0; k < n; k++) row[k]! -= along * other[k]!;
        lower[i * m + j]! += along;
        if (j % rowsAtOnce === rowsAtOnce - 1) yield;
      }
    const left = norm(row);
    const isNew = left > 8 * n * Number.EPSILON * length;
    lower[i * (m + 1)] = isNew ? left : 0;
    for (let k = 0; k < n; k++) row[k] = isNew ? row[k]! / left : 0;
    yield;
  }
  return { lower, rows };
}

/**
 * Each column of `rows` (m x columns) becomes the solution y of L y = it, or of L' y = it (transposed), where L is
 * m x m.
 */
export function* solveLower(
  lower: Float64Array,
  rows: Float64Array,
  m: number,
  columns: number,
  transposed: boolean,
): Work {
  for (let step = 0; step < m; step++) {
    const i = transposed ? m - 1 - step : step;
    const row = rows.subarray(i * columns, (i + 1) * columns);
    for (let before = 0; before < step; before++) {
      const j = transposed ? m - 1 - before : before;
      const entry = transposed ? lower[j * m + i]! : lower[i * m + j]!;
      const other = rows.subarray(j * columns, (j + 1) * columns);
      for (let k = 0; k < columns; k++) row[k]! -= entry * other[k]!;
      if (before % rowsAtOnce === rowsAtOnce - 1) yield;
    }
    const pivot = lower[i * (m + 1)]!;
    for (let k = 0; k < columns; k++) row[k]! /= pivot;
    yield;
  }
}

function dot(x: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += x[k]! * y[k]!;
  return sum;
}

function norm(x: Float64Array): number {
  return Math.sqrt(dot(x, x));
}
