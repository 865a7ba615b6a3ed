import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { cannotRead } from '../file/error.ts';
import { inputName } from '../file/input.ts';
import { parseJson, unknownField, whyNotJson } from '../file/json.ts';
import { writeTextFile } from '../file/output.ts';

/**
 * A normal distribution as a JSON file:
 *
 *     { "covarium": 1, "dtype": "float32", "columns": ["a", "b"], "mean": [0, 0], "covariance": [[2, 0.5], [0.5, 1]] }
 *
 * `covarium` is the version of this format, `dtype` the type in which to sample by default, `columns` (optional) the
 * names of the n dimensions, `mean` has n finite numbers, `covariance` n rows of n.
 */
export interface Model {
  readonly covarium: 1;
  readonly dtype: RealDtype;
  readonly columns?: readonly string[];
  readonly mean: readonly number[];
  readonly covariance: readonly (readonly number[])[];
}

/**
 * Reads a model file, `-` standard input. Throws `ERR_MALFORMED_MODEL`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function readModel(path: string): Promise<Model> {
  const name = inputName(path);
  const reading = path === '-' ? textOf(process.stdin) : readFile(path, 'utf8');
  const text = await reading.catch((error: unknown) => {
    throw cannotRead(name, error);
  });
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw malformed(name, whyNotJson(error), error);
  }
  const model = (typeof value === 'object' && value !== null ? value : {}) as Record<keyof Model, unknown>;
  const { covarium, dtype = 'float32', columns, mean, covariance } = model;
  if (covarium !== 1) throw malformed(name, `its format version is (${describe(covarium)}), not 1`);
  const unknown = unknownField(model, ['covarium', 'dtype', 'columns', 'mean', 'covariance']);
  if (unknown !== undefined) throw malformed(name, unknown);
  if (dtype !== 'float32' && dtype !== 'float64') throw malformed(name, `its dtype is (${describe(dtype)})`);
  if (!isRow(mean) || mean.length === 0) throw malformed(name, `its mean is not a row of numbers (${describe(mean)})`);
  const n = mean.length;
  if (!Array.isArray(covariance) || covariance.length !== n)
    throw malformed(name, `its covariance does not have (${n}) rows (${describe(covariance)})`);
  covariance.forEach((row, index) => {
    if (!isRow(row) || row.length !== n)
      throw malformed(name, `row (${index}) of its covariance does not have (${n}) numbers (${describe(row)})`);
  });
  if (columns === undefined) return { covarium, dtype, mean, covariance };
  if (!Array.isArray(columns) || columns.length !== n || columns.some((name) => typeof name !== 'string'))
    throw malformed(name, `its columns are not (${n}) names (${describe(columns)})`);
  return { covarium, dtype, columns, mean, covariance };
}

/** Writes a model file, `-` standard output. Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`. */
export async function writeModel(path: string, { covariance, ...rest }: Model): Promise<void> {
  const rows = covariance.map((row) => `    ${JSON.stringify(row)}`).join(',\n');
  const fields = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  await writeTextFile(path, `{\n${fields.join('')}  "covariance": [\n${rows}\n  ]\n}\n`);
}

function isRow(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'number' && Number.isFinite(entry));
}

function malformed(path: string, why: string, cause?: unknown): CovariumError {
  return new CovariumError('ERR_MALFORMED_MODEL', `Model (${path}) is malformed: ${why}.`, {
    path,
    line: 1,
    column: 1,
    cause,
  });
}
