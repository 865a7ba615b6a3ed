import { Matrix } from './matrix.ts';
import type { TableOptions } from './table/read-table.ts';
import { readWholeTable } from './table/whole-table.ts';

/** A file of numbers. */
export interface NumberTable {
  /** Names of the columns, where the file has them. */
  readonly names: readonly string[] | undefined;
  /** rows x columns; `float32` where all columns that are read are at most that wide, `float64` otherwise. */
  readonly rows: Matrix;
  /** Rows that were left out, since a value of theirs is missing. */
  readonly dropped: number;
}

/**
 * Reads a file of numbers, CSV, NPY, Arrow (file or stream) or Parquet, whole: rows x columns; `-` is standard input. Of 64-bit integers
 * only those that float64 holds are read.
 *
 * Throws `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`,
 * `ERR_MALFORMED_PARQUET`; `ERR_INVALID_ARGUMENT` (an unknown format, a column that the file has not, a column of text),
 * `ERR_UNKNOWN_OPTION`, `ERR_NOT_FINITE` with row and column (an infinite or missing value), `ERR_OUT_OF_RANGE` (an integer that float64
 * does not hold), `ERR_OUT_OF_MEMORY`.
 */
export async function readTable(path: string, options: TableOptions = {}): Promise<NumberTable> {
  const { names, columns, dropped, values } = await readWholeTable(path, options);
  return { names, rows: Matrix.from(values, { columns }), dropped };
}
