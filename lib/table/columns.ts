import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { type Real, zerosOf } from '../dtype.ts';
import type { TableHead } from './table.ts';

/**
 * The head's names, or x1, x2, ...: of a format whose columns have names that differ. Throws `ERR_INVALID_ARGUMENT` for
 * one that is there twice.
 */
export function columnNames({ names, columns }: TableHead): readonly string[] {
  const all = names ?? Array.from({ length: columns }, (_, i) => `x${i + 1}`);
  const twice = all.find((name, index) => all.indexOf(name) !== index);
  if (twice === undefined) return all;
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Column name (${describe(twice)}) is there twice.`);
}

/**
 * Indices of the `wanted` columns of a file, all by default. Throws `ERR_INVALID_ARGUMENT` for a name that the file has
 * not, or has twice, and for one that is wanted twice.
 */
export function chosenColumns(
  path: string,
  names: readonly string[] | undefined,
  columns: number,
  wanted: readonly string[] | undefined,
): number[] {
  if (wanted === undefined) return Array.from({ length: columns }, (_, i) => i);
  const refusal = (why: string) => new CovariumError('ERR_INVALID_ARGUMENT', why, { path });
  if (wanted.length === 0) throw refusal(`No column of file (${path}) is asked for.`);
  return wanted.map((name, at) => {
    const shown = describe(name);
    if (names === undefined) throw refusal(`File (${path}) names no columns, and column (${shown}) is asked for.`);
    if (wanted.indexOf(name) !== at) throw refusal(`Column (${shown}) is asked for twice.`);
    const index = names.indexOf(name);
    if (index < 0) throw refusal(`Column (${shown}) is not one of file (${path}): (${describe(names.join(', '))}).`);
    if (names.lastIndexOf(name) !== index) throw refusal(`File (${path}) has column (${shown}) twice.`);
    return index;
  });
}

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
