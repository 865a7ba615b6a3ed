// Reads results.json (bench/results.ts) and refuses what does not follow the schema, with the path of the field.
// Shapes are one half of the schema; the other half, the conditions between fields, is in this file.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe } from '../lib/check.ts';
import { CovariumError } from '../lib/covarium-error.ts';
import { cannotRead } from '../lib/file/error.ts';
import { parseJson, whyNotJson } from '../lib/file/json.ts';
import { WrongField } from './json-shape.ts';
import { definitionName, type Measurement, type Results, resultsVersion, type Time } from './results.ts';
import { results as shapeOfResults } from './results-shape.ts';

/**
 * Reads a results.json; a folder stands for the one in it. Throws `ERR_MALFORMED_RESULTS`, `ERR_FILE_NOT_FOUND`,
 * `ERR_FILE_UNREADABLE`.
 */
export async function readResults(path: string): Promise<Results> {
  const status = await stat(path).catch((error: unknown) => {
    throw cannotRead(path, error);
  });
  const file = status.isDirectory() ? join(path, 'results.json') : path;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw cannotRead(file, error);
  });
  return parseResults(text, file);
}

/**
 * The results in the text of a results.json, or in the parsed value; `path` is for messages. Throws
 * `ERR_MALFORMED_RESULTS`.
 */
export function parseResults(source: unknown, path: string): Results {
  try {
    const value = typeof source === 'string' ? parsed(source) : source;
    refuseForeign(value);
    const results = shapeOfResults(value, '');
    refuseContradictions(results);
    return results;
  } catch (error) {
    if (!(error instanceof WrongField)) throw error;
    throw new CovariumError('ERR_MALFORMED_RESULTS', `Results (${path}) are malformed: ${error.message}.`, {
      path,
      cause: error,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const isSyntax = error instanceof SyntaxError;
    throw new WrongField(
      'The text',
      isSyntax ? `is not JSON, or is cut off (${error.message})` : `is odd: ${whyNotJson(error)}`,
    );
  }
}

/** For a file of another kind or version, the error says so, and does not name the first field that differs. */
function refuseForeign(value: unknown): void {
  const { schema, version } = (value ?? {}) as Record<string, unknown>;
  if (schema !== 'covarium-benchmark')
    throw new WrongField(
      'schema',
      `is not covarium-benchmark (${describe(schema)}): this is not a results.json of covarium bench`,
    );
  if (version !== resultsVersion)
    throw new WrongField(
      'version',
      `is ${typeof version === 'string' ? 'the text ' : ''}(${describe(version)}), and this covarium reads version (${resultsVersion})`,
    );
}

function refuseContradictions(results: Results): void {
  const { contenders, limits, measurements } = results;
  distinct(contenders, 'contenders', '.name', ({ name }) => name);
  contenders.forEach(({ available, reason }, i) => {
    if (available !== (reason === ''))
      throw new WrongField(`contenders[${i}].reason`, `is (${reason}), but available is (${available})`);
  });
  const names = contenders.map(({ name }) => name);
  const listed = (name: string, path: string) => {
    if (!names.includes(name)) throw new WrongField(path, `is not one of the contenders (${name})`);
  };
  distinct(limits, 'limits', '', ({ contender, dtype }) => `${contender}, ${dtype}`);
  for (const [i, { contender }] of limits.entries()) listed(contender, `limits[${i}].contender`);
  distinct(measurements, 'measurements', '', (each) =>
    [each.suite, each.case, each.dtype, each.dimension, each.count, each.contender].map(String).join(', '),
  );
  measurements.forEach((measurement, i) => {
    const path = `measurements[${i}]`;
    listed(measurement.contender, `${path}.contender`);
    const against = measurement.check?.against ?? definitionName;
    if (against !== definitionName) listed(against, `${path}.check.against`);
    refuseWrongState(measurement, path);
    if (measurement.time) refuseWrongTime(measurement.time, `${path}.time`);
  });
}

/** Refuses a list in which two entries have the same key. */
function distinct<T>(list: readonly T[], path: string, field: string, keyOf: (entry: T) => string): void {
  const seen = new Map<string, number>();
  list.forEach((entry, i) => {
    const key = keyOf(entry);
    const first = seen.get(key);
    if (first !== undefined)
      throw new WrongField(`${path}[${i}]${field}`, `repeats ${path}[${first}]${field} (${key})`);
    seen.set(key, i);
  });
}

function refuseWrongState({ state, reason, check, time, split, shareOfLimit }: Measurement, path: string): void {
  const isTimed = state === 'timed';
  if (isTimed !== (reason === '')) throw new WrongField(`${path}.reason`, `is (${reason}), but state is (${state})`);
  if (isTimed !== (time !== null))
    throw new WrongField(`${path}.time`, `is ${time ? 'there' : 'null'}, but state is (${state})`);
  if (!isTimed && split !== null) throw new WrongField(`${path}.split`, `is there, but state is (${state})`);
  if (!isTimed && shareOfLimit !== null)
    throw new WrongField(`${path}.shareOfLimit`, `is (${shareOfLimit}), but state is (${state})`);
  if (state === 'wrong' && check === null) throw new WrongField(`${path}.check`, 'is null, but state is (wrong)');
  if (isTimed && check !== null && check.error > check.tolerance)
    throw new WrongField(
      `${path}.check.error`,
      `is over its tolerance (${check.error}, ${check.tolerance}), but state is (timed)`,
    );
}

function refuseWrongTime({ runs, median, p25, p75, rounds }: Time, path: string): void {
  if (p25 > median) throw new WrongField(`${path}.p25`, `is over the median (${p25}, ${median})`);
  if (p75 < median) throw new WrongField(`${path}.p75`, `is under the median (${p75}, ${median})`);
  if (rounds.length === 0) throw new WrongField(`${path}.rounds`, 'is empty');
  if (rounds.length > runs)
    throw new WrongField(`${path}.rounds`, `is longer than there were runs (${rounds.length}, ${runs})`);
}
