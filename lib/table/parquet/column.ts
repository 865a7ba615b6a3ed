import { crc32 } from 'node:zlib';
import { type Real, type RealDtype, zerosOf } from '../../dtype.ts';
import type { RandomAccess } from '../../file/random-access.ts';
import { type Compression, decompress } from '../compression/decompress.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { Inexact, type NumberLayout, readNumbers } from '../numbers.ts';
import { DeltaValues } from './delta.ts';
import type { ColumnChunk, ParquetCodec } from './footer.ts';
import { HybridReader } from './hybrid.ts';
import { type PageHeader, readPageHeader } from './page-header.ts';
import type { ParquetField } from './schema.ts';
import {
  BooleanValues,
  type Dictionary,
  DictionaryValues,
  type PageValues,
  PlainValues,
  SplitValues,
} from './values.ts';

const compressions: { readonly [codec in ParquetCodec]?: Compression } = {
  SNAPPY: 'snappy',
  GZIP: 'gzip',
  BROTLI: 'brotli',
  ZSTD: 'zstd',
  LZ4_RAW: 'lz4-block',
};

const none: Uint8Array = new Uint8Array(0);

// A header is some 30 bytes, with statistics of numbers some 100.
const largestHeader = 1 << 16;

/** A page that is being read: its levels, where some are null, and its numbers. */
interface Page {
  left: number;
  readonly levels: HybridReader | undefined;
  readonly values: PageValues;
}

/**
 * The numbers of a column in one row group, in order, page after page. Memory is that of a page and a dictionary; what
 * they state is held against the bytes that are there and the rows that are left. Throws a {@link Contradiction} or
 * {@link NotTaken}.
 */
export class ChunkReader {
  readonly #file: RandomAccess;
  readonly #number: NumberLayout;
  readonly #isOptional: boolean;
  readonly #dtype: RealDtype;
  readonly #chunk: ColumnChunk;
  readonly #rows: number;
  readonly #readBytes: number;
  readonly #signal: AbortSignal | undefined;
  // Bytes [windowStart, windowEnd) of the file, and the place of the next page.
  #window: Uint8Array;
  #windowStart: number;
  #windowEnd: number;
  // Whether others read from the same memory, which has all of the chunk.
  readonly #isHeld: boolean;
  #next: number;
  #plain = none;
  #levels = none;
  #dictionary: Dictionary | undefined;
  #isFirstPage = true;
  #page: Page | undefined;
  // Rows whose pages have not begun.
  #left: number;

  constructor(
    file: RandomAccess,
    field: ParquetField,
    chunk: ColumnChunk,
    rows: number,
    {
      dtype,
      readBytes,
      signal,
      window = none,
      held,
    }: {
      dtype: RealDtype;
      readBytes: number;
      signal: AbortSignal | undefined;
      /** Memory of an earlier one that has finished. */
      window?: Uint8Array | undefined;
      /** Bytes of the file that were read already, among them those of the chunk, from `start` on. */
      held?: { readonly bytes: Uint8Array; readonly start: number } | undefined;
    },
  ) {
    this.#file = file;
    this.#number = field.number!;
    this.#isOptional = field.isOptional;
    this.#dtype = dtype;
    this.#chunk = chunk;
    this.#rows = rows;
    this.#readBytes = readBytes;
    this.#signal = signal;
    this.#isHeld = held !== undefined;
    this.#window = held?.bytes ?? window;
    this.#windowStart = held?.start ?? 0;
    this.#windowEnd = held === undefined ? 0 : held.start + held.bytes.length;
    this.#next = chunk.start;
    this.#left = rows;
    if (chunk.codec === 'LZO' || chunk.codec === 'LZ4')
      throw new NotTaken(`its pages are compressed with ${chunk.codec}`);
  }

  /** The memory that it reads the file into, if it has its own. */
  get window(): Uint8Array {
    return this.#isHeld ? none : this.#window;
  }

  /**
   * The next numbers of the page at hand, a null as NaN: how many, at most `count`; 0 where another page must come
   * first.
   */
  read(out: Real, start: number, count: number): number {
    const page = this.#page;
    if (page === undefined) return 0;
    const taken = Math.min(count, page.left);
    if (page.levels === undefined) page.values.read(out, start, taken);
    else this.#readSome(page.levels, page.values, out, start, taken);
    page.left -= taken;
    if (page.left === 0) {
      page.values.finish();
      this.#page = undefined;
    }
    return taken;
  }

  // The numbers, and then each at its place, from the last on.
  #readSome(levels: HybridReader, values: PageValues, out: Real, start: number, count: number): void {
    if (this.#levels.length < count) this.#levels = new Uint8Array(count);
    const given = this.#levels;
    levels.read(given, count);
    let from = start - 1;
    for (let index = 0; index < count; index++) from += given[index]!;
    try {
      values.read(out, start, from + 1 - start);
    } catch (error) {
      if (error instanceof Inexact) throw new Inexact(placeOf(given, error.index), error.value);
      throw error;
    }
    for (let index = count - 1; index >= 0; index--)
      out[start + index] = given[index] === 1 ? out[from--]! : Number.NaN;
  }

