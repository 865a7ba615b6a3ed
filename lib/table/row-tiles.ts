import { refuseAborted } from '../check.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import type { CompleteRows } from './complete-rows.ts';

// Numbers of a tile: its columns and its rows fit into the processor's cache together.
const tileNumbers = 1 << 14;
const turnMs = 8;

/**
 * Turns columns, a few thousand rows at a time, into rows of finite numbers. Every few milliseconds it gives the
 * JavaScript thread up and checks the signal.
 */
export class RowTiles {
  readonly #columns: number;
  readonly #complete: CompleteRows;
  readonly #signal: AbortSignal | undefined;
  readonly #tile: Real[];
  #turnEnd: number = performance.now() + turnMs;

  constructor(columns: number, dtype: RealDtype, complete: CompleteRows, signal: AbortSignal | undefined) {
    this.#columns = columns;
    this.#complete = complete;
    this.#signal = signal;
    const rows = Math.max(16, Math.floor(tileNumbers / columns));
    this.#tile = Array.from({ length: columns }, () => zerosOf(dtype, rows) as Real);
  }

  /** The most rows of a tile. */
  get rows(): number {
    return this.#tile[0]!.length;
  }

  /** The memory of a column of the current tile. */
  column(index: number): Real {
    return this.#tile[index]!;
  }

  /**
   * Writes the tile's first `rows` rows into `out` from `at` on, and returns how many numbers it kept. Throws
   * `ERR_NOT_FINITE`.
   */
  write(rows: number, out: Real, at: number): number {
    const columns = this.#columns;
    const tile = this.#tile;
    // A number that is not finite makes the sum NaN.
    let sum = 0;
    let column = 0;
    for (; column + 4 <= columns; column += 4)
      sum += interleave4(
        tile[column]!,
        tile[column + 1]!,
        tile[column + 2]!,
        tile[column + 3]!,
        rows,
        out,
        at + column,
        columns,
      );
    for (; column < columns; column++) sum += interleave(tile[column]!, rows, out, at + column, columns);
    const numbers = rows * columns;
    if (sum !== 0) return this.#complete.of(out.subarray(at, at + numbers)).length;
    this.#complete.pass(rows);
    return numbers;
  }

  /** Lets the event loop run if it is due. Rejects with `ERR_ABORTED`. */
  async turn(): Promise<void> {
    if (performance.now() < this.#turnEnd) return;
    await new Promise((resolve) => setImmediate(resolve));
    refuseAborted(this.#signal);
    this.#turnEnd = performance.now() + turnMs;
  }
}

/** Writes a column as every `stride`th number of `out`; returns 0 if all are finite, NaN otherwise. */
function interleave(values: Real, rows: number, out: Real, at: number, stride: number): number {
  let sum = 0;
  let to = at;
  for (let row = 0; row < rows; row++, to += stride) {
    const value = values[row]!;
    out[to] = value;
    sum += value - value;
  }
  return sum;
}

/** Writes four columns at once: twice as fast as one by one. */
function interleave4(a: Real, b: Real, c: Real, d: Real, rows: number, out: Real, at: number, stride: number): number {
  let sum = 0;
  let to = at;
  for (let row = 0; row < rows; row++, to += stride) {
    const [p, q, r, s] = [a[row]!, b[row]!, c[row]!, d[row]!];
    out[to] = p;
    out[to + 1] = q;
    out[to + 2] = r;
    out[to + 3] = s;
    sum += p - p + (q - q) + (r - r) + (s - s);
  }
  return sum;
}
