import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { inputName } from '../file/input.ts';
import { rowsPerBlock } from '../moments/block.ts';
import { Moments } from '../moments/moments.ts';
import { openTable, type TableOptions } from '../table/read-table.ts';
import type { TableReader } from '../table/table.ts';
import { type Shard, wholeShard } from './shard.ts';

/** Files of rows, and the columns and rows to use. */
export interface FitInput {
  readonly paths: readonly string[];
  readonly table: TableOptions;
  /** Names of the columns with numpy.cov's aweights and fweights. */
  readonly weights: string | undefined;
  readonly frequencies: string | undefined;
  /** By default all rows. */
  readonly shard: Shard | undefined;
}

/** Moments of rows, and the number of rows read. */
export interface FitRows {
  readonly moments: Moments;
  /** Names of the columns of the rows. */
  readonly names: readonly string[] | undefined;
  /** Number of rows left out because they have a missing value. */
  readonly dropped: number;
  /** True if rows without a missing value were read, also where the weight of each is 0. */
  readonly hasRows?: boolean | undefined;
  /** Where the rows come from, where that is known. */
  readonly files?: readonly string[];
}

/**
 * What shards have in common, as a hexadecimal SHA-256: the names of the files without their folders, their sizes, and
 * the options of reading. Two tasks may see the same files at different paths.
 */
export async function inputHash({ paths, table, weights, frequencies }: FitInput): Promise<string> {
  // A file that is missing here is reported when it is read.
  const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? null;
  const files = await Promise.all(paths.map(async (path) => [basename(path), await sizeOf(path)]));
  const { format, columns, missing, header, delimiter, comment, member } = table;
  const told = Object.entries({ header, delimiter, comment, member }).filter(([, value]) => value !== undefined);
  const asked = [files, format, columns, missing, weights, frequencies, ...told].map((each) => each ?? null);
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}

/**
 * The moments of files, read block by block. A shard reads every n-th file if there are that many, otherwise every n-th
 * block of rows; this depends on the files alone. Throws like openTable() and Moments.add(), and `ERR_SHAPE` if files
 * differ in columns.
 */
export async function momentsOfFiles(input: FitInput, device: Device, signal: AbortSignal): Promise<FitRows> {
  const { paths, shard = wholeShard } = input;
  const isByFile = paths.length >= shard.count;
  let all: FitRows | undefined;
  for (const [at, path] of paths.entries()) {
    if (isByFile && at % shard.count !== shard.index) continue;
    // Shifted by file, so that the first blocks of many small files do not all go to one shard.
    const ofBlocks = isByFile ? wholeShard : { count: shard.count, index: (shard.index + at) % shard.count };
    const rows = await momentsOfFile(path, input, ofBlocks, device, signal);
    if (all === undefined) all = rows;
    else all = joinedFitRows(all, rows, `File (${path})`);
  }
  if (all!.moments.count === 0 && input.shard === undefined) throw noRows(paths, all!);
  return { ...all!, files: paths.map(inputName) };
}

function noRows(paths: readonly string[], { names, dropped, hasRows }: FitRows): CovariumError {
  const isOne = paths.length === 1;
  const weightless = `only rows of weight (0)${dropped === 0 ? '' : ' or with a missing value'}: there is nothing to fit`;
  const header =
    names === undefined ? 'no rows' : `a header (${describe(names.join(', '))}) and no rows: there is nothing to fit`;
  const unread = dropped === 0 ? header : `(${dropped}) rows, and a missing value in each`;
  const file = isOne ? `File (${inputName(paths[0]!)}) has` : `All (${paths.length}) files have`;
  return new CovariumError('ERR_SHAPE', `${file} ${hasRows ? weightless : unread}.`, {
    ...(isOne && { path: paths[0]! }),
  });
}

