/** How records become rows of numbers. Characters are byte values. */
export interface CsvLayout {
  /** A blank stands for any number of blanks. */
  readonly delimiter: number;
  /** A line that begins with this character is skipped; 0 means none. */
  readonly comment: number;
  /** True if rows with a missing value are left out; otherwise they are refused. */
  readonly drop: boolean;
  /** For each field of a record, the column that its number becomes; -1 if it is not read. */
  readonly places: Int32Array;
  readonly columns: number;
}

/** Why reading stops; matches `CsvFault` of objc/table/csv.h. */
export const csvFaults = {
  none: 0,
  fields: 1,
  number: 2,
  missing: 3,
  quote: 4,
  afterQuote: 5,
  unclosed: 6,
  inexact: 7,
} as const;

/** The number of rows of a block, or the place where it is malformed. */
export interface CsvRows {
  readonly rows: number;
  readonly dropped: number;
  /** The number of line ends in the block, including those in quotes. */
  readonly lines: number;
  /** One of {@link csvFaults}. */
  readonly fault: number;
  /** Offsets in the block where the record of the fault, and its field, begin. */
  readonly record: number;
  readonly field: number;
}

const [tab, feed, carriage, blank, quote, zero, nine] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x30, 0x39];
const [plus, minus, point] = [0x2b, 0x2d, 0x2e];
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const missingWords = new Set(['', 'na', 'n/a', 'nan', 'null']);

/** True if a field means a missing value, as R, pandas, DuckDB and spreadsheets write it. */
export function isMissing(text: string): boolean {
  return text.length <= 4 && missingWords.has(text.toLowerCase());
}

/** The most rows that `bytes` hold: every number is followed by another byte, and one row may be unfinished. */
export function mostCsvRows(bytes: number, columns: number): number {
  return Math.floor((bytes + 1) / (2 * columns)) + 1;
}

/**
 * The rows of whole records, of which none goes on beyond the block, row after row into `values`, which has room for
 * {@link mostCsvRows}. The twin of objc/table/csv.cc, for where there is no addon.
 */
export function readCsvRows(
  bytes: Uint8Array,
  layout: CsvLayout,
  values: Float64Array = new Float64Array(mostCsvRows(bytes.length, layout.columns) * layout.columns),
): CsvRows {
  return new Reader(bytes, layout, values).read();
}

/** Line ends: LF, CR, or both together. */
export function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = 0; at < bytes.length; at++)
    if (bytes[at] === feed || (bytes[at] === carriage && bytes[at + 1] !== feed)) lines++;
  return lines;
}

