import { Matrix } from '../array/matrix.ts';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype } from '../dtype.ts';
import { refuseSharedInput } from '../file/same-file.ts';
import { coarseMean, isLost } from '../normal/represented.ts';
import type { RunModel } from '../run/model.ts';
import { requireDegreesOfFreedom } from '../student-t/parameters.ts';
import { readWholeTable, type TableOptions, type WholeTable } from '../table/read-table.ts';
import { readModel } from './model.ts';
import { type CsvArguments, csvOptions } from './read-options.ts';

/** The options that describe a distribution, as typed. */
export interface ModelArguments extends CsvArguments {
  readonly model?: string;
  readonly mean?: string;
  readonly covariance?: string;
  readonly degreesOfFreedom?: string;
  readonly singular?: boolean;
}

/** A normal or a Student-t, and the type that its model says for draws. */
interface GivenModel extends RunModel {
  readonly dtype: RealDtype | undefined;
}

/**
 * Reads the files of `--model`, or of `--covariance` and `--mean`. With `--degrees-of-freedom` they are the location
 * and scale of a Student-t; with `--singular` the covariance or scale may be singular. Throws the errors of the files,
 * `ERR_INVALID_ARGUMENT`, `ERR_SHAPE`, `ERR_OUT_OF_RANGE`.
 */
export async function givenModel(options: ModelArguments): Promise<GivenModel> {
  const { degreesOfFreedom: text, singular } = options;
  if (text === undefined) return { ...(await normalOf(options)), singular };
  // Number('') is 0.
  if (text.trim() === '' || Number.isNaN(Number(text)))
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `--degrees-of-freedom is (${describe(text)}): pass a positive number, or Infinity.`,
    );
  const degreesOfFreedom = requireDegreesOfFreedom(Number(text));
  return { ...(await normalOf(options)), singular, degreesOfFreedom };
}

async function normalOf({ model, mean, covariance, ...rest }: ModelArguments): Promise<GivenModel> {
  if (model !== undefined && mean === undefined && covariance === undefined) {
    const read = await readModel(model);
    return {
      names: read.columns,
      dtype: read.dtype,
      mean: read.mean,
      covariance: Matrix.from(read.covariance, { dtype: 'float64' }),
    };
  }
  if (model !== undefined || covariance === undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      'Pass the distribution as either --model, or --covariance with an optional --mean.',
    );
  refuseSharedInput({ '--covariance': covariance, '--mean': mean });
  const options = labelledOptions(rest);
  const spread = withoutLabels(await readWholeTable(covariance, options), ({ rows, columns }) => columns === rows + 1);
  const centre = mean === undefined ? undefined : unlabelledMean(await readWholeTable(mean, options), spread.columns);
  if (centre !== undefined) requireSameNames(centre, spread.names, `covariance (${spread.path})`);
  return {
    names: spread.names ?? (centre?.rows === 1 ? centre.names : undefined),
    dtype: undefined,
    mean: centre === undefined ? new Array<number>(spread.columns).fill(0) : Array.from(requireOneRow(centre)),
    covariance: Matrix.from(spread.values, { columns: spread.columns }),
  };
}

/**
 * The options of openTable() for parameters in CSV; hints name those of `names`. The warning of a first column without
 * a name is left out: the shape of parameters tells what it is.
 */
export function labelledOptions(csv: CsvArguments, names?: readonly string[]): TableOptions {
  const options = csvOptions(csv, names);
  return { ...options, warn: (sentence) => sentence.startsWith('First column ') || options.warn!(sentence) };
}

/**
 * Throws `ERR_INVALID_ARGUMENT` if a mean has names, of its columns or (a series) of its rows, and `names` has others,
 * or another order. `owner` is what has `names`.
 */
export function requireSameNames(mean: WholeTable, names: readonly string[] | undefined, owner: string): void {
  const { path, rows, columns } = mean;
  const isRow = rows === 1 && columns > 1;
  const own = isRow ? mean.names : mean.rowNames;
  // Another length is refused by the shape.
  if (own === undefined || names === undefined || own.length !== names.length) return;
  if (!isRow && isBareIndex(own, names)) return;
  // pandas writes 2020 as 2020.0 among fractions.
  const at = own.findIndex((name, i) => name !== names[i] && Number(name) !== Number(names[i]));
  if (at < 0) return;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `${isRow ? 'Column' : 'Row'} (${at}) of mean (${path}) is (${describe(own[at])}), but column (${at}) of ${owner} is (${describe(names[at])}).`,
    { path },
  );
}

/** True if numbers of rows name no columns: those have texts for names, or the rows are counted from 0 or 1. */
function isBareIndex(labels: readonly string[], names: readonly string[]): boolean {
  const areNumbers = (texts: readonly string[]) => texts.every((text) => text !== '' && !Number.isNaN(Number(text)));
  if (!areNumbers(labels)) return false;
  const isCountFrom = (first: number) => labels.every((label, i) => label === `${first + i}`);
  const areNames = labels.every((label) => names.includes(label));
  return !areNumbers(names) || ((isCountFrom(0) || isCountFrom(1)) && !areNames);
}

/** A mean of `n` columns without the numbers of its rows. */
export function unlabelledMean(mean: WholeTable, n: number): WholeTable {
  return withoutLabels(mean, ({ rows, columns }) => (columns === 2 && rows === n) || (rows === 1 && columns === n + 1));
}

/** The table without its first column where that has no name and the shape shows that it numbers the rows. */
function withoutLabels(table: WholeTable, isLabelled: (table: WholeTable) => boolean): WholeTable {
  const { names, rows, columns, values } = table;
  if (names?.[0] !== '' || !isLabelled(table)) return table;
  const others = values.filter((_, index) => index % columns !== 0);
  // One row may have any number: no other row can stand in its place.
  const rowNames = rows === 1 ? undefined : Array.from({ length: rows }, (_, row) => String(values[row * columns]));
  return { ...table, names: names.slice(1), rows, columns: columns - 1, rowNames, values: others };
}

/**
 * The type of draws where neither `--dtype` nor a model says it: float32, or float64 with a line that says why where
 * float32 does not hold a variance, or its steps at a mean are large beside the standard deviation.
 */
export function typeOfDraws(
  mean: readonly number[],
  variance: (i: number) => number,
  names: readonly string[] | undefined,
): RealDtype {
  const column = (at: number) => `column (${describe(names?.[at] ?? at)})`;
  const unheld = mean.findIndex((_, i) => isLost(variance(i), Math.fround(variance(i)), 'float32'));
  const coarse = coarseMean(mean, variance);
  let why: string;
  if (unheld >= 0) why = `float32 does not hold the variance (${variance(unheld)}) of ${column(unheld)}`;
  else if (coarse !== undefined) {
    const { at, step, deviation } = coarse;
    why = `float32 has steps of (${step}) at the mean (${mean[at]}) of ${column(at)}, whose standard deviation is (${deviation})`;
  } else return 'float32';
  process.stderr.write(`Draws are float64: ${why}. Pass --dtype to choose.\n`);
  return 'float64';
}

/** The numbers of one row, or of one column, as NumPy saves a mean. Throws `ERR_SHAPE`. */
export function requireOneRow({ path, rows, columns, values }: WholeTable): Real {
  if (rows === 1 || (columns === 1 && rows > 1)) return values;
  throw new CovariumError(
    'ERR_SHAPE',
    `Mean (${path}) has (${rows}) rows of (${columns}) numbers; pass one row, or one column.`,
    { path },
  );
}
