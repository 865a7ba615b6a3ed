import { CovariumError } from '../covarium-error.ts';
import { describe } from '../describe.ts';
import type { TableHead } from './table.ts';

/** The head's names, or x1, x2, ...: of a format whose columns have names that differ. Throws `ERR_INVALID_ARGUMENT` for one that is there twice. */
export function columnNames({ names, columns }: TableHead): readonly string[] {
  const all = names ?? Array.from({ length: columns }, (_, i) => `x${i + 1}`);
  const twice = all.find((name, index) => all.indexOf(name) !== index);
  if (twice === undefined) return all;
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Column name (${describe(twice)}) is there twice.`);
}

/**
 * Indices of the `wanted` columns of a file, all by default. Throws `ERR_INVALID_ARGUMENT` for a name that the file has not, or has
 * twice, and for one that is wanted twice.
 */
export function chosenColumns(
  path: string,
  names: readonly string[] | undefined,
  columns: number,
  wanted: readonly string[] | undefined,
): number[] {
  if (wanted === undefined) return Array.from({ length: columns }, (_, i) => i);
  const refusal = (why: string) => new CovariumError('ERR_INVALID_ARGUMENT', why, { path });
  if (wanted.length === 0) throw refusal(`No column of file (${path}) is asked for.`);
  return wanted.map((name, at) => {
    const shown = describe(name);
    if (names === undefined) throw refusal(`File (${path}) names no columns, and column (${shown}) is asked for.`);
    if (wanted.indexOf(name) !== at) throw refusal(`Column (${shown}) is asked for twice.`);
    const index = names.indexOf(name);
    if (index < 0) throw refusal(`Column (${shown}) is not one of file (${path}): (${describe(names.join(', '))}).`);
    if (names.lastIndexOf(name) !== index) throw refusal(`File (${path}) has column (${shown}) twice.`);
    return index;
  });
}
