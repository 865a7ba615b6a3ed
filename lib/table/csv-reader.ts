import { availableParallelism } from 'node:os';
import { loadAddon } from '../addon/native.ts';
import { describe, refuseAborted } from '../check.ts';
import { CovariumError, fromNative } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import { ByteSource, type InputSource, inputName } from '../file/input.ts';
import { runSliced, Turns, turn } from '../work.ts';
import { chosenColumns } from './columns.ts';
import { CsvBlocks, mostRecordBytes } from './csv-blocks.ts';
import { type CsvBeginning, csvBeginning, csvTextStart, malformedCsv, toldDelimiter } from './csv-dialect.ts';
import { type CsvDialect, csvRecord, lineAndColumn } from './csv-record.ts';
import { type CsvLayout, type CsvRows, csvFaults, linesOf, mostCsvRows, readCsvRows } from './csv-rows.ts';
import { GatheredRows } from './result-memory.ts';
import type { ReadRequest, TableReader } from './table.ts';

/** Turns blocks of records into rows. */
export interface CsvParser {
  readonly blockBytes: number;
  /** The number of blocks parsed at the same time. */
  readonly ahead: number;
  /** The rows into `values`, which has room for all that the bytes may hold. */
  read(bytes: Uint8Array, layout: CsvLayout, values: Float64Array): Promise<CsvRows>;
}

/** In plain TypeScript. It lets the event loop run after each block, which takes a few milliseconds. */
export const plainParser: CsvParser = {
  blockBytes: 256 << 10,
  ahead: 1,
  read: async (bytes, layout, values) => {
    await turn();
    return readCsvRows(bytes, layout, values);
  },
};

/** In the addon, on threads of libuv's pool, which has four; undefined without the addon. */
export function nativeParser(): CsvParser | undefined {
  const { addon } = loadAddon();
  if (addon?.readCsv === undefined) return undefined;
  return {
    blockBytes: 1 << 20,
    ahead: Math.min(availableParallelism(), 4) + 2,
    read: (bytes, { places, columns, delimiter, comment, drop }, values) =>
      addon.readCsv(bytes, places, columns, delimiter, comment, drop, values).catch((error: unknown) => {
        throw fromNative(error);
      }),
  };
}

/**
 * Reads a CSV file of finite decimal numbers. Throws `ERR_MALFORMED_CSV` and, for an integer that float64 does not
 * hold, `ERR_OUT_OF_RANGE`, with line and column (both from 1), `ERR_UNSUPPORTED` for UTF-16 and UTF-32,
 * `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_ABORTED`.
 */