/** The rows of both, with the columns of the first; throws `ERR_SHAPE` if `what` has other columns. */
export function joinedFitRows(rows: FitRows, others: FitRows, what: string): FitRows {
  // A name with a comma is quoted, so that two lists that differ do not look alike.
  const shown = (names: readonly string[] | undefined) =>
    names?.map((name) => (/[",]/.test(name) ? JSON.stringify(name) : name)).join(', ') ?? 'no names';
  if (
    JSON.stringify(rows.names) !== JSON.stringify(others.names) ||
    rows.moments.dimension !== others.moments.dimension
  )
    throw new CovariumError(
      'ERR_SHAPE',
      `${what} has (${others.moments.dimension}) columns (${shown(others.names)}), but those before it have ` +
        `(${rows.moments.dimension}) (${shown(rows.names)}).`,
    );
  rows.moments.merge(others.moments);
  return { ...rows, dropped: rows.dropped + others.dropped, hasRows: rows.hasRows || others.hasRows };
}

async function momentsOfFile(
  path: string,
  { weights, frequencies, table }: FitInput,
  shard: Shard,
  device: Device,
  signal: AbortSignal,
): Promise<FitRows> {
  const beside = [weights, frequencies].filter((name) => name !== undefined);
  const asked = table.columns && [...table.columns, ...beside.filter((name) => !table.columns?.includes(name))];
  const reader = await openTable(path, { ...table, columns: asked });
  try {
    const { names, columns } = reader.head;
    const placeOf = (option: string, name: string | undefined) =>
      name === undefined ? undefined : place(option, name, names, path);
    const [weightsAt, frequenciesAt] = [placeOf('--weights', weights), placeOf('--frequencies', frequencies)];
    const chosen = Array.from({ length: columns }, (_, column) => column).filter(
      (column) => column !== weightsAt && column !== frequenciesAt,
    );
    if (chosen.length === 0)
      throw new CovariumError('ERR_SHAPE', `File (${path}) has (0) columns besides its weights.`, { path });
    const moments = new Moments(chosen.length, { device });
    const rowsAtOnce = rowsPerBlock(chosen.length);
    let block = 0;
    for await (const rows of blocksOfRows(reader, rowsAtOnce)) {
      signal.throwIfAborted();
      if (block % shard.count === shard.index) {
        const column = (at: number | undefined) => (at === undefined ? undefined : picked(rows, columns, [at]));
        const options = { weights: column(weightsAt), frequencies: column(frequenciesAt), signal };
        await moments.add(picked(rows, columns, chosen), options).catch((error: unknown) => {
          throw inFile(error, path, block * rowsAtOnce);
        });
      }
      block += 1;
    }
    // Each shard of a file's blocks reads, and drops, all of its rows: only one shard counts them.
    const dropped = shard.index === 0 ? reader.dropped : 0;
    return { moments, names: names && chosen.map((column) => names[column]!), dropped, hasRows: block > 0 };
  } finally {
    await reader.close();
  }
}

// Blocks of a fixed size, whatever the reader's, so that the rows alone decide the order of summation.
async function* blocksOfRows(reader: TableReader, rowsAtOnce: number): AsyncGenerator<Float64Array> {
  const block = new Float64Array(rowsAtOnce * reader.head.columns);
  let length = 0;
  for await (const values of reader.blocks())
    for (let at = 0; at < values.length; ) {
      const taken = values.subarray(at, at + block.length - length);
      block.set(taken, length);
      at += taken.length;
      length += taken.length;
      if (length < block.length) continue;
      yield block;
      length = 0;
    }
  if (length > 0) yield block.subarray(0, length);
}

function place(option: string, name: string, names: readonly string[] | undefined, path: string): number {
  const at = names?.indexOf(name) ?? -1;
  if (at >= 0 && at === names!.lastIndexOf(name)) return at;
  const why =
    at >= 0
      ? `has more than one column (${name})`
      : `has no column (${name}), only (${names?.join(', ') ?? 'columns without names'})`;
  throw new CovariumError('ERR_INVALID_ARGUMENT', `${option}: file (${path}) ${why}.`, { path });
}

function picked(rows: Float64Array, columns: number, chosen: readonly number[]): Float64Array {
  if (chosen.length === columns) return rows;
  const count = rows.length / columns;
  const values = new Float64Array(count * chosen.length);
  for (let row = 0, at = 0; row < count; row++)
    for (const column of chosen) values[at++] = rows[row * columns + column]!;
  return values;
}

function inFile(error: unknown, path: string, first: number): unknown {
  if (!(error instanceof CovariumError) || error.code === 'ERR_ABORTED') return error;
  const message = `${error.message} Rows are counted from row (${first}) of file (${path}).`;
  return new CovariumError(error.code, message, { path, cause: error });
}
