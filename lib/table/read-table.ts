import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { type AbortOptions, checkOptions, describe, marked, quoted, refuseAborted, wrongArgument } from '../check.ts';
import { CovariumError, loading } from '../covarium-error.ts';
import { type Missing, type Real, type RealDtype, requireMissing } from '../dtype.ts';
import { ByteSource, type InputSource, inputName, isUrl, keepError, pathnameOf, requireSource } from '../file/input.ts';
import { formatOf, formatOfBytes, type TableFormat } from './format.ts';
import { closeResult, joinedRows } from './result-memory.ts';
import type { ReadRequest, TableHead, TableReader } from './table.ts';

/** How a table is read. */
export interface TableOptions extends AbortOptions {
  /**
   * By default the format of the file name's ending; CSV if the ending decides nothing, and for standard input. For
   * bytes and streams, by default the format of their first bytes.
   */
  readonly format?: TableFormat | undefined;
  /**
   * The columns to read, by name, in this order. By default all, except the index of a pandas data frame in Parquet
   * and Arrow files.
   */
  readonly columns?: readonly string[] | undefined;
  /**
   * What to do with a row that has a missing value (a null, a NaN, an empty field): refuse it, by default, or leave it
   * out.
   */
  readonly missing?: Missing | undefined;
  /** The name of the array to read from an `.npz` file. By default the only one; required if there are several. */
  readonly member?: string | undefined;
  /**
   * For CSV: true if the first row has the names of the columns, false if it has numbers; by default the file decides.
   */
  readonly header?: boolean | undefined;
  /**
   * For CSV: one letter between fields, by default a comma, a semicolon, a tab, a bar or a blank, as the file decides.
   * A blank stands for any number of blanks.
   */
  readonly delimiter?: string | undefined;
  /** For CSV: one letter; lines that begin with it are skipped. None by default. */
  readonly comment?: string | undefined;
  /** Called with a sentence about anything doubtful in a file; by default the process emits a warning. */
  readonly warn?: ((sentence: string) => void) | undefined;
}

type OpenReader = (source: InputSource, request: ReadRequest) => Promise<TableReader>;

// A format's modules are loaded when a file of that format is read.
const openers: { readonly [format in TableFormat]: () => Promise<OpenReader> } = {
  csv: async () => (await loading(import('./csv-reader.ts'))).openCsv,
  npy: async () => (await loading(import('./npy-reader.ts'))).openNpy,
  arrow: async () => (await loading(import('./arrow-reader.ts'))).openArrow,
  // The reader tells the two apart by their first bytes.
  arrows: async () => (await loading(import('./arrow-reader.ts'))).openArrow,
  parquet: async () => (await loading(import('./parquet-reader.ts'))).openParquet,
};

/**
 * Opens a file of numbers, `-` for standard input, to be read block by block. Throws `ERR_INVALID_ARGUMENT` for columns
 * that the file does not have or that do not hold numbers, `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`,
 * `ERR_MALFORMED_ARROW`, `ERR_MALFORMED_PARQUET`, `ERR_UNSUPPORTED`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`,
 * `ERR_ABORTED`; its blocks throw these too, and `ERR_NOT_FINITE` unless they are to keep `all rows`.
 */
export async function openTable(
  source: InputSource,
  options: TableOptions = {},
  keep: 'complete rows' | 'all rows' = 'complete rows',
): Promise<TableReader> {
  checkOptions(options, optionNames);
  const { format: given, columns, member, signal, warn = warnProcess } = options;
  const wanted = requireMissing(options.missing);
  const missing = keep === 'all rows' ? 'keep' : wanted;
  requireSource(source);
  refuseAborted(signal);
  if (columns !== undefined && !Array.isArray(columns))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `\`columns\` is (${describe(columns)}); pass an array of names.`);
  if (member !== undefined && typeof member !== 'string')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `\`member\` is (${describe(member)}); pass the name of an array.`);
  if (typeof warn !== 'function')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `\`warn\` is (${describe(warn)}); pass a function.`);
  const csv = csvOptions(options);
  keepError(source);
  const { format, from } = await recognized(source, given, signal);
  if (member !== undefined && format !== 'npy')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `\`member\` (${member}) is for .npz files, not for ${format}.`);
  const open = await openers[format]();
  return open(from, { columns, missing, member, ...csv, signal, warn });
}

const optionNames = ['format', 'columns', 'missing', 'member', 'header', 'delimiter', 'comment', 'warn', 'signal'];

function warnProcess(sentence: string): void {
  process.emitWarning(sentence, { type: 'CovariumWarning' });
}

type CsvOptions = Pick<TableOptions, 'header' | 'delimiter' | 'comment'>;

