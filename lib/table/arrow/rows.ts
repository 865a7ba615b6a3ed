import { CovariumError } from '../../covarium-error.ts';
import { bytesOf, type Real, type RealDtype, zerosOf } from '../../dtype.ts';
import { refuseInexact } from '../complete-rows.ts';
import { decompress } from '../compression/decompress.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { Inexact, type NumberLayout, readNumbers } from '../numbers.ts';
import type { RowTiles } from '../row-tiles.ts';
import { type Batch, checkBytes, type Place, readBatch } from './batch.ts';
import type { Body, MessageBytes } from './message-bytes.ts';
import type { ArrowMessage, ArrowMessages } from './messages.ts';
import type { ArrowField } from './schema.ts';

// What is read of all columns together, and of one at least.
const chunkBytes = 4 << 20;
const columnBytes = 1 << 14;
// As of Parquet: compressed batches may state more rows than any file of ordinary numbers.
const plainBytes = 128 << 20;
const plainRatio = 4096;

/** A record batch, or a dictionary, and where its numbers are. */
interface Item {
  readonly batch: Batch;
  readonly body: Body;
  /** Of a dictionary. */
  readonly dictionary: { readonly id: number; readonly isDelta: boolean; readonly field: ArrowField } | undefined;
}

interface Dictionary {
  readonly values: Real;
  readonly inexact: ReadonlyMap<number, bigint>;
}

/** A column of the batch at hand. */
interface ColumnBytes {
  /** The bits of validity, all of them where they were compressed; undefined where nothing is null. */
  readonly validity: Place | Uint8Array | undefined;
  readonly values: Place | Uint8Array;
}

interface Chunk {
  readonly bytes: Uint8Array;
  readonly validity: Uint8Array | undefined;
}

/** The rows of the batches. */
export class ArrowRows {
  readonly #name: string;
  readonly #bytes: MessageBytes;
  readonly #messages: ArrowMessages;
  readonly #fields: readonly ArrowField[];
  readonly #chosen: readonly number[];
  readonly #dtype: RealDtype;
  readonly #tiles: RowTiles;
  readonly #signal: AbortSignal | undefined;
  // Of all columns in dictionaries, those within others too.
  readonly #coded: Map<number, ArrowField> = new Map();
  readonly #dictionaries: Map<number, Dictionary> = new Map();
  readonly #scratch: Uint8Array[];
  readonly #validityScratch: Uint8Array[];
  readonly #chunkRows: number;
  #stated = 0;
  #row = 0;

  constructor(
    name: string,
    bytes: MessageBytes,
    messages: ArrowMessages,
    {
      fields,
      chosen,
      dtype,
      tiles,
      signal,
    }: {
      fields: readonly ArrowField[];
      chosen: readonly number[];
      dtype: RealDtype;
      tiles: RowTiles;
      signal: AbortSignal | undefined;
    },
  ) {
    this.#name = name;
    this.#bytes = bytes;
    this.#messages = messages;
    this.#fields = fields;
    this.#chosen = chosen;
    this.#dtype = dtype;
    this.#tiles = tiles;
    this.#signal = signal;
    const bytesOfColumn = Math.max(columnBytes, chunkBytes / chosen.length);
    // Bits of validity begin at whole bytes.
    this.#chunkRows = Math.floor(bytesOfColumn / 64) * 8;
    this.#scratch = chosen.map(() => new Uint8Array(0));
    this.#validityScratch = chosen.map(() => new Uint8Array(0));
    const collect = (field: ArrowField) => {
      if (field.dictionary !== undefined) this.#coded.set(field.dictionary.id, field);
      field.children.forEach(collect);
    };
    fields.forEach(collect);
  }

