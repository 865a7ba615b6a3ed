import { isUtf8 } from 'node:buffer';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Work } from '../work.ts';
import { type CsvDialect, type CsvField, type CsvRecord, csvRecord, mostFields } from './csv-record.ts';
import { isMissing } from './csv-rows.ts';
import { isDecimal } from './decimal.ts';
import { formatOfBytes } from './format.ts';

/** What the beginning of a CSV file says about the rest. */
export interface CsvBeginning extends CsvDialect {
  readonly names: readonly string[] | undefined;
  /** True if the first column has no name, and a text in its first row: the names of the rows. */
  readonly hasRowNames: boolean;
  /** The number of fields of a record. */
  readonly width: number;
  /** The offset at which the rows begin. */
  readonly start: number;
}

/** What the caller says about a CSV file; the beginning of the file decides the rest. */
export interface CsvOptions {
  readonly header: boolean | undefined;
  readonly delimiter: string | undefined;
  readonly comment: string | undefined;
}

const codeOf = (letter: string) => letter.charCodeAt(0);

/**
 * The offset at which the text of a file begins: after a byte order mark. Throws `ERR_UNSUPPORTED` for UTF-16, UTF-32,
 * and a file whose first bytes show another format.
 */
export function csvTextStart(path: string, bytes: Uint8Array): number {
  const [first, second, third, fourth] = bytes;
  const isZip = first === 0x50 && second === 0x4b && third === 3 && fourth === 4;
  const format = formatOfBytes(bytes);
  const compression = compressionOf(bytes);
  let what: string | undefined;
  if (isZip) what = "a ZIP archive, as a spreadsheet's own format is; save it as CSV";
  else if (first === 0xd0 && second === 0xcf && third === 0x11 && fourth === 0xe0)
    what = 'an old spreadsheet or document (.xls); save it as CSV';
  else if (compression !== undefined) what = `compressed with ${compression}; decompress it`;
  else if (format !== 'csv') what = `not CSV but ${format}; pass \`format\` '${format}' (--format ${format})`;
  if (what !== undefined) throw new CovariumError('ERR_UNSUPPORTED', `File (${path}) is ${what}.`, { path });
  const wide = wideEncoding(bytes);
  if (wide !== undefined)
    throw new CovariumError('ERR_UNSUPPORTED', `CSV file (${path}) is ${wide}; save it as UTF-8.`, { path });
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

// The name of the compression. A short compressed file may have no line end, and would be read as a header alone.
function compressionOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 10)).toString('latin1');
  if (start.startsWith('\x1f\x8b')) return 'gzip';
  if (start.startsWith('\x28\xb5\x2f\xfd')) return 'Zstandard';
  if (start.startsWith('\xfd7zXZ\0')) return 'xz';
  if (start.startsWith('\x04\x22\x4d\x18')) return 'LZ4';
  // A letter says the size of the blocks; a first block, or the end where there is none, begins with these bytes.
  const isBzip2 = /^BZh[1-9]/.test(start) && (start.startsWith('1AY&SY', 4) || start.startsWith('\x17rE8P\x90', 4));
  return isBzip2 ? 'bzip2' : undefined;
}

/** The delimiter that a first line `sep=;` tells, as spreadsheets understand it, and the bytes of that line. */
export function toldDelimiter(bytes: Uint8Array): { delimiter: string; bytes: number } | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const [line, delimiter] = /^sep=([,;\t |:])(?:\r\n|\r|\n|$)/i.exec(start) ?? [];
  return line === undefined ? undefined : { delimiter: delimiter!, bytes: line.length };
}

