import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { inputName, readText } from '../file/input.ts';
import { parseJson, unknownField, whyNotJson } from '../file/json.ts';
import { writeTextFile } from '../file/output.ts';
import type { MomentsJson } from '../moments/json.ts';
import { Moments } from '../moments/moments.ts';
import type { FitRows } from './fit-rows.ts';
import type { Shard } from './shard.ts';

/**
 * A fit that isn't finished, as a JSON file:
 *
 *     { "covariumPartial": 1, "columns": ["a", "b"], "dropped": 0, "shards": { "count": 10, "here": [1, 2], "of":
 *     "5f..." },
 *       "moments": { ... } }
 *
 * `columns` (optional) are the names of the n dimensions, `dropped` is the number of rows left out, `shards` (optional)
 * says which of how many shards are in it, from 1, and of what, and `moments` is what `JSON.stringify` makes of
 * Moments.
 */
interface PartialFit {
  readonly path: string;
  readonly rows: FitRows;
  readonly shards: Shards | undefined;
}

/** Some of `count` shards, numbered from 1, in ascending order; all of them have the same `of` (`inputHash`). */
export interface Shards {
  readonly count: number;
  readonly here: readonly number[];
  readonly of: string;
}

/** The one shard of a task. */
export function oneShard({ index, count }: Shard, of: string): Shards {
  return { count, here: [index + 1], of };
}

/**
 * Reads an unfinished fit, `-` from standard input. Throws `ERR_MALFORMED_MOMENTS`, `ERR_FILE_NOT_FOUND`,
 * `ERR_FILE_UNREADABLE`.
 */
export async function readPartial(source: string): Promise<PartialFit> {
  const path = inputName(source);
  const text = await readText(source);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw malformed(path, whyNotJson(error), error);
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as { readonly [name: string]: unknown };
  const { covariumPartial, columns, dropped, shards, moments: json } = fields;
  if (covariumPartial !== 1)
    throw malformed(path, `its format version, covariumPartial, is (${describe(covariumPartial)}), not 1`);
  const known = ['covariumPartial', 'columns', 'dropped', 'shards', 'moments'];
  const unknown =
    unknownField(fields, known) ??
    (typeof shards === 'object' && shards !== null
      ? unknownField(shards, ['count', 'here', 'of'], 'shards')
      : undefined);
  if (unknown !== undefined) throw malformed(path, unknown);
  const moments = momentsOf(path, json);
  if (!Number.isSafeInteger(dropped) || (dropped as number) < 0)
    throw malformed(path, `dropped is not a nonnegative whole number (${describe(dropped)})`);
  if (columns !== undefined && !isNames(columns, moments.dimension))
    throw malformed(path, `columns are not (${moments.dimension}) names (${describe(columns)})`);
  if (shards !== undefined && !isShards(shards))
    throw malformed(path, `shards do not say which there are of how many (${describe(shards)})`);
  return { path, rows: { moments, names: columns, dropped: dropped as number }, shards };
}

/** Writes an unfinished fit. Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`. */
export async function writePartial(path: string, rows: FitRows, shards: Shards | undefined): Promise<void> {
  await writeTextFile(path, partialText(rows, shards));
}

/** The text of such a file, one field on each line. */
export function partialText({ moments, names, dropped }: FitRows, shards: Shards | undefined): string {
  const fields = { covariumPartial: 1, columns: names, dropped, shards } as const;
  const head = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [line(name, value)]));
  const sums = Object.entries(moments.toJSON() satisfies MomentsJson).map(([name, value]) => `  ${line(name, value)}`);
  return `{\n${head.join(',\n')},\n  "moments": {\n${sums.join(',\n')}\n  }\n}\n`;
}

function line(name: string, value: unknown): string {
  return `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
}

function momentsOf(path: string, json: unknown): Moments {
  try {
    return Moments.fromJSON(json);
  } catch (error) {
    if (!(error instanceof CovariumError)) throw error;
    throw malformed(path, error.message.replace(/^Moments are malformed: (.*)\.$/, 'in its moments, $1'), error);
  }
}

function isNames(columns: unknown, n: number): columns is string[] {
  return Array.isArray(columns) && columns.length === n && columns.every((name) => typeof name === 'string');
}

function isShards(value: unknown): value is Shards {
  const { count, here, of } = (value ?? {}) as { readonly [name in keyof Shards]: unknown };
  if (!Number.isSafeInteger(count) || !Array.isArray(here) || here.length === 0) return false;
  if (typeof of !== 'string' || !/^[0-9a-f]{64}$/.test(of)) return false;
  return here.every(
    (index, at) => Number.isSafeInteger(index) && index > (here[at - 1] ?? 0) && index <= (count as number),
  );
}

function malformed(path: string, why: string, cause?: unknown): CovariumError {
  return new CovariumError('ERR_MALFORMED_MOMENTS', `Partial fit (${path}) is malformed: ${why}.`, { path, cause });
}
