import { type FileHandle, open, stat } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';
import { cannotRead } from '../file/error.ts';
import { maximumStartBytes, type NpyLayout, npyLayout, npyPreambleBytes, npyStartBytes } from './npy.ts';
import { malformedNpy } from './npy-error.ts';
import { realsOf } from './npy-numbers.ts';

interface Layout extends NpyLayout {
  readonly startBytes: number;
}

/** An open NPY file whose rows are read one by one, so that the file may be larger than memory. */
interface NpyRows extends Pick<Layout, 'rows' | 'columns'> {
  /** The numbers at some rows and columns, row after row. Throws `ERR_NOT_FINITE` and `ERR_FILE_UNREADABLE`. */
  read(rows: readonly number[], columns: readonly number[]): Promise<Float64Array>;
  close(): Promise<void>;
}

/** Opens an NPY file. Throws `ERR_MALFORMED_NPY`, `ERR_UNSUPPORTED`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`. */
export async function openNpyRows(path: string): Promise<NpyRows> {
  let file: FileHandle | undefined;
  try {
    // Opening a pipe would wait for its writer, and its rows cannot be read in any order.
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
  const { numbers, columns: width, rows: height, startBytes, isFortran } = layout;
  const values = new Float64Array(rows.length * columns.length);
  // In C order a row is contiguous; in Fortran order each number is read separately.
  const pieces = isFortran ? columns.map((column) => [column]) : [columns];
  let at = 0;
  for (const row of rows)
    for (const piece of pieces) {
      const bytes = Buffer.from(new ArrayBuffer(numbers.bytes * (isFortran ? 1 : width)));
      await readBytes(
        path,
        file,
        bytes,
        startBytes + numbers.bytes * (isFortran ? piece[0]! * height + row : row * width),
      );
      const found = realsOf(path, numbers, bytes, (index) => ({ row, column: isFortran ? piece[0]! : index }));
      for (const column of piece) {
        const value = found[isFortran ? 0 : column]!;
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
    throw malformedNpy(path, `its header has (${startBytes}) bytes, but the file has (${size})`);
  const header = Buffer.alloc(startBytes);
  await readBytes(path, file, header, 0);
  const layout = npyLayout(path, header);
  const expected = startBytes + layout.rows * layout.columns * layout.numbers.bytes;
  if (size !== expected) throw malformedNpy(path, `it has (${size}) bytes, but its header describes (${expected})`);
  return { ...layout, startBytes };
}

async function readBytes(path: string, file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, position + at);
      if (bytesRead === 0) throw malformedNpy(path, 'it became shorter while it was read');
      at += bytesRead;
    }
  } catch (error) {
    throw error instanceof CovariumError ? error : cannotRead(path, error);
  }
}
