import { isSlice, type Work } from '../../work.ts';
import { Contradiction } from '../contradiction.ts';

// A name keeps its byte order mark: a writer may have taken it from the first column of a CSV file.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Types of fields and of list entries in Thrift's compact protocol. */
const thrift = {
  true: 1,
  false: 2,
  byte: 3,
  int16: 4,
  int32: 5,
  int64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

// Parquet's own structs nest six deep.
const deepest = 32;

/**
 * Reads Thrift's compact protocol. No count is trusted: each entry of a list takes a byte at least, and nothing is read
 * beyond the end. Throws a {@link Contradiction}.
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #depth = 0;
  #type = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Bytes that were read, from the start of the memory. */
  get at(): number {
    return this.#at;
  }

  /**
   * Reads a struct. `field` gets the number of each field, reads its value and gives true; where it gives something
   * else, having read nothing, the field is skipped.
   */
  struct(field: (id: number) => boolean | undefined): void {
    this.#enterStruct();
    for (let id = this.#nextField(0); id !== 0; id = this.#nextField(id)) {
      const type = this.#type;
      if (field(id) !== true) this.#skip(type, true);
    }
    this.#depth--;
  }

  /** {@link struct} in slices: `field` may give the work that reads the value in place of true. */
  *structWork(field: (id: number) => boolean | undefined | Work): Work {
    this.#enterStruct();
    for (let id = this.#nextField(0); id !== 0; id = this.#nextField(id)) {
      const type = this.#type;
      const read = field(id);
      if (typeof read === 'object') yield* read;
      else if (read !== true) this.#skip(type, true);
    }
    this.#depth--;
  }

  #enterStruct(): void {
    if (++this.#depth > deepest) throw new Contradiction(`structs are nested more than (${deepest}) deep`);
  }

  // 0 at the end of the struct.
  #nextField(id: number): number {
    const head = this.#byte();
    if (head === 0) return 0;
    const step = head >> 4;
    const next = step === 0 ? this.#zigzag() : id + step;
    if (next <= id) throw new Contradiction(`field (${next}) of a struct follows field (${id})`);
    this.#type = head & 15;
    return next;
  }

  /** A whole number: the value of the field that was just begun. Beyond 2^53 it is rounded. */
  integer(): number {
    return this.#integerOf(this.#type);
  }

  boolean(): boolean {
    if (this.#type !== thrift.true && this.#type !== thrift.false) throw this.#mistyped('a boolean');
    return this.#type === thrift.true;
  }

  text(): string {
    if (this.#type !== thrift.binary) throw this.#mistyped('a text');
    const length = this.#varint();
    const start = this.#at;
    this.#pass(length);
    return utf8.decode(this.#bytes.subarray(start, this.#at));
  }

  /** A struct as the value of a field. */
  child(field: (id: number) => boolean | undefined): true {
    if (this.#type !== thrift.struct) throw this.#mistyped('a struct');
    this.struct(field);
    return true;
  }

  /** Entries of a list, each read by `entry`. */
  list<Entry>(entry: () => Entry): Entry[] {
    if (this.#type !== thrift.list) throw this.#mistyped('a list');
    const { length, type } = this.#listHead();
    const entries: Entry[] = [];
    for (let index = 0; index < length; index++) {
      this.#type = type;
      entries.push(entry());
    }
    return entries;
  }

  /** Entries of a list in slices: each is read by `entry`, or by the work that it gives. */
  *listWork(entry: () => Work | undefined): Work {
    if (this.#type !== thrift.list) throw this.#mistyped('a list');
    const { length, type } = this.#listHead();
    for (let index = 0; index < length; index++) {
      this.#type = type;
      const work = entry();
      if (work !== undefined) yield* work;
      if (isSlice(index)) yield;
    }
  }

  /** A struct as an entry of a list, in slices. */
  *childWork(field: (id: number) => boolean | undefined | Work): Work {
    if (this.#type !== thrift.struct) throw this.#mistyped('a struct');
    yield* this.structWork(field);
  }

  #listHead(): { length: number; type: number } {
    const head = this.#byte();
    const length = head >> 4 === 15 ? this.#varint() : head >> 4;
    if (length > this.#bytes.length - this.#at)
      throw new Contradiction(`a list of (${length}) entries is longer than what holds it`);
    return { length, type: head & 15 };
  }

  #integerOf(type: number): number {
    if (type === thrift.byte) return (this.#byte() << 24) >> 24;
    if (type === thrift.int16 || type === thrift.int32 || type === thrift.int64) return this.#zigzag();
    throw this.#mistyped('a whole number');
  }

  #skip(type: number, isField = false): void {
    if (type === thrift.true || type === thrift.false) {
      // A boolean field has its value in its type.
      if (!isField) this.#byte();
    } else if (type === thrift.byte) this.#byte();
    else if (type === thrift.int16 || type === thrift.int32 || type === thrift.int64) this.#varint();
    else if (type === thrift.double) this.#pass(8);
    else if (type === thrift.binary) this.#pass(this.#varint());
    else if (type === thrift.list || type === thrift.set) {
      if (++this.#depth > deepest) throw new Contradiction(`lists are nested more than (${deepest}) deep`);
      const { length, type: entry } = this.#listHead();
      for (let index = 0; index < length; index++) this.#skip(entry);
      this.#depth--;
    } else if (type === thrift.map) this.#skipMap();
    else if (type === thrift.struct) this.struct(() => undefined);
    else throw new Contradiction(`a field is of an unknown type (${type})`);
  }

  #skipMap(): void {
    const length = this.#varint();
    if (length === 0) return;
    if (length > this.#bytes.length - this.#at)
      throw new Contradiction(`a map of (${length}) entries is longer than what holds it`);
    if (++this.#depth > deepest) throw new Contradiction(`maps are nested more than (${deepest}) deep`);
    const types = this.#byte();
    for (let index = 0; index < length; index++) {
      this.#skip(types >> 4);
      this.#skip(types & 15);
    }
    this.#depth--;
  }

  #mistyped(expected: string): Contradiction {
    return new Contradiction(`a field of type (${this.#type}) stands where ${expected} does`);
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Contradiction('a whole number takes more than (10) bytes');
  }

  #pass(count: number): void {
    if (count > this.#bytes.length - this.#at)
      throw new Contradiction(`(${count}) bytes are longer than what holds them`);
    this.#at += count;
  }

  #byte(): number {
    if (this.#at >= this.#bytes.length) throw new Contradiction('a struct does not end');
    return this.#bytes[this.#at++]!;
  }
}
