import { isAscii } from 'node:buffer';
import { linesOf } from './csv-rows.ts';

/** A field of a record as text. */
export interface CsvField {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** A record as texts: for the header, and for messages. */
export interface CsvRecord {
  /** At most {@link mostFields}; `fieldCount` counts all. */
  readonly fields: readonly CsvField[];
  readonly fieldCount: number;
  /** The offset after its line end. */
  readonly end: number;
  /** True if its last field begins with a quote that does not end. */
  readonly isUnclosed: boolean;
}

/** The most fields that a record may have. */
export const mostFields: number = 1 << 20;

/** How a file writes its fields; characters are byte values. */
export interface CsvDialect {
  readonly delimiter: number;
  readonly comment: number;
}

const [tab, feed, carriage, blank, quote] = [0x09, 0x0a, 0x0d, 0x20, 0x22];

/**
 * The record at `at`, after empty lines and comments; undefined at the end. Text after a closing quote belongs to the
 * field.
 */
export function csvRecord(bytes: Uint8Array, at: number, { delimiter, comment }: CsvDialect): CsvRecord | undefined {
  const isLineEnd = (place: number) => bytes[place] === feed || bytes[place] === carriage;
  const isBlank = (place: number) => bytes[place] === blank || (bytes[place] === tab && delimiter !== tab);
  const blanksFrom = (from: number) => {
    let to = from;
    while (isBlank(to)) to++;
    return to;
  };
  const lineEndFrom = (from: number) => {
    let to = from;
    while (to < bytes.length && !isLineEnd(to)) to++;
    return to;
  };
  const pastLineEnd = (from: number) =>
    from + (bytes[from] === carriage && bytes[from + 1] === feed ? 2 : Number(from < bytes.length));
  let start = at;
  for (;;) {
    if (start >= bytes.length) return undefined;
    const isComment = comment !== 0 && bytes[start] === comment;
    const end = isComment ? lineEndFrom(start) : blanksFrom(start);
    if (!isComment && end < bytes.length && !isLineEnd(end)) break;
    start = pastLineEnd(end);
  }
  const textOf = textsOf(bytes);
  const fields: CsvField[] = [];
  let fieldCount = 0;
  let isUnclosed = false;
  for (let place = start; ; ) {
    place = blanksFrom(place);
    const isQuoted = bytes[place] === quote;
    let begin = place;
    let text = '';
    if (isQuoted) {
      const end = closingQuote(bytes, place + 1);
      text = textOf(place + 1, end).replaceAll('""', '"');
      isUnclosed = end === bytes.length;
      place = Math.min(bytes.length, end + 1);
      begin = place;
    }
    while (place < bytes.length && !isLineEnd(place) && bytes[place] !== delimiter) {
      if (delimiter === blank && isBlank(place)) break;
      place++;
    }
    let last = place;
    while (last > begin && isBlank(last - 1)) last--;
    if (fieldCount++ < mostFields) fields.push({ text: text + textOf(begin, last), isQuoted });
    place = blanksFrom(place);
    if (place >= bytes.length || isLineEnd(place)) return { fields, fieldCount, end: pastLineEnd(place), isUnclosed };
    if (delimiter !== blank) place++;
  }
}

const windowBytes = 1 << 14;

/** Gives texts of bytes. ASCII is decoded for many fields at once: a call for each takes longer than its letters. */
function textsOf(bytes: Uint8Array): (from: number, to: number) => string {
  const letters = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let [start, window] = [0, ''];
  return (from, to) => {
    if (from === to) return '';
    if (from < start || to > start + window.length) {
      const part = letters.subarray(from, from + windowBytes);
      if (to > from + part.length || !isAscii(part)) return letters.toString('utf8', from, to);
      [start, window] = [from, part.toString('latin1')];
    }
    return window.slice(from - start, to - start);
  };
}

/** Line and column, both from 1, of a place in a text; columns count characters. */
export function lineAndColumn(bytes: Uint8Array, at: number): { readonly line: number; readonly column: number } {
  const before = bytes.subarray(0, at);
  const start = Math.max(before.lastIndexOf(feed), before.lastIndexOf(carriage)) + 1;
  let column = 1;
  for (const byte of before.subarray(start)) if ((byte & 0xc0) !== 0x80) column++;
  return { line: linesOf(before) + 1, column };
}

function closingQuote(bytes: Uint8Array, from: number): number {
  for (let at = from; ; at += 2) {
    at = bytes.indexOf(quote, at);
    if (at < 0) return bytes.length;
    if (bytes[at + 1] !== quote) return at;
  }
}
