import { loadAddon } from '../addon/native.ts';
import { refuseAborted } from '../check.ts';
import { bytesOf, type Real, zerosOf } from '../dtype.ts';
import { ByteSource, type InputSource, inputName } from '../file/input.ts';
import { Turns } from '../work.ts';
import { chosenColumns } from './columns.ts';
import { CompleteRows } from './complete-rows.ts';
import { maximumStartBytes, type NpyLayout, npyLayout, npyPreambleBytes, npyStartBytes } from './npy.ts';
import { malformedNpy } from './npy-error.ts';
import { isAsInMemory, realsOf } from './npy-numbers.ts';
import { isZip, openNpzMember } from './npz.ts';
import { keptRows, resultMemory } from './result-memory.ts';
import type { ReadRequest, TableReader } from './table.ts';

const blockBytes = 1 << 20;
const slicesAhead = 8;

/**
 * Reads an NPY file from beginning to end, so that it may come from a pipe, or an array of an `.npz` file. An array in
 * Fortran order is held in memory whole.
 */
export async function openNpy(from: InputSource, request: ReadRequest): Promise<TableReader> {
  const name = inputName(from);
  const given = new ByteSource(from, request.signal);
  let source = given;
  const close = async () => {
    await source.close();
    await given.close();
  };
  try {
    let size = await given.size();
    if (isZip(await given.peek(4))) ({ source, size } = await openNpzMember(name, given, request.member));
    const { layout, startBytes } = await headerOf(name, source);
    const { rows, columns, numbers } = layout;
    // A file is refused before its rows are read; for a pipe, only its end shows the error.
    const expected = startBytes + rows * columns * numbers.bytes;
    if (size !== undefined && size !== expected)
      throw malformedNpy(name, `it has (${size}) bytes, but its header describes (${expected})`);
    if (request.columns !== undefined) chosenColumns(name, undefined, columns, request.columns);
    const complete = new CompleteRows(name, columns, undefined, request.missing);
    const blocks = async function* (): AsyncGenerator<Real> {
      const turns = new Turns(request.signal);
      for await (const values of layout.isFortran ? transposed(name, source, layout) : inOrder(name, source, layout)) {
        const block = complete.of(values);
        if (block.length > 0) yield block;
        await turns.take();
      }
      if ((await source.take(1)).length > 0) throw malformedNpy(name, `bytes follow the last of its (${rows}) rows`);
    };
    const isDirect = source === given && size !== undefined && isAsInMemory(numbers) && !layout.isFortran;
    return {
      head: { names: undefined, columns, dtype: numbers.dtype, rows },
      get dropped() {
        return complete.dropped;
      },
      blocks,
      ...(isDirect && { whole: () => wholeRows(name, source, layout, complete, request.signal) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function headerOf(name: string, source: ByteSource): Promise<{ layout: NpyLayout; startBytes: number }> {
  const startBytes = npyStartBytes(name, await source.peek(npyPreambleBytes));
  const start = await source.take(Math.min(startBytes, maximumStartBytes));
  if (start.length !== startBytes)
    throw malformedNpy(
      name,
      `its header has (${startBytes}) bytes, which is more than the file has or than is allowed`,
    );
  return { layout: npyLayout(name, start), startBytes };
}

async function* inOrder(name: string, source: ByteSource, layout: NpyLayout): AsyncGenerator<Real> {
  const { rows, columns, numbers } = layout;
  const rowBytes = columns * numbers.bytes;
  const rowsPerBlock = Math.max(1, Math.floor(blockBytes / rowBytes));
  for (let row = 0; row < rows; row += rowsPerBlock) {
    const count = Math.min(rowsPerBlock, rows - row);
    const bytes = await source.take(count * rowBytes);
    if (bytes.length < count * rowBytes) throw cutShort(name, layout, row * rowBytes + bytes.length);
    yield realsOf(name, numbers, bytes);
  }
}

async function* transposed(name: string, source: ByteSource, layout: NpyLayout): AsyncGenerator<Real> {
  const { rows, columns, numbers } = layout;
  const totalBytes = rows * columns * numbers.bytes;
  const bytes = await source.take(totalBytes);
  if (bytes.length < totalBytes) throw cutShort(name, layout, bytes.length);
  const rowsPerBlock = Math.max(1, Math.floor(blockBytes / (columns * 8)));
  for (let row = 0; row < rows; row += rowsPerBlock) {
    const count = Math.min(rowsPerBlock, rows - row);
    const block = zerosOf(numbers.dtype, count * columns) as Real;
    for (let column = 0; column < columns; column++) {
      const start = (column * rows + row) * numbers.bytes;
      const values = realsOf(name, numbers, bytes.subarray(start, start + count * numbers.bytes));
      for (let i = 0, to = column; i < count; i++, to += columns) block[to] = values[i]!;
    }
    yield block;
  }
}

/**
 * Reads all rows straight into the memory of the result: several slices at once by the addon, which also looks for
 * numbers that are not finite, on threads of libuv's pool; otherwise one after the other.
 */
async function wholeRows(
  name: string,
  source: ByteSource,
  layout: NpyLayout,
  complete: CompleteRows,
  signal: AbortSignal | undefined,
): Promise<Real> {
  const { rows, columns, numbers } = layout;
  const rowBytes = columns * bytesOf(numbers.dtype);
  const values = resultMemory(numbers.dtype, rows * columns);
  const startBytes = source.offset;
  const { addon } = loadAddon();
  const descriptor = await source.descriptor();
  const isNative = addon?.readReals !== undefined && descriptor !== undefined;
  const rowsPerSlice = Math.max(1, Math.floor(blockBytes / rowBytes));
  const endOf = (row: number) => Math.min(rows, row + rowsPerSlice);
  const valuesFrom = (row: number) => values.subarray(row * columns, endOf(row) * columns);
  // True if the slice is known to be read and finite.
  const readAhead = async (row: number): Promise<boolean> =>
    isNative && (await addon.readReals(descriptor, startBytes + row * rowBytes, valuesFrom(row)));
  const readPlainly = async (row: number): Promise<Real> => {
    const slice = valuesFrom(row);
    const bytes = new Uint8Array(slice.buffer, slice.byteOffset, slice.byteLength);
    const count = await source.readAt(bytes, startBytes + row * rowBytes);
    if (count < bytes.length) throw cutShort(name, layout, row * rowBytes + count);
    return complete.of(slice);
  };
  const ahead: Promise<boolean>[] = [];
  const turns = new Turns(signal);
  let next = 0;
  let kept = 0;
  try {
    for (let row = 0; row < rows; row = endOf(row)) {
      for (; ahead.length < slicesAhead && next < rows; next = endOf(next)) ahead.push(readAhead(next));
      let count = (endOf(row) - row) * columns;
      if (await ahead.shift()!) complete.pass(endOf(row) - row);
      else count = (await readPlainly(row)).length;
      if (kept !== row * columns) values.copyWithin(kept, row * columns, row * columns + count);
      kept += count;
      refuseAborted(signal);
      await turns.take();
    }
  } finally {
    // The file must stay open, and the memory be kept, until then.
    await Promise.all(ahead);
  }
  return keptRows(values, kept, signal);
}

function cutShort(name: string, { rows, columns, numbers, isFortran }: NpyLayout, bytes: number): Error {
  const number = Math.floor(bytes / numbers.bytes);
  const place = isFortran ? `number (${number})` : `row (${Math.floor(number / columns)})`;
  return malformedNpy(name, `it ends in ${place} of (${isFortran ? rows * columns : rows})`);
}
