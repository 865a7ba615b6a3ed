import { Storage } from '../array/storage.ts';
import { checkOptions, describe, quoted } from '../check.ts';
import { exactDevice } from '../command/float64.ts';
import { runSync } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import { unknownField } from '../file/json.ts';
import { runToEnd } from '../work.ts';
import { covarianceTask } from './covariance.ts';
import type { CovarianceOptions } from './options.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * A normal distribution as JSON, which `covarium fit` writes and `covarium sample --model` reads:
 *
 *     { "covarium": 1, "dtype": "float32", "columns": ["a", "b"], "mean": [0, 0], "covariance": [[2, 0.5], [0.5, 1]] }
 */
export interface NormalJson {
  /** Version of this format. */
  readonly covarium: 1;
  /** The type in which to sample by default. */
  readonly dtype: RealDtype;
  /** Names of the n dimensions. Files may have them; a normal does not. `fromJSON` checks and ignores them. */
  readonly columns?: readonly string[];
  /** n finite numbers. */
  readonly mean: readonly number[];
  /** n rows of n. */
  readonly covariance: readonly (readonly number[])[];
}

/** Options of `fromJSON` of a distribution. */
export interface JsonOptions
  extends Pick<CovarianceOptions, 'device' | 'dtype' | 'singular' | 'jitter' | 'factor' | 'symmetryTolerance'> {}

/** The options of `fromJSON`, by name. */
export const jsonOptionNames: readonly string[] = [
  ...['device', 'dtype', 'singular', 'jitter', 'factor', 'symmetryTolerance'],
];

/** The element type of a distribution from JSON: the one that is asked for, else the one that the JSON names. */
export type DtypeOfJson<Options> = Options extends { readonly dtype: infer Asked extends RealDtype }
  ? Asked
  : RealDtype;

/** Mean and covariance as JSON, in float64 from the numbers of the factor. */
export function normalToJson(parameters: NormalParameters): NormalJson {
  const { device, dtype, n, mean, factor } = parameters;
  const exact = runToEnd(factor.exact());
  const centre = new Storage(new Float64Array(mean.values));
  const place = { device: exactDevice(device) as Device, dtype: 'float64', n, mean: centre, factor: exact } as const;
  const covariance = runSync(covarianceTask(place));
  try {
    return { covarium: 1, dtype, mean: Array.from(centre.values), covariance: covariance.toArray() };
  } finally {
    covariance.close();
    exact.close();
  }
}

/** The options of the normal that JSON is of; throws `ERR_MALFORMED_MODEL`, `ERR_UNKNOWN_OPTION`. */
export function covarianceOfJson(json: unknown, options: JsonOptions): CovarianceOptions {
  const { dtype, mean, covariance } = normalFromJson(json);
  checkOptions(options, jsonOptionNames);
  return { ...options, dtype: options.dtype === undefined ? dtype : options.dtype, mean, covariance };
}

/** The JSON of a normal, checked; throws `ERR_MALFORMED_MODEL`, with the path of the file where it is of one. */
export function normalFromJson(value: unknown, path?: string): NormalJson {
  const malformed = (why: string) => malformedModel(why, path);
  const model = modelFromJson(value, ['mean', 'covariance'], ['columns'], malformed);
  const { dtype, centre: mean, spread: covariance } = model;
  const { columns } = value as { readonly columns?: unknown };
  if (columns === undefined) return { covarium: 1, dtype, mean, covariance };
  const n = mean.length;
  // A copy has entries for holes, which `some` would skip.
  if (!Array.isArray(columns) || columns.length !== n || [...columns].some((name) => typeof name !== 'string'))
    throw malformed(`its columns are not (${n}) names (${describe(columns)})`);
  return { covarium: 1, dtype, columns, mean, covariance };
}

/** What a model's JSON says of every distribution: n numbers, and n rows of n. */
interface ModelJson {
  readonly dtype: RealDtype;
  readonly centre: readonly number[];
  readonly spread: readonly (readonly number[])[];
}

/** Reads centre and spread, under the names that they have in a model, which may have the `others` too. */
export function modelFromJson(
  value: unknown,
  names: readonly [centre: string, spread: string],
  others: readonly string[],
  malformed: (why: string) => CovariumError,
): ModelJson {
  if (typeof value === 'string') throw malformed(`it is text (${quoted(value)}): pass JSON.parse(text)`);
  const model = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const { covarium, dtype = 'float32', [names[0]]: centre, [names[1]]: spread } = model;
  if (covarium !== 1) throw malformed(`its format version is (${describe(covarium)}), not 1`);
  const unknown = unknownField(model, ['covarium', 'dtype', ...names, ...others]);
  if (unknown !== undefined) throw malformed(unknown);
  if (dtype !== 'float32' && dtype !== 'float64') throw malformed(`its dtype is (${describe(dtype)})`);
  if (!isRow(centre) || centre.length === 0)
    throw malformed(`its ${names[0]} is not a list of numbers (${describe(centre)})`);
  const n = centre.length;
  if (!Array.isArray(spread) || spread.length !== n)
    throw malformed(`its ${names[1]} does not have (${n}) rows (${describe(spread)})`);
  spread.forEach((row, index) => {
    if (!isRow(row) || row.length !== n)
      throw malformed(`row (${index}) of its ${names[1]} does not have (${n}) numbers (${describe(row)})`);
  });
  return { dtype, centre, spread };
}

function isRow(value: unknown): value is number[] {
  if (!Array.isArray(value)) return false;
  // `every` would skip holes.
  for (let at = 0; at < value.length; at++) if (!Number.isFinite(value[at])) return false;
  return true;
}

/** What is wrong with a model, as an error. */
export function malformedModel(why: string, path: string | undefined, cause?: unknown): CovariumError {
  if (path === undefined)
    return new CovariumError('ERR_MALFORMED_MODEL', `\`json\` is not the JSON of a normal: ${why}.`, { cause });
  return new CovariumError('ERR_MALFORMED_MODEL', `Model (${path}) is malformed: ${why}.`, {
    path,
    line: 1,
    column: 1,
    cause,
  });
}
