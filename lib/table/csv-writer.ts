import { availableParallelism } from 'node:os';
import { type Addon, loadAddon } from '../addon/native.ts';
import { fromNative } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import { Turns, turn } from '../work.ts';
import { isMissing } from './csv-rows.ts';
import { isDecimal, maximumDecimalBytes, writeFloat32, writeFloat64 } from './decimal.ts';
import type { RowWriter, TableHead } from './table.ts';

/** Writes whole rows as lines into `bytes`, which has room for them; returns their number of bytes. */
export type LineWriter = (values: Real, columns: number, bytes: Uint8Array) => Promise<number>;

// Takes a thread a few milliseconds.
const chunkNumbers = 1 << 15;
// Of the writer in TypeScript: well under a millisecond.
const pieceNumbers = 256;
const numberBytes = maximumDecimalBytes + 1;

/**
 * CSV, with a header row if there are names. Each number is written as the shortest decimal that reads back as the same
 * number of its type, like String() does, and a negative zero as -0.
 */
export async function openCsvWriter(
  output: Output,
  { names, columns }: TableHead,
  writeLines: LineWriter = nativeLines() ?? plainLines,
): Promise<RowWriter> {
  if (names !== undefined) await output.write(csvHeader(names));
  const lines = new CsvLines(output, columns, writeLines);
  return { write: (values) => lines.write(values), finish: () => lines.finish() };
}

// Quotes a name with a delimiter, a quote or a line break, one that begins or ends with a space, one that a reader
// could take for a number, and one that a spreadsheet would take for a formula.
function csvHeader(names: readonly string[]): Uint8Array {
  const fields = names.map((name) =>
    /[",;|\t\r\n]|^\s|\s$|^[=+\-@#]|^0x|^inf|^sep=/i.test(name) || isMissing(name) || isDecimal(name)
      ? `"${name.replaceAll('"', '""')}"`
      : name,
  );
  return Buffer.from(`${fields.join(',')}\n`);
}

/** Uses the addon, on threads of libuv's pool; undefined without the addon. */
export function nativeLines(): LineWriter | undefined {
  const { addon } = loadAddon();
  if (addon?.writeCsv === undefined) return undefined;
  return (values, columns, bytes) => (addon as Addon).writeCsv(values, columns, bytes).catch(failed);
}

function failed(error: unknown): never {
  throw fromNative(error);
}

/** In plain TypeScript, with turns of the event loop: writes the same text. */
export const plainLines: LineWriter = async (values, columns, bytes) => {
  await turn();
  const turns = new Turns(undefined);
  const write = values.BYTES_PER_ELEMENT === 4 ? writeFloat32 : writeFloat64;
  let at = 0;
  for (let i = 0; i < values.length; i++) {
    at = write(values[i]!, bytes, at);
    bytes[at++] = (i + 1) % columns === 0 ? 0x0a : 0x2c;
    if (i % pieceNumbers === 0) await turns.take();
  }
  return at;
};

/** Writes rows as lines, chunk by chunk; some are formatted while one is written, even after {@link write} settled. */
class CsvLines {
  readonly #output: Output;
  readonly #columns: number;
  readonly #writeLines: LineWriter;
  readonly #spare: Chunk[] = [];
  readonly #ahead: Promise<Chunk>[] = [];
  readonly #most = Math.min(availableParallelism(), 4) + 2;

  constructor(output: Output, columns: number, writeLines: LineWriter) {
    this.#output = output;
    this.#columns = columns;
    this.#writeLines = writeLines;
  }

  async write(values: Real): Promise<void> {
    const numbers = Math.max(this.#columns, chunkNumbers - (chunkNumbers % this.#columns));
    for (let start = 0; start < values.length; start += numbers) {
      if (this.#ahead.length === this.#most) await this.#writeOldest();
      const chunk = this.#made(values.subarray(start, start + numbers));
      // Another may fail before this one is looked at.
      chunk.catch(() => {});
      this.#ahead.push(chunk);
    }
  }

  async finish(): Promise<void> {
    while (this.#ahead.length > 0) await this.#writeOldest();
  }

  async #writeOldest(): Promise<void> {
    const chunk = await this.#ahead.shift()!;
    await this.#output.write(chunk.text.subarray(0, chunk.length));
    this.#spare.push(chunk);
  }

  // The numbers are copied: their owner may close or transfer their memory while another thread reads.
  async #made(values: Real): Promise<Chunk> {
    const chunk = this.#spare.pop() ?? { numbers: values.slice(), text: new Uint8Array(0), length: 0 };
    if (chunk.numbers.length < values.length) chunk.numbers = values.slice();
    else chunk.numbers.set(values);
    if (chunk.text.length < values.length * numberBytes) chunk.text = new Uint8Array(values.length * numberBytes);
    chunk.length = await this.#writeLines(chunk.numbers.subarray(0, values.length), this.#columns, chunk.text);
    return chunk;
  }
}

interface Chunk {
  numbers: Real;
  text: Uint8Array;
  /** Number of bytes of the text. */
  length: number;
}
