import type { Real } from '../dtype.ts';
import { openTable, type TableOptions } from './read-table.ts';
import type { TableHead, TableReader } from './table.ts';

/** A file of numbers in memory. */
export interface WholeTable extends TableHead {
  readonly path: string;
  readonly rows: number;
  /** Rows that were left out, since a value of theirs is missing. */
  readonly dropped: number;
  /** Row after row. */
  readonly values: Real;
}

/** Reads a file of numbers whole. Throws what {@link openTable} throws. */
export async function readWholeTable(path: string, options: TableOptions = {}): Promise<WholeTable> {
  const reader = await openTable(path, options);
  try {
    const values = await joined(reader);
    const { head, dropped } = reader;
    return { ...head, path, rows: values.length / head.columns, dropped, values };
  } finally {
    await reader.close();
  }
}

async function joined(reader: TableReader): Promise<Real> {
  const blocks: Real[] = [];
  let length = 0;
  for await (const block of reader.blocks()) {
    blocks.push(block);
    length += block.length;
  }
  if (blocks.length === 1) return blocks[0]!;
  const values = reader.head.dtype === 'float32' ? new Float32Array(length) : new Float64Array(length);
  let at = 0;
  for (const block of blocks) {
    values.set(block, at);
    at += block.length;
  }
  return values;
}
