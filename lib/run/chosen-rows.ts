import { CovariumError } from '../covarium-error.ts';
import { openTable } from '../table/read-table.ts';
import type { Run } from './run.ts';

/** Up to `count` of `rows` rows, evenly: the first and the last among them. */
export function chooseRows(rows: number, count: number): number[] {
  const chosen = Math.min(rows, count);
  if (chosen < 2) return chosen === 0 ? [] : [0];
  return Array.from({ length: chosen }, (_, i) => Math.round((i * (rows - 1)) / (chosen - 1)));
}

/** Some rows of a file of draws, in ascending order. Throws what is wrong with the file, `ERR_MANIFEST_MISMATCH` for another shape. */
export async function readRows(path: string, run: Run, chosen: readonly number[]): Promise<Float64Array[]> {
  const { columns, dtype, format, rows } = run;
  const table = await openTable(path, { format });
  const read: Float64Array[] = [];
  let at = 0;
  try {
    requireShape(path, 'columns', table.head.columns, columns);
    for await (const block of table.blocks()) {
      const end = at + block.length / columns;
      for (let row = chosen[read.length]; row !== undefined && row < end; row = chosen[read.length]) {
        const values = Float64Array.from(block.subarray((row - at) * columns, (row - at + 1) * columns));
        // Text tells a float32 by its shortest decimals.
        read.push(dtype === 'float32' ? values.map(Math.fround) : values);
      }
      at = end;
    }
  } finally {
    await table.close();
  }
  // A CSV file without a row does not tell its columns.
  requireShape(path, 'rows', at, rows);
  return read;
}

function requireShape(path: string, what: string, there: number, told: number): void {
  if (there !== told)
    throw new CovariumError(
      'ERR_MANIFEST_MISMATCH',
      `File (${path}) has (${there}) ${what}, but (${told}) in its manifest.`,
      {
        path,
      },
    );
}