export async function openCsv(
  from: InputSource,
  { columns: wanted, missing, header, delimiter, comment, signal, warn = () => {} }: ReadRequest,
  parser: CsvParser = nativeParser() ?? plainParser,
): Promise<TableReader> {
  const path = inputName(from);
  const source = new ByteSource(from, signal);
  try {
    const blocks = new CsvBlocks(source, parser.blockBytes, comment === undefined ? 0 : comment.charCodeAt(0));
    if (delimiter !== undefined) blocks.delimiter = delimiter.charCodeAt(0);
    const { first, skippedLines, told } = await firstRecords(path, blocks, { delimiter, comment }, signal);
    const turns = new Turns(signal);
    const options = { header, delimiter: delimiter ?? told, comment };
    const beginning = await runSliced(csvBeginning(path, first, options, warn), signal);
    blocks.delimiter = beginning.delimiter;
    await turns.take();
    const { names, width } = beginning;
    let chosen = await runSliced(chosenColumns(path, names, width, wanted), signal);
    if (names?.[0] === '' && wanted === undefined) {
      // As R and pandas write the names of rows.
      if (beginning.hasRowNames) chosen = chosen.slice(1);
      const as = beginning.hasRowNames
        ? 'holds texts: it names the rows and is left out.'
        : 'is read as numbers; pass the other `columns` (--columns) if it names the rows.';
      warn(`First column of CSV file (${path}) has no name and ${as}`);
    }
    const places = new Int32Array(width).fill(-1);
    for (const [at, field] of chosen.entries()) places[field] = at;
    const layout: CsvLayout = { ...beginning, drop: missing === 'drop', places, columns: chosen.length };
    let dropped = 0;
    // Of a series, as pandas writes a mean.
    const rowNames: string[] | undefined = beginning.hasRowNames && width === 2 && chosen.length === 1 ? [] : undefined;
    // The values are there until the next are asked for.
    const inTurn = async function* (): AsyncGenerator<{ readonly values: Float64Array; readonly bytes: number }> {
      let lines = skippedLines + linesOf(first.subarray(0, beginning.start));
      const start = first.subarray(beginning.start);
      for await (const { block, rows, values } of inOrder(path, start, blocks, parser, layout)) {
        refuseAborted(signal);
        if (rows.fault !== csvFaults.none) throw refusal(path, block, rows, lines, beginning);
        lines += rows.lines;
        dropped += rows.dropped;
        if (rowNames !== undefined) addRowNames(rowNames, block, beginning);
        yield { values: values.subarray(0, rows.rows * layout.columns), bytes: block.length };
      }
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
      rowNames,
      blocks: async function* (): AsyncGenerator<Real> {
        for await (const { values } of inTurn()) if (values.length > 0) yield values.slice();
      },
      whole: async () => {
        const gathered = new GatheredRows((await source.size()) ?? 0);
        for await (const { values, bytes } of inTurn()) gathered.add(values, bytes);
        return gathered.all(signal);
      },
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/**
 * The first block that has a record, from that record or from an empty line or a comment before it; and the delimiter
 * that a line before all others tells.
 */
async function firstRecords(
  path: string,
  blocks: CsvBlocks,
  { delimiter = ',', comment = '\0' }: { readonly delimiter: string | undefined; readonly comment: string | undefined },
  signal: AbortSignal | undefined,
): Promise<{ readonly first: Uint8Array; readonly skippedLines: number; readonly told: string | undefined }> {
  const dialect = { delimiter: delimiter.charCodeAt(0), comment: comment.charCodeAt(0) };
  let skippedLines = 0;
  let told: string | undefined;
  let isStart = true;
  const turns = new Turns(signal);
  for (let block = await nextBlock(path, blocks); block !== undefined; block = await nextBlock(path, blocks)) {
    let first = isStart ? block.subarray(csvTextStart(path, block)) : block;
    const line = isStart ? toldDelimiter(first) : undefined;
    if (line !== undefined) {
      told = line.delimiter;
      first = first.subarray(line.bytes);
      skippedLines = 1;
    }
    const isThere = csvRecord(first, 0, dialect) !== undefined;
    await turns.take();
    if (isThere) return { first, skippedLines, told };
    skippedLines += linesOf(first);
    isStart = false;
  }
  throw malformedCsv(path, `CSV file (${path}) is empty.`, 1, 1);
}

// Only the parameters of a distribution are held against the names of their rows.
const mostRowNames = 10_000;

function addRowNames(names: string[], block: Uint8Array, dialect: CsvDialect): void {
  let record = csvRecord(block, 0, dialect);
  for (; record !== undefined && names.length < mostRowNames; record = csvRecord(block, record.end, dialect))
    names.push(record.fields[0]!.text);
}

interface ReadBlock {
  readonly block: Uint8Array;
  readonly rows: CsvRows;
  readonly values: Float64Array;
}

/** The rows of all blocks, in order; some blocks are parsed ahead, and a block's memory is used again. */
async function* inOrder(
  path: string,
  first: Uint8Array,
  blocks: CsvBlocks,
  parser: CsvParser,
  layout: CsvLayout,
): AsyncGenerator<ReadBlock> {
  const ahead: Promise<ReadBlock>[] = [];
  const spare: Float64Array[] = [];
  const memoryFor = (block: Uint8Array) => {
    const length = mostCsvRows(block.length, layout.columns) * layout.columns;
    const found = spare.pop();
    return found !== undefined && found.length >= length ? found : new Float64Array(length + (length >> 3));
  };
  try {
    for (let next: Uint8Array | undefined = first; next !== undefined || ahead.length > 0; ) {
      while (next !== undefined && ahead.length < parser.ahead) {
        const block: Uint8Array = next;
        const values = memoryFor(block);
        const read = parser.read(block, layout, values).then((rows) => ({ block, rows, values }));
        // Another block may fail before this one is awaited.
        read.catch(() => {});
        ahead.push(read);
        next = await nextBlock(path, blocks);
      }
      const oldest = await ahead.shift()!;
      yield oldest;
      blocks.release(oldest.block);
      spare.push(oldest.values);
    }
  } finally {
    // Their memory is in use until they settle.
    await Promise.allSettled(ahead);
  }
}

async function nextBlock(path: string, blocks: CsvBlocks): Promise<Uint8Array | undefined> {
  const block = await blocks.next();
  if (block !== 'too long') return block;
  throw new CovariumError(
    'ERR_MALFORMED_CSV',
    `A row of CSV file (${path}) has more than (${mostRecordBytes}) bytes: a quote is not closed, or there are no line ends.`,
    { path },
  );
}

function refusal(
  path: string,
  block: Uint8Array,
  { fault, record, field }: CsvRows,
  lines: number,
  beginning: CsvBeginning,
): CovariumError {
  const place = lineAndColumn(block, field);
  const line = lines + place.line;
  const why = reason(fault, block.subarray(record), field - record, beginning);
  const message = `${why}: line ${line}, character ${place.column} of ${path}.`;
  if (fault !== csvFaults.inexact) return malformedCsv(path, message, line, place.column);
  return new CovariumError('ERR_OUT_OF_RANGE', message, { path, line, column: place.column });
}

const namesOfRows = '; pass the other `columns` (--columns) if the first has the names of the rows';

function reason(fault: number, bytes: Uint8Array, field: number, { width, names, ...dialect }: CsvBeginning): string {
  const headerHint = commentHint(names?.[0] ?? '', dialect);
  if (fault === csvFaults.fields) {
    const fields = csvRecord(bytes, 0, { ...dialect, comment: 0 })?.fieldCount;
    return `Row has (${fields}) fields, but the first row has (${width})${headerHint}`;
  }
  const rest = bytes.subarray(field);
  const isAtEnd = /^[ \t]*[\r\n]/.test(Buffer.from(rest.subarray(0, 64)).toString('latin1'));
  const text = isAtEnd ? '' : (csvRecord(rest, 0, { ...dialect, comment: 0 })?.fields[0]?.text ?? '');
  if (fault === csvFaults.unclosed) return 'Quote is not closed';
  if (fault === csvFaults.quote) return `Quote in a field that does not begin with one (${describe(text)})`;
  if (fault === csvFaults.afterQuote) return `Text follows the quote that ends a field (${describe(text)})`;
  // Cut off before the field, the record has one empty field in its place, but where blanks part the fields.
  const isByBlanks = dialect.delimiter === codeOfBlank;
  const before = csvRecord(bytes.subarray(0, field), 0, { ...dialect, comment: 0 })?.fieldCount;
  const index = isByBlanks ? (before ?? 0) : (before ?? 1) - 1;
  const isNameless = names?.[index] === '';
  const column = isNameless ? `${index + 1}, which has no name,` : `(${describe(names?.[index] ?? index)})`;
  const where = `Field of column ${column}`;
  if (fault === csvFaults.missing) {
    const what = text === '' ? 'is empty' : `is missing (${describe(text)})`;
    // A spreadsheet writes a column without a name that is empty in every row.
    if (isNameless) return `${where} ${what}${leaveOut}`;
    return `${where} ${what} (missing: 'drop', or --missing drop, leaves its row out)`;
  }
  if (fault === csvFaults.inexact)
    return `${where} has an integer that float64 does not hold (${describe(text)})${names === undefined ? '' : leaveOut}; a decimal point (${text}.0) lets it be rounded`;
  const isRowName = field === 0 && names?.[0] === '';
  const ofLine = field === 0 && bytes[0] === codeOfHash ? commentHint(text, dialect) : '';
  return `${where} is not a finite decimal number (${describe(text)})${isRowName ? namesOfRows : hint(text) || ofLine || headerHint}`;
}

const leaveOut = '; pass the other `columns` (--columns) to leave it out';

// What a spreadsheet shows in a cell whose formula fails, in its own language: #DIV/0!, #WERT!, #¿NOMBRE?.
const spreadsheetError = /^#(?:N\/A|N\/D|NV|[¡¿]?[\p{L}/0]+[!?])$/iu;
const [codeOfBlank, codeOfHash] = [0x20, 0x23];

// Of the text with which a line begins; a comment letter that was given has skipped what it begins.
function commentHint(text: string, { comment }: CsvDialect): string {
  const isLikeComment = text.startsWith('#') && comment === 0 && !spreadsheetError.test(text);
  return isLikeComment ? "; pass `comment` '#' (--comment '#') if lines that begin with it are comments" : '';
}

function hint(text: string): string {
  if (/^[+-]?\d[\d.,]*,\d+$/.test(text))
    return '; write decimals with a point, not a comma, and no separators of thousands';
  if (/^[+-]?[$€£¥]\s?[+-]?[\d.,]+$|^[+-]?[\d.,]+\s?[%$€£¥]$/.test(text))
    return '; write the number alone, without a unit';
  // The no-break space of Latin-1 is not UTF-8: it is read as \ufffd.
  if (/^[+-]?\d{1,3}(?:[\s'’_\ufffd]\d{3})+(?:[.,]\d*)?$/.test(text)) return '; write no separators of thousands';
  if (/^\([\d.,]+\)$|^[\u2212\u2013][\d.,]+$|^[\d.,]+-$/.test(text)) return '; write a negative number as -1.5';
  if (/^\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b/.test(text)) return `; it looks like a date${leaveOut}`;
  if (spreadsheetError.test(text))
    return '; it is an error value of a spreadsheet: an empty field in its place is a missing value';
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return '; an empty field in its place is a missing value';
  const delimiter = /[;\t]/.exec(text)?.[0];
  if (delimiter === undefined) return '';
  return `; pass \`delimiter\` (--delimiter) if ${delimiter === ';' ? 'semicolons' : 'tabs'} separate its fields`;
}
