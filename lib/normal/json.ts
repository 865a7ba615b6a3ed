import { Storage } from '../array/storage.ts';
import { checkOptions, describe } from '../check.ts';
import { exactDevice } from '../command/float64.ts';
import { runSync } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import { unknownField } from '../file/json.ts';
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
  /** Names of the n dimensions. */
  readonly columns?: readonly string[];
  /** n finite numbers. */
  readonly mean: readonly number[];
  /** n rows of n. */
  readonly covariance: readonly (readonly number[])[];
}

/** What `fromJSON` of a distribution takes. */
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
  const exact = factor.exact();
  const centre = new Storage(Float64Array.from(mean.values));
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
  checkOptions(options, jsonOptionNames);
  const { dtype, mean, covariance } = normalFromJson(json);
  return { dtype, ...options, mean, covariance };
}

/** The JSON of a normal, checked; throws `ERR_MALFORMED_MODEL`, with the path of the file where it is of one. */
export function normalFromJson(value: unknown, path?: string): NormalJson {
  const model = (typeof value === 'object' && value !== null ? value : {}) as Record<keyof NormalJson, unknown>;
  const { covarium, dtype = 'float32', columns, mean, covariance } = model;
  if (covarium !== 1) throw malformedModel(`its format version is (${describe(covarium)}), not 1`, path);
  const unknown = unknownField(model, ['covarium', 'dtype', 'columns', 'mean', 'covariance']);
  if (unknown !== undefined) throw malformedModel(unknown, path);
  if (dtype !== 'float32' && dtype !== 'float64') throw malformedModel(`its dtype is (${describe(dtype)})`, path);
  if (!isRow(mean) || mean.length === 0)
    throw malformedModel(`its mean is not a list of numbers (${describe(mean)})`, path);
  const n = mean.length;
  if (!Array.isArray(covariance) || covariance.length !== n)
    throw malformedModel(`its covariance does not have (${n}) rows (${describe(covariance)})`, path);
  covariance.forEach((row, index) => {
    if (!isRow(row) || row.length !== n)
      throw malformedModel(`row (${index}) of its covariance does not have (${n}) numbers (${describe(row)})`, path);
  });
  if (columns === undefined) return { covarium, dtype, mean, covariance };
  if (!Array.isArray(columns) || columns.length !== n || columns.some((name) => typeof name !== 'string'))
    throw malformedModel(`its columns are not (${n}) names (${describe(columns)})`, path);
  return { covarium, dtype, columns, mean, covariance };
}

function isRow(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'number' && Number.isFinite(entry));
}

/** What is wrong with a model, as an error. */
export function malformedModel(why: string, path: string | undefined, cause?: unknown): CovariumError {
  if (path === undefined)
    return new CovariumError('ERR_MALFORMED_MODEL', `JSON of a normal is malformed: ${why}.`, { cause });
  return new CovariumError('ERR_MALFORMED_MODEL', `Model (${path}) is malformed: ${why}.`, {
    path,
    line: 1,
    column: 1,
    cause,
  });
}
