import type { Work } from '../work.ts';

/**
 * log det(1 + A' A) of m rows of k numbers, whose sizes may differ by any power of ten: the diagonal of R, where A
 * above the identity is Q R. Rows in descending order and Householder's reflections with column pivoting meet each row
 * to rounding of its own size (Cox, Higham: Stability of Householder QR factorization for weighted least squares
 * problems. Numerical Analysis 1997, Longman, 1998).
 */
export function* logDeterminantOfGram(a: Float64Array, m: number, k: number): Work<number> {
  const identity = Array.from({ length: k }, (_, i) => Float64Array.from({ length: k }, (_, j) => (i === j ? 1 : 0)));
  const rows = Array.from({ length: m }, (_, i) => a.slice(i * k, (i + 1) * k)).concat(identity);
  const size = (row: Float64Array) => row.reduce((most, entry) => Math.max(most, Math.abs(entry)), 0);
  const sized = rows.map((row) => ({ row, size: size(row) })).sort((one, other) => other.size - one.size);
  const sorted = sized.map(({ row }) => row);
  let logDeterminant = 0;
  for (let step = 0; step < k; step++) {
    const below = sorted.slice(step);
    let length = -1;
    let pivot = step;
    for (let column = step; column < k; column++) {
      const its = lengthOf(below, column);
      if (its > length) [length, pivot] = [its, column];
      yield;
    }
    for (const row of sorted) [row[step], row[pivot]] = [row[pivot]!, row[step]!];
    logDeterminant += 2 * Math.log(length);
    yield* reflect(below, step, k, length);
  }
  return logDeterminant;
}

function lengthOf(rows: readonly Float64Array[], column: number): number {
  let largest = 0;
  for (const row of rows) largest = Math.max(largest, Math.abs(row[column]!));
  if (largest === 0) return 0;
  let sum = 0;
  for (const row of rows) sum += (row[column]! / largest) ** 2;
  return largest * Math.sqrt(sum);
}

// Turns column `step` into (+-length, 0, 0, ...), and the columns after it likewise.
function* reflect(rows: readonly Float64Array[], step: number, k: number, length: number): Work {
  // In units of the length, so that no square overflows.
  const v = Float64Array.from(rows, (row) => row[step]! / length);
  v[0]! += v[0]! < 0 ? -1 : 1;
  for (let column = step + 1; column < k; column++) {
    let along = 0;
    for (let i = 0; i < v.length; i++) along += v[i]! * rows[i]![column]!;
    along /= Math.abs(v[0]!);
    for (let i = 0; i < v.length; i++) rows[i]![column]! -= along * v[i]!;
    yield;
  }
}
