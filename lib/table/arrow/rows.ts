import { types } from 'node:util';
import { loadAddon } from '../../addon/native.ts';
import { CovariumError, fromNative } from '../../covarium-error.ts';
import { bytesOf, type Real, type RealDtype, zerosOf } from '../../dtype.ts';
import { isSlice, runSliced, Turns, type Work } from '../../work.ts';
import { refuseInexact } from '../complete-rows.ts';
import { Contradiction, refusal } from '../contradiction.ts';
import { Inexact, readNumbers } from '../numbers.ts';
import { keptRows, resultMemory } from '../result-memory.ts';
import type { RowTiles } from '../row-tiles.ts';
import { type Batch, readBatch } from './batch.ts';
import { type ColumnPart, ColumnParts, countValid, isValid, readValid } from './column-parts.ts';
import { type Body, bodyInMemory, type MessageBytes } from './message-bytes.ts';
import type { ArrowMessage, ArrowMessages } from './messages.ts';
import type { ArrowField } from './schema.ts';

// What is read of all columns together, and of one at least.
const chunkBytes = 4 << 20;
const columnBytes = 1 << 14;
// As of Parquet: compressed batches may state more rows than any file of ordinary numbers.
const plainBytes = 128 << 20;
const plainRatio = 4096;

const mostDirectColumns = 64;
// A body of many short columns is read at once: each of them would wait for a thread.
const shortBytes = 1 << 16;
const wholeBytes = 64 << 20;

// Rows of a dictionary, between which the event loop may turn.
const pieceRows = 1 << 16;

