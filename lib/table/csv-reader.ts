import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import { cannotRead } from '../file/error.ts';
import { ByteSource, type InputSource, inputName } from '../file/input.ts';
import { chosenColumns } from './columns.ts';
import { isDecimal } from './decimal.ts';
import type { ReadRequest, TableReader } from './table.ts';

interface CsvRecord {
  readonly record: string[];
  readonly raw: string;
  /** `lines`: the line, from 1, on which the record ends. */
  readonly info: { readonly lines: number };
}

const blockNumbers = 1 << 16;

// As R, pandas, DuckDB and spreadsheets write a value that is missing.
const isMissing = (field: string): boolean => /^(|na|n\/a|nan|null)$/i.test(field);

/**
 * Reads a CSV file of finite decimal numbers; a first row none of whose fields is a number is a header. Throws
 * `ERR_MALFORMED_CSV` with line and column (both from 1), `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function openCsv(
  path: InputSource,
  { columns: wanted, missing, signal }: ReadRequest,
): Promise<TableReader> {
  const name = inputName(path);
  const parser = parse({
    info: true,
    raw: true,
    bom: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
  });
  const source = new ByteSource(path, signal);
  const stream = Readable.from(chunksOf(source)).on('error', (error) => parser.destroy(error));
  const entries = stream.pipe(parser)[Symbol.asyncIterator]();
  const next = async (): Promise<CsvRecord | undefined> => {
    try {
      const { value, done } = await entries.next();
      return done === true ? undefined : (value as CsvRecord);
    } catch (error) {
      if (error instanceof CovariumError) throw error;
      if (!(error instanceof CsvError)) throw cannotRead(name, error);
      const { lines } = error;
      const line = Number(lines ?? 1);
      const message = `CSV is malformed (${error.message}; ${name}).`;
      throw new CovariumError('ERR_MALFORMED_CSV', message, { path: name, line, column: 1 });
    }
  };
  const close = async () => {
    stream.unpipe(parser);
    parser.destroy();
    stream.destroy();
    await source.close();
  };
  try {
    let entry = await next();
    if (entry === undefined)
      throw new CovariumError('ERR_MALFORMED_CSV', `CSV file (${name}) is empty.`, { path: name, line: 1, column: 1 });
    const width = entry.record.length;
    const names = entry.record.some(isDecimal) ? undefined : entry.record;
    if (names !== undefined) entry = await next();
    const chosen = chosenColumns(name, names, width, wanted);
    let dropped = 0;
    const blocks = async function* (): AsyncGenerator<Real> {
      const rowsPerBlock = Math.max(1, Math.floor(blockNumbers / chosen.length));
      let values = new Float64Array(rowsPerBlock * chosen.length);
      let length = 0;
      for (; entry !== undefined; entry = await next()) {
        const { record } = entry;
        if (record.length !== width) {
          const why = `Row has (${record.length}) fields, but the first row has (${width})`;
          throw malformed(name, entry, Math.min(record.length, width), why);
        }
        if (missing === 'drop' && chosen.some((field) => isMissing(record[field]!))) {
          dropped++;
          continue;
        }
        for (const field of chosen) values[length++] = numberOf(record[field]!, name, entry, field);
        if (length < values.length) continue;
        yield values;
        values = new Float64Array(values.length);
        length = 0;
      }
      if (length > 0) yield values.subarray(0, length);
    };
    return {
      head: {
        names: names && chosen.map((field) => names[field]!),
        columns: chosen.length,
        dtype: 'float64',
        rows: undefined,
      },
      get dropped() {
        return dropped;
      },
      blocks,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let chunk = await source.chunk(); chunk !== undefined; chunk = await source.chunk()) yield chunk;
}

function numberOf(text: string, path: string, entry: CsvRecord, field: number): number {
  const value = isDecimal(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  const isMissing = text.trim() === '';
  const why = isMissing
    ? "Field is empty (missing: 'drop' leaves its row out)"
    : `Field is not a finite decimal number (${describe(text)})`;
  throw malformed(path, entry, field, why);
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