  async *blocks(): AsyncGenerator<Real> {
    const columns = this.#chosen.length;
    for await (const item of this.#items()) {
      if (item.dictionary !== undefined) await this.#takeDictionary(item);
      else
        for await (const { rows, chunks } of this.#chunks(item)) {
          const values = zerosOf(this.#dtype, rows * columns) as Real;
          const kept = await this.#write(item.batch, rows, chunks, values, 0);
          if (kept > 0) yield values.subarray(0, kept);
        }
    }
  }

  // All batches are looked at first: then their numbers have their place.
  async all(): Promise<Real> {
    const columns = this.#chosen.length;
    const items: Item[] = [];
    let rows = 0;
    for await (const item of this.#items()) {
      items.push(item);
      if (item.dictionary === undefined) rows += item.batch.rows;
    }
    const values = zerosOf(this.#dtype, rows * columns) as Real;
    let at = 0;
    for (const item of items) {
      if (item.dictionary !== undefined) await this.#takeDictionary(item);
      else
        for await (const { rows: taken, chunks } of this.#chunks(item))
          at += await this.#write(item.batch, taken, chunks, values, at);
    }
    return at === values.length ? values : values.slice(0, at);
  }

  async *#items(): AsyncGenerator<Item> {
    for (;;) {
      let item: Item;
      try {
        const message = await this.#messages.next();
        if (message === undefined) return;
        item = this.#itemOf(message);
      } catch (error) {
        throw refusal(this.#name, error, this.#bytes);
      }
      yield item;
    }
  }

  #itemOf({ type, flat, header, body }: ArrowMessage): Item {
    if (type === 'schema') throw new Contradiction('a second schema follows the first');
    if (type === 'record batch') {
      const batch = readBatch(flat, header, body.bytes, this.#fields, this.#chosen);
      this.#stated += batch.rows * this.#chosen.length * bytesOf(this.#dtype);
      if (this.#stated > Math.max(plainBytes, plainRatio * this.#bytes.offset))
        throw new CovariumError(
          'ERR_TOO_LARGE',
          `Arrow file (${this.#name}) states a batch of (${batch.rows}) rows in (${body.bytes}) bytes: ` +
            'too many for its size.',
          { path: this.#name },
        );
      return { batch, body, dictionary: undefined };
    }
    const id = flat.int64(header, 0);
    const table = flat.child(header, 1);
    const coded = this.#coded.get(id);
    if (coded === undefined || table === undefined) throw new Contradiction(`dictionary (${id}) is that of no column`);
    const field = { ...coded, dictionary: undefined };
    const isWanted = field.number !== undefined;
    const batch = readBatch(flat, table, body.bytes, [field], isWanted ? [0] : []);
    return { batch, body, dictionary: { id, isDelta: flat.uint8(header, 2) !== 0, field } };
  }

  async #takeDictionary({ batch, body, dictionary }: Item): Promise<void> {
    const { id, isDelta, field } = dictionary!;
    // Of columns that hold no numbers nothing is read.
    if (!this.#chosen.some((index) => this.#fields[index]!.dictionary?.id === id)) return;
    try {
      const before = this.#dictionaries.get(id);
      if (isDelta && before === undefined) throw new Contradiction(`dictionary (${id}) is added to, and is not there`);
      if (!isDelta && before !== undefined && this.#messages.isFile)
        throw new Contradiction(`dictionary (${id}) is there twice`);
      const start = isDelta ? before!.values.length : 0;
      const [column] = await this.#columnsOf(batch, body, [field]);
      const { bytes, validity } = await this.#partOf(body, column!, field.number!, 0, batch.rows, 0);
      const values = zerosOf(this.#dtype, start + batch.rows) as Real;
      const inexact = new Map(isDelta ? before!.inexact : []);
      if (isDelta) values.set(before!.values);
      for (let at = 0; at < batch.rows; )
        try {
          const layout = field.number!;
          readNumbers(bytes, at * layout.bytes, layout, values, start + at, batch.rows - at);
          at = batch.rows;
        } catch (error) {
          if (!(error instanceof Inexact)) throw error;
          inexact.set(start + at + error.index, error.value);
          at += error.index + 1;
        }
      const { nulls } = batch.columns[0]!;
      if (nulls !== (validity === undefined ? 0 : batch.rows - countValid(validity, batch.rows)))
        throw new Contradiction(`it states (${nulls}) nulls, and has others`);
      if (validity !== undefined)
        for (let row = 0; row < batch.rows; row++)
          if (!isValid(validity, row)) {
            values[start + row] = Number.NaN;
            inexact.delete(start + row);
          }
      this.#dictionaries.set(id, { values, inexact });
    } catch (error) {
      throw refusal(this.#name, error, undefined, `dictionary of column (${field.name})`);
    }
  }

  // Parts of a batch, read but not yet decoded.
  async *#chunks({ batch, body }: Item): AsyncGenerator<{ rows: number; chunks: Chunk[] }> {
    const fields = this.#chosen.map((index) => this.#fields[index]!);
    try {
      const columns = await this.#columnsOf(batch, body, fields);
      const valid = fields.map(() => 0);
      for (let row = 0; row < batch.rows; row += this.#chunkRows) {
        const rows = Math.min(this.#chunkRows, batch.rows - row);
        const chunks: Chunk[] = [];
        for (const [at, field] of fields.entries()) {
          const layout = field.dictionary?.index ?? field.number!;
          const chunk = await this.#partOf(body, columns[at]!, layout, row, rows, at);
          if (chunk.validity !== undefined) valid[at]! += countValid(chunk.validity, rows);
          chunks.push(chunk);
        }
        yield { rows, chunks };
      }
      fields.forEach(({ name }, at) => {
        const nulls = columns[at]!.validity === undefined ? 0 : batch.rows - valid[at]!;
        if (nulls !== batch.columns[at]!.nulls)
          throw new Contradiction(`column (${name}) states (${batch.columns[at]!.nulls}) nulls, and has (${nulls})`);
      });
    } catch (error) {
      throw refusal(this.#name, error, undefined, `batch at row (${this.#row})`);
    }
  }

  async #columnsOf(batch: Batch, body: Body, fields: readonly ArrowField[]): Promise<ColumnBytes[]> {
    const columns: ColumnBytes[] = [];
    for (const [at, { validity, values }] of batch.columns.entries()) {
      const { name, number, dictionary } = fields[at]!;
      const width = (dictionary?.index ?? number!).bytes;
      const read = async (place: Place, what: string, needed: number) => {
        if (batch.compression === undefined) return place;
        const bytes = await this.#decompressed(batch.compression, body, place, needed);
        checkBytes(name, what, bytes.length, needed, batch.rows);
        return bytes;
      };
      columns.push({
        validity: validity.bytes === 0 ? undefined : await read(validity, 'bits', Math.ceil(batch.rows / 8)),
        values: await read(values, 'numbers', batch.rows * width),
      });
    }
    return columns;
  }

  // Compressed bytes follow their length; -1 says that they are not compressed.
  async #decompressed(
    compression: 'lz4' | 'zstd',
    body: Body,
    { offset, bytes }: Place,
    needed: number,
  ): Promise<Uint8Array> {
    if (bytes === 0) return new Uint8Array(0);
    if (bytes < 8) throw new Contradiction(`a compressed buffer of (${bytes}) bytes does not say its length`);
    const packed = await body.part(offset, new Uint8Array(bytes));
    const head = new DataView(packed.buffer, packed.byteOffset);
    const length = head.getInt32(4, true) * 2 ** 32 + head.getUint32(0, true);
    if (length === -1) return packed.subarray(8);
    // Writers may compress the bytes that they allocated, padding and all.
    if (!(length >= needed && length <= 2 * needed + 1024))
      throw new Contradiction(`a buffer of (${needed}) bytes is said to have (${length}) before it was compressed`);
    const plain = new Uint8Array(length);
    await decompress(compression, packed.subarray(8), plain, this.#signal);
    return plain;
  }

  async #partOf(
    body: Body,
    { validity, values }: ColumnBytes,
    { bytes: width }: NumberLayout,
    row: number,
    rows: number,
    at: number,
  ): Promise<Chunk> {
    const part = async (from: Place | Uint8Array, start: number, length: number, scratches: Uint8Array[]) => {
      if (from instanceof Uint8Array) return from.subarray(start, start + length);
      if (scratches[at]!.length < length) scratches[at] = new Uint8Array(length);
      return body.part(from.offset + start, scratches[at]!.subarray(0, length));
    };
    return {
      bytes: await part(values, row * width, rows * width, this.#scratch),
      validity:
        validity === undefined ? undefined : await part(validity, row / 8, Math.ceil(rows / 8), this.#validityScratch),
    };
  }

  async #write(batch: Batch, rows: number, chunks: readonly Chunk[], out: Real, at: number): Promise<number> {
    let kept = 0;
    for (let row = 0; row < rows; row += this.#tiles.rows) {
      const taken = Math.min(this.#tiles.rows, rows - row);
      for (let column = 0; column < chunks.length; column++) this.#decode(batch, column, chunks[column]!, row, taken);
      kept += this.#tiles.write(taken, out, at + kept);
      this.#row += taken;
      await this.#tiles.turn();
    }
    return kept;
  }

  #decode({ columns }: Batch, column: number, { bytes, validity }: Chunk, row: number, rows: number): void {
    const field = this.#fields[this.#chosen[column]!]!;
    const out = this.#tiles.column(column);
    const nulls = columns[column]!.nulls > 0 ? validity : undefined;
    try {
      if (field.dictionary === undefined) readValid(bytes, field.number!, nulls, row, rows, out);
      else this.#lookUp(field, bytes, row, rows, nulls, out);
    } catch (error) {
      throw error instanceof Inexact
        ? refuseInexact(error.value, this.#name, field.name, this.#row + error.index)
        : refusal(this.#name, error, undefined, `batch at row (${this.#row - row})`);
    }
    if (nulls !== undefined) for (let i = 0; i < rows; i++) if (!isValid(nulls, row + i)) out[i] = Number.NaN;
  }

  #lookUp(
    field: ArrowField,
    bytes: Uint8Array,
    row: number,
    rows: number,
    nulls: Uint8Array | undefined,
    out: Real,
  ): void {
    const { id, index } = field.dictionary!;
    const { values, inexact } = this.#dictionaries.get(id) ?? {};
    if (values === undefined || inexact === undefined)
      throw new Contradiction(`column (${field.name}) has no dictionary`);
    const places = new Float64Array(rows);
    readValid(bytes, index, nulls, row, rows, places);
    for (let i = 0; i < rows; i++) {
      if (nulls !== undefined && !isValid(nulls, row + i)) continue;
      const place = places[i]!;
      if (!(place >= 0 && place < values.length))
        throw new Contradiction(`column (${field.name}) has index (${place}) into a dictionary of (${values.length})`);
      const exact = inexact.get(place);
      if (exact !== undefined) throw new Inexact(i, exact);
      out[i] = values[place]!;
    }
  }
}

/** Numbers of rows `row` to `row + rows`; where one is null, its bytes do not matter. Throws an {@link Inexact}. */
function readValid(
  bytes: Uint8Array,
  layout: NumberLayout,
  nulls: Uint8Array | undefined,
  row: number,
  rows: number,
  out: Real,
): void {
  for (let at = 0; at < rows; )
    try {
      readNumbers(bytes, (row + at) * layout.bytes, layout, out, at, rows - at);
      return;
    } catch (error) {
      if (!(error instanceof Inexact)) throw error;
      const place = at + error.index;
      if (nulls === undefined || isValid(nulls, row + place)) throw new Inexact(place, error.value);
      at = place + 1;
    }
}

function isValid(validity: Uint8Array, row: number): boolean {
  return ((validity[row >> 3]! >> (row & 7)) & 1) === 1;
}

function countValid(validity: Uint8Array, rows: number): number {
  let count = 0;
  const whole = rows >> 3;
  for (let at = 0; at < whole; at++) {
    let byte = validity[at]!;
    byte -= (byte >> 1) & 0x55;
    byte = (byte & 0x33) + ((byte >> 2) & 0x33);
    count += (byte + (byte >> 4)) & 15;
  }
  for (let row = 8 * whole; row < rows; row++) if (isValid(validity, row)) count++;
  return count;
}

/** What a decoder finds, as the refusal of the file; another error as it is. */
export function refusal(name: string, error: unknown, bytes: MessageBytes | undefined, where?: string): unknown {
  const path = { path: name };
  const place = where === undefined ? '' : `${where}: `;
  const end = bytes === undefined ? '' : ` (byte ${bytes.offset})`;
  if (error instanceof Contradiction)
    return new CovariumError(
      'ERR_MALFORMED_ARROW',
      `Arrow file (${name}) is malformed: ${place}${error.message}${end}.`,
      {
        ...path,
        cause: error.cause,
      },
    );
  if (error instanceof NotTaken)
    return new CovariumError('ERR_UNSUPPORTED', `Arrow file (${name}) is not read: ${place}${error.message}.`, path);
  return error;
}
