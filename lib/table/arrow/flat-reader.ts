import { Contradiction } from '../contradiction.ts';

// A name keeps its byte order mark: a writer may have taken it from the first column of a CSV file.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The tables of a FlatBuffer. Nothing outside of its bytes is read, and tables that go round in circles end: no right
 * metadata have more tables than bytes. Throws a {@link Contradiction}. https://flatbuffers.dev/internals/
 */
export class FlatReader {
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  #visits = 0;
  // Behind the last byte that was read.
  #end = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  root(): number {
    return this.#refer(0);
  }

  uint8(table: number, field: number, otherwise = 0): number {
    const at = this.#place(table, field, 1);
    return at === undefined ? otherwise : this.#view.getUint8(at);
  }

  int16(table: number, field: number): number {
    const at = this.#place(table, field, 2);
    return at === undefined ? 0 : this.#view.getInt16(at, true);
  }

  int32(table: number, field: number): number {
    const at = this.#place(table, field, 4);
    return at === undefined ? 0 : this.#view.getInt32(at, true);
  }

  /** Beyond 2^53 it is rounded. */
  int64(table: number, field: number): number {
    const at = this.#place(table, field, 8);
    return at === undefined ? 0 : this.int64At(at);
  }

  /**
   * Throws a {@link Contradiction} where other bytes than padding follow all that was read: the body of the message,
   * whose metadata then are said to be longer than they are.
   */
  finish(): void {
    const rest = this.#bytes.subarray(this.#end);
    if (rest.length >= 8 && rest.some((byte) => byte !== 0))
      throw new Contradiction(`its metadata end (${rest.length}) bytes before they are said to`);
  }

  int64At(at: number): number {
    return this.#view.getInt32(at + 4, true) * 2 ** 32 + this.#view.getUint32(at, true);
  }

  int32At(at: number): number {
    return this.#view.getInt32(at, true);
  }

  text(table: number, field: number): string {
    const { start, length } = this.vector(table, field, 1);
    return utf8.decode(this.#bytes.subarray(start, start + length));
  }

  child(table: number, field: number): number | undefined {
    const at = this.#place(table, field, 4);
    return at === undefined ? undefined : this.#refer(at);
  }

  /** Place and length of a vector, all of which is there. */
  vector(table: number, field: number, entryBytes: number): { start: number; length: number } {
    const at = this.#place(table, field, 4);
    if (at === undefined) return { start: 0, length: 0 };
    const vector = this.#refer(at);
    const length = this.#view.getUint32(vector, true);
    if (vector + 4 + length * entryBytes > this.#bytes.length)
      throw new Contradiction(`a list of (${length}) entries is longer than its metadata`);
    this.#end = Math.max(this.#end, vector + 4 + length * entryBytes);
    return { start: vector + 4, length };
  }

  tables(table: number, field: number): number[] {
    const { start, length } = this.vector(table, field, 4);
    return Array.from({ length }, (_, index) => this.#refer(start + 4 * index));
  }

  #refer(at: number): number {
    if (++this.#visits > this.#bytes.length) throw new Contradiction('the tables of its metadata go round in circles');
    this.#hold(at, 4);
    const to = at + this.#view.getUint32(at, true);
    this.#hold(to, 4);
    return to;
  }

  #place(table: number, field: number, size: number): number | undefined {
    const vtable = table - this.#view.getInt32(table, true);
    this.#hold(vtable, 4);
    const vtableBytes = this.#view.getUint16(vtable, true);
    const entry = 4 + 2 * field;
    if (entry + 2 > vtableBytes) return undefined;
    this.#hold(vtable, vtableBytes);
    const offset = this.#view.getUint16(vtable + entry, true);
    if (offset === 0) return undefined;
    if (offset + size > this.#view.getUint16(vtable + 2, true))
      throw new Contradiction('a field of its metadata lies beyond its table');
    this.#hold(table + offset, size);
    return table + offset;
  }

  #hold(at: number, size: number): void {
    if (!(at >= 0 && at + size <= this.#bytes.length))
      throw new Contradiction('its metadata refer to a place outside of them');
    this.#end = Math.max(this.#end, at + size);
  }
}
