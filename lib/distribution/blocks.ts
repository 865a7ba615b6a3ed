import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { type AbortOptions, checkOptions, named, onAbort, orElse, refuseAborted, wholeNumber } from '../check.ts';
import { run } from '../command/task.ts';
import { bytesOf, type RealDtype } from '../dtype.ts';
import { firstElement, normalCounter, randomSeed, type Word64 } from '../stream/counter.ts';
import { type RunOptions, requireCount } from './sample-options.ts';
import type { DistributionTasks } from './tasks.ts';

/** Selects rows of a run, and the size of its blocks. */
export interface BlockOptions extends RunOptions, AbortOptions {
  /** Rows of one block; by default as many as fill 8 MiB. */
  readonly rowsPerBlock?: number | undefined;
}

// Long enough to hide a commit's overhead, short enough for a prompt abort.
const defaultBlockBytes = 8 << 20;

/** Checks a run of `count` rows at once, and returns the generator of its blocks; `open` refuses a closed one. */
export function sampleBlocks<D extends RealDtype>(
  open: () => DistributionTasks<D>,
  count: number,
  options: BlockOptions,
): AsyncGenerator<Matrix<D>, void, undefined> {
  checkOptions(options, ['seed', 'stream', 'firstRow', 'rowsPerBlock', 'signal']);
  refuseAborted(options.signal);
  const tasks = open();
  const { dtype, n, width } = tasks;
  wholeNumber('Count', count);
  const { seed = randomSeed(), stream = 0, firstRow = 0, signal } = options;
  normalCounter(seed, stream, firstElement(firstRow, count, width));
  tasks.requireRows?.(firstRow, count);
  const rowsByDefault = Math.max(1, Math.floor(defaultBlockBytes / (n * bytesOf(dtype))));
  const rowsPerBlock = wholeNumber('Rows per block', orElse(options.rowsPerBlock, rowsByDefault), 1);
  requireCount(Math.min(rowsPerBlock, count), tasks);
  return blocksOf(open, count, { seed, stream, firstRow }, Math.min(rowsPerBlock, count), signal);
}

async function* blocksOf<D extends RealDtype>(
  open: () => DistributionTasks<D>,
  count: number,
  { firstRow, ...which }: { seed: Word64; stream: Word64; firstRow: Word64 },
  rowsPerBlock: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Matrix<D>, void, undefined> {
  if (count === 0) return;
  const { device, dtype, n } = open();
  const leaving = new AbortController();
  const forward = () => leaving.abort(signal?.reason);
  const stopWaiting = onAbort(signal, forward);
  if (signal?.aborted) forward();
  const buffers: Storage<D>[] = [];
  let next: Promise<Matrix<D>> | undefined;
  try {
    const draw = async (row: number): Promise<Matrix<D>> => {
      const index = Math.round(row / rowsPerBlock) % 2;
      buffers[index] ??= named('Rows per block', () => Storage.onDevice(device, dtype, rowsPerBlock * n));
      const rows = Math.min(rowsPerBlock, count - row);
      const block = new Matrix(new Storage(buffers[index].values.subarray(0, rows * n)), rows, n);
      const options = { ...which, firstRow: rowAfter(firstRow, row), out: block };
      return run(open().draw(rows, options, new Uint32Array(6)), leaving.signal);
    };
    next = draw(0);
    for (let row = 0; row < count; row += rowsPerBlock) {
      const block: Matrix<D> = await next!;
      const following = row + rowsPerBlock;
      next = following < count ? draw(following) : undefined;
      // Its failure is reported when it is awaited, which may be much later.
      next?.catch(() => {});
      yield block;
      block.close();
    }
  } finally {
    stopWaiting();
    leaving.abort();
    await next?.catch(() => {});
    for (const buffer of buffers) buffer.close();
  }
}

/** The row so many rows later. */
export function rowAfter(firstRow: Word64, rows: number): Word64 {
  if (typeof firstRow === 'number' && Number.isSafeInteger(firstRow + rows)) return firstRow + rows;
  return BigInt(firstRow) + BigInt(rows);
}
