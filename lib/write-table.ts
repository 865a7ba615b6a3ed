import { checkOptions } from './check-options.ts';
import { CovariumError } from './covarium-error.ts';
import type { RealDtype } from './distribution-input.ts';
import type { Real } from './dtype.ts';
import { Matrix, type MatrixInput } from './matrix.ts';
import { formatOf, type TableFormat } from './table/format.ts';
import { openOutput } from './table/output-file.ts';
import { openTableWriter } from './table/write-table.ts';

/** How a table is written. */
export interface WriteTableOptions {
  /** Names of the columns, one each; none by default: CSV has then no header, Arrow and Parquet have x1, x2, ... NPY holds none. */
  readonly names?: readonly string[] | undefined;
  /** By default what the ending of the file's name says; CSV for standard output. */
  readonly format?: TableFormat | undefined;
}

/**
 * Writes rows x columns of `float32` or `float64` numbers (lists of numbers are `float64`) as CSV, NPY, Arrow (file or stream) or Parquet,
 * `-` to standard output. The file appears under its name when it is whole; until then what was there stays.
 *
 * Throws `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL`, `ERR_SHAPE` (names that are not as many as the columns), `ERR_INVALID_ARGUMENT` (an
 * unknown format, whole numbers, a name that is there twice in Arrow or Parquet or is a number in CSV), `ERR_UNKNOWN_OPTION`,
 * `ERR_CLOSED`.
 */
export async function writeTable(path: string, rows: MatrixInput, options: WriteTableOptions = {}): Promise<void> {
  checkOptions(options, ['names', 'format']);
  const { names } = options;
  const format = formatOf(path, options.format);
  const matrix = rows instanceof Matrix ? rows : Matrix.from(rows, Array.isArray(rows) ? { dtype: 'float64' } : {});
  const { data: values, dtype } = matrix;
  if (dtype !== 'float32' && dtype !== 'float64')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Rows are of type (${dtype}), not one of (float32, float64).`);
  const output = await openOutput(path);
  const head = { names, columns: matrix.columns, dtype: dtype as RealDtype, rows: matrix.rows };
  const table = await openTableWriter(output, format, head);
  try {
    await table.write(values as Real);
    await table.finish();
  } catch (error) {
    await table.discard();
    throw error;
  }
}
