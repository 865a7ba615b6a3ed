import { type FileHandle, open, stat } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';
import { cannotRead } from '../file/error.ts';
import { malformedNpy, maximumStartBytes, npyLayout, npyPreambleBytes, npyStartBytes } from './npy.ts';

/** Where the numbers of an NPY file lie: rows of numbers in C order, little-endian. */
interface Layout {
  readonly numberBytes: 4 | 8;
  readonly rows: number;
  readonly columns: number;
  readonly startBytes: number;
}

/** An open NPY file of two dimensions, of which rows are read one by one: the file may be larger than memory. */
export interface NpyRows extends Pick<Layout, 'rows' | 'columns'> {
  /** The numbers of some rows and columns, row after row. Throws `ERR_NOT_FINITE` and `ERR_FILE_UNREADABLE`. */
  read(rows: readonly number[], columns: readonly number[]): Promise<Float64Array>;
  close(): Promise<void>;
}

/**
 * Opens an NPY file of float32 or float64 as NumPy and `covarium sample` write it. Throws `ERR_MALFORMED_NPY`,
 * `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function openNpyRows(path: string): Promise<NpyRows> {
  let file: FileHandle | undefined;
  try {
    // Opening a pipe would wait for its writer, and nobody can read its rows in any order.
    if ((await stat(path)).isFIFO()) throw Object.assign(new Error(), { code: 'ESPIPE' });
    file = await open(path);
    const layout = await layoutOf(path, file);
    const opened = file;
    return {
      rows: layout.rows,
      columns: layout.columns,
      read: (rows, columns) => readRows(path, opened, layout, rows, columns),
      close: () => opened.close(),
    };
  } catch (error) {
    await file?.close();
    throw error instanceof CovariumError ? error : cannotRead(path, error);
  }
}

async function readRows(
  path: string,
  file: FileHandle,
  layout: Layout,
  rows: readonly number[],
  columns: readonly number[],
): Promise<Float64Array> {
  const rowBytes = layout.columns * layout.numberBytes;
  const bytes = Buffer.alloc(rowBytes);
  const values = new Float64Array(rows.length * columns.length);
  let at = 0;
  for (const row of rows) {
    await readBytes(path, file, bytes, layout.startBytes + row * rowBytes);
    for (const column of columns) {
      const place = column * layout.numberBytes;
      const value = layout.numberBytes === 4 ? bytes.readFloatLE(place) : bytes.readDoubleLE(place);
      if (!Number.isFinite(value)) {
        const message = `Row (${row}), column (${column}) of file (${path}) is not finite (${value}).`;
        throw new CovariumError('ERR_NOT_FINITE', message, { path, row, column });
      }
      values[at++] = value;
    }
  }
  return values;
}

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
async function layoutOf(path: string, file: FileHandle): Promise<Layout> {
  const { size } = await file.stat();
  const preamble = Buffer.alloc(Math.min(size, npyPreambleBytes));
  await readBytes(path, file, preamble, 0);
  const startBytes = npyStartBytes(path, preamble);
  if (startBytes > Math.min(size, maximumStartBytes))
    throw malformedNpy(path, `its header takes (${startBytes}) of (${size}) bytes`);
  const header = Buffer.alloc(startBytes);
  await readBytes(path, file, header, 0);
  const { dtype, rows, columns } = npyLayout(path, header.toString('latin1'));
  const numberBytes = dtype === 'float32' ? 4 : 8;
  const expected = startBytes + rows * columns * numberBytes;
  if (size !== expected) throw malformedNpy(path, `it has (${size}) bytes, but its header tells of (${expected})`);
  return { numberBytes, rows, columns, startBytes };
}

async function readBytes(path: string, file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, position + at);
      if (bytesRead === 0) throw malformedNpy(path, 'it ends as it is read');
      at += bytesRead;
    }
  } catch (error) {
    throw error instanceof CovariumError ? error : cannotRead(path, error);
  }
}
