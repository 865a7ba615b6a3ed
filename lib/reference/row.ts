import type { Real } from '../dtype.ts';
import type { Work } from './work.ts';

const pieceLength = 1 << 14;

/** Adds `scale` * row to each row of `rows`. */
export function* addRow(rows: Real, row: Real, scale: number): Work {
  const n = row.length;
  for (let begin = 0; begin < rows.length; begin += pieceLength) {
    const end = Math.min(begin + pieceLength, rows.length);
    let j = begin % n;
    for (let i = begin; i < end; i++) {
      rows[i]! += scale * row[j]!;
      if (++j === n) j = 0;
    }
    yield;
  }
}

/** out[r] = sum of squares of row r, n numbers long; summed in float64. */
export function* squaredNorms(rows: Real, out: Real, n: number): Work {
  const rowsAtOnce = Math.ceil(pieceLength / n);
  for (let r = 0; r < out.length; r++) {
    let sum = 0;
    for (let i = r * n; i < (r + 1) * n; i++) sum += rows[i]! * rows[i]!;
    out[r] = sum;
    if (r % rowsAtOnce === 0) yield;
  }
}
