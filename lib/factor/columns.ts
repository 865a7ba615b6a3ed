// A lower factor (n x n) in the order in which few rows read it: blocks of as many rows as `columnBytes` hold, in each
// block its columns up to the diagonal, one behind the other. A vector of the processor then has entries of one column,
// and memory is read once, from front to back.
import { columnBytes } from '../backend.ts';
import { bytesOf, dtypeOf, type Real } from '../dtype.ts';

const rowsTogether = (real: Real): number => columnBytes / bytesOf(dtypeOf(real));

/** The number of entries of a factor of n x n, of the type of `real`, in columns. */
export function columnsLength(real: Real, n: number): number {
  const wide = rowsTogether(real);
  let length = 0;
  for (let first = 0; first < n; first += wide) length += wide * Math.min(n, first + wide);
  return length;
}

/** Writes the factor `lower` (n x n) to `columns`. */
export function writeColumns(lower: Real, columns: Real, n: number): void {
  const wide = rowsTogether(lower);
  let at = 0;
  for (let first = 0; first < n; first += wide) {
    const last = Math.min(n, first + wide);
    columns.fill(0, at, at + wide * last);
    // Along the rows, which lie a whole row apart.
    for (let row = first; row < last; row++)
      for (let k = 0; k <= row; k++) columns[at + k * wide + row - first] = lower[row * n + k]!;
    at += wide * last;
  }
}
