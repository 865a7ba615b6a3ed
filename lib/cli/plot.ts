import { basename } from 'node:path';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Missing, type RealDtype, requireMissing } from '../dtype.ts';
import { openOutputFile, standardOutput } from '../file/output.ts';
import { refuseInputs, refuseSharedInput } from '../file/same-file.ts';
import type { NormalJson } from '../normal/json.ts';
import { MultivariateNormal } from '../normal/multivariate-normal.ts';
import { openDevice } from '../open-device.ts';
import { maximumColumns, maximumDots, pairsPlot } from '../plot/pairs.ts';
import { pngFile } from '../plot/png.ts';
import { evenRows, type Points } from '../plot/points.ts';
import { formatOf } from '../table/format.ts';
import { openNpyRows } from '../table/npy-rows.ts';
import { openTable, type TableOptions } from '../table/read-table.ts';
import type { TableReader } from '../table/table.ts';
import { requireFileNames } from './arguments.ts';
import { readModel } from './model.ts';
import { type CsvArguments, columnList, csvOptions, tellDropped } from './read-options.ts';

/** Options of `covarium plot`, as typed. */
interface PlotArguments extends CsvArguments {
  readonly model: string;
  readonly draws: string;
  readonly data?: string;
  readonly columns?: string;
  readonly missing?: string;
  readonly title?: string;
  readonly output: string;
}

/**
 * `covarium plot`: the pairs plot of a model, draws and data, as an SVG or a PNG file, depending on the file's name.
 */
export async function plot(options: PlotArguments, signal: AbortSignal): Promise<void> {
  await requireFileNames({ '--output': options.output });
  if (options.output !== '-' && !/\.(svg|png)$/.test(options.output))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `--output (${options.output}) is not a picture: use a .svg file, a .png file, or (-) for SVG on standard output.`,
    );
  await refuseInputs([options.output], [options.model, options.draws, options.data]);
  refuseSharedInput({ '--model': options.model, '--draws': options.draws, '--data': options.data });
  const model = await readModel(options.model);
  const names = model.columns ?? model.mean.map((_, i) => `x${i + 1}`);
  const chosen = chosenColumns(names, options.columns);
  const mean = chosen.map((i) => model.mean[i]!);
  const covariance = chosen.map((i) => chosen.map((j) => model.covariance[i]![j]!));
  requireNormal(mean, covariance, model.dtype);
  const columns = chosen.map((i) => names[i]!);
  requireVariances(columns, covariance);
  const files = [options.draws, ...(options.data === undefined ? [] : [options.data])];
  // The options of reading are for what somebody else has written.
  const foreign = { ...csvOptions(options), missing: requireMissing(options.missing as Missing | undefined) };
  const reading = [...(options.data === undefined ? [] : [csvOptions({})]), foreign];
  const [draws, data] = await Promise.all(files.map((path, i) => readPoints(path, model, chosen, reading[i]!)));
  const picture = pairsPlot({
    title:
      options.title ??
      `${files.map((path) => basename(path)).join(' and ')}, with the normal of ${basename(options.model)}`,
    columns,
    mean,
    covariance,
    draws: draws!,
    ...(data && { data }),
  });
  const bytes = options.output.endsWith('.png') ? await pngFile(picture) : Buffer.from(picture);
  signal.throwIfAborted();
  const output = options.output === '-' ? standardOutput() : await openOutputFile(options.output);
  try {
    await output.write(bytes);
    await output.finish();
  } catch (error) {
    await output.discard();
    throw error;
  }
  const { dropped = 0, rows, of = rows } = data ?? draws!;
  tellDropped(dropped, of);
}

function chosenColumns(names: readonly string[], wanted: string | undefined): number[] {
  const chosen = wanted === undefined ? names.map((_, i) => i) : wantedColumns(names, wanted);
  if (chosen.length <= maximumColumns) return chosen;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Picture of (${chosen.length}) columns is too small to read: choose up to (${maximumColumns}) with --columns.`,
  );
}

function wantedColumns(names: readonly string[], wanted: string): number[] {
  const chosen = columnList(wanted).map((name) => {
    const index = names.indexOf(name);
    if (index >= 0) return index;
    const known = describe(names.join(', '));
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `--columns has (${describe(name)}), which is not one of the model's (${known}).`,
    );
  });
  if (chosen.length > 0 && new Set(chosen).size === chosen.length) return chosen;
  throw new CovariumError('ERR_INVALID_ARGUMENT', `--columns (${describe(wanted)}) is empty, or names a column twice.`);
}

