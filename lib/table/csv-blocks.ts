import type { ByteSource } from '../file/input.ts';

/** The most bytes that a record may have: enough for half a million numbers. */
export const mostRecordBytes: number = 16 << 20;

const [tab, feed, carriage, blank, quote] = [0x09, 0x0a, 0x0d, 0x20, 0x22];
// Until the first block is read, a file may have any of these.
const possibleDelimiters = Array.from(',;\t|', (letter) => letter.charCodeAt(0));
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** A CSV file as blocks of whole records, in order. */
export class CsvBlocks {
  readonly #source: ByteSource;
  readonly #blockBytes: number;
  readonly #comment: number;
  #delimiters: readonly number[] = possibleDelimiters;
  readonly #spare: Uint8Array[] = [];
  // The bytes read after the last whole record.
  #rest: Uint8Array = new Uint8Array(0);
  #isQuoted = false;
  // True if the last byte read ended a quoted text, or is the first half of a doubled quote.
  #isAfterQuoted = false;
  #isComment = false;
  #isLineStart = true;
  #isAtEnd = false;

  /** Quotes in a line that begins with `comment` do not count; 0 means no comments. */
  constructor(source: ByteSource, blockBytes: number, comment: number) {
    this.#source = source;
    this.#blockBytes = blockBytes;
    this.#comment = comment;
  }

  /** The byte between fields: a quote opens a quoted text only where a field begins. */
  set delimiter(delimiter: number) {
    // A tab is a blank among blanks.
    this.#delimiters = delimiter === blank ? [blank, tab] : [delimiter];
  }

  /** The next block; undefined at the end, and `too long` if a record has more than {@link mostRecordBytes}. */
  async next(): Promise<Uint8Array | 'too long' | undefined> {
    while (!this.#isAtEnd) {
      const held = this.#rest.length;
      const memory = this.#memory(held + this.#blockBytes);
      memory.set(this.#rest);
      const count = await this.#source.fill(memory.subarray(held));
      const bytes = memory.subarray(0, held + count);
      this.#isAtEnd = held + count < memory.length;
      if (this.#isAtEnd) {
        this.#rest = new Uint8Array(0);
        return bytes.length === 0 ? undefined : bytes;
      }
      const end = this.#lastRecordEnd(bytes, held);
      // Copied, because the block's memory is reused.
      this.#rest = bytes.slice(end);
      if (end > 0) return bytes.subarray(0, end);
      if (bytes.length > mostRecordBytes) return 'too long';
    }
    return undefined;
  }

  /** Takes a block's memory back once nothing reads it any more. */
  release(block: Uint8Array): void {
    if (this.#spare.length < 8) this.#spare.push(Buffer.from(block.buffer));
  }

  // A little more than a block, so that the rest of the last block fits with the next. A Buffer finds a byte several
  // times as fast as a Uint8Array.
  #memory(count: number): Uint8Array {
    const spare = this.#spare.pop();
    const memory =
      spare !== undefined && spare.length >= count ? spare : Buffer.from(new ArrayBuffer(count + (64 << 10)));
    return memory.subarray(0, count);
  }

  // The end of the last record that ends in bytes[from...]; 0 if none does. A CR at the end may be followed by a LF.
  #lastRecordEnd(bytes: Uint8Array, from: number): number {
    const isPlain = !this.#isQuoted && this.#comment === 0 && bytes.indexOf(quote, from) < 0;
    if (!isPlain) return this.#scan(bytes, from);
    const last = bytes[bytes.length - 1];
    this.#isLineStart = last === feed || last === carriage;
    this.#isAfterQuoted = false;
    const lastFeed = bytes.lastIndexOf(feed);
    if (lastFeed >= from) return lastFeed + 1;
    const lastReturn = bytes.lastIndexOf(carriage, bytes.length - 2);
    return lastReturn >= Math.max(0, from - 1) ? lastReturn + 1 : 0;
  }

  #scan(bytes: Uint8Array, from: number): number {
    const comment = this.#comment;
    let [isQuoted, isComment, isLineStart] = [this.#isQuoted, this.#isComment, this.#isLineStart];
    let end = 0;
    let quotedEnd = this.#isAfterQuoted ? from - 1 : -2;
    const likely = this.#delimiters[0];
    for (let at = from; at < bytes.length; at++) {
      if (isQuoted) {
        while (at < bytes.length && bytes[at] !== quote) at++;
        isQuoted = at === bytes.length;
        quotedEnd = at;
        continue;
      }
      const letter = bytes[at]!;
      if (letter === quote) {
        // A second quote after the end of a quoted text stands for a quote, and the text goes on.
        if (!isComment)
          isQuoted = isLineStart || bytes[at - 1] === likely || quotedEnd === at - 1 || this.#isFieldStart(bytes, at);
      } else if (letter === feed || letter === carriage) {
        isComment = false;
        isLineStart = true;
        const isSplit = letter === carriage && (at + 1 === bytes.length || bytes[at + 1] === feed);
        if (!isSplit) end = at + 1;
        continue;
      } else if (isLineStart && comment !== 0 && letter === comment) isComment = true;
      isLineStart = false;
    }
    [this.#isQuoted, this.#isComment, this.#isLineStart] = [isQuoted, isComment, isLineStart];
    this.#isAfterQuoted = !isQuoted && quotedEnd === bytes.length - 1;
    return end;
  }

  // Whether a quote at `at` is the first letter of a field but for blanks. `bytes` begin with a record.
  #isFieldStart(bytes: Uint8Array, at: number): boolean {
    const delimiters = this.#delimiters;
    let before = at - 1;
    while (before >= 0 && (bytes[before] === blank || bytes[before] === tab) && !delimiters.includes(bytes[before]!))
      before--;
    if (before < 0) return true;
    const letter = bytes[before]!;
    if (letter === feed || letter === carriage || delimiters.includes(letter)) return true;
    return before === 2 && byteOrderMark.every((byte, place) => bytes[place] === byte);
  }
}
