import { areFinite } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import type { ReadRequest } from './table.ts';

/** Keeps the rows of finite numbers, or all that a caller wants to `keep`, and counts rows. */
export class CompleteRows {
  readonly #path: string;
  readonly #columns: number;
  readonly #names: readonly string[] | undefined;
  readonly #missing: ReadRequest['missing'];
  #seen = 0;
  #dropped = 0;

  constructor(path: string, columns: number, names: readonly string[] | undefined, missing: ReadRequest['missing']) {
    this.#path = path;
    this.#columns = columns;
    this.#names = names;
    this.#missing = missing;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /**
   * The complete rows, moved together in the same memory. Throws `ERR_NOT_FINITE` with row and column of the file, both
   * from 0.
   */
  of(values: Real): Real {
    const columns = this.#columns;
    const rows = values.length / columns;
    if (this.#missing === 'keep' || areFinite(values, 0, values.length)) {
      this.#seen += rows;
      return values;
    }
    let kept = 0;
    for (let row = 0; row < rows; row++) {
      const start = row * columns;
      const column = firstNotFinite(values, start, columns);
      if (column === columns) {
        if (kept !== row) values.copyWithin(kept * columns, start, start + columns);
        kept++;
        continue;
      }
      // A row with a missing value may also have an infinite one, which is refused.
      const infinite = firstInfinite(values, start, columns);
      if (infinite < columns)
        throw this.#refusal(
          row,
          infinite,
          `is not finite (${values[start + infinite]}); a NaN in its place is a missing value`,
        );
      if (this.#missing === 'error')
        throw this.#refusal(row, column, "is missing (NaN); missing: 'drop' (--missing drop) leaves its row out");
      this.#dropped++;
    }
    this.#seen += rows;
    return kept === rows ? values : values.subarray(0, kept * columns);
  }

  /** Counts rows that are known to be finite. */
  pass(rows: number): void {
    this.#seen += rows;
  }

  #refusal(rowOfBlock: number, column: number, what: string): CovariumError {
    const row = this.#seen + rowOfBlock;
    const name = this.#names?.[column] ?? column;
    const message = `Row (${row}), column (${name}) of file (${this.#path}) ${what}.`;
    return new CovariumError('ERR_NOT_FINITE', message, { path: this.#path, row, column });
  }
}

function firstNotFinite(values: Real, start: number, columns: number): number {
  for (let column = 0; column < columns; column++) if (!Number.isFinite(values[start + column]!)) return column;
  return columns;
}

function firstInfinite(values: Real, start: number, columns: number): number {
  for (let column = 0; column < columns; column++) if (Math.abs(values[start + column]!) === Infinity) return column;
  return columns;
}

/** The error for a 64-bit integer that float64 cannot hold. */
export function refuseInexact(value: bigint, path: string, column: string, row: number): CovariumError {
  const place = `Row (${row}), column (${column}) of file (${path})`;
  const message = `${place} has an integer that float64 does not hold (${value}).`;
  return new CovariumError('ERR_OUT_OF_RANGE', message, { path, row });
}
