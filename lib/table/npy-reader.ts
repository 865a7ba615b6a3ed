import { stat } from 'node:fs/promises';
import { bytesOf, type Real, viewOf } from '../dtype.ts';
import { ByteSource, inputName } from '../file/input.ts';
import { chosenColumns } from './columns.ts';
import { CompleteRows } from './complete-rows.ts';
import { malformedNpy, maximumStartBytes, npyLayout, npyPreambleBytes, npyStartBytes } from './npy.ts';
import type { ReadRequest, TableReader } from './table.ts';

const blockBytes = 1 << 20;

/** Reads an NPY file from its beginning to its end, so that it may come from a pipe. */
export async function openNpy(path: string, { columns: wanted, missing }: ReadRequest): Promise<TableReader> {
  const source = new ByteSource(path);
  const name = inputName(path);
  try {
    const preamble = await source.take(npyPreambleBytes);
    const startBytes = npyStartBytes(name, preamble);
    const header = startBytes > maximumStartBytes ? undefined : await source.take(startBytes - preamble.length);
    if (header?.length !== startBytes - preamble.length)
      throw malformedNpy(name, `its header takes (${startBytes}) bytes, and it has fewer or they are too many`);
    const text = Buffer.concat([preamble, header]).toString('latin1');
    const head = { names: undefined, ...npyLayout(name, text) };
    const { rows, columns, dtype } = head;
    await requireSize(path, startBytes + rows * columns * bytesOf(dtype));
    chosenColumns(name, undefined, columns, wanted);
    const complete = new CompleteRows(name, columns, undefined, missing);
    const blocks = async function* (): AsyncGenerator<Real> {
      const rowBytes = columns * bytesOf(dtype);
      const rowsPerBlock = Math.max(1, Math.floor(blockBytes / Math.max(1, rowBytes)));
      for (let row = 0; row < rows; row += rowsPerBlock) {
        const count = Math.min(rowsPerBlock, rows - row);
        const bytes = await source.take(count * rowBytes);
        if (bytes.length < count * rowBytes)
          throw malformedNpy(name, `it ends in row (${row + Math.floor(bytes.length / rowBytes)}) of (${rows})`);
        const block = complete.of(viewOf(dtype, bytes.buffer, count * columns) as Real);
        if (block.length > 0) yield block;
      }
      if ((await source.take(1)).length > 0) throw malformedNpy(name, `bytes follow the last of its (${rows}) rows`);
    };
    return {
      head,
      get dropped() {
        return complete.dropped;
      },
      blocks,
      close: async () => source.close(),
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

// A file is refused before its rows are read; of a pipe only its end tells.
async function requireSize(path: string, expected: number): Promise<void> {
  const status = path === '-' ? undefined : await stat(path).catch(() => undefined);
  if (status?.isFile() && status.size !== expected)
    throw malformedNpy(path, `it has (${status.size}) bytes, but its header tells of (${expected})`);
}
