import { CovariumError } from '../covarium-error.ts';
import { npyBytes, npyHeader } from './npy.ts';
import type { Output } from './output-file.ts';
import type { TableHead } from './table.ts';
import type { RowWriter } from './write-table.ts';

/** NPY has no names, and its header says the rows: `ERR_INVALID_ARGUMENT` where the head does not. */
export async function openNpyWriter(output: Output, { dtype, rows, columns }: TableHead): Promise<RowWriter> {
  if (rows === undefined)
    throw new CovariumError('ERR_INVALID_ARGUMENT', 'An NPY file is begun with its number of rows, which is unknown.');
  await output.write(npyHeader(dtype, rows, columns));
  return { write: (values) => output.write(npyBytes(values)), finish: async () => {} };
}