/** Records of the beginning, each read once: a record may have a million fields. */
class Records {
  readonly bytes: Uint8Array;
  readonly #known: Map<string, CsvRecord | undefined> = new Map();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** As {@link csvRecord}; a place after the end has no record. */
  at(place: number, dialect: CsvDialect): CsvRecord | undefined {
    const key = `${place} ${dialect.delimiter}`;
    if (!this.#known.has(key)) this.#known.set(key, csvRecord(this.bytes, place, dialect));
    return this.#known.get(key);
  }
}

/**
 * Delimiter and header of a file, from the first block that has a record. Calls `warn` with a sentence about anything
 * doubtful. Throws `ERR_MALFORMED_CSV`.
 */
export function* csvBeginning(
  path: string,
  bytes: Uint8Array,
  { header, delimiter, comment }: CsvOptions,
  warn: (sentence: string) => void,
): Work<CsvBeginning> {
  const commentCode = comment === undefined ? 0 : codeOf(comment);
  const records = new Records(bytes);
  const dialect = {
    delimiter: delimiter === undefined ? yield* foundDelimiter(path, records, commentCode, warn) : codeOf(delimiter),
    comment: commentCode,
  };
  yield;
  const first = records.at(0, dialect)!;
  if (first.fieldCount > mostFields) {
    const message = `First row of CSV file (${path}) has (${first.fieldCount}) fields; at most (${mostFields}) are read.`;
    throw malformedCsv(path, message, 1, 1);
  }
  yield;
  if (!(header ?? foundHeader(path, records, first, dialect, warn)))
    return { ...dialect, names: undefined, hasRowNames: false, width: first.fieldCount, start: 0 };
  yield;
  // What follows the quote would be a name, and no row be left.
  if (first.isUnclosed) throw malformedCsv(path, `Quote in the header of CSV file (${path}) is not closed.`, 1, 1);
  const names = first.fields.map(({ text }) => text);
  if (!isUtf8(bytes.subarray(0, first.end)))
    warn(`Names of columns of CSV file (${path}) are not UTF-8, and letters of them are lost; save it as UTF-8.`);
  const known = new Set<string>();
  const twice = names.find((name) => name !== '' && known.size === known.add(name).size);
  if (twice !== undefined) warn(`CSV file (${path}) has two columns with the name (${describe(twice)}).`);
  // The names of R's rows have no name above them.
  const second = records.at(first.end, dialect);
  const kind = second === undefined ? otherText(bytes) : undefined;
  if (kind !== undefined) throw malformedCsv(path, `CSV file (${path}) is not a table of rows, but ${kind}.`, 1, 1);
  if (haveRowNames(first, second)) names.unshift('');
  const [label] = second?.fields ?? [];
  const hasRowNames = names[0] === '' && names.length > 1 && label !== undefined && !isLikeNumber(label);
  return { ...dialect, names, hasRowNames, width: names.length, start: first.end };
}

/** The error for a CSV file, with the place. */
export function malformedCsv(path: string, message: string, line: number, column: number): CovariumError {
  return new CovariumError('ERR_MALFORMED_CSV', message, { path, line, column });
}

/** What a text is that would be read as a header alone: a page of a server, or JSON. Undefined for others. */
function otherText(bytes: Uint8Array): 'HTML' | 'JSON' | undefined {
  const text = Buffer.from(bytes).toString();
  if (/^\s*<(!doctype|html)\b/i.test(text)) return 'HTML';
  // A column may be called [a], as in SQL, but a header of such names is not JSON.
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    JSON.parse(text);
    return 'JSON';
  } catch {
    return undefined;
  }
}

// Text of one byte per letter has no zero bytes, but UTF-16 and UTF-32 have them beside each digit.
function wideEncoding(bytes: Uint8Array): 'UTF-16' | 'UTF-32' | undefined {
  const start = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  const zeros = start.replace(/../g, (byte) => (byte === '00' ? '0' : 'x'));
  if (start === 'fffe0000' || start === '0000feff' || zeros === 'x000' || zeros === '000x') return 'UTF-32';
  return /^(?:fffe|feff)/.test(start) || zeros === 'x0x0' || zeros === '0x0x' ? 'UTF-16' : undefined;
}

