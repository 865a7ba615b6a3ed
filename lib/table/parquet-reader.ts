import { type FileHandle, open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { type Real, zerosOf } from '../dtype.ts';
import { cannotRead } from '../file/error.ts';
import { ByteSource, type InputSource, inputName } from '../file/input.ts';
import { chosenColumns } from './columns.ts';
import { CompleteRows, toNumber } from './complete-rows.ts';
import type { ReadRequest, TableReader } from './table.ts';

// Snappy is within hyparquet.
const compressors = {
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliDecompressSync(bytes),
  ZSTD: (bytes: Uint8Array, length: number) => decompress(bytes, new Uint8Array(length)),
};

/**
 * Reads Parquet one row group after the other, and of a group one column after the other. What comes from a pipe is taken into memory
 * whole, since the footer says where everything is.
 */
export async function openParquet(
  path: InputSource,
  { columns: wanted, missing, signal }: ReadRequest,
): Promise<TableReader> {
  const name = inputName(path);
  const { file, close } = await openBytes(path, name, signal);
  const refused = (cause: unknown): CovariumError =>
    cause instanceof CovariumError ? cause : malformed(name, (cause as Error).message, cause);
  try {
    if (file.byteLength === 0) throw malformed(name, 'it is empty');
    const metadata = await metadataOf(file, name);
    const fields = parquetSchema(metadata).children;
    const names = fields.map(({ element }) => element.name);
    const chosen = chosenColumns(name, names, names.length, wanted);
    for (const index of chosen) {
      requireNumbers(name, fields[index]!.element, fields[index]!.children.length);
      if (names.indexOf(names[index]!) !== names.lastIndexOf(names[index]!))
        throw new CovariumError('ERR_INVALID_ARGUMENT', `File (${name}) has column (${names[index]}) twice.`, {
          path: name,
        });
    }
    const isSingle = chosen.every((index) => ['FLOAT', 'FIXED_LEN_BYTE_ARRAY'].includes(fields[index]!.element.type!));
    const dtype: RealDtype = isSingle ? 'float32' : 'float64';
    const chosenNames = chosen.map((index) => names[index]!);
    const complete = new CompleteRows(name, chosen.length, chosenNames, missing);
    const blocks = async function* (): AsyncGenerator<Real> {
      let rowStart = 0;
      for (const group of metadata.row_groups) {
        const rows = Number(group.num_rows);
        const rowEnd = rowStart + rows;
        const values = zerosOf(dtype, rows * chosen.length) as Real;
        for (const [at, column] of chosenNames.entries())
          try {
            const spread = new Spread(values, at, chosen.length, name, column, rowStart, rowEnd);
            await parquetRead({
              file,
              metadata,
              compressors,
              columns: [column],
              rowStart,
              rowEnd,
              onChunk: (chunk) => spread.take(chunk),
            });
            spread.finish();
          } catch (cause) {
            throw refused(cause);
          }
        rowStart = rowEnd;
        const block = complete.of(values);
        if (block.length > 0) yield block;
      }
    };
    return {
      head: { names: chosenNames, columns: chosen.length, dtype, rows: Number(metadata.num_rows) },
      get dropped() {
        return complete.dropped;
      },
      blocks,
      close,
    };
  } catch (error) {
    await close();
    throw refused(error);
  }
}

async function metadataOf(file: AsyncBuffer, name: string): Promise<FileMetaData> {
  const magic = (bytes: ArrayBuffer) => Buffer.from(bytes).toString('latin1');
  const { byteLength } = file;
  const isParquet = byteLength >= 12 && magic(await file.slice(0, 4)) === 'PAR1';
  if (!isParquet) throw malformed(name, 'it does not begin as Parquet files do');
  if (magic(await file.slice(byteLength - 4, byteLength)) !== 'PAR1')
    throw malformed(name, 'it does not end in (PAR1), so it is cut short');
  return parquetMetadataAsync(file);
}

/** A column of a row group as every `stride`th number of `values`, a null as NaN. */
class Spread {
  readonly #values: Real;
  readonly #start: number;
  readonly #stride: number;
  readonly #file: string;
  readonly #column: string;
  readonly #rowStart: number;
  readonly #rowEnd: number;
  #taken = 0;
  #failure: unknown;

  constructor(
    values: Real,
    start: number,
    stride: number,
    file: string,
    column: string,
    rowStart: number,
    rowEnd: number,
  ) {
    this.#values = values;
    this.#start = start;
    this.#stride = stride;
    this.#file = file;
    this.#column = column;
    this.#rowStart = rowStart;
    this.#rowEnd = rowEnd;
  }

  /** Never throws: the library drops what a callback throws. */
  take({ columnData, rowStart }: { columnData: ArrayLike<unknown>; rowStart: number }): void {
    try {
      const end = Math.min(columnData.length, this.#rowEnd - rowStart);
      for (let index = Math.max(0, this.#rowStart - rowStart); index < end; index++) {
        const row = rowStart + index;
        const value = columnData[index] as number | bigint | null | undefined;
        const number =
          value === null || value === undefined ? Number.NaN : toNumber(value, this.#file, this.#column, row);
        this.#values[(row - this.#rowStart) * this.#stride + this.#start] = number;
        this.#taken++;
      }
    } catch (error) {
      this.#failure ??= error;
    }
  }

  finish(): void {
    if (this.#failure !== undefined) throw this.#failure;
    const rows = this.#rowEnd - this.#rowStart;
    if (this.#taken !== rows)
      throw malformed(this.#file, `column (${this.#column}) has (${this.#taken}) values in a group of (${rows}) rows`);
  }
}

// Numbers by their physical type, unless a logical type makes something else of them: a time, a decimal.
function requireNumbers(file: string, element: SchemaElement, children: number): void {
  const { type, converted_type, logical_type, repetition_type } = element;
  const logical = logical_type?.type ?? converted_type;
  const isInteger =
    (type === 'INT32' || type === 'INT64') && (logical === undefined || /^U?INT(EGER)?(_\d+)?$/.test(logical));
  const isFloat = type === 'FLOAT' || type === 'DOUBLE' || logical === 'FLOAT16';
  if ((isInteger || isFloat) && children === 0 && repetition_type !== 'REPEATED') return;
  const kind = children > 0 || repetition_type === 'REPEATED' ? 'nested' : (logical ?? type);
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Column (${element.name}) of file (${file}) holds no numbers (${kind}): choose others by their names.`,
    { path: file },
  );
}

interface OpenBytes {
  readonly file: AsyncBuffer;
  readonly close: () => Promise<void>;
}

async function openBytes(path: InputSource, name: string, signal: AbortSignal | undefined): Promise<OpenBytes> {
  let handle: FileHandle | undefined;
  try {
    handle = typeof path !== 'string' || path === '-' ? undefined : await open(path);
    const status = await handle?.stat();
    if (handle !== undefined && status?.isFile()) {
      const opened = handle;
      const slice = (start: number, end = status.size) => bytesOf(opened, name, start, end);
      return { file: { byteLength: status.size, slice }, close: () => opened.close() };
    }
    await handle?.close();
  } catch (error) {
    await handle?.close().catch(() => {});
    throw cannotRead(name, error);
  }
  const source = new ByteSource(path, signal);
  const { buffer } = await source.take(Number.POSITIVE_INFINITY);
  await source.close();
  return {
    file: { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) },
    close: async () => {},
  };
}

async function bytesOf(handle: FileHandle, name: string, start: number, end: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(0, end - start));
  try {
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) throw malformed(name, 'it ends as it is read');
      at += bytesRead;
    }
  } catch (error) {
    throw error instanceof CovariumError ? error : cannotRead(name, error);
  }
  return bytes.buffer;
}

function malformed(name: string, why: string, cause?: unknown): CovariumError {
  return new CovariumError('ERR_MALFORMED_PARQUET', `Parquet file (${name}) is malformed: ${why}.`, {
    path: name,
    cause,
  });
}