  /** Whether {@link nextPage} may have to read the file. */
  get mayWait(): boolean {
    return !this.#isHeld;
  }

  /** Reads the bytes of the next page, which {@link nextPage} will need. */
  async readAhead(): Promise<void> {
    const header = await this.#header();
    const end = this.#next + (header === undefined ? 0 : header.bytes + header.compressedBytes);
    if (end <= this.#chunk.end) await this.#hold(this.#next, end);
  }

  /** Begins the next page; there are rows that were not read. */
  async nextPage(): Promise<void> {
    while (this.#page === undefined) {
      const header = await this.#header();
      if (header === undefined)
        throw new Contradiction(`its pages end (${this.#left}) rows before its row group of (${this.#rows})`);
      const start = this.#next + header.bytes;
      const end = start + header.compressedBytes;
      if (end > this.#chunk.end)
        throw new Contradiction(
          `a page of (${header.compressedBytes}) bytes is longer than what is left of its column`,
        );
      await this.#hold(this.#next, end);
      const bytes = this.#window.subarray(start - this.#windowStart, end - this.#windowStart);
      if (header.crc !== undefined && crc32(bytes) !== header.crc)
        throw new Contradiction(`the CRC of a page at byte (${this.#next}) is not that of its bytes`);
      this.#checkPlace(header);
      if (header.kind === 'dictionary') this.#dictionary = await this.#readDictionary(header, bytes);
      else if (header.kind === 'data' && header.values > 0) this.#page = await this.#begin(header, bytes);
      this.#isFirstPage = false;
      this.#next = end;
    }
  }

  /** Throws a {@link Contradiction} where more numbers follow those of the row group. */
  async finish(): Promise<void> {
    for (let header = await this.#header(); header !== undefined; header = await this.#header()) {
      if (header.kind === 'dictionary' || (header.kind === 'data' && header.values > 0))
        throw new Contradiction(`a page follows the (${this.#rows}) rows of its row group`);
      this.#next += header.bytes + header.compressedBytes;
    }
    if (this.#next !== this.#chunk.end) throw new Contradiction('its last page is longer than its column');
  }

  async #header(): Promise<PageHeader | undefined> {
    const left = this.#chunk.end - this.#next;
    if (left <= 0) return undefined;
    const most = Math.min(left, largestHeader);
    await this.#hold(this.#next, this.#next + most);
    const at = this.#next - this.#windowStart;
    return readPageHeader(this.#window.subarray(at, at + most));
  }

  /** Has the bytes from `start` to `end` of the file in the window, and what a read of the usual size brings. */
  async #hold(start: number, end: number): Promise<void> {
    if (start >= this.#windowStart && end <= this.#windowEnd) return;
    const size = Math.min(Math.max(end - start, this.#readBytes), this.#chunk.end - start);
    const held = start >= this.#windowStart ? Math.max(0, this.#windowEnd - start) : 0;
    const rest = this.#window.subarray(start - this.#windowStart, start - this.#windowStart + held);
    if (this.#window.length < size) {
      const larger = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
      larger.set(rest);
      this.#window = larger;
    } else this.#window.set(rest);
    this.#windowStart = start;
    this.#windowEnd = start + held;
    await this.#file.read(start + held, this.#window.subarray(held, size));
    this.#windowEnd = start + size;
  }

  #checkPlace({ kind, values }: PageHeader): void {
    if (kind === 'dictionary') {
      if (!this.#isFirstPage) throw new Contradiction('a dictionary is not the first page of its column');
    } else if (kind === 'data') {
      if (this.#isFirstPage && this.#chunk.hasDictionaryOffset)
        throw new Contradiction('its dictionary is not where its row group says');
      if (values > this.#left)
        throw new Contradiction(`a page has (${values}) values where (${this.#left}) rows are left`);
      const isFirstData = this.#left === this.#rows;
      // Where no place of a dictionary is stated, the data may be said to begin with it.
      if (isFirstData && this.#chunk.hasDictionaryOffset && this.#next !== this.#chunk.dataStart)
        throw new Contradiction(`its data begin at byte (${this.#next}), not (${this.#chunk.dataStart})`);
    }
  }

  async #readDictionary({ values, encoding, plainBytes }: PageHeader, bytes: Uint8Array): Promise<Dictionary> {
    if (encoding !== 'PLAIN' && encoding !== 'PLAIN_DICTIONARY')
      throw new NotTaken(`a dictionary is encoded as ${encoding}`);
    const width = this.#number.bytes;
    if (plainBytes !== Math.ceil(values * width))
      throw new Contradiction(`a dictionary of (${values}) numbers of (${width}) bytes has (${plainBytes})`);
    // A dictionary may hold numbers that no row has, but its bytes are not made of nothing.
    const most = Math.max(this.#rows * width, 1 << 16, 1024 * bytes.length);
    if (plainBytes > most)
      throw new Contradiction(
        `a dictionary of (${values}) numbers is in (${bytes.length}) bytes, for (${this.#rows}) rows`,
      );
    const plain = await this.#decompressed(bytes, plainBytes, true);
    const numbers = zerosOf(this.#dtype, values) as Real;
    const inexact = new Map<number, bigint>();
    for (let at = 0; at < values; )
      try {
        readNumbers(plain, at * width, this.#number, numbers, at, values - at);
        at = values;
      } catch (error) {
        if (!(error instanceof Inexact)) throw error;
        inexact.set(at + error.index, error.value);
        at += error.index + 1;
      }
    return { values: numbers, inexact };
  }

  async #begin(header: PageHeader, bytes: Uint8Array): Promise<Page> {
    const { values, v2, plainBytes } = header;
    const width = this.#number.bytes;
    // The most that any encoding makes of so many numbers, and of the pages' own small parts.
    const most = 1024 + values * (width + 9);
    if (plainBytes > most) throw new Contradiction(`a page of (${values}) values has (${plainBytes}) bytes`);
    const levelBytes = v2?.levelBytes ?? 0;
    const plain = await this.#decompressed(
      bytes.subarray(levelBytes),
      plainBytes - levelBytes,
      v2?.isCompressed ?? true,
    );
    this.#left -= values;
    if (!this.#isOptional) {
      if (levelBytes > 0 || (v2?.nulls ?? 0) > 0)
        throw new Contradiction('a page of a required column has levels or nulls');
      return { left: values, levels: undefined, values: this.#values(header, plain, 0, values) };
    }
    let [levels, from, to] = [bytes, 0, levelBytes];
    if (v2 === undefined) {
      if (header.levelEncoding !== 'RLE') throw new NotTaken(`levels are encoded as ${header.levelEncoding}`);
      if (plain.length < 4) throw new Contradiction('a page has no levels');
      levels = plain;
      from = 4;
      to = 4 + (plain[0]! | (plain[1]! << 8) | (plain[2]! << 16)) + plain[3]! * 2 ** 24;
      if (to > plain.length)
        throw new Contradiction(`the levels of a page have (${to - 4}) bytes of (${plain.length})`);
    }
    const reader = () => new HybridReader(levels, from, to, 1, values, 'levels');
    const given = reader().ones();
    if (v2 !== undefined && v2.nulls !== values - given)
      throw new Contradiction(`a page states (${v2.nulls}) nulls, and its levels (${values - given})`);
    const start = v2 === undefined ? to : 0;
    return {
      left: values,
      levels: given === values ? undefined : reader(),
      values: this.#values(header, plain, start, given),
    };
  }

  #values({ encoding, values }: PageHeader, plain: Uint8Array, at: number, count: number): PageValues {
    const number = this.#number;
    if (encoding === 'PLAIN') return new PlainValues(plain, at, number, count, values);
    if (encoding === 'RLE_DICTIONARY' || encoding === 'PLAIN_DICTIONARY') {
      if (this.#dictionary === undefined) throw new Contradiction('a page of indices has no dictionary');
      return new DictionaryValues(plain, at, this.#dictionary, count);
    }
    if (number.kind === 'bool' && encoding === 'RLE') return new BooleanValues(plain, at, count);
    if (number.kind === 'bool') throw new Contradiction(`a page of booleans is encoded as ${encoding}`);
    if (encoding === 'BYTE_STREAM_SPLIT') return new SplitValues(plain, at, number, count);
    if (encoding === 'DELTA_BINARY_PACKED') {
      if (number.kind === 'float') throw new Contradiction('numbers that are not integers are encoded as differences');
      return new DeltaValues(plain, at, number, count);
    }
    if (encoding === 'DELTA_BYTE_ARRAY' && number.bytes === 2) throw new NotTaken(`a page is encoded as ${encoding}`);
    throw new Contradiction(`a page of numbers is encoded as ${encoding}`);
  }

  async #decompressed(bytes: Uint8Array, plainBytes: number, isCompressed: boolean): Promise<Uint8Array> {
    const compression = compressions[this.#chunk.codec];
    if (compression === undefined || !isCompressed) {
      if (bytes.length !== plainBytes)
        throw new Contradiction(`a page of (${bytes.length}) bytes that is not compressed states (${plainBytes})`);
      return bytes;
    }
    // Of no bytes nothing is compressed: some writers leave out even the empty frame.
    if (plainBytes === 0 && bytes.length === 0) return bytes;
    if (this.#plain.length < plainBytes) this.#plain = new Uint8Array(plainBytes);
    const plain = this.#plain.subarray(0, plainBytes);
    await decompress(compression, bytes, plain, this.#signal);
    return plain;
  }
}

function placeOf(levels: Uint8Array, index: number): number {
  let left = index;
  for (let place = 0; place < levels.length; place++) if (levels[place] === 1 && left-- === 0) return place;
  return levels.length;
}
