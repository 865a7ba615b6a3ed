import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Device, Matrix, readTable, writeTable } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { atTheEnd } from '../peers/at-the-end.ts';
import { peerCases } from '../peers/cases.ts';
import type { LaidOut, Suite } from '../suite.ts';

const columns = 8;

/** Files of float64 numbers, read to rows in memory and written from them: work of the host's processors. */
export const tables: Suite = {
  name: 'tables',
  problems: ({ quick = false }, inputs) => {
    const count = quick ? 100_000 : 1_000_000;
    return peerCases['tables']!.map(
      (name): Problem => ({
        suite: 'tables',
        case: name,
        isOptional: true,
        isWatched: true,
        dtype: 'float64',
        dimension: columns,
        count,
        work: { flops: 0, bytes: 2 * 8 * columns * count, normals: 0 },
        inputs: () => inputs.of(['table'], columns * count, 'float64'),
        // By default, pandas reads decimals only to the last bit but one.
        tolerance: name.endsWith('CSV') ? 2 ** -52 : 0,
      }),
    );
  },
  layOut: (problem, device) => (usesAllProcessors(device) ? inFolder(problem) : undefined),
};

// Tables are read and written on the same threads for every device, so one row of results is enough.
function usesAllProcessors({ kind, threads }: Device): boolean {
  return kind === 'cpu' && (threads !== 1 || availableParallelism() === 1);
}

async function inFolder(problem: Problem): Promise<LaidOut> {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-tables-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const release = atTheEnd(remove);
  const close = () => {
    release();
    remove();
  };
  try {
    return { ...(await laidOut(problem, folder)), close };
  } catch (error) {
    close();
    throw error;
  }
}

async function laidOut(problem: Problem, folder: string): Promise<Omit<LaidOut, 'close'>> {
  const [verb, format] = problem.case.split(' ') as [string, string];
  const path = join(folder, `table.${format.toLowerCase()}`);
  const { table } = problem.inputs();
  const rows = Matrix.from(table!, { columns });
  const names = Array.from({ length: columns }, (_, i) => `x${i + 1}`);
  const write = () => writeTable(path, rows, { names });
  let rowsRead = Matrix.from(new Float64Array(0), { columns });
  const read = async () => {
    // As Python frees an array that has no reference.
    rowsRead.close();
    rowsRead = (await readTable(path)).rows as Matrix<'float64'>;
  };
  if (verb === 'write')
    return {
      run: async () => {
        await write();
        return undefined;
      },
      isAsync: true,
      result: async () => {
        await read();
        return rowsRead.data;
      },
    };
  await write();
  return {
    run: async () => {
      await read();
      return undefined;
    },
    isAsync: true,
    result: () => rowsRead.data,
  };
}
