import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { norm } from './svd.ts';

/**
 * Rows A (m x n) become a lower echelon L with A A' = L L', by Givens rotations of neighbouring columns (Golub and Van
 * Loan, Matrix Computations, 4th ed., 5.1.8 and 5.2.5): A = L Q, and Q is not kept. `pivots` gets the column of each
 * row's positive pivot, in ascending order; -1 for a row that the rows before it determine, that is, whose remainder is
 * at most `tolerance` of its norm.
 */
export function* echelon(values: Real, pivots: Real, n: number, tolerance: number): Work {
  const m = pivots.length;
  const rows = new Float64Array(values);
  pivots.fill(-1);
  yield;
  // The start of the zeros at the end of each row. Rows of a triangle in another order stay short: a rotation, from the
  // last column to the first, makes a row longer by at most one number, while a reflection fills it.
  const ends = Int32Array.from({ length: m }, (_, i) => endOf(rows.subarray(i * n, (i + 1) * n)));
  for (let i = 0, rank = 0; i < m; i++) {
    const row = rows.subarray(i * n, (i + 1) * n);
    const rest = norm(row.subarray(rank));
    if (rest === 0 || rest <= tolerance * norm(row)) row.fill(0, rank);
    else {
      const turns = rotations(row, rank, ends[i]!);
      for (let k = i + 1; k < m; k++) {
        ends[k] = turn(rows.subarray(k * n, (k + 1) * n), rank, ends[i]!, ends[k]!, turns);
        if (k % 16 === 0) yield;
      }
      pivots[i] = rank++;
    }
    yield;
  }
  values.set(rows);
}

function endOf(row: Float64Array): number {
  let end = row.length;
  while (end > 0 && row[end - 1] === 0) end--;
  return end;
}

// Rotates a row's numbers from `from` to `end` into the first of them, which becomes positive; returns cosine and sine
// for each later column.
function rotations(row: Float64Array, from: number, end: number): Float64Array {
  const turns = new Float64Array(2 * (end - from));
  for (let k = end - 1; k > from; k--) {
    const [a, b] = [row[k - 1]!, row[k]!];
    const length = Math.hypot(a, b);
    turns[2 * (k - from)] = length === 0 ? 1 : a / length;
    turns[2 * (k - from) + 1] = length === 0 ? 0 : b / length;
    row[k - 1] = length;
    row[k] = 0;
  }
  // If nothing was rotated, only the sign may change.
  turns[0] = row[from]! < 0 ? -1 : 1;
  row[from] = Math.abs(row[from]!);
  return turns;
}

// Applies the same rotations to another row; returns its new end.
function turn(row: Float64Array, from: number, end: number, ownEnd: number, turns: Float64Array): number {
  if (ownEnd <= from) return ownEnd;
  const last = Math.min(end - 1, ownEnd);
  for (let k = last; k > from; k--) {
    const [cosine, sine] = [turns[2 * (k - from)]!, turns[2 * (k - from) + 1]!];
    const [a, b] = [row[k - 1]!, row[k]!];
    row[k - 1] = cosine * a + sine * b;
    row[k] = cosine * b - sine * a;
  }
  row[from]! *= turns[0]!;
  return Math.max(ownEnd, last + 1);
}
