import { open } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';
import { cannotRead } from '../file/error.ts';
import type { TableReader } from '../table/table.ts';
import type { Run } from './run.ts';

const rowsAtOnce = 4096;

/**
 * Reads a CSV file of draws as covarium writes it. Draws of a Student-t may be too large for their type, and a table's
 * reader takes no infinite number. Its blocks throw `ERR_MALFORMED_CSV` and `ERR_FILE_UNREADABLE`.
 */
export function csvRowsOfDraws(path: string, { names, columns }: Run): Pick<TableReader, 'head' | 'blocks' | 'close'> {
  return {
    head: { names: names ?? undefined, columns, dtype: 'float64', rows: undefined },
    blocks: () => blocksOf(path, names, columns),
    close: async () => {},
  };
}

async function* blocksOf(
  path: string,
  names: readonly string[] | null,
  columns: number,
): AsyncGenerator<Float64Array, void, undefined> {
  // A name in quotes may have line ends.
  let skipped = names === null ? 0 : 1 + (names.join(',').match(lineEnds)?.length ?? 0);
  let line = 0;
  let block: number[] = [];
  const file = await open(path).catch((error: unknown) => {
    throw cannotRead(path, error);
  });
  try {
    for await (const text of file.readLines()) {
      line++;
      if (skipped-- > 0) continue;
      const fields = text.split(',');
      if (fields.length !== columns || !fields.every(isNumber))
        throw new CovariumError('ERR_MALFORMED_CSV', `Line (${line}) of (${path}) is not (${columns}) numbers.`, {
          path,
          line,
        });
      for (const field of fields) block.push(Number(field));
      if (block.length < rowsAtOnce * columns) continue;
      yield Float64Array.from(block);
      block = [];
    }
    if (block.length > 0) yield Float64Array.from(block);
  } finally {
    await file.close().catch(() => {});
  }
}

const lineEnds = /\r\n|[\n\r\u2028\u2029]/g;

function isNumber(field: string): boolean {
  return /^-?(?:\d|Infinity$)/.test(field) && !Number.isNaN(Number(field));
}
