import type { Real } from '../dtype.ts';
import { quantile } from '../probability/standard-normal.ts';
import type { Work } from '../work.ts';

const pieceLength = 1 << 14;

/** Adds `scale` * row to each row of `rows`. */
export function addRow(rows: Real, row: Real, scale: number): Work {
  return eachElement(rows, row, (value, entry) => value + scale * entry);
}

/** Multiplies each row of `rows` by `row`, element by element. */
export function scaleColumns(rows: Real, row: Real): Work {
  return eachElement(rows, row, (value, entry) => value * entry);
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

/** Each of `values`, -d^2 / 2, becomes d. */
export function* distances(values: Real): Work {
  for (let i = 0; i < values.length; i++) {
    values[i] = 2 * Math.sqrt(Math.abs(values[i]! / 2));
    if (i % pieceLength === 0) yield;
  }
}

/** {@link Encoder.findBeyond}. */
export function* findBeyond(values: Real, least: number, most: number, found: Uint32Array): Work {
  for (let i = 0; i < values.length; i++) {
    if (!(values[i]! > least && values[i]! < most)) found[0] = 1;
    if (i % pieceLength === 0) yield;
  }
}

/** Probabilities become quantiles of the standard normal. */
export function* normalQuantiles(values: Float64Array): Work {
  for (let i = 0; i < values.length; i++) {
    values[i] = quantile(values[i]!);
    if (i % pieceLength === 0) yield;
  }
}

function* eachElement(rows: Real, row: Real, map: (value: number, entry: number) => number): Work {
  const n = row.length;
  for (let begin = 0; begin < rows.length; begin += pieceLength) {
    const end = Math.min(begin + pieceLength, rows.length);
    let j = begin % n;
    for (let i = begin; i < end; i++) {
      rows[i] = map(rows[i]!, row[j]!);
      if (++j === n) j = 0;
    }
    yield;
  }
}

/** to = from. */
export function* copy(from: Real, to: Real): Work {
  for (let begin = 0; begin < from.length; begin += pieceLength) {
    to.set(from.subarray(begin, begin + pieceLength), begin);
    yield;
  }
}

/** out = a + b; out may be a or b. */
export function* sum(a: Real, b: Real, out: Real): Work {
  for (let begin = 0; begin < out.length; begin += pieceLength) {
    const end = Math.min(begin + pieceLength, out.length);
    for (let i = begin; i < end; i++) out[i] = a[i]! + b[i]!;
    yield;
  }
}

/** to (columns x rows) = the transpose of from (rows x columns). */
export function* transpose(from: Real, to: Real, rows: number, columns: number): Work {
  const rowsAtOnce = Math.ceil(pieceLength / columns);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j]!;
    if (i % rowsAtOnce === 0) yield;
  }
}
