import { loadAddon } from '../addon/native.ts';
import { bytesOf, type Real, zerosOf } from '../dtype.ts';
import { ByteSource, type InputSource, inputName } from '../file/input.ts';
import { runSliced, Turns } from '../work.ts';
import { chosenColumns } from './columns.ts';
import { CompleteRows } from './complete-rows.ts';
import { maximumStartBytes, type NpyLayout, npyLayout, npyPreambleBytes, npyStartBytes } from './npy.ts';
import { malformedNpy } from './npy-error.ts';
import { isAsInMemory, realsOf } from './npy-numbers.ts';
import { isZip, openNpzMember } from './npz.ts';
import { keptRows, resultMemory } from './result-memory.ts';
import { RowTiles } from './row-tiles.ts';
import type { ReadRequest, TableReader } from './table.ts';

const blockBytes = 1 << 20;

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
    if (request.columns !== undefined)
      await runSliced(chosenColumns(name, undefined, columns, request.columns), request.signal);
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
    yield realsOf(name, numbers, bytes, (index) => ({
      row: row + Math.floor(index / columns),
      column: index % columns,
    }));
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
      const values = realsOf(name, numbers, bytes.subarray(start, start + count * numbers.bytes), (index) => ({
        row: row + index,
        column,
      }));
      for (let i = 0, to = column; i < count; i++, to += columns) block[to] = values[i]!;
    }
    yield block;
  }
}

/**
 * Reads all rows straight into the memory of the result: several slices at once by the addon, which also looks for
 * numbers that are not finite, on threads of libuv's pool.
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
  const readPlainly = async (row: number, count: number, out: Real, at: number) => {
    const bytes = new Uint8Array(out.buffer, out.byteOffset + at * out.BYTES_PER_ELEMENT, count * rowBytes);
    const read = await source.readAt(bytes, startBytes + row * rowBytes);
    if (read < bytes.length) throw cutShort(name, layout, row * rowBytes + read);
    return false;
  };
  const tiles = new RowTiles(columns, numbers.dtype, complete, signal);
  tiles.begin(values);
  try {
    for (let row = 0; row < rows; row += tiles.directRows) {
      const count = Math.min(tiles.directRows, rows - row);
      await tiles.direct(count, (out, at) => {
        if (addon?.readColumns === undefined || descriptor === undefined) return readPlainly(row, count, out, at);
        const positions = [startBytes + row * rowBytes];
        return addon
          .readColumns(descriptor, positions, count * columns, out, at)
          .catch(() => readPlainly(row, count, out, at));
      });
    }
  } catch (error) {
    // The file must stay open, and the memory be kept, until all slices are read.
    await tiles.fail(error);
  }
  return keptRows(values, await tiles.end(), signal);
}

function cutShort(name: string, { rows, columns, numbers, isFortran }: NpyLayout, bytes: number): Error {
  const number = Math.floor(bytes / numbers.bytes);
  const place = isFortran ? `number (${number})` : `row (${Math.floor(number / columns)})`;
  return malformedNpy(name, `it ends in ${place} of (${isFortran ? rows * columns : rows})`);
}
