import colors from 'picocolors';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { csvRecord } from '../table/csv-record.ts';
import { csvFaults, readCsvRows } from '../table/csv-rows.ts';
import type { TableFormat } from '../table/format.ts';
import type { TableOptions } from '../table/read-table.ts';
import { commandWords } from './command-words.ts';

/** Options of a command about reading a file of numbers, as typed; openTable() refuses unknown values. */
export interface ReadArguments {
  readonly format?: string;
  readonly columns?: string;
  readonly missing?: string;
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly comment?: string;
  readonly member?: string;
}

/** Options of a command about reading CSV, as typed. */
export type CsvArguments = Pick<ReadArguments, 'header' | 'delimiter' | 'comment'>;

/** The options of openTable(). Throws `ERR_INVALID_ARGUMENT`. */
export function readOptions({ format, columns, missing, member, ...csv }: ReadArguments): TableOptions {
  return {
    format: format as TableFormat | undefined,
    columns: columns === undefined ? undefined : columnList(columns),
    missing: missing as TableOptions['missing'],
    member,
    ...csvOptions(csv, [...csvOptionNames, '--columns']),
  };
}

const csvOptionNames: readonly string[] = ['--header', '--no-header', '--delimiter', '--comment'];

/** The options of openTable() for CSV; warnings become lines on standard error, in terms of a command's options. */
export function csvOptions(
  { header, delimiter, comment }: CsvArguments,
  names: readonly string[] = csvOptionNames,
): TableOptions {
  return {
    header,
    // Typing a tab in a shell takes some effort.
    delimiter: delimiter === '\\t' || delimiter === 'tab' ? '\t' : delimiter,
    comment,
    warn: (sentence) => {
      process.stderr.write(`${colors.yellow('warning:')} ${commandWords(sentence, names).replace(/\p{Cc}+/gu, ' ')}\n`);
    },
  };
}

/** Says on standard error how many rows were left out because a value is missing. */
export function tellDropped(dropped: number, remaining: number): void {
  if (dropped === 0) return;
  process.stderr.write(`Left out (${dropped}) rows with missing values; (${remaining}) observations remain.\n`);
}

/** Names of columns, separated as those of a CSV file: one with a comma is quoted. Throws `ERR_INVALID_ARGUMENT`. */
export function columnList(text: string): string[] {
  const bytes = Buffer.from(text);
  const dialect = { delimiter: 0x2c, comment: 0 };
  const record = csvRecord(bytes, 0, dialect);
  if (record === undefined) return [];
  const places = new Int32Array(record.fieldCount).fill(-1);
  const { fault } = readCsvRows(bytes, { ...dialect, drop: false, places, columns: 1 });
  if (fault !== csvFaults.none || record.end < bytes.length)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `--columns is malformed (${describe(text)}); pass names with commas, one with a comma in quotes.`,
    );
  return record.fields.map((field) => field.text);
}
