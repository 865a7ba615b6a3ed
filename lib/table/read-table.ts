import { checkOptions } from '../check-options.ts';
import { CovariumError } from '../covarium-error.ts';
import { describe } from '../describe.ts';
import type { Missing } from './complete-rows.ts';
import { formatOf, type TableFormat } from './format.ts';
import type { TableReader } from './table.ts';

/** How a table is read. */
export interface TableOptions {
  /** By default what the ending of the file's name says; CSV where it says nothing, and for standard input. */
  readonly format?: TableFormat | undefined;
  /** The columns to read, by name, in this order; by default all. */
  readonly columns?: readonly string[] | undefined;
  /** Whether a row with a missing value (a null, a NaN, an empty field) is refused, by default, or left out. */
  readonly missing?: Missing | undefined;
}

/** What the reader of a format is asked for. */
export interface ReadRequest {
  readonly columns: readonly string[] | undefined;
  readonly missing: Missing;
}

type OpenReader = (path: string, request: ReadRequest) => Promise<TableReader>;

// The libraries are loaded with the format that needs them.
const openers: { readonly [format in TableFormat]: () => Promise<OpenReader> } = {
  csv: async () => (await import('./csv.ts')).openCsv,
  npy: async () => (await import('./npy-reader.ts')).openNpy,
  arrow: async () => (await import('./arrow-reader.ts')).openArrow,
  // A reader knows the two by their first bytes.
  arrows: async () => (await import('./arrow-reader.ts')).openArrow,
  parquet: async () => (await import('./parquet-reader.ts')).openParquet,
};

/**
 * Opens a file of numbers, `-` for standard input, to be read block by block. Throws `ERR_INVALID_ARGUMENT` for columns that it has not
 * or that hold no numbers, `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`, `ERR_MALFORMED_PARQUET`,
 * `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`; its blocks throw these too, and `ERR_NOT_FINITE`.
 */
export async function openTable(path: string, options: TableOptions = {}): Promise<TableReader> {
  checkOptions(options, ['format', 'columns', 'missing']);
  const { columns, missing = 'error' } = options;
  if (missing !== 'error' && missing !== 'drop')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Missing (${describe(missing)}) is not one of (error, drop).`);
  if (columns !== undefined && !Array.isArray(columns))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Columns are no array of names (${describe(columns)}).`);
  const open = await openers[formatOf(path, options.format, 'csv')]();
  return open(path, { columns, missing });
}
