import { parse } from 'csv-parse/sync';
import { CovariumError } from '../covarium-error.ts';
import type { TableFormat } from '../table/format.ts';
import type { TableOptions } from '../table/read-table.ts';

/** How a command is told to read a file of numbers, as typed; openTable() refuses what it does not know. */
export interface ReadArguments {
  readonly format?: string;
  readonly columns?: string;
  readonly missing?: string;
}

/** The options of openTable(). Throws `ERR_INVALID_ARGUMENT`. */
export function readOptions({ format, columns, missing }: ReadArguments): TableOptions {
  return {
    format: format as TableFormat | undefined,
    columns: columns === undefined ? undefined : columnList(columns),
    missing: missing as TableOptions['missing'],
  };
}

/** Names of columns, separated as those of a CSV file: one with a comma is quoted. Throws `ERR_INVALID_ARGUMENT`. */
export function columnList(text: string): string[] {
  try {
    const [names = []] = parse(text, { trim: true }) as string[][];
    return names;
  } catch (error) {
    throw new CovariumError('ERR_INVALID_ARGUMENT', `--columns is malformed (${(error as Error).message}).`);
  }
}