// Throws what sampling from the model with --singular would throw; in float64 where float32 does not hold the model,
// because the picture does not depend on the type.
function requireNormal(mean: readonly number[], covariance: readonly (readonly number[])[], dtype: RealDtype): void {
  using device = openDevice('reference');
  try {
    using _normal = MultivariateNormal.fromCovarianceSync({ device, mean, covariance, dtype, singular: 'pivoted' });
  } catch (error) {
    const isUnheld = error instanceof CovariumError && error.code === 'ERR_OUT_OF_RANGE';
    if (!isUnheld || dtype === 'float64') throw error;
    requireNormal(mean, covariance, 'float64');
  }
}

function requireVariances(names: readonly string[], covariance: readonly (readonly number[])[]): void {
  const constant = names.findIndex((_, i) => covariance[i]![i] === 0);
  if (constant < 0) return;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `Column (${describe(names[constant])}) has a variance of (0): there is nothing to draw. Leave it out with --columns.`,
  );
}

/**
 * The chosen columns of a file of draws or data: only the rows to show if the file states its number of rows, otherwise
 * all rows. Rows with a missing value are left out as `covarium fit` does: where any column of the model lacks one.
 */
async function readPoints(
  path: string,
  model: NormalJson,
  chosen: readonly number[],
  options: TableOptions,
): Promise<Points> {
  const format = formatOf(path);
  const isDropping = options.missing === 'drop';
  if (format === 'npy' && !isDropping) {
    const file = await openNpyRows(path);
    try {
      requireRows(path, file, model);
      const rows = evenRows(file.rows, maximumDots);
      return { values: await file.read(rows, chosen), rows: rows.length, of: file.rows };
    } finally {
      await file.close();
    }
  }
  // A data frame has more columns than the model, some of them text.
  const hasNames = format !== 'npy' && model.columns !== undefined;
  if (hasNames && (format !== 'csv' || (await hasColumns(path, model.columns, options)))) {
    const columns = isDropping ? model.columns : chosen.map((i) => model.columns![i]!);
    const places = isDropping ? chosen : columns.map((_, i) => i);
    return chosenPoints(path, await openTable(path, { ...options, columns }), places, isDropping);
  }
  const table = await openTable(path, options);
  try {
    requireColumns(path, table.head, model);
  } catch (error) {
    await table.close();
    throw error;
  }
  return chosenPoints(path, table, chosen, isDropping);
}

/** True if the header of a CSV file names all the columns. Standard input can be read only once. */
async function hasColumns(path: string, columns: readonly string[], options: TableOptions): Promise<boolean> {
  if (path === '-') return false;
  // Warnings are printed when the rows are read.
  const table = await openTable(path, { ...options, warn: () => {} });
  await table.close();
  return columns.every((name) => table.head.names?.includes(name));
}

async function chosenPoints(
  path: string,
  table: TableReader,
  chosen: readonly number[],
  isDropping: boolean,
): Promise<Points> {
  const { rows: all, columns } = table.head;
  // Of how many rows to choose shows only at the end, where some are left out.
  const wanted = all === undefined || isDropping ? undefined : evenRows(all, maximumDots);
  const values: number[] = [];
  let row = 0;
  let next = 0;
  try {
    for await (const block of table.blocks())
      for (let start = 0; start < block.length; start += columns, row++) {
        if (wanted !== undefined && wanted[next] !== row) continue;
        next++;
        for (const column of chosen) values.push(block[start + column]!);
      }
  } finally {
    await table.close();
  }
  const { dropped } = table;
  requireSome(path, row, dropped);
  return { values, rows: next, of: row, dropped };
}

function requireRows(path: string, { rows, columns }: { rows: number; columns: number }, model: NormalJson): void {
  requireColumns(path, { columns }, model);
  requireSome(path, rows);
}

function requireColumns(
  path: string,
  { names, columns }: { names?: readonly string[] | undefined; columns: number },
  model: NormalJson,
): void {
  const n = model.mean.length;
  if (columns !== n)
    throw new CovariumError('ERR_SHAPE', `File (${path}) has (${columns}) columns, but the model has (${n}).`, {
      path,
    });
  names?.forEach((name, i) => {
    const expected = model.columns?.[i] ?? name;
    if (name !== expected)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Column (${i + 1}) of file (${path}) is (${describe(name)}), but that of the model is (${describe(expected)}).`,
        { path },
      );
  });
}

function requireSome(path: string, rows: number, dropped = 0): void {
  if (rows > 0) return;
  const has = dropped === 0 ? 'no rows' : `(${dropped}) rows, and a missing value in each`;
  throw new CovariumError('ERR_SHAPE', `File (${path}) has ${has}.`, { path });
}
