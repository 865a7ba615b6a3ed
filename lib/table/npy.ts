import { endianness } from 'node:os';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import type { RowWriter, TableHead } from './table.ts';

/** What the header of an NPY file says of its numbers: rows in C order, little-endian. */
export interface NpyLayout {
  readonly dtype: 'float32' | 'float64';
  readonly rows: number;
  readonly columns: number;
}

/** The bytes before an NPY file's header: magic word, version, length of the header. Version 1 has two fewer. */
export const npyPreambleBytes = 12;

/**
 * The most that an NPY file has before its numbers: NumPy refuses longer headers, too, for it reads them as a program's
 * text.
 */
export const maximumStartBytes = 65546;

/**
 * The header of an NPY file of `rows` x `columns` numbers in C order, version 1.0: its length is a multiple of 64, so
 * that the numbers can be mapped into memory. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
export function npyHeader(dtype: 'float32' | 'float64', rows: number, columns: number): Uint8Array {
  const order = endianness() === 'LE' ? '<' : '>';
  const type = `${order}f${dtype === 'float32' ? 4 : 8}`;
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  const preambleBytes = 10;
  const totalBytes = Math.ceil((preambleBytes + text.length + 1) / 64) * 64;
  const header = Buffer.alloc(totalBytes, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(totalBytes - preambleBytes, 8);
  header.write(text, preambleBytes, 'latin1');
  header[totalBytes - 1] = 0x0a;
  return header;
}

/** The numbers of a block as an NPY file holds them: their very bytes. */
export function npyBytes(values: Real): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** The bytes before the numbers, from the first {@link npyPreambleBytes}. Throws `ERR_MALFORMED_NPY`. */
export function npyStartBytes(path: string, preamble: Uint8Array): number {
  const bytes = Buffer.from(preamble.buffer, preamble.byteOffset, preamble.length);
  if (bytes.length === 0) throw malformedNpy(path, 'it is empty');
  if (bytes.length < npyPreambleBytes || bytes.toString('latin1', 0, 6) !== '\x93NUMPY')
    throw malformedNpy(path, 'it does not begin as NPY files do');
  const version = bytes[6]!;
  if (version < 1 || version > 3) throw malformedNpy(path, `its format version is (${version}), not one of (1, 2, 3)`);
  return version === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8);
}

/** What the text of the header says; what is before it may be there too. Throws `ERR_MALFORMED_NPY`. */
export function npyLayout(path: string, text: string): NpyLayout {
  const shape = /'shape' *: *\(([^)]*)\)/.exec(text)?.[1] ?? '';
  const sizes = /^ *(\d+) *, *(\d+) *,? *$/.exec(shape);
  if (sizes === null) throw malformedNpy(path, `its shape is (${describe(shape)}), not rows and columns`);
  if (!/'fortran_order' *: *False\b/.test(text)) throw malformedNpy(path, 'its rows are not in C order');
  const type = /'descr' *: *'([^']*)'/.exec(text)?.[1];
  if (type !== '<f4' && type !== '<f8')
    throw malformedNpy(path, `its numbers are of type (${describe(type)}), not of (<f4, <f8)`);
  return { dtype: type === '<f4' ? 'float32' : 'float64', rows: Number(sizes[1]), columns: Number(sizes[2]) };
}

/** The refusal of a file that is not NPY, or not of the kind that is read. */
export function malformedNpy(path: string, why: string): CovariumError {
  return new CovariumError('ERR_MALFORMED_NPY', `NPY file (${path}) is malformed: ${why}.`, { path });
}

/** NPY has no names, and its header says the rows: `ERR_INVALID_ARGUMENT` where the head does not. */
export async function openNpyWriter(output: Output, { dtype, rows, columns }: TableHead): Promise<RowWriter> {
  if (rows === undefined)
    throw new CovariumError('ERR_INVALID_ARGUMENT', 'An NPY file is begun with its number of rows, which is unknown.');
  await output.write(npyHeader(dtype, rows, columns));
  return { write: (values) => output.write(npyBytes(values)), finish: async () => {} };
}
