import { clonedContents, isArrayJson } from '../array/face.ts';
import { elementTypeOf, foreignNames } from '../array/foreign.ts';
import { requireAttached } from '../array/host-memory.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireLength } from '../array/operand.ts';
import {
  type AbortOptions,
  checkOptions,
  describe,
  marked,
  named,
  refuseAborted,
  unlessAborted,
  wholeNumber,
} from '../check.ts';
import { CovariumError, loading } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import { Turns } from '../work.ts';
import { formatOf, type TableFormat } from './format.ts';
import type { NumberTable } from './read-table.ts';
import type { RowWriter, TableHead, TableWriter } from './table.ts';

/** Begins a table: `finish` writes what follows the rows, and does not close the output. */
type OpenWriter = (output: Output, head: TableHead) => Promise<RowWriter>;

// A format's modules are loaded when a file of that format is written.
const openers: { readonly [format in TableFormat]: OpenWriter } = {
  csv: async (...to) => (await loading(import('./csv-writer.ts'))).openCsvWriter(...to),
  npy: async (...to) => (await loading(import('./npy.ts'))).openNpyWriter(...to),
  arrow: async (...to) => (await loading(import('./arrow-writer.ts'))).openArrowWriter(...to, 'file'),
  arrows: async (...to) => (await loading(import('./arrow-writer.ts'))).openArrowWriter(...to, 'stream'),
  parquet: async (...to) => (await loading(import('./parquet-writer.ts'))).openParquetWriter(...to),
};

/**
 * A table that is written block by block, in bounded memory. It owns the output and discards it if it cannot begin.
 * Throws `ERR_INVALID_ARGUMENT` for names that the format cannot hold or an unknown number of rows that it must know,
 * `ERR_SHAPE` for rows that contradict the head, and what the output throws.
 */
