import type { Matrix } from '../array/matrix.ts';
import type { DeviceKind } from '../backend.ts';
import { onAbort } from '../check.ts';
import type { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { bytesOf, type Real } from '../dtype.ts';
import type { MultivariateNormal } from '../normal/multivariate-normal.ts';
import { openQuietly } from '../open-device.ts';
import { firstElement } from '../stream/counter.ts';
import { requireRowLimit, rowLimit } from '../stream/radial-scales.ts';
import type { MultivariateStudentT } from '../student-t/multivariate-student-t.ts';
import type { RunModel } from './model.ts';
import { openModel } from './model.ts';
import type { Run } from './run.ts';

/** Where rows are drawn. */
export interface Where {
  /** By default the best device. */
  readonly kind?: DeviceKind | undefined;
  /** GPUs that share the blocks; by default one, where the kind is that of a GPU. */
  readonly gpus?: readonly string[] | undefined;
}

// Each lane has its own factor; together they may take this much.
const factorBytes = 2 ** 31;

/**
 * The rows of a run, in blocks on a grid that begins at row 0 of the stream. On one machine a row always has the same
 * bits, whichever rows are drawn with it and on however many threads. BLAS rounds differently for other shapes of its
 * operands, and the factor for another number of threads. So each block is drawn whole, even if only some of its rows
 * are wanted, and by one thread: one cpu device of one thread for each processor, which take blocks in turn. GPUs take
 * blocks in turn likewise.
 */
export class DrawnRows {
  readonly #run: Run;
  readonly #lanes: Lane[];
  readonly #end: bigint;

  private constructor(run: Run, lanes: Lane[], end: bigint) {
    this.#run = run;
    this.#lanes = lanes;
    this.#end = end;
  }

  /**
   * Opens for up to `rows` rows at a time. Throws like {@link openQuietly} and {@link
   * MultivariateNormal.fromCovariance}, and `ERR_OUT_OF_RANGE`.
   */
  static async open(run: Run, model: RunModel, where: Where, rows: number): Promise<DrawnRows> {
    firstElement(BigInt(run.firstRow), run.rows, run.columns);
    const isStudent = model.degreesOfFreedom !== undefined;
    if (isStudent) requireRowLimit(BigInt(run.firstRow), run.rows);
    const lastOfStream = (1n << 64n) / BigInt(run.columns);
    const end = isStudent ? min(rowLimit, lastOfStream) : lastOfStream;
    const devices = openLanes(run, where, Math.ceil(rows / run.rowsPerBlock) + 1);
    const making = devices.map((device) => openModel(device, model, run.dtype));
    const lanes = await Promise.allSettled(making);
    const failed = lanes.find((lane) => lane.status === 'rejected');
    if (failed === undefined) return new DrawnRows(run, await Promise.all(making), end);
    for (const device of devices) device.close();
    throw failed.reason;
  }

  get device(): Device {
    return this.#lanes[0]!.device;
  }

  /** The processor that made the factor. */
  get factorOn(): string {
    return this.#lanes[0]!.timings.factor ?? this.device.kind;
  }

  /**
   * Rows [first, first + count) of the stream, in pieces of whole rows. A piece is valid until the next is requested.
   */
  async *rows(first: bigint, count: number, signal?: AbortSignal): AsyncGenerator<Real, void, undefined> {
    const { columns } = this.#run;
    const last = first + BigInt(count);
    const leaving = new AbortController();
    const forward = () => leaving.abort(signal?.reason);
    const stopWaiting = onAbort(signal, forward);
    if (signal?.aborted) forward();
    const drawing: Promise<Drawn>[] = [];
    const size = BigInt(this.#run.rowsPerBlock);
    let next = first / size;
    // Two blocks for each lane: one is drawn while the other is written.
    let ahead = 2 * this.#lanes.length;
    try {
      for (let at = first; at < last; ) {
        for (; next * size < last && drawing.length < ahead; next++) {
          const block = this.#draw(next, first, last, leaving.signal);
          // Its failure is reported when it is awaited, which may be much later.
          block.catch(() => {});
          drawing.push(block);
        }
        const drawn = await drawing.shift()!.catch((error: unknown) => {
          if (ahead === 1 || (error as CovariumError).code !== 'ERR_OUT_OF_MEMORY') throw error;
        });
        if (drawn === undefined) {
          // Under a limit of the address space the lanes may have left too little for their blocks.
          await closeAll(drawing.splice(0));
          for (const lane of this.#lanes.splice(1)) closeLane(lane);
          ahead = 1;
          next = at / size;
          continue;
        }
        const { block, from } = drawn;
        const skipped = Number(at - from);
        const end = min(last, from + BigInt(block.rows));
        yield (block.data as Real).subarray(skipped * columns, Number(end - from) * columns);
        block.close();
        at = end;
      }
    } finally {
      stopWaiting();
      leaving.abort();
      await closeAll(drawing);
    }
  }

  close(): void {
    for (const lane of this.#lanes) closeLane(lane);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  // Draws block `index` of the grid. The reference device computes each row independently, so it draws only the rows
  // from `first` to `last`.
  async #draw(index: bigint, first: bigint, last: bigint, signal: AbortSignal): Promise<Drawn> {
    const { seed, stream, rowsPerBlock } = this.#run;
    const lane = this.#lanes[Number(index % BigInt(this.#lanes.length))]!;
    const size = BigInt(rowsPerBlock);
    // Where the stream ends, blocks end, too.
    let from = index * size;
    let to = min(from + size, this.#end);
    if (this.device.kind === 'reference') {
      if (from < first) from = first;
      to = min(to, last);
    }
    const which = { seed: BigInt(seed), stream: BigInt(stream), firstRow: from, signal };
    return { from, block: await lane.sample(Number(to - from), which) };
  }
}

type Lane = MultivariateNormal | MultivariateStudentT;

interface Drawn {
  readonly from: bigint;
  readonly block: Matrix;
}

function closeLane(lane: Lane): void {
  lane.close();
  lane.device.close();
}

async function closeAll(drawing: readonly Promise<Drawn>[]): Promise<void> {
  for (const block of drawing) await block.then((drawn) => drawn.block.close()).catch(() => {});
}

function openLanes({ columns, dtype }: Run, { kind, gpus = [] }: Where, blocks: number): Device[] {
  if (gpus.length > 0) return openGpus(kind, gpus.slice(0, blocks));
  const device = openQuietly(kind);
  if (device.kind !== 'cpu') return [device];
  const { threads } = device;
  device.close();
  const affordable = Math.floor(factorBytes / (columns * columns * bytesOf(dtype)));
  const lanes = Math.max(1, Math.min(threads, blocks, affordable));
  const devices = [openQuietly('cpu', { threads: 1 })];
  try {
    while (devices.length < lanes) devices.push(openQuietly('cpu', { threads: 1 }));
  } catch (error) {
    // A limit of the address space leaves fewer lanes.
    if ((error as { readonly code?: string }).code !== 'ERR_DEVICE_UNAVAILABLE') throw error;
  }
  return devices;
}

function openGpus(kind: DeviceKind | undefined, gpus: readonly string[]): Device[] {
  const devices: Device[] = [];
  try {
    for (const gpu of gpus) devices.push(openQuietly(kind, { gpu }));
  } catch (error) {
    for (const device of devices) device.close();
    throw error;
  }
  return devices;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
