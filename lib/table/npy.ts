import { endianness } from 'node:os';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import { malformedNpy, unsupportedNpy } from './npy-error.ts';
import { type NpyNumbers, npyNumbers } from './npy-numbers.ts';
import { type PythonValue, pythonLiteral } from './python-literal.ts';
import type { RowWriter, TableHead } from './table.ts';

/** The header of an NPY file: the type of its numbers, and the order of rows and columns. */
export interface NpyLayout {
  readonly numbers: NpyNumbers;
  readonly rows: number;
  /** 1 for a one-dimensional array. */
  readonly columns: number;
  /** True if the file holds column after column. */
  readonly isFortran: boolean;
}

/** The bytes before the header of an NPY file: magic word, version, length of the header. Version 1 has two fewer. */
export const npyPreambleBytes = 12;

/**
 * The most bytes before the numbers of an NPY file. NumPy refuses longer headers too, because it parses them as Python
 * text.
 */
export const maximumStartBytes = 65546;

// Without rows, only this limits the number of columns.
const mostColumnsOfNoRows = 1 << 20;

/**
 * The header of an NPY file of `rows` x `columns` numbers in C order, version 1.0. Its length is a multiple of 64, so
 * that the numbers can be mapped into memory. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
export function npyHeader(dtype: RealDtype, rows: number, columns: number, leastBytes = 0): Uint8Array {
  const order = endianness() === 'LE' ? '<' : '>';
  const type = `${order}f${dtype === 'float32' ? 4 : 8}`;
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  const preambleBytes = 10;
  const totalBytes = Math.max(leastBytes, Math.ceil((preambleBytes + text.length + 1) / 64) * 64);
  const header = Buffer.alloc(totalBytes, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(totalBytes - preambleBytes, 8);
  header.write(text, preambleBytes, 'latin1');
  header[totalBytes - 1] = 0x0a;
  return header;
}

/** The bytes of a block's numbers as in an NPY file: the same memory. */
export function npyBytes(values: Real): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** The number of bytes before the numbers, from the first {@link npyPreambleBytes}. Throws `ERR_MALFORMED_NPY`. */
export function npyStartBytes(path: string, preamble: Uint8Array): number {
  const bytes = Buffer.from(preamble.buffer, preamble.byteOffset, preamble.length);
  if (bytes.length === 0) throw malformedNpy(path, 'it is empty');
  if (bytes.length < npyPreambleBytes || bytes.toString('latin1', 0, 6) !== '\x93NUMPY')
    throw malformedNpy(path, 'it does not begin as NPY files do');
  const version = bytes[6]!;
  if (version < 1 || version > 3) throw malformedNpy(path, `its format version is (${version}), not one of (1, 2, 3)`);
  return version === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8);
}

/**
 * The layout that the header gives, from all bytes before the numbers. Throws `ERR_MALFORMED_NPY`, and
 * `ERR_UNSUPPORTED` for numbers or shapes that NumPy writes and we do not read.
 */
export function npyLayout(path: string, start: Uint8Array): NpyLayout {
  const version = start[6]!;
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.length);
  const header = fieldsOf(path, bytes.toString(version === 3 ? 'utf8' : 'latin1', version === 1 ? 10 : 12));
  const { descr, fortran_order: isFortran, shape } = header;
  if (typeof isFortran !== 'boolean')
    throw malformedNpy(path, `its fortran_order is (${shown(isFortran)}), not a bool`);
  const { rows, columns, dimensions } = shapeOf(path, shape!);
  const numbers = npyNumbers(path, descr!);
  // With one row or one column, both orders are the same.
  return { numbers, rows, columns, isFortran: isFortran && dimensions === 2 && rows > 1 && columns > 1 };
}

const keys = ['descr', 'fortran_order', 'shape'];

function fieldsOf(path: string, text: string): { readonly [key: string]: PythonValue | undefined } {
  let header: PythonValue;
  try {
    header = pythonLiteral(text);
  } catch (error) {
    throw malformedNpy(path, `its header is not a Python dict: ${(error as Error).message}`);
  }
  if (!(header instanceof Map)) throw malformedNpy(path, 'its header is not a Python dict');
  const known = [...header.keys()].sort();
  if (known.join() !== keys.join())
    throw malformedNpy(path, `its header has the keys (${describe(known.join(', '))}), not (${keys.join(', ')})`);
  return Object.fromEntries(header);
}

function shapeOf(path: string, shape: PythonValue): { rows: number; columns: number; dimensions: number } {
  const isShape = Array.isArray(shape) && shape.every((size) => typeof size === 'bigint' && size >= 0n);
  if (!isShape) throw malformedNpy(path, `its shape is (${shown(shape)}), not a tuple of whole numbers`);
  const sizes = (shape as bigint[]).map(Number);
  if (sizes.length > 2) throw unsupportedNpy(path, `it has (${sizes.length}) dimensions; pass one or two`);
  const [rows = 1, columns = 1] = sizes;
  const isPossible = Number.isSafeInteger(rows * Math.max(1, columns) * 16);
  if (!isPossible || (rows === 0 && columns > mostColumnsOfNoRows))
    throw malformedNpy(path, `its shape is (${sizes.join(', ')}), which no file can hold`);
  if (columns === 0) throw unsupportedNpy(path, `it has no columns (its shape is (${sizes.join(', ')}))`);
  return { rows, columns, dimensions: sizes.length };
}

// As Python writes it: a whole number, which is a bigint here, without its n.
function shown(value: PythonValue | undefined): string {
  if (Array.isArray(value)) return describe(value.join(', '));
  return describe(typeof value === 'bigint' ? String(value) : value);
}

/**
 * NPY stores no names, and its header states the number of rows. If the head does not state it, the header is rewritten
 * at the end; an output that cannot be rewritten throws `ERR_INVALID_ARGUMENT`.
 */
export async function openNpyWriter(output: Output, { dtype, rows, columns }: TableHead): Promise<RowWriter> {
  if (rows === undefined && output.overwrite === undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      'NPY begins with its number of rows; pass `count`, or write to a file.',
    );
  const header = npyHeader(dtype, rows ?? Number.MAX_SAFE_INTEGER, columns);
  await output.write(header);
  let written = 0;
  return {
    // Each piece waits for a thread, and holds none of this one.
    pieceBytes: 8 << 20,
    write: async (values) => {
      written += values.length / columns;
      await output.write(npyBytes(values));
    },
    finish: async () => {
      if (rows === undefined) await output.overwrite!(npyHeader(dtype, written, columns, header.length), 0);
    },
  };
}
