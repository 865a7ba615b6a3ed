/** What the metadata of a message says of it. */
export interface ArrowOutline {
  readonly type: 'schema' | 'dictionary batch' | 'record batch' | 'other';
  readonly bodyBytes: number;
}

const types = ['other', 'schema', 'dictionary batch', 'record batch'] as const;
const unionType = 14;

/**
 * Looks at all vectors that a decoder would go through, and throws a plain error where one is longer than the metadata
 * or something points outside: the decoder trusts them, and would be busy for hours.
 * https://github.com/apache/arrow/tree/main/format has the tables.
 */
export function arrowOutline(metadata: Uint8Array): ArrowOutline {
  const flat = new FlatTables(metadata);
  const message = flat.root();
  const type = types[flat.uint8(message, 1)] ?? 'other';
  const header = flat.child(message, 2);
  const bodyBytes = flat.int64(message, 3);
  flat.vector(message, 4, 4);
  if (bodyBytes < 0) throw new RangeError(`a body has (${bodyBytes}) bytes`);
  if (header === undefined) throw new RangeError('a message has no header');
  if (type === 'schema') checkSchema(flat, header);
  if (type === 'record batch') checkBatch(flat, header);
  if (type === 'dictionary batch') checkBatch(flat, flat.child(header, 1));
  return { type, bodyBytes };
}

function checkSchema(flat: FlatTables, schema: number): void {
  if (flat.uint8(schema, 0) !== 0) throw new RangeError('its numbers are big-endian');
  flat.vector(schema, 2, 4);
  for (const field of flat.tables(schema, 1)) checkField(flat, field);
}

function checkField(flat: FlatTables, field: number): void {
  const type = flat.child(field, 3);
  if (type !== undefined && flat.uint8(field, 2) === unionType) flat.vector(type, 1, 4);
  flat.vector(field, 6, 4);
  for (const child of flat.tables(field, 5)) checkField(flat, child);
}

function checkBatch(flat: FlatTables, batch: number | undefined): void {
  if (batch === undefined) throw new RangeError('a dictionary has no batch');
  flat.vector(batch, 1, 16);
  flat.vector(batch, 2, 16);
  flat.vector(batch, 4, 8);
}

/** The tables of a FlatBuffer, which a DataView keeps within its bytes. https://flatbuffers.dev/internals/ */
class FlatTables {
  readonly #view: DataView;
  // Tables can point to each other in circles, and share parts: no right metadata has more tables than bytes.
  #visits = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  root(): number {
    return this.#refer(0);
  }

  uint8(table: number, field: number): number {
    const at = this.#place(table, field);
    return at === undefined ? 0 : this.#view.getUint8(at);
  }

  int64(table: number, field: number): number {
    const at = this.#place(table, field);
    return at === undefined ? 0 : Number(this.#view.getBigInt64(at, true));
  }

  child(table: number, field: number): number | undefined {
    const at = this.#place(table, field);
    return at === undefined ? undefined : this.#refer(at);
  }

  /** The place and length of a vector, which lies within the bytes. */
  vector(table: number, field: number, entryBytes: number): { start: number; length: number } {
    const at = this.#place(table, field);
    if (at === undefined) return { start: 0, length: 0 };
    const vector = this.#refer(at);
    const length = this.#view.getUint32(vector, true);
    if (vector + 4 + length * entryBytes > this.#view.byteLength)
      throw new RangeError(`a list of (${length}) entries is longer than its message`);
    return { start: vector + 4, length };
  }

  tables(table: number, field: number): number[] {
    const { start, length } = this.vector(table, field, 4);
    return Array.from({ length }, (_, index) => this.#refer(start + 4 * index));
  }

  #refer(at: number): number {
    if (++this.#visits > this.#view.byteLength) throw new RangeError('its tables go round in circles');
    return at + this.#view.getUint32(at, true);
  }

  #place(table: number, field: number): number | undefined {
    const vtable = table - this.#view.getInt32(table, true);
    const entry = 4 + 2 * field;
    if (entry >= this.#view.getUint16(vtable, true)) return undefined;
    const offset = this.#view.getUint16(vtable + entry, true);
    return offset === 0 ? undefined : table + offset;
  }
}
