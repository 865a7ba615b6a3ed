import { Matrix } from '../array/matrix.ts';
import { checkOptions, describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Missing, type Real, requireMissing } from '../dtype.ts';
import { formatOf, type TableFormat } from './format.ts';
import type { ReadRequest, TableHead, TableReader } from './table.ts';

/** How a table is read. */
export interface TableOptions {
  /** By default what the ending of the file's name says; CSV where it says nothing, and for standard input. */
  readonly format?: TableFormat | undefined;
  /** The columns to read, by name, in this order; by default all. */
  readonly columns?: readonly string[] | undefined;
  /** Whether a row with a missing value (a null, a NaN, an empty field) is refused, by default, or left out. */
  readonly missing?: Missing | undefined;
}

type OpenReader = (path: string, request: ReadRequest) => Promise<TableReader>;

// The libraries are loaded with the format that needs them.
const openers: { readonly [format in TableFormat]: () => Promise<OpenReader> } = {
  csv: async () => (await import('./csv-reader.ts')).openCsv,
  npy: async () => (await import('./npy-reader.ts')).openNpy,
  arrow: async () => (await import('./arrow-reader.ts')).openArrow,
  // A reader knows the two by their first bytes.
  arrows: async () => (await import('./arrow-reader.ts')).openArrow,
  parquet: async () => (await import('./parquet-reader.ts')).openParquet,
};

/**
 * Opens a file of numbers, `-` for standard input, to be read block by block. Throws `ERR_INVALID_ARGUMENT` for columns
 * that it has not or that hold no numbers, `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`,
 * `ERR_MALFORMED_PARQUET`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`; its blocks throw these too, and
 * `ERR_NOT_FINITE`.
 */
export async function openTable(path: string, options: TableOptions = {}): Promise<TableReader> {
  checkOptions(options, ['format', 'columns', 'missing']);
  const { columns } = options;
  const missing = requireMissing(options.missing);
  if (columns !== undefined && !Array.isArray(columns))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Columns are no array of names (${describe(columns)}).`);
  const open = await openers[formatOf(path, options.format, 'csv')]();
  return open(path, { columns, missing });
}

/** A file of numbers in memory. */
export interface WholeTable extends TableHead {
  readonly path: string;
  readonly rows: number;
  /** Rows that were left out, since a value of theirs is missing. */
  readonly dropped: number;
  /** Row after row. */
  readonly values: Real;
}

/** Reads a file of numbers whole. Throws what {@link openTable} throws. */
export async function readWholeTable(path: string, options: TableOptions = {}): Promise<WholeTable> {
  const reader = await openTable(path, options);
  try {
    const values = await joined(reader);
    const { head, dropped } = reader;
    return { ...head, path, rows: values.length / head.columns, dropped, values };
  } finally {
    await reader.close();
  }
}

async function joined(reader: TableReader): Promise<Real> {
  const blocks: Real[] = [];
  let length = 0;
  for await (const block of reader.blocks()) {
    blocks.push(block);
    length += block.length;
  }
  if (blocks.length === 1) return blocks[0]!;
  const values = reader.head.dtype === 'float32' ? new Float32Array(length) : new Float64Array(length);
  let at = 0;
  for (const block of blocks) {
    values.set(block, at);
    at += block.length;
  }
  return values;
}

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
 * Reads a file of numbers, CSV, NPY, Arrow (file or stream) or Parquet, whole: rows x columns; `-` is standard input.
 * Of 64-bit integers only those that float64 holds are read.
 *
 * Throws `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`,
 * `ERR_MALFORMED_PARQUET`; `ERR_INVALID_ARGUMENT` (an unknown format, a column that the file has not, a column of
 * text), `ERR_UNKNOWN_OPTION`, `ERR_NOT_FINITE` with row and column (an infinite or missing value), `ERR_OUT_OF_RANGE`
 * (an integer that float64 does not hold), `ERR_OUT_OF_MEMORY`.
 */
export async function readTable(path: string, options: TableOptions = {}): Promise<NumberTable> {
  const { names, columns, dropped, values } = await readWholeTable(path, options);
  return { names, rows: Matrix.from(values, { columns }), dropped };
}
