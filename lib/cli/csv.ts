import { createReadStream } from 'node:fs';
import { CsvError, parse } from 'csv-parse';
import { CovariumError } from '../covarium-error.ts';
import { describe } from '../describe.ts';
import { cannotRead } from './file-error.ts';

/** A file of numbers. */
export interface Table {
  readonly path: string;
  /** Of the header row, where there is one. */
  readonly names: readonly string[] | undefined;
  readonly rows: number;
  readonly columns: number;
  /** Row after row. */
  readonly values: Float64Array;
}

interface CsvRecord {
  readonly record: string[];
  readonly raw: string;
  /** `lines`: the line, from 1, on which the record ends. */
  readonly info: { readonly lines: number };
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Reads a CSV file of finite decimal numbers; a first row none of whose fields is a number is a header. Throws `ERR_MALFORMED_CSV` with
 * line and column (both from 1), `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function readCsv(path: string): Promise<Table> {
  let names: readonly string[] | undefined;
  let columns = 0;
  let length = 0;
  let values = new Float64Array(1024);
  const parser = parse({
    info: true,
    raw: true,
    bom: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
  });
  const file = createReadStream(path).on('error', (error) => parser.destroy(error));
  try {
    for await (const item of file.pipe(parser)) {
      const entry = item as CsvRecord;
      const { record } = entry;
      if (columns === 0) {
        columns = record.length;
        if (!record.some((field) => decimal.test(field))) {
          names = record;
          continue;
        }
      }
      if (record.length !== columns) {
        const why = `Row has (${record.length}) fields, but the first row has (${columns})`;
        throw malformed(path, entry, Math.min(record.length, columns), why);
      }
      if (length + columns > values.length) values = enlarged(values);
      for (let field = 0; field < columns; field++) values[length++] = numberOf(record[field]!, path, entry, field);
    }
  } catch (error) {
    if (error instanceof CovariumError) throw error;
    if (error instanceof CsvError) {
      const { lines } = error;
      const line = Number(lines ?? 1);
      throw new CovariumError('ERR_MALFORMED_CSV', `CSV is malformed (${error.message}; ${path}).`, {
        path,
        line,
        column: 1,
      });
    }
    throw cannotRead(path, error);
  }
  if (columns === 0)
    throw new CovariumError('ERR_MALFORMED_CSV', `CSV file (${path}) is empty.`, { path, line: 1, column: 1 });
  return { path, names, rows: length / columns, columns, values: values.subarray(0, length) };
}

function numberOf(text: string, path: string, entry: CsvRecord, field: number): number {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw malformed(path, entry, field, `Field is not a finite decimal number (${describe(text)})`);
}

function malformed(path: string, { raw, info }: CsvRecord, field: number, why: string): CovariumError {
  const column = columnOf(raw, field);
  const place = `line ${info.lines}, column ${column} of ${path}`;
  return new CovariumError('ERR_MALFORMED_CSV', `${why}: ${place}.`, { path, line: info.lines, column });
}

// Where a field begins in the text of its record; empty lines before the record belong to the text.
function columnOf(raw: string, field: number): number {
  const text = raw.replace(/^\s*\n/, '').replace(/\r?\n$/, '');
  let quoted = false;
  let commas = 0;
  for (let index = 0; index < text.length; index++) {
    if (commas === field) return index + 1;
    if (text[index] === '"') quoted = !quoted;
    else if (text[index] === ',' && !quoted) commas++;
  }
  return text.length + 1;
}

function enlarged(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}
