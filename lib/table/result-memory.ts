import { loadAddon } from '../addon/native.ts';
import { isFixed, refuseBeyondMemory } from '../array/host-memory.ts';
import { isKept } from '../backend-handle.ts';
import { bytesOf, dtypeOf, type Real, type RealDtype, viewOf, zerosOf } from '../dtype.ts';
import { runSliced, type Turns, type Work } from '../work.ts';

const leastBytes = 8 << 20;

/**
 * Memory for a whole table, whose contents are unspecified: that of a closed one, or else in large pages where the
 * system has them. Throws `ERR_OUT_OF_MEMORY`.
 */
export function resultMemory(dtype: RealDtype, length: number): Real {
  const bytes = length * bytesOf(dtype);
  refuseBeyondMemory(bytes);
  if (bytes < leastBytes) return zerosOf(dtype, length) as Real;
  const closed = closedMemory(bytes);
  if (closed !== undefined) return viewOf(dtype, closed, length) as Real;
  const values = zerosOf(dtype, length) as Real;
  loadAddon().addon?.useLargePages?.(values.buffer as ArrayBuffer);
  return values;
}

// Memory of tables that were closed, until V8 collects it: to touch fresh pages takes longer than to read a file into
// them, and of memory that is used again V8 is told nothing, so that it collects no garbage.
let closedTables: WeakRef<ArrayBuffer>[] = [];
// The last of them is held for a while, because V8 collects after each few reads of that size.
let held: { readonly memory: ArrayBuffer; readonly end: NodeJS.Timeout } | undefined;
const heldMs = 1000;
// V8 begins to mark at 64 MiB outside of its heap.
const mostUnseenBytes = 60 << 20;

function hold(memory: ArrayBuffer | undefined): void {
  clearTimeout(held?.end);
  held = memory && { memory, end: setTimeout(hold, heldMs, undefined).unref() };
}

function closedMemory(bytes: number): ArrayBuffer | undefined {
  // Whatever its size, the next table is not to wait for memory.
  hold(undefined);
  const at = closedTables.findIndex((table) => table.deref()?.byteLength === bytes);
  return at < 0 ? undefined : closedTables.splice(at, 1)[0]!.deref();
}

const largePageBytes = 2 << 20;

/**
 * Writes a number to each large page, in turns of the event loop: the system clears a page when it is first written to,
 * which takes milliseconds, and rows that become columns write to many at once.
 */
export async function touch(values: Real, turns: Turns): Promise<void> {
  const step = largePageBytes / values.BYTES_PER_ELEMENT;
  for (let at = 0; at < values.length; at += step) {
    values[at] = 0;
    await turns.take();
  }
}

/** Keeps the memory of a closed table for the next one of its size, and detaches it. */
export function closeResult({ buffer }: Real): void {
  if (buffer.byteLength < leastBytes || !isFixed(buffer) || isKept(buffer)) return;
  closedTables = closedTables.filter((table) => table.deref() !== undefined);
  const adjust = loadAddon().addon?.adjustExternalMemory;
  // Otherwise V8 takes the memory for new, and marks its whole heap in each read. More would make it do so at once.
  const bytes = Math.min(buffer.byteLength, mostUnseenBytes);
  adjust?.(bytes);
  try {
    const moved = structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] });
    // What others have marked against transfers is copied by Node 20, and later releases throw.
    if (buffer.byteLength > 0) return;
    closedTables.push(new WeakRef(moved));
    hold(moved);
  } catch {
  } finally {
    adjust?.(-bytes);
  }
}

/** All blocks of rows in one array; the list is emptied. */
export async function joinedRows(dtype: RealDtype, blocks: Real[], signal: AbortSignal | undefined): Promise<Real> {
  if (blocks.length === 1) return blocks[0]!;
  const values = resultMemory(
    dtype,
    blocks.reduce((length, block) => length + block.length, 0),
  );
  await runSliced(copying(blocks, values), signal);
  return values;
}

/** The first `kept` numbers of a table: the rest of its memory is given back if it is more than half. */
export async function keptRows(values: Real, kept: number, signal: AbortSignal | undefined): Promise<Real> {
  if (kept === values.length) return values;
  const rows = values.subarray(0, kept);
  return 2 * kept > values.length
    ? rows
    : joinedRows(dtypeOf(values) as RealDtype, [rows, rows.subarray(kept)], signal);
}

const sliceNumbers = 1 << 17;

// Each block is let go once it is copied.
function* copying(blocks: Real[], values: Real): Work {
  let at = 0;
  for (let block = blocks.shift(); block !== undefined; block = blocks.shift())
    for (let from = 0; from < block.length; from += sliceNumbers) {
      const piece = block.subarray(from, from + sliceNumbers);
      values.set(piece, at);
      at += piece.length;
      yield;
    }
}

// Of a source of unknown size, and the most that is guessed.
const pieceNumbers = 1 << 22;
const mostGuessedNumbers = 1 << 27;

/** Numbers of a text as they are read, in one array: its length is guessed from the first of them. */
export class GatheredRows {
  readonly #pieces: Float64Array[] = [];
  #piece: Float64Array = new Float64Array(0);
  #at = 0;
  #bytesLeft: number;

  /** Of a text of so many bytes; 0 if that is not known. */
  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  /** Copies `values`, which come from so many bytes. */
  add(values: Float64Array, bytes: number): void {
    if (this.#at + values.length > this.#piece.length) {
      this.#close();
      const guessed = bytes >= this.#bytesLeft ? values.length : 1.02 * values.length * (this.#bytesLeft / bytes);
      const length = this.#bytesLeft > 0 ? Math.min(Math.ceil(guessed), mostGuessedNumbers) : pieceNumbers;
      this.#piece = resultMemory('float64', Math.max(values.length, length)) as Float64Array;
    }
    this.#piece.set(values, this.#at);
    this.#at += values.length;
    this.#bytesLeft = Math.max(0, this.#bytesLeft - bytes);
  }

  all(signal: AbortSignal | undefined): Promise<Real> {
    this.#close();
    return joinedRows('float64', this.#pieces, signal);
  }

  #close(): void {
    if (this.#at > 0) this.#pieces.push(this.#piece.subarray(0, this.#at));
    this.#at = 0;
  }
}