function csvOptions({ header, delimiter, comment }: CsvOptions): CsvOptions {
  if (header !== undefined && typeof header !== 'boolean') throw wrongArgument('header', header, 'true or false');
  for (const [name, letter] of Object.entries({ delimiter, comment }))
    if (letter !== undefined && !(typeof letter === 'string' && /^[\t !#$%&'*/:;<=>?@[\\\]^_`{|}~,]$/.test(letter)))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `${marked(name)} is (${quoted(letter)}): pass one ASCII letter that is neither part of a number nor a quote.`,
      );
  if (delimiter !== undefined && delimiter === comment)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`delimiter\` and \`comment\` are the same letter (${delimiter}): pass two.`,
    );
  return { header, delimiter, comment };
}

interface Recognized {
  readonly format: TableFormat;
  readonly from: InputSource;
}

/** The format of a source, and the source from its first byte. */
async function recognized(
  source: InputSource,
  given: TableFormat | undefined,
  signal: AbortSignal | undefined,
): Promise<Recognized> {
  const path = isUrl(source) ? pathnameOf(source) : source;
  if (given === undefined && typeof path === 'string' && /\.npz$/i.test(path)) return { format: 'npy', from: source };
  if (given !== undefined || typeof path === 'string')
    return { format: formatOf(typeof path === 'string' ? path : '-', given, 'csv'), from: source };
  const bytes = new ByteSource(source, signal);
  try {
    const format = formatOfBytes(await bytes.peek(6));
    return { format, from: (await bytes.size()) === undefined ? restOf(bytes) : source };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

async function* restOf(bytes: ByteSource): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await bytes.chunk(); chunk !== undefined; chunk = await bytes.chunk()) yield chunk;
  } finally {
    await bytes.close();
  }
}

/** A file of numbers in memory. */
export interface WholeTable extends TableHead {
  readonly path: string;
  readonly rows: number;
  /** Number of rows left out because they have a missing value. */
  readonly dropped: number;
  /** As {@link TableReader} has them. */
  readonly rowNames: readonly string[] | undefined;
  /** Row after row. */
  readonly values: Real;
}

/** Reads a file of numbers whole. Throws what {@link openTable} throws. */
export async function readWholeTable(source: InputSource, options: TableOptions = {}): Promise<WholeTable> {
  const reader = await openTable(source, options);
  try {
    const values = await (reader.whole?.() ?? joined(reader, options.signal));
    const { head, dropped, rowNames } = reader;
    return { ...head, path: inputName(source), rows: values.length / head.columns, dropped, rowNames, values };
  } finally {
    await reader.close();
  }
}

async function joined(reader: TableReader, signal: AbortSignal | undefined): Promise<Real> {
  const blocks: Real[] = [];
  for await (const block of reader.blocks()) {
    refuseAborted(signal);
    blocks.push(block);
  }
  return joinedRows(reader.head.dtype, blocks, signal);
}

/** A file of numbers. */
export interface NumberTable {
  /** Names of the columns, if the file has them. */
  readonly names: readonly string[] | undefined;
  /** rows x columns; `float32` if all columns that are read are at most that wide, otherwise `float64`. */
  readonly rows: Matrix<RealDtype>;
  /** Number of rows left out because they have a missing value. */
  readonly dropped: number;
}

/**
 * Reads a whole file of numbers, rows x columns: CSV, NPY, Arrow (file or stream) or Parquet. `source` is a path (`-`
 * is standard input), a URL (`file:`, `http:`, `https:`), bytes, or a stream of bytes. A 64-bit integer that float64
 * does not hold is refused, in CSV too. If you read large tables one after the other, close the rows of each, so that
 * the next can reuse their memory.
 *
 * ```ts
 * const { rows } = await readTable(new URL('https://example.org/points.csv'));
 * const fromMemory = await readTable(Buffer.from('a,b\n1,2\n'));
 * ```
 *
 * Throws `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`,
 * `ERR_MALFORMED_PARQUET`; `ERR_INVALID_ARGUMENT` (an unknown format, a column that the file does not have, a
 * column of text), `ERR_UNSUPPORTED`, `ERR_UNKNOWN_OPTION`, `ERR_ABORTED`, `ERR_NOT_FINITE` with row and column (an
 * infinite or missing value; in CSV it is `ERR_MALFORMED_CSV` with line and column), `ERR_OUT_OF_RANGE` (an integer
 * that float64 does not hold), `ERR_OUT_OF_MEMORY`.
 */
export async function readTable(source: InputSource, options: TableOptions = {}): Promise<NumberTable> {
  const { names, columns, rows, dropped, values } = await readWholeTable(source, options);
  const storage = new Storage<RealDtype>(values, undefined, undefined, () => closeResult(values));
  return { names, rows: new Matrix(storage, rows, columns), dropped };
}
