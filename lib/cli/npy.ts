import { endianness } from 'node:os';
import type { Real } from '../dtype.ts';

/**
 * The header of an NPY file of `rows` x `columns` numbers in C order, version 1.0: its length is a multiple of 64, so that the numbers
 * can be mapped into memory. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
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