const shownDelimiters: { readonly [delimiter: string]: string } = {
  '\t': 'tabs',
  ';': 'semicolons',
  '|': 'bars',
  ' ': 'blanks',
};

/**
 * Whether a row has a name in quotes before its fields, so that the header is one field short: R's write.table, which
 * quotes names and texts, but no numbers.
 */
function haveRowNames(header: CsvRecord, row: CsvRecord | undefined): boolean {
  const [name, ...others] = row?.fields ?? [];
  if (others.length !== header.fieldCount || !name!.isQuoted) return false;
  const numbers = others.filter(({ isQuoted }) => !isQuoted).length;
  if (numbers === others.length) return true;
  // A delimiter too many at the end of a row leaves an empty field there.
  return numbers > 0 && isAllQuoted(header) && others.at(-1)!.text !== '';
}

function isAllQuoted({ fields }: CsvRecord): boolean {
  return fields.every(({ isQuoted }) => isQuoted);
}

/** Whether blanks part the fields: of numbers, or of names above rows of as many numbers or, if quoted, of anything. */
function arePartedByBlanks(first: CsvRecord, second: CsvRecord | undefined): boolean {
  if (first.fieldCount > 1 && first.fields.every(isLikeNumber)) return true;
  if (second === undefined) return false;
  const hasRowNames = haveRowNames(first, second);
  if (!hasRowNames && (first.fieldCount < 2 || second.fieldCount !== first.fieldCount)) return false;
  return isAllQuoted(first) || second.fields.slice(Number(hasRowNames)).every(isLikeNumber);
}

// A comma wherever it makes fields; else what makes some.
function* foundDelimiter(
  path: string,
  records: Records,
  comment: number,
  warn: (sentence: string) => void,
): Work<number> {
  const firstBy = (delimiter: string) => records.at(0, { delimiter: codeOf(delimiter), comment });
  const secondBy = (delimiter: string) =>
    records.at(firstBy(delimiter)?.end ?? 0, { delimiter: codeOf(delimiter), comment });
  const parting: string[] = [];
  for (const delimiter of [',', ';', '\t', '|']) {
    if ((firstBy(delimiter)?.fieldCount ?? 0) > 1) parting.push(delimiter);
    yield;
  }
  const isEven = (delimiter: string) => {
    const second = secondBy(delimiter);
    return second === undefined || firstBy(delimiter)!.fieldCount === second.fieldCount;
  };
  let found = parting.length > 1 ? (parting.find(isEven) ?? parting[0]!) : parting[0];
  if (found === undefined) {
    const first = firstBy(' ');
    if (first !== undefined && arePartedByBlanks(first, secondBy(' '))) found = ' ';
  }
  if (found === undefined || found === ',') return codeOf(',');
  const option = found === '\t' ? "'\\t'" : `'${found}'`;
  if (!(found === '\t' && /\.(tsv|tab)$/i.test(path)))
    warn(
      `CSV file (${path}) is read with ${shownDelimiters[found]} between its fields; pass \`delimiter\` ` +
        `(--delimiter ${option}) to choose.`,
    );
  return codeOf(found);
}