class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #layout: CsvLayout;
  readonly #tabIsBlank: boolean;
  readonly #values: Float64Array;
  readonly #lines: number;
  #at = 0;
  #record = 0;
  #field = 0;
  #rows = 0;
  #dropped = 0;
  #isDropped = false;
  #fault = 0;
  /** The number that was read last. */
  #value = 0;

  constructor(bytes: Uint8Array, layout: CsvLayout, values: Float64Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
    this.#layout = layout;
    this.#tabIsBlank = layout.delimiter !== tab;
    this.#lines = linesOf(bytes);
    this.#values = values;
  }

  read(): CsvRows {
    const { comment } = this.#layout;
    const bytes = this.#bytes;
    while (this.#fault === 0 && this.#at < this.#end) {
      if (comment !== 0 && bytes[this.#at] === comment) {
        while (this.#at < this.#end && !isLineEnd(bytes[this.#at])) this.#at++;
        this.#passLineEnd();
        continue;
      }
      this.#record = this.#at;
      this.#skipBlanks();
      if (this.#at === this.#end) break;
      if (!isLineEnd(bytes[this.#at])) this.#readRecord();
      this.#passLineEnd();
    }
    return {
      rows: this.#rows,
      dropped: this.#dropped,
      lines: this.#lines,
      fault: this.#fault,
      record: this.#fault === 0 ? 0 : this.#record,
      field: this.#fault === 0 ? 0 : this.#field,
    };
  }

  #readRecord(): void {
    const { places, columns, delimiter } = this.#layout;
    const fields = places.length;
    const row = this.#rows * columns;
    this.#isDropped = false;
    let start = this.#record;
    for (let i = 0; ; i++) {
      if (i === fields) {
        this.#refuse(csvFaults.fields, start);
        return;
      }
      const place = places[i]!;
      if (!(place < 0 ? this.#skip() : this.#number())) return;
      if (place >= 0) this.#values[row + place] = this.#value;
      if (this.#at === this.#end || isLineEnd(this.#bytes[this.#at])) {
        if (i + 1 < fields) this.#refuse(csvFaults.fields, this.#at);
        else if (this.#isDropped) this.#dropped++;
        else this.#rows++;
        return;
      }
      if (delimiter !== blank) this.#at++;
      start = this.#at;
    }
  }

  #number(): boolean {
    const start = this.#at;
    this.#skipBlanks();
    const text = this.#at;
    const next = this.#decimal(text, this.#end);
    if (next !== text) {
      this.#at = next;
      this.#skipBlanks();
      if (this.#isAfterField(next) && Number.isFinite(this.#value)) return this.#isExact(text, next, start);
      this.#at = text;
    }
    return this.#bytes[this.#at] === quote ? this.#quoted(start, true) : this.#text(start, true);
  }

  #skip(): boolean {
    const start = this.#at;
    this.#skipBlanks();
    return this.#bytes[this.#at] === quote ? this.#quoted(start, false) : this.#text(start, false);
  }

  #text(start: number, isRead: boolean): boolean {
    const bytes = this.#bytes;
    const { delimiter } = this.#layout;
    const begin = this.#at;
    let last = begin;
    for (; !this.#isFieldEnd(); this.#at++) {
      const letter = bytes[this.#at]!;
      if (letter === quote) return this.#refuse(csvFaults.quote, start);
      if (!this.#isBlank(letter)) last = this.#at + 1;
      else if (delimiter === blank) break;
    }
    this.#skipBlanks();
    return !isRead || this.#judge(begin, last, start);
  }

  #quoted(start: number, isRead: boolean): boolean {
    const bytes = this.#bytes;
    const begin = ++this.#at;
    for (; ; this.#at++) {
      this.#at = bytes.indexOf(quote, this.#at);
      if (this.#at < 0) {
        this.#at = this.#end;
        return this.#refuse(csvFaults.unclosed, start);
      }
      if (bytes[this.#at + 1] !== quote) break;
      this.#at++;
    }
    const last = this.#at++;
    const after = this.#at;
    this.#skipBlanks();
    if (!this.#isAfterField(after)) return this.#refuse(csvFaults.afterQuote, start);
    return !isRead || this.#judge(begin, last, start);
  }

  // Of a field in quotes there may be blanks about the number, as R's format() writes it.
  #judge(from: number, to: number, start: number): boolean {
    let [begin, last] = [from, to];
    while (begin < last && this.#isBlank(this.#bytes[begin])) begin++;
    while (last > begin && this.#isBlank(this.#bytes[last - 1])) last--;
    if (begin !== last && this.#decimal(begin, last) === last && Number.isFinite(this.#value))
      return this.#isExact(begin, last, start);
    if (last - begin > 4 || !isMissing(this.#bytes.toString('latin1', begin, last)))
      return this.#refuse(csvFaults.number, start);
    if (!this.#layout.drop) return this.#refuse(csvFaults.missing, start);
    this.#isDropped = true;
    return true;
  }

  // Only numbers from 2^53 on can be rounded integers.
  #isExact(begin: number, end: number, field: number): boolean {
    if (Math.abs(this.#value) < 2 ** 53 || !isRounded(this.#bytes.toString('latin1', begin, end))) return true;
    return this.#refuse(csvFaults.inexact, field);
  }

  // Reads the decimal number at `begin` into #value and returns where it ends, or `begin` if there is none. Up to 15
  // digits and a power of ten up to 22 are exact, so only one rounding remains.
  #decimal(begin: number, end: number): number {
    const bytes = this.#bytes;
    let at = begin;
    const sign = at < end ? bytes[at] : 0;
    if (sign === minus || sign === plus) at++;
    let digits = 0;
    let count = 0;
    let exponent = 0;
    const first = at;
    for (let letter = bytes[at]!; at < end && letter >= zero && letter <= nine; letter = bytes[++at]!) {
      digits = digits * 10 + letter - zero;
      if (digits !== 0) count++;
    }
    let hasDigits = at > first;
    if (at < end && bytes[at] === point) {
      const fraction = ++at;
      for (let letter = bytes[at]!; at < end && letter >= zero && letter <= nine; letter = bytes[++at]!) {
        digits = digits * 10 + letter - zero;
        if (digits !== 0) count++;
      }
      exponent = fraction - at;
      hasDigits ||= at > fraction;
    }
    if (!hasDigits) return begin;
    if (at < end && (bytes[at]! | 0x20) === 0x65) {
      let next = at + 1;
      const isDown = bytes[next] === minus;
      if (next < end && (isDown || bytes[next] === plus)) next++;
      const stated = next;
      let power = 0;
      for (let letter = bytes[next]!; next < end && letter >= zero && letter <= nine; letter = bytes[++next]!)
        power = Math.min(power * 10 + letter - zero, 100_000);
      if (next > stated) {
        exponent += isDown ? -power : power;
        at = next;
      }
    }
    if (count <= 15 && exponent >= -22 && exponent <= 22) {
      const size = exponent < 0 ? digits / powers[-exponent]! : digits * powers[exponent]!;
      this.#value = sign === minus ? -size : size;
    } else this.#value = Number(bytes.toString('latin1', begin, at));
    return at;
  }

  #isAfterField(textEnd: number): boolean {
    return this.#isFieldEnd() || (this.#layout.delimiter === blank && this.#at !== textEnd);
  }

  #isFieldEnd(): boolean {
    if (this.#at >= this.#end) return true;
    const letter = this.#bytes[this.#at];
    return letter === this.#layout.delimiter || isLineEnd(letter);
  }

  #isBlank(letter: number | undefined): boolean {
    return letter === blank || (letter === tab && this.#tabIsBlank);
  }

  #skipBlanks(): void {
    while (this.#at < this.#end && this.#isBlank(this.#bytes[this.#at])) this.#at++;
  }

  #passLineEnd(): void {
    if (this.#at >= this.#end || !isLineEnd(this.#bytes[this.#at])) return;
    if (this.#bytes[this.#at++] === carriage && this.#at < this.#end && this.#bytes[this.#at] === feed) this.#at++;
  }

  #refuse(fault: number, field: number): boolean {
    this.#fault = fault;
    this.#field = field;
    return false;
  }
}

/**
 * True if a text is digits alone, perhaps with a sign, of a 64-bit integer that float64 does not hold. What a program
 * prints of a float64 by its shortest digits, and zeros up to the point, is that float64.
 */
function isRounded(text: string): boolean {
  const digits = /^[+-]?0*(\d{16,20})$/.exec(text)?.[1];
  if (digits === undefined) return false;
  const integer = BigInt(digits);
  return integer < 2n ** 64n && BigInt(Number(digits)) !== integer && String(Number(digits)) !== digits;
}

function isLineEnd(letter: number | undefined): boolean {
  return letter === feed || letter === carriage;
}
