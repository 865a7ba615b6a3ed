import { CovariumError } from '../covarium-error.ts';
import { bytesOf, type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { ByteSource, type InputSource } from '../file/input.ts';
import { type RandomAccess, randomAccessOf } from '../file/random-access.ts';
import { runSliced, Turns } from '../work.ts';
import { repeatedNames } from './columns.ts';
import { CompleteRows, refuseInexact } from './complete-rows.ts';
import { Contradiction, NotTaken, refusal } from './contradiction.ts';
import { Inexact } from './numbers.ts';
import { chosenBesideIndex } from './pandas-index.ts';
import { ChunkReader } from './parquet/column.ts';
import { type ColumnChunk, type ParquetFooter, readFooter } from './parquet/footer.ts';
import type { ParquetField } from './parquet/schema.ts';
import { keptRows, resultMemory } from './result-memory.ts';
import { RowTiles } from './row-tiles.ts';
import type { ReadRequest, TableReader } from './table.ts';

const magic = 'PAR1';
const blockNumbers = 1 << 20;
// How much all columns together read ahead.
const windowBytes = 64 << 20;
// Columns of a row group that are read together.
const shortBytes = 1 << 16;
// Pages of a mebibyte, which most writers make, and their headers.
const usualPageBytes = (1 << 20) + (1 << 12);
// A file of ordinary numbers never states this many for its size; a file made to exhaust memory does.
const plainBytes = 128 << 20;
const plainRatio = 4096;

/**
 * Reads the flat numeric columns of a Parquet file, a few thousand rows at a time: all columns side by side, each page
 * after page. A pipe is read into memory whole, because the footer, at the end, says where everything is.
 */
export async function openParquet(
  input: InputSource,
  { columns: wanted, missing, signal, warn }: ReadRequest,
): Promise<TableReader> {
  const source = new ByteSource(input, signal);
  const { name } = source;
  try {
    requireMagic(await source.peek(4));
    const file = await randomAccessOf(source);
    const turns = new Turns(signal);
    const footer = await footerOf(file, name, signal);
    await turns.take();
    const names = footer.fields.map((field) => field.name);
    const chosen = await runSliced(chosenBesideIndex(name, names, wanted, footer.pandas, warn), signal);
    if (chosen.length === 0) throw new Contradiction('it has no columns');
    await turns.take();
    const fields = chosen.map((index) => footer.fields[index]!);
    const repeated = await runSliced(repeatedNames(names), signal);
    for (const field of fields) requireNumbers(name, field, repeated);
    await turns.take();
    const isSingle = fields.every(({ number }) => number!.kind === 'float' && number!.bits <= 32);
    const dtype: RealDtype = isSingle ? 'float32' : 'float64';
    const columns = fields.length;
    const stated = footer.rows * columns * bytesOf(dtype);
    if (stated > Math.max(plainBytes, plainRatio * file.byteLength))
      throw new CovariumError(
        'ERR_TOO_LARGE',
        `Parquet file (${name}) of (${file.byteLength}) bytes states (${footer.rows}) rows of (${columns}) columns: ` +
          'too many for its size.',
        { path: name },
      );
    const chosenNames = fields.map((field) => field.name);
    const complete = new CompleteRows(name, columns, chosenNames, missing);
    const tiles = new RowTiles(columns, dtype, complete, signal);
    const rows = new ParquetRows(file, name, footer, fields, { dtype, tiles, signal });
    return {
      head: { names: chosenNames, columns, dtype, rows: footer.rows },
      get dropped() {
        return complete.dropped;
      },
      blocks: () => rows.blocks(),
      whole: () => rows.all(),
      close: () => file.close(),
    };
  } catch (error) {
    await source.close();
    throw refusal('Parquet', name, error);
  }
}

function requireMagic(first: Uint8Array): void {
  if (first.length === 0) throw new Contradiction('it is empty');
  const found = Buffer.from(first).toString('latin1');
  if (found === 'PARE') throw new NotTaken('its footer is encrypted');
  if (found !== magic) throw new Contradiction('it does not begin as Parquet files do');
}

async function footerOf(file: RandomAccess, name: string, signal: AbortSignal | undefined): Promise<ParquetFooter> {
  const { byteLength } = file;
  if (byteLength < 12) throw new Contradiction(`it ends after (${byteLength}) bytes`);
  const tail = Buffer.alloc(8);
  await file.read(byteLength - 8, tail);
  if (tail.toString('latin1', 4) !== magic)
    throw new Contradiction(`it does not end in (${magic}), so it is cut short`);
  const length = tail.readUInt32LE(0);
  const start = byteLength - 8 - length;
  if (start < 4) throw new Contradiction(`its footer has (${length}) bytes of (${byteLength})`);
  const bytes = new Uint8Array(length);
  await file.read(start, bytes);
  try {
    return await runSliced(readFooter(bytes, start), signal);
  } catch (error) {
    throw refusal('Parquet', name, error, 'footer');
  }
}

/** The rows of a file, group after group. */
class ParquetRows {
  readonly #file: RandomAccess;
  readonly #name: string;
  readonly #footer: ParquetFooter;
  readonly #fields: readonly ParquetField[];
  readonly #dtype: RealDtype;
  readonly #tiles: RowTiles;
  readonly #signal: AbortSignal | undefined;
  readonly #turns: Turns;
  #group = -1;
  #groupLeft = 0;
  #chunks: ChunkReader[] = [];
  #row = 0;

  constructor(
    file: RandomAccess,
    name: string,
    footer: ParquetFooter,
    fields: readonly ParquetField[],
    { dtype, tiles, signal }: { dtype: RealDtype; tiles: RowTiles; signal: AbortSignal | undefined },
  ) {
    this.#file = file;
    this.#name = name;
    this.#footer = footer;
    this.#fields = fields;
    this.#dtype = dtype;
    this.#tiles = tiles;
    this.#signal = signal;
    this.#turns = new Turns(signal);
  }

  async *blocks(): AsyncGenerator<Real> {
    const columns = this.#fields.length;
    const blockRows = Math.max(this.#tiles.rows, Math.floor(blockNumbers / columns));
    while (this.#row < this.#footer.rows) {
      const rows = Math.min(blockRows, this.#footer.rows - this.#row);
      const values = zerosOf(this.#dtype, rows * columns) as Real;
      const kept = await this.#fill(values, rows);
      if (kept > 0) yield values.subarray(0, kept);
    }
  }

  async all(): Promise<Real> {
    const { rows } = this.#footer;
    const values = resultMemory(this.#dtype, rows * this.#fields.length);
    const kept = await this.#fill(values, rows);
    return keptRows(values, kept, this.#signal);
  }

  // Writes the next rows to the start of `values`, and returns how many numbers it kept.
  async #fill(values: Real, rows: number): Promise<number> {
    this.#tiles.begin(values);
    try {
      await this.#read(rows);
    } catch (error) {
      await this.#tiles.fail(error);
    }
    return this.#tiles.end();
  }

  async #read(rows: number): Promise<void> {
    for (let left = rows; left > 0; ) {
      while (this.#groupLeft === 0) await this.#nextGroup();
      const taken = Math.min(left, this.#tiles.rows, this.#groupLeft);
      await this.#readColumns(taken);
      this.#row += taken;
      left -= taken;
      this.#groupLeft -= taken;
      await this.#tiles.write(taken);
      if (this.#groupLeft === 0) await this.#finishGroup();
    }
  }

  async #nextGroup(): Promise<void> {
    this.#group++;
    const rows = this.#footer.groups[this.#group]!;
    this.#groupLeft = rows;
    if (rows === 0) return;
    const share = Math.floor(windowBytes / this.#fields.length);
    const readBytes = Math.max(1 << 14, Math.min(usualPageBytes, share));
    const places: ColumnChunk[] = [];
    for (const field of this.#fields) {
      try {
        places.push(this.#footer.chunk(this.#group, field));
      } catch (error) {
        throw this.#refusal(error, field);
      }
      await this.#turns.take();
    }
    const options = { dtype: this.#dtype, readBytes, signal: this.#signal, held: await this.#heldTogether(places) };
    for (const [index, field] of this.#fields.entries()) {
      try {
        const window = this.#chunks[index]?.window;
        this.#chunks[index] = new ChunkReader(this.#file, field, places[index]!, rows, { ...options, window });
      } catch (error) {
        throw this.#refusal(error, field);
      }
      await this.#turns.take();
    }
  }

  // Many short columns are read at once: each of them would wait for a thread, and have memory of its own.
  async #heldTogether(chunks: readonly ColumnChunk[]): Promise<{ bytes: Uint8Array; start: number } | undefined> {
    let [start, end] = [Number.POSITIVE_INFINITY, 0];
    for (const chunk of chunks) {
      start = Math.min(start, chunk.start);
      end = Math.max(end, chunk.end);
    }
    if (end - start > Math.min(windowBytes, shortBytes * chunks.length)) return undefined;
    const bytes = new Uint8Array(end - start);
    await this.#file.read(start, bytes);
    return { bytes, start };
  }

  // Pages that columns wait for are read side by side.
  async #readColumns(rows: number): Promise<void> {
    const done = this.#chunks.map(() => 0);
    let waiting = this.#chunks.map((_, column) => column);
    while (waiting.length > 0) {
      for (const column of waiting) {
        done[column]! += this.#readPage(column, done[column]!, rows);
        await this.#turns.take();
      }
      waiting = waiting.filter((column) => done[column]! < rows);
      // What fails here fails again below. Pages are decoded in turn, so that the event loop may turn in between.
      const reading = waiting.map((column) => this.#chunks[column]!).filter((chunk) => chunk.mayWait);
      await Promise.allSettled(reading.map((chunk) => chunk.readAhead()));
      for (const column of waiting) {
        try {
          await this.#chunks[column]!.nextPage();
        } catch (error) {
          throw this.#refusal(error, this.#fields[column]!);
        }
        await this.#turns.take();
      }
    }
  }

  // How many of the rows from `done` on the page at hand has.
  #readPage(index: number, done: number, rows: number): number {
    try {
      return this.#chunks[index]!.read(this.#tiles.column(index), done, rows - done);
    } catch (error) {
      const field = this.#fields[index]!;
      if (error instanceof Inexact)
        throw refuseInexact(error.value, this.#name, field.name, this.#row + done + error.index);
      throw this.#refusal(error, field);
    }
  }

  async #finishGroup(): Promise<void> {
    for (const [index, chunk] of this.#chunks.entries())
      try {
        await chunk.finish();
      } catch (error) {
        throw this.#refusal(error, this.#fields[index]!);
      }
  }

  #refusal(error: unknown, field: ParquetField): unknown {
    return refusal('Parquet', this.#name, error, `column (${field.name}) of row group (${this.#group})`);
  }
}

function requireNumbers(file: string, { name, number, kind }: ParquetField, repeated: ReadonlySet<string>): void {
  if (number !== undefined && !repeated.has(name)) return;
  const message =
    number === undefined
      ? `Column (${name}) of file (${file}) has type (${kind}), which is not read as numbers; pass \`columns\` to choose others.`
      : `File (${file}) has column (${name}) twice.`;
  throw new CovariumError('ERR_INVALID_ARGUMENT', message, { path: file });
}