function isPromise(value: unknown): value is Promise<unknown> {
  return types.isPromise(value);
}

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
  readonly #turns: Turns;
  // Of all columns in dictionaries, those within others too.
  readonly #coded: Map<number, ArrowField> = new Map();
  readonly #dictionaries: Map<number, Dictionary> = new Map();
  readonly #parts: ColumnParts;
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
    this.#turns = new Turns(signal);
    const bytesOfColumn = Math.max(columnBytes, chunkBytes / chosen.length);
    // Bits of validity begin at whole bytes.
    this.#chunkRows = Math.floor(bytesOfColumn / 64) * 8;
    this.#parts = new ColumnParts(signal);
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
          this.#tiles.begin(values);
          try {
            await this.#write(item.batch, rows, chunks);
          } catch (error) {
            await this.#tiles.fail(error);
          }
          const kept = await this.#tiles.end();
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
    const values = resultMemory(this.#dtype, rows * columns);
    this.#tiles.begin(values);
    try {
      for (const item of items) {
        if (item.dictionary !== undefined) await this.#takeDictionary(item);
        else if (!(await this.#readDirectly(item)))
          for await (const { rows: taken, chunks } of this.#chunks(item)) await this.#write(item.batch, taken, chunks);
      }
    } catch (error) {
      await this.#tiles.fail(error);
    }
    const kept = await this.#tiles.end();
    return keptRows(values, kept, this.#signal);
  }

  async *#items(): AsyncGenerator<Item> {
    for (;;) {
      let item: Item;
      try {
        const message = await this.#messages.next();
        if (message === undefined) return;
        item = await runSliced(this.#itemOf(message), this.#signal);
      } catch (error) {
        throw refusal('Arrow', this.#name, error, `byte ${this.#bytes.offset}`);
      }
      yield item;
    }
  }

  *#itemOf({ type, flat, header, body, hasMore }: ArrowMessage): Work<Item> {
    if (type === 'schema') throw new Contradiction('a second schema follows the first');
    if (type === 'record batch') {
      const batch = yield* readBatch(flat, header, body.bytes, this.#fields, this.#chosen);
      if (!hasMore) flat.finish();
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
    const batch = yield* readBatch(flat, table, body.bytes, [field], isWanted ? [0] : []);
    if (!hasMore) flat.finish();
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
      const [column] = await this.#parts.columnsOf(batch, body, [field]);
      const { bytes, validity } = await this.#parts.part(body, column!, field.number!, 0, batch.rows, 0);
      const values = zerosOf(this.#dtype, start + batch.rows) as Real;
      const inexact = new Map(isDelta ? before!.inexact : []);
      if (isDelta) values.set(before!.values);
      const turns = new Turns(this.#signal);
      for (let at = 0; at < batch.rows; await turns.take())
        try {
          const layout = field.number!;
          const count = Math.min(pieceRows, batch.rows - at);
          readNumbers(bytes, at * layout.bytes, layout, values, start + at, count);
          at += count;
        } catch (error) {
          if (!(error instanceof Inexact)) throw error;
          inexact.set(start + at + error.index, error.value);
          at += error.index + 1;
        }
      const { nulls } = batch.columns[0]!;
      if (nulls !== (validity === undefined ? 0 : batch.rows - countValid(validity, batch.rows)))
        throw new Contradiction(`it states (${nulls}) nulls, and has others`);
      if (validity !== undefined)
        for (let row = 0; row < batch.rows; row++) {
          if (row % pieceRows === 0) await turns.take();
          if (isValid(validity, row)) continue;
          values[start + row] = Number.NaN;
          inexact.delete(start + row);
        }
      this.#dictionaries.set(id, { values, inexact });
    } catch (error) {
      throw refusal('Arrow', this.#name, error, `dictionary of column (${field.name})`);
    }
  }

  // Parts of a batch, read but not yet decoded.
  async *#chunks({ batch, body: given }: Item): AsyncGenerator<{ rows: number; chunks: ColumnPart[] }> {
    const fields = this.#chosen.map((index) => this.#fields[index]!);
    try {
      const isShort = given.bytes <= Math.min(wholeBytes, shortBytes * fields.length);
      const body = isShort ? bodyInMemory(await given.part(0, given.bytes, (length) => new Uint8Array(length))) : given;
      const columns = await this.#parts.columnsOf(batch, body, fields);
      const valid = fields.map(() => 0);
      for (let row = 0; row < batch.rows; row += this.#chunkRows) {
        const rows = Math.min(this.#chunkRows, batch.rows - row);
        await this.#turns.take();
        const parts: (ColumnPart | Promise<ColumnPart>)[] = [];
        for (const [at, field] of fields.entries()) {
          parts.push(this.#parts.part(body, columns[at]!, field.dictionary?.index ?? field.number!, row, rows, at));
          // No turn while a part is read: where it fails, that is awaited below.
          if (isSlice(at) && !parts.some(isPromise)) await this.#turns.take();
        }
        // All side by side; none is left reading where another fails.
        const pending = parts.filter(isPromise);
        await Promise.allSettled(pending);
        const chunks = pending.length > 0 ? await Promise.all(parts) : (parts as ColumnPart[]);
        for (const [at, { validity }] of chunks.entries()) {
          if (validity !== undefined) valid[at]! += countValid(validity, rows);
          if (isSlice(at)) await this.#turns.take();
        }
        await this.#turns.take();
        yield { rows, chunks };
      }
      fields.forEach(({ name }, at) => {
        const nulls = columns[at]!.validity === undefined ? 0 : batch.rows - valid[at]!;
        if (nulls !== batch.columns[at]!.nulls)
          throw new Contradiction(`column (${name}) states (${batch.columns[at]!.nulls}) nulls, and has (${nulls})`);
      });
    } catch (error) {
      throw refusal('Arrow', this.#name, error, `batch at row (${this.#row})`);
    }
  }

  /**
   * Reads a batch straight from the file into rows, by the addon, if its numbers lie there as they are in memory; false
   * if they do not.
   */
  async #readDirectly({ batch, body }: Item): Promise<boolean> {
    const read = loadAddon().addon?.readColumns;
    const bytes = bytesOf(this.#dtype);
    const isPlain = batch.columns.every(({ validity }, at) => {
      const { dictionary, number } = this.#fields[this.#chosen[at]!]!;
      return dictionary === undefined && validity.bytes === 0 && number!.kind === 'float' && number!.bytes === bytes;
    });
    const { file } = body;
    if (read === undefined || file === undefined || batch.compression !== undefined || !isPlain) return false;
    // Of many columns each would be read in short pieces.
    if (batch.columns.length > mostDirectColumns) return false;
    for (let row = 0; row < batch.rows; row += this.#tiles.directRows) {
      const count = Math.min(this.#tiles.directRows, batch.rows - row);
      const offsets = batch.columns.map(({ values }) => values.offset + row * bytes);
      await this.#tiles.direct(count, async (out, at) => {
        try {
          return await read(
            file.descriptor,
            offsets.map((offset) => file.start + offset),
            count,
            out,
            at,
          );
        } catch (error) {
          // This tells what is wrong with the file.
          for (const offset of offsets) await body.part(offset, count * bytes, (length) => new Uint8Array(length));
          throw fromNative(error);
        }
      });
      this.#row += count;
    }
    return true;
  }

  async #write(batch: Batch, rows: number, chunks: readonly ColumnPart[]): Promise<void> {
    for (let row = 0; row < rows; row += this.#tiles.rows) {
      const taken = Math.min(this.#tiles.rows, rows - row);
      for (let column = 0; column < chunks.length; column++) {
        this.#decode(batch, column, chunks[column]!, row, taken);
        if (isSlice(column)) await this.#turns.take();
      }
      this.#row += taken;
      // What becomes of thousands of columns is told to the addon at once.
      await this.#turns.take();
      await this.#tiles.write(taken);
    }
  }

  #decode({ columns }: Batch, column: number, { bytes, validity }: ColumnPart, row: number, rows: number): void {
    const field = this.#fields[this.#chosen[column]!]!;
    const out = this.#tiles.column(column);
    const nulls = columns[column]!.nulls > 0 ? validity : undefined;
    try {
      if (field.dictionary === undefined) readValid(bytes, field.number!, nulls, row, rows, out);
      else this.#lookUp(field, bytes, row, rows, nulls, out);
    } catch (error) {
      throw error instanceof Inexact
        ? refuseInexact(error.value, this.#name, field.name, this.#row + error.index)
        : refusal('Arrow', this.#name, error, `batch at row (${this.#row - row})`);
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
