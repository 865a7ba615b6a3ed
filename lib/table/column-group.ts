import type { RealDtype } from '../distribution-input.ts';
import { type Real, zerosOf } from '../dtype.ts';

// Rows of a tile: the cache lines of a tile's numbers stay while its columns are gone through.
const tileRows = 512;

/** Rows as they come, turned into columns, up to a number of rows. */
export class ColumnGroup {
  readonly #columns: number;
  readonly #capacity: number;
  readonly #values: Real;
  #rows = 0;

  constructor(columns: number, dtype: RealDtype, capacity: number) {
    this.#columns = columns;
    this.#capacity = capacity;
    this.#values = zerosOf(dtype, columns * capacity) as Real;
  }

  get rows(): number {
    return this.#rows;
  }

  get isFull(): boolean {
    return this.#rows === this.#capacity;
  }

  /** Takes rows of `values` from row `start` on, as many as there is room for, and gives their number. */
  take(values: Real, start: number): number {
    const columns = this.#columns;
    const taken = Math.min(this.#capacity - this.#rows, values.length / columns - start);
    for (let tile = 0; tile < taken; tile += tileRows) {
      const end = Math.min(tile + tileRows, taken);
      for (let column = 0; column < columns; column++) {
        let from = (start + tile) * columns + column;
        let to = column * this.#capacity + this.#rows + tile;
        for (let row = tile; row < end; row++, from += columns) this.#values[to++] = values[from]!;
      }
    }
    this.#rows += taken;
    return taken;
  }

  /** The numbers of a column. */
  column(index: number): Real {
    const start = index * this.#capacity;
    return this.#values.subarray(start, start + this.#rows);
  }

  clear(): void {
    this.#rows = 0;
  }
}
