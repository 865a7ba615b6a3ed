import { isSlice, type Work } from '../work.ts';

const utf8 = new TextEncoder();

/** A field of a table, by its place in the schema; undefined fields are left out. */
type FlatField =
  | readonly ['uint8' | 'int16' | 'int64', number]
  | readonly ['text', string]
  | readonly ['table', FlatTable]
  | readonly ['tables', readonly FlatTable[]]
  /** A vector of structs (their number comes first) of whole 64-bit words. */
  | readonly ['structs', number, Uint8Array]
  | undefined;

export type FlatTable = readonly FlatField[];

const inlineBytes = { uint8: 1, int16: 2, int64: 8, text: 4, table: 4, tables: 4, structs: 4 } as const;

/**
 * A table and everything it refers to as a FlatBuffer, whose length is a multiple of 8. References only point forward,
 * so what a table refers to follows it. https://flatbuffers.dev/internals/
 */
export function* flatbuffer(root: FlatTable): Work<Uint8Array> {
  const bytes = new Bytes();
  bytes.reserve(4);
  bytes.refer(0, yield* bytes.table(root));
  bytes.align(8);
  return bytes.finish();
}

class Bytes {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  #view: DataView = new DataView(this.#bytes.buffer);
  #length = 0;

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Appends `count` zeros and returns their place. */
  reserve(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }

  align(size: number): void {
    this.reserve(-this.#length & (size - 1));
  }

  refer(from: number, to: number): void {
    this.#view.setUint32(from, to - from, true);
  }

  *table(fields: FlatTable): Work<number> {
    this.align(2);
    const vtable = this.reserve(4 + 2 * fields.length);
    this.align(8);
    const table = this.reserve(4);
    this.#view.setInt32(table, table - vtable, true);
    const places = fields.map((field, index) => {
      if (field === undefined) return 0;
      this.align(inlineBytes[field[0]]);
      const place = this.reserve(inlineBytes[field[0]]);
      this.#view.setUint16(vtable + 4 + 2 * index, place - table, true);
      return place;
    });
    this.#view.setUint16(vtable, 4 + 2 * fields.length, true);
    this.#view.setUint16(vtable + 2, this.#length - table, true);
    for (const [index, field] of fields.entries()) if (field !== undefined) yield* this.#fill(places[index]!, field);
    return table;
  }

  *#fill(place: number, field: NonNullable<FlatField>): Work {
    if (field[0] === 'uint8') this.#view.setUint8(place, field[1]);
    else if (field[0] === 'int16') this.#view.setInt16(place, field[1], true);
    else if (field[0] === 'int64') this.#view.setBigInt64(place, BigInt(field[1]), true);
    else if (field[0] === 'text') this.refer(place, this.#text(field[1]));
    else if (field[0] === 'table') this.refer(place, yield* this.table(field[1]));
    else if (field[0] === 'tables') this.refer(place, yield* this.#tables(field[1]));
    else if (field[0] === 'structs') this.refer(place, this.#structs(field[1], field[2]));
  }

  #text(text: string): number {
    const encoded = utf8.encode(text);
    this.align(4);
    const at = this.reserve(4 + encoded.length + 1);
    this.#view.setUint32(at, encoded.length, true);
    this.#bytes.set(encoded, at + 4);
    return at;
  }

  *#tables(tables: readonly FlatTable[]): Work<number> {
    this.align(4);
    const at = this.reserve(4 + 4 * tables.length);
    this.#view.setUint32(at, tables.length, true);
    for (const [index, table] of tables.entries()) {
      this.refer(at + 4 + 4 * index, yield* this.table(table));
      if (isSlice(index)) yield;
    }
    return at;
  }

  #structs(count: number, structs: Uint8Array): number {
    this.align(8);
    this.reserve(4);
    const at = this.reserve(4 + structs.length);
    this.#view.setUint32(at, count, true);
    this.#bytes.set(structs, at + 4);
    return at;
  }
}