export async function openTableWriter(output: Output, format: TableFormat, head: TableHead): Promise<TableWriter> {
  try {
    if (head.names !== undefined) requireLength('`names`', head.names.length, head.columns, '`rows`', 'columns');
    // UTF-8 has no half of a surrogate pair: each would become U+FFFD, and two names one.
    const broken = format === 'npy' ? undefined : head.names?.find((name) => /\p{Cs}/u.test(name));
    if (broken !== undefined)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Column name (${describe(broken)}) has half of a surrogate pair, which no file can hold; pass other \`names\`.`,
      );
    return new CountedWriter(output, head, await openers[format](output, head));
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** Checks the rows against the head. */
class CountedWriter implements TableWriter {
  readonly #output: Output;
  readonly #head: TableHead;
  readonly #writer: RowWriter;
  #rows = 0;

  constructor(output: Output, head: TableHead, writer: RowWriter) {
    this.#output = output;
    this.#head = head;
    this.#writer = writer;
  }

  get pieceBytes(): number | undefined {
    return this.#writer.pieceBytes;
  }

  async write(values: Real): Promise<void> {
    const { columns, dtype, rows } = this.#head;
    if (values.length % columns !== 0)
      throw new CovariumError('ERR_SHAPE', `Values (${values.length}) are not whole rows of (${columns}).`);
    if (dtypeOf(values) !== dtype)
      throw new CovariumError('ERR_INVALID_ARGUMENT', `Values are of type (${dtypeOf(values)}), not (${dtype}).`);
    this.#rows += values.length / columns;
    if (rows !== undefined && this.#rows > rows)
      throw new CovariumError('ERR_SHAPE', `\`count\` is (${rows}), but there are (${this.#rows}) rows or more.`);
    if (values.length > 0) await this.#writer.write(values);
  }

  async finish(): Promise<void> {
    const { rows } = this.#head;
    if (rows !== undefined && this.#rows !== rows)
      throw new CovariumError('ERR_SHAPE', `\`count\` is (${rows}), but there are (${this.#rows}) rows.`);
    await this.#writer.finish();
    await this.#output.finish();
  }

  async discard(): Promise<void> {
    await this.#output.discard();
  }
}

/** Options of {@link writeTable}. */
export interface WriteTableOptions extends AbortOptions {
  /**
   * Names of the columns, one each. By default those that a table has, or none: CSV then has no header, Arrow and
   * Parquet use x1, x2, ... NPY stores no names.
   */
  readonly names?: readonly string[] | undefined;
  /** By default the format of the file name's ending; CSV for standard output. */
  readonly format?: TableFormat | undefined;
  /** The number of rows of an async iterable. NPY to standard output needs it; by default files count them. */
  readonly count?: number | undefined;
}

/** What {@link writeTable} writes: a matrix, a table, or what {@link readTable} gives. */
export type TableInput = MatrixInput | NumberTable;

/**
 * Writes rows x columns of `float32` or `float64` numbers (lists of numbers are `float64`) as CSV, NPY, Arrow (file or
 * stream) or Parquet. The path `-` is standard output. `rows` is a matrix, a table (by columns, by rows, or as {@link
 * readTable} returns it), or an async iterable of these, which are written as they come. The file appears under its
 * name when it is complete; until then an older file stays. Numbers that are not finite are written as they are (in CSV
 * as NaN, Infinity and -Infinity), but {@link readTable} takes NaN for a missing value and refuses infinite numbers.
 *
 * ```ts
 * await writeTable('draws.parquet', normal.blocks(1_000_000_000, { seed: 1 }));
 * ```
 *
 * Throws `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL`, `ERR_SHAPE` (the number of names is not that of the columns, or blocks
 * have different columns or names), `ERR_INVALID_ARGUMENT` (an unknown format, whole numbers, blocks of two types, a
 * name that occurs twice in Arrow or Parquet, NPY to a pipe without `count`), `ERR_UNKNOWN_OPTION`, `ERR_CLOSED`,
 * `ERR_ABORTED`, and what the iterable throws.
 */
export async function writeTable(
  path: string,
  rows: TableInput | AsyncIterable<TableInput>,
  options: WriteTableOptions = {},
): Promise<void> {
  checkOptions(options, ['names', 'format', 'count', 'signal']);
  const { names, signal } = options;
  if (names !== undefined && !(Array.isArray(names) && Array.from(names).every((name) => typeof name === 'string')))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `\`names\` is (${describe(names)}); pass an array of strings.`);
  const format = formatOf(path, options.format);
  const count = options.count === undefined ? undefined : wholeNumber('count', options.count);
  refuseAborted(signal);
  const blocks = isAsync(rows) ? rows[Symbol.asyncIterator]() : undefined;
  const turns = new Turns(signal);
  let table: TableWriter | undefined;
  try {
    let block: RealMatrix | undefined =
      blocks === undefined ? realMatrix(rows as TableInput, 'rows') : await nextOf(blocks, 0, signal);
    if (blocks === undefined && block!.rows !== (count ?? block!.rows))
      throw new CovariumError('ERR_SHAPE', `\`count\` is (${count}), but there are (${block!.rows}) rows.`);
    const head = {
      names: names ?? block?.names,
      columns: block?.columns ?? names?.length ?? 0,
      dtype: block?.dtype ?? 'float64',
      rows: blocks === undefined ? block!.rows : count,
    };
    if (head.columns === 0)
      throw new CovariumError(
        'ERR_SHAPE',
        '`rows` gave (0) blocks; pass `names`, so that the number of columns is known.',
      );
    const { openOutput } = await loading(import('../file/output.ts'));
    table = await openTableWriter(await openOutput(path, signal), format, head);
    // Not the block itself: its memory would be held until the end.
    const known = block?.names;
    for (let index = 0; block !== undefined; ) {
      if (block.columns !== head.columns)
        throw new CovariumError(
          'ERR_SHAPE',
          `${blockName(index)} has (${block.columns}) columns, but the first has (${head.columns}).`,
        );
      if (block.dtype !== head.dtype)
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `${blockName(index)} has type (${block.dtype}), but the first has (${head.dtype}).`,
        );
      refuseOtherNames(blockName(index), block.names, known);
      await writeInTurns(table, block, turns, signal);
      block = blocks && (await nextOf(blocks, ++index, signal));
    }
    await table.finish();
  } catch (error) {
    await table?.discard();
    // The iterable's end may be what it waits for.
    blocks?.return?.()?.catch(() => {});
    throw error;
  }
}

interface RealMatrix {
  readonly values: Real;
  readonly dtype: RealDtype;
  readonly rows: number;
  readonly columns: number;
  readonly names: readonly string[] | undefined;
}

const usualPieceBytes = 1 << 20;

/** Writes piece by piece, so that neither the event loop nor a signal waits for a large matrix. */
async function writeInTurns(
  table: TableWriter,
  { values, rows, columns }: RealMatrix,
  turns: Turns,
  signal: AbortSignal | undefined,
): Promise<void> {
  const piece =
    Math.max(1, Math.floor((table.pieceBytes ?? usualPieceBytes) / values.BYTES_PER_ELEMENT / columns)) * columns;
  // Of rows that are closed meanwhile, `values` has none left, as if all were written.
  for (let at = 0; at < rows * columns; at += piece) {
    refuseAborted(signal);
    requireAttached('Rows', values);
    try {
      await table.write(values.subarray(at, at + piece));
    } finally {
      // Where they were closed during the write, that is the cause of what it threw, or it wrote other bytes.
      requireAttached('Rows', values);
    }
    await turns.take();
  }
}

// All blocks are written under the names of the first, so other columns would be written under wrong names.
function refuseOtherNames(
  block: string,
  names: readonly string[] | undefined,
  known: readonly string[] | undefined,
): void {
  if (names === undefined || known === undefined || names === known) return;
  if (names.every((name, column) => name === known[column])) return;
  throw new CovariumError(
    'ERR_SHAPE',
    `${block} has columns (${describe(names.join(', '))}), but the first has (${describe(known.join(', '))}).`,
  );
}

// An iterable may never give its next block.
async function nextOf(
  blocks: AsyncIterator<TableInput>,
  index: number,
  signal: AbortSignal | undefined,
): Promise<RealMatrix | undefined> {
  refuseAborted(signal);
  const { value, done } = await unlessAborted(signal, blocks.next());
  return done === true ? undefined : realMatrix(value, blockName(index));
}

// As messages name what an iterable gives.
function blockName(index: number): string {
  return `Block (${index}) of \`rows\``;
}

function isAsync(rows: TableInput | AsyncIterable<TableInput>): rows is AsyncIterable<TableInput> {
  return typeof (rows as AsyncIterable<TableInput> | undefined)?.[Symbol.asyncIterator] === 'function';
}

function realMatrix(given: TableInput, name: string): RealMatrix {
  return named(name, () => {
    const isTable = isNumberTable(given);
    const rows = clonedContents(isTable ? given.rows : given);
    // A structured clone of a matrix is no object of columns.
    const names = isTable ? given.names : rows === given ? foreignNames(given) : undefined;
    const isPlain = Array.isArray(rows) || elementTypeOf(rows) === 'plain';
    const matrix = rows instanceof Matrix ? rows : Matrix.from(rows, isPlain ? { dtype: 'float64' } : {});
    const { data: values, dtype, columns } = matrix;
    if (dtype !== 'float32' && dtype !== 'float64')
      throw new CovariumError('ERR_INVALID_ARGUMENT', `${marked(name)} has type (${dtype}): pass float32 or float64.`);
    return { values: values as Real, dtype, rows: matrix.rows, columns, names };
  });
}

/** Whether rows are what readTable() gives, or what structuredClone, postMessage or JSON makes of it. */
function isNumberTable(given: TableInput): given is NumberTable {
  const { rows } = (given ?? {}) as { readonly rows?: unknown };
  return rows instanceof Matrix || clonedContents(rows) !== rows || isArrayJson(rows);
}
