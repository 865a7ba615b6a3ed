import { isSlice, type Work } from '../work.ts';

const utf8 = new TextEncoder();

/**
 * Writes Thrift's compact protocol, as far as Parquet's headers and footers need it. Fields must be written in
 * ascending order of their numbers. https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */
export class CompactThrift {
  #bytes: Uint8Array = new Uint8Array(64);
  #length = 0;
  #lastField = 0;

  /** The bytes written, with the stop that ends the outermost struct. */
  finish(): Uint8Array {
    this.#byte(0);
    return this.#bytes.slice(0, this.#length);
  }

  int32(field: number, value: number): this {
    this.#header(field, 5);
    this.#zigzag(value);
    return this;
  }

  /** A whole number up to 2^52. */
  int64(field: number, value: number): this {
    this.#header(field, 6);
    this.#zigzag(value);
    return this;
  }

  text(field: number, value: string): this {
    this.#header(field, 8);
    this.#text(value);
    return this;
  }

  int32s(field: number, values: readonly number[]): this {
    this.#list(field, values.length, 5);
    for (const value of values) this.#zigzag(value);
    return this;
  }

  texts(field: number, values: readonly string[]): this {
    this.#list(field, values.length, 8);
    for (const value of values) this.#text(value);
    return this;
  }

  struct(field: number, write: (thrift: this) => void): this {
    this.#header(field, 12);
    const outer = this.#lastField;
    this.#lastField = 0;
    write(this);
    this.#byte(0);
    this.#lastField = outer;
    return this;
  }

  /** A list of structs in slices: each is written by `write`, or by the work that it gives. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that writes gives nothing.
  *structs<Item>(field: number, items: readonly Item[], write: (thrift: this, item: Item) => Work | void): Work {
    this.#list(field, items.length, 12);
    const outer = this.#lastField;
    for (const [index, item] of items.entries()) {
      this.#lastField = 0;
      const work = write(this, item);
      if (work !== undefined) yield* work;
      this.#byte(0);
      if (isSlice(index)) yield;
    }
    this.#lastField = outer;
  }

  // The numbers of consecutive fields of Parquet differ by less than 16.
  #header(field: number, type: number): void {
    this.#byte(((field - this.#lastField) << 4) | type);
    this.#lastField = field;
  }

  #list(field: number, length: number, type: number): void {
    this.#header(field, 9);
    this.#byte((Math.min(length, 15) << 4) | type);
    if (length >= 15) this.#varint(length);
  }

  #text(value: string): void {
    const bytes = utf8.encode(value);
    this.#varint(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  // All whole numbers of Parquet that we write are nonnegative.
  #zigzag(value: number): void {
    this.#varint(value * 2);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#byte((rest % 128) | 128);
    this.#byte(rest);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * needed);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
