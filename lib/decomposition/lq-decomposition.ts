import type { Work } from '../work.ts';

// Rows of a few thousand numbers between two yields.
const rowsAtOnce = 32;

/** The rows of A in another order are L Q: L lower triangular (m x m), Q (m x n) with orthonormal rows. */
interface LqDecomposition {
  /** Row i of L Q is row order[i] of A. */
  readonly order: readonly number[];
  /** Its diagonal is not negative. */
  readonly lower: Float64Array<ArrayBuffer>;
  readonly rows: Float64Array<ArrayBuffer>;
}

/**
 * Of m rows of n numbers, the longest first, by Gram and Schmidt's process, which is done again for a row until no
 * rounding error along the rows before it is left. Each column of A is met to rounding of its own size, however their
 * sizes differ (column by column, this is Cox and Higham's result on QR decompositions of rows of different sizes; see
 * graded-gram.ts). A row that the rows before it give, to rounding of each column, has a zero on the diagonal, and a
 * row of zeros in Q.
 */
export function* lqDecomposition(a: Float64Array, m: number, n: number): Work<LqDecomposition> {
  const rows = new Float64Array(a);
  const lower = new Float64Array(m * m);
  const order = Array.from({ length: m }, (_, i) => i);
  const sizes = new Float64Array(n);
  for (let i = 0; i < m; i++) for (let k = 0; k < n; k++) sizes[k] = Math.max(sizes[k]!, Math.abs(a[i * n + k]!));
  // Rounding of the largest columns must go from the least: each time that it is subtracted leaves a share of eps.
  const positive = sizes.filter((size) => size > 0).sort();
  const spread = positive.length === 0 ? 0 : Math.log2(positive.at(-1)! / positive[0]!);
  // Of an infinite spread no finite number of times is enough: the result is not finite, and the caller refuses it.
  const times = Number.isFinite(spread) ? Math.ceil(Math.max(0, spread - 26) / 52) : 0;
  for (let i = 0; i < m; i++) {
    let left = -1;
    let longest = i;
    for (let j = i; j < m; j++) {
      const length = norm(rows.subarray(j * n, (j + 1) * n));
      if (length > left) [left, longest] = [length, j];
    }
    swapRows(rows, n, i, longest);
    swapRows(lower, m, i, longest);
    [order[i], order[longest]] = [order[longest]!, order[i]!];
    yield;
    // Subtracted already, but not since other rows were.
    left = yield* subtractRows({ rows, n, lower, m, times }, i, 0, i);
    const row = rows.subarray(i * n, (i + 1) * n);
    const isNew = row.some((entry, k) => Math.abs(entry) > 8 * n * Number.EPSILON * sizes[k]!);
    lower[i * (m + 1)] = isNew ? left : 0;
    for (let k = 0; k < n; k++) row[k] = isNew ? row[k]! / left : 0;
    for (let j = i + 1; j < m; j++) yield* subtractRows({ rows, n, lower, m, times: 0 }, j, i, i + 1);
  }
  return { order, lower, rows };
}

interface Halfway {
  readonly rows: Float64Array;
  readonly n: number;
  readonly lower: Float64Array;
  readonly m: number;
  /** How often more, once nothing but the rest is left. */
  readonly times: number;
}

/**
 * Subtracts from row i its parts along the orthonormal rows [from, to), and adds their lengths to `lower`: again and
 * again, until nothing but the rest is left. Returns its length.
 */
function* subtractRows({ rows, n, lower, m, times }: Halfway, i: number, from: number, to: number): Work<number> {
  const row = rows.subarray(i * n, (i + 1) * n);
  let left = norm(row);
  for (let [before, more] = [Number.POSITIVE_INFINITY, times]; left < before / 2 || more-- > 0; left = norm(row)) {
    before = left;
    for (let j = from; j < to; j++) {
      const other = rows.subarray(j * n, (j + 1) * n);
      const along = dot(row, other);
      for (let k = 0; k < n; k++) row[k]! -= along * other[k]!;
      lower[i * m + j]! += along;
      if (j % rowsAtOnce === rowsAtOnce - 1) yield;
    }
  }
  yield;
  return left;
}

function swapRows(rows: Float64Array, n: number, i: number, j: number): void {
  if (i === j) return;
  const row = rows.slice(i * n, (i + 1) * n);
  rows.copyWithin(i * n, j * n, (j + 1) * n);
  rows.set(row, j * n);
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
