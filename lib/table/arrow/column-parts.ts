import { types } from 'node:util';
import type { Real } from '../../dtype.ts';
import { Turns } from '../../work.ts';
import { decompress } from '../compression/decompress.ts';
import { Contradiction } from '../contradiction.ts';
import { Inexact, type NumberLayout, readNumbers } from '../numbers.ts';
import { type Batch, type BufferPlace, checkBytes } from './batch.ts';
import type { Body } from './message-bytes.ts';
import type { ArrowField } from './schema.ts';

/** A column of the batch at hand. */
interface ColumnBytes {
  /** The bits of validity, all of them where they were compressed; undefined where nothing is null. */
  readonly validity: BufferPlace | Uint8Array | undefined;
  readonly values: BufferPlace | Uint8Array;
}

/** Some rows of a column: the bytes of their numbers, and their bits of validity. */
export interface ColumnPart {
  readonly bytes: Uint8Array;
  readonly validity: Uint8Array | undefined;
}

/** Reads columns of batches, a part after the other; a part is there until the next of the same column is read. */
export class ColumnParts {
  readonly #signal: AbortSignal | undefined;
  readonly #turns: Turns;
  readonly #scratch: Uint8Array[] = [];
  readonly #validityScratch: Uint8Array[] = [];

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#turns = new Turns(signal);
  }

  /** Where the columns of a batch are; those that are compressed, decompressed whole. */
  async columnsOf(batch: Batch, body: Body, fields: readonly ArrowField[]): Promise<ColumnBytes[]> {
    const columns: ColumnBytes[] = [];
    const { compression } = batch;
    if (compression === undefined)
      return batch.columns.map(({ validity, values }) => ({
        validity: validity.bytes === 0 ? undefined : validity,
        values,
      }));
    for (const [at, { validity, values }] of batch.columns.entries()) {
      const { name, number, dictionary } = fields[at]!;
      const width = (dictionary?.index ?? number!).bytes;
      const read = async (place: BufferPlace, what: string, needed: number) => {
        const bytes = await this.#decompressed(compression, body, place, needed);
        checkBytes(name, what, bytes.length, needed, batch.rows);
        return bytes;
      };
      columns.push({
        validity: validity.bytes === 0 ? undefined : await read(validity, 'bits', Math.ceil(batch.rows / 8)),
        values: await read(values, 'numbers', Math.ceil(batch.rows * width)),
      });
    }
    return columns;
  }

  // Compressed bytes follow their length; -1 says that they are not compressed.
  async #decompressed(
    compression: 'lz4' | 'zstd',
    body: Body,
    { offset, bytes }: BufferPlace,
    needed: number,
  ): Promise<Uint8Array> {
    if (bytes === 0) return new Uint8Array(0);
    if (bytes < 8) throw new Contradiction(`a compressed buffer of (${bytes}) bytes does not say its length`);
    const packed = await body.part(offset, bytes, (length) => new Uint8Array(length));
    const head = new DataView(packed.buffer, packed.byteOffset);
    const length = head.getInt32(4, true) * 2 ** 32 + head.getUint32(0, true);
    if (length === -1) return packed.subarray(8);
    // Writers may compress the bytes that they allocated, padding and all.
    if (!(length >= needed && length <= 2 * needed + 1024))
      throw new Contradiction(`a buffer of (${needed}) bytes is said to have (${length}) before it was compressed`);
    const plain = new Uint8Array(length);
    await decompress(compression, packed.subarray(8), plain, this.#signal);
    await this.#turns.take();
    return plain;
  }

  /** Rows `row` to `row + rows` of the column that is the `at`th; `row` is a multiple of 8. */
  part(
    body: Body,
    { validity, values }: ColumnBytes,
    { bytes: width }: NumberLayout,
    row: number,
    rows: number,
    at: number,
  ): ColumnPart | Promise<ColumnPart> {
    const part = (from: BufferPlace | Uint8Array, start: number, length: number, scratches: Uint8Array[]) => {
      if (types.isUint8Array(from)) return from.subarray(start, start + length);
      return body.part(from.offset + start, length, () => {
        // Also for no bytes at all, as of the dictionary of a column that is null throughout.
        let scratch = scratches[at];
        if (scratch === undefined || scratch.length < length) {
          scratch = new Uint8Array(length);
          scratches[at] = scratch;
        }
        return scratch.subarray(0, length);
      });
    };
    const bytes = part(values, row * width, Math.ceil(rows * width), this.#scratch);
    const bits =
      validity === undefined ? undefined : part(validity, row / 8, Math.ceil(rows / 8), this.#validityScratch);
    // Without a promise where the bytes are there: a table may have thousands of columns.
    if (types.isUint8Array(bytes) && (bits === undefined || types.isUint8Array(bits))) return { bytes, validity: bits };
    return Promise.all([bytes, bits]).then(([read, readBits]) => ({ bytes: read, validity: readBits }));
  }
}

/** Numbers of rows `row` to `row + rows`; where one is null, its bytes do not matter. Throws an {@link Inexact}. */
export function readValid(
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

/** Whether a row's bit says that it is not null. */
export function isValid(validity: Uint8Array, row: number): boolean {
  return ((validity[row >> 3]! >> (row & 7)) & 1) === 1;
}

/** How many of the first rows are not null. */
export function countValid(validity: Uint8Array, rows: number): number {
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