/** True if the first record names the columns. */
function foundHeader(
  path: string,
  records: Records,
  first: CsvRecord,
  dialect: CsvDialect,
  warn: (sentence: string) => void,
): boolean {
  const second = records.at(first.end, dialect);
  const { fields } = first;
  // R quotes names but not numbers.
  const isName = (field: CsvField, i: number) =>
    !isLikeNumber(field) || (field.isQuoted && !isMissing(field.text) && second?.fields[i]?.isQuoted !== true);
  const named = fields.map(isName);
  const names = named.filter((is) => is).length;
  const missing = fields.filter(({ text }, i) => !named[i] && isMissing(text)).length;
  const numbers = fields.length - names - missing;
  const shown = shownFields(fields);
  const asHeader = `First row of CSV file (${path}) is read as names of columns (${shown}); pass \`header\` false (--no-header) if it holds numbers.`;
  if (names > 0) {
    const areAllQuoted = isAllQuoted(first) && fields.every(isLikeNumber);
    if (numbers > 0 || (areAllQuoted && second === undefined)) warn(asHeader);
    return true;
  }
  // Above an index, as pandas writes it.
  const isFirstEmpty = fields[0]!.text === '' && missing === 1;
  const likeNames = (isFirstEmpty ? fields.slice(1) : fields).map(({ text }) => text);
  if (fields.length < 2 || !areDifferent(likeNames) || !(isFirstEmpty || areWhole(likeNames))) return false;
  const isSeries = !isFirstEmpty && isCount(likeNames.map(Number));
  const { haveFractions, isOneWhole, labels } = firstRows(records.bytes, first.end, dialect, fields.length);
  // Below the first value of data, where it is missing by chance, numbers may be equal; those of an index differ.
  const isLabelled = isFirstEmpty && labels.length > 0 && !labels.some(isMissing);
  const isCounted = isFirstEmpty && likeNames[0] === '0' && areWhole(likeNames);
  if (
    isCounted ||
    (isLabelled && areDifferent(labels)) ||
    (!isFirstEmpty && haveFractions && (isSeries || !isOneWhole))
  ) {
    warn(asHeader);
    return true;
  }
  if (second !== undefined && (isSeries || isLabelled))
    warn(
      `First row of CSV file (${path}) is read as numbers (${shown}); pass \`header\` true (--header) if it holds names of columns.`,
    );
  return false;
}

function shownFields(fields: readonly CsvField[]): string {
  const texts = fields.slice(0, 4).map(({ text }) => (text.length > 20 ? `${text.slice(0, 17)}...` : text));
  return fields.length > 4 ? `${texts.join(', ')}, ...` : texts.join(', ');
}

// In quotes there may be blanks about a number.
function isLikeNumber(field: CsvField): boolean {
  const text = field.text.trim();
  return isDecimal(text) || isMissing(text) || /^[+-]?(inf|infinity|nan|0x[\da-f]+)$/i.test(text);
}

// As years, postal codes and 0, 1, 2, ... are; pandas writes those of floats as 2020.0.
function areWhole(texts: readonly string[]): boolean {
  return texts.every((text) => /^(0|[1-9]\d{0,14})(\.0)?$/.test(text));
}

function areDifferent(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

// Years in any order, or three numbers and more in equal steps, or two that follow each other. Rows that begin with 1,
// 2, 3 are too common to be called names.
function isCount(numbers: readonly number[]): boolean {
  if (numbers.every((number) => number >= 1000 && number < 3000)) return true;
  const [begin, next] = numbers as [number, number];
  const step = next - begin;
  const isEven = numbers.every((number, i) => number === begin + i * step);
  return isEven && (numbers.length === 2 ? step === 1 && begin === 0 : begin !== 1);
}

// Among the first rows: whether each column has a number with a point or an exponent, so that a first row of whole
// numbers is of another kind; whether a row has whole numbers only, so that it isn't; and their first fields.
function firstRows(
  bytes: Uint8Array,
  start: number,
  dialect: CsvDialect,
  width: number,
): { haveFractions: boolean; isOneWhole: boolean; labels: string[] } {
  const left = new Set(Array.from({ length: width }, (_, i) => i));
  const labels: string[] = [];
  let isOneWhole = false;
  let at = start;
  for (let rows = 0; rows === 0 || rows < Math.min(100, 10_000 / width); rows++) {
    const record = csvRecord(bytes, at, dialect);
    if (record === undefined || record.fieldCount !== width) break;
    const fractions = record.fields.flatMap(({ text }, i) => (/[.e]/i.test(text) ? [i] : []));
    for (const i of fractions) left.delete(i);
    labels.push(record.fields[0]!.text);
    isOneWhole ||= fractions.length === 0;
    at = record.end;
  }
  return { haveFractions: left.size === 0, isOneWhole, labels };
}
