import { refuseAborted } from '../check.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import type { CompleteRows } from './complete-rows.ts';

// Numbers of a tile: its columns and its rows stay in the processor's cache together.
const tileNumbers = 1 << 14;
const turnMs = 8;

/**
 * Columns, a few thousand rows at a time, turned into rows of finite numbers. The JavaScript thread is given up every
 * few milliseconds, where a signal is looked at too.
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

  /** Rows of a tile at most. */
  get rows(): number {
    return this.#tile[0]!.length;
  }

  /** Where a column of the tile at hand is put. */
  column(index: number): Real {
    return this.#tile[index]!;
  }

  /** The tile's first `rows` rows, into `out` from `at` on: how many numbers are kept. Throws `ERR_NOT_FINITE`. */
  write(rows: number, out: Real, at: number): number {
    const columns = this.#columns;
    let isComplete = true;
    for (let column = 0; column < columns; column++) {
      const values = this.#tile[column]!;
      let to = at + column;
      let sum = 0;
      for (let row = 0; row < rows; row++, to += columns) {
        const value = values[row]!;
        out[to] = value;
        // Anything but a finite number makes a NaN of it.
        sum += value - value;
      }
      if (sum !== 0) isComplete = false;
    }
    const numbers = rows * columns;
    if (!isComplete) return this.#complete.of(out.subarray(at, at + numbers)).length;
    this.#complete.pass(rows);
    return numbers;
  }

  /** A turn of the event loop, where one is due. Rejects with `ERR_ABORTED`. */
  async turn(): Promise<void> {
    if (performance.now() < this.#turnEnd) return;
    await new Promise((resolve) => setImmediate(resolve));
    refuseAborted(this.#signal);
    this.#turnEnd = performance.now() + turnMs;
  }
}
