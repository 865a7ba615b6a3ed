import { Matrix, matrixStorage } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import type { DeviceKind, Encoder } from '../backend.ts';
import { step, type Tasks, taskOf } from '../command/task.ts';
import type { Real, RealDtype } from '../dtype.ts';
import type { Word64 } from '../stream/counter.ts';
import { rowAfter } from './blocks.ts';
import type { Tally } from './tally.ts';
import type { DistributionTasks } from './tasks.ts';

/** The rows of a run, as `RunOptions` have them, all given. */
interface RunOfRows {
  readonly seed: Word64;
  readonly stream: Word64;
  readonly firstRow: Word64;
}

// Numbers of a block: so few that a processor's caches hold them and so many that its threads all have a share, or that
// a GPU is busy for longer than it takes to start a command. They do not depend on the threads, so that sums do not.
const blockElements: { readonly [kind in DeviceKind]: number } = {
  cpu: 1 << 20,
  reference: 1 << 16,
  metal: 1 << 22,
  cuda: 1 << 24,
};
const leastRows = 512;
const blocksPerCommit = 16;

/**
 * Draws `count` rows block by block into the same memory of the device, where the tallies count each block before the
 * next is drawn, and `encode` records what else is computed of it.
 */
export function* reduceDraws<D extends RealDtype>(
  tasks: DistributionTasks<D>,
  count: number,
  { firstRow, ...which }: RunOfRows,
  tallies: readonly Tally[],
  encode: (encoder: Encoder, rows: Real) => void,
): Tasks<void> {
  const { device, dtype, n, width } = tasks;
  const rowsPerBlock = Math.min(
    count,
    Math.max(leastRows, Math.floor(blockElements[device.kind] / Math.max(n, width))),
  );
  const memory = Storage.away(device, dtype, rowsPerBlock * n);
  try {
    const values = memory.operandFor(device);
    const atOnce = rowsPerBlock * blocksPerCommit;
    for (let from = 0; from < count; from += atOnce) {
      const end = Math.min(count, from + atOnce);
      const blocks = Array.from({ length: Math.ceil((end - from) / rowsPerBlock) }, (_, block) => {
        const row = from + block * rowsPerBlock;
        const rows = Math.min(rowsPerBlock, end - row);
        const out = new Matrix(new Storage(values.subarray(0, rows * n)), rows, n);
        return tasks.draw(rows, { ...which, firstRow: rowAfter(firstRow, row), out }, new Uint32Array(6));
      });
      yield* step(
        taskOf({
          device,
          encode: (encoder, scratch) => {
            for (const draw of blocks) {
              const rows = matrixStorage(draw.result).operandFor(device) as Real;
              draw.encode(encoder, scratch);
              for (const tally of tallies) tally.encode(encoder, device, rows);
              encode(encoder, rows);
            }
          },
          result: undefined,
          written: memory,
          after: () => {
            for (const tally of tallies) tally.take();
          },
        }),
      );
    }
  } finally {
    memory.close();
  }
}
