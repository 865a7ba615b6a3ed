import type { Only } from '../array/element-type.ts';
import type { RowsInput } from '../array/inputs.ts';
import type { Matrix } from '../array/matrix.ts';
import type { Vector } from '../array/vector.ts';
import { backendOf } from '../backend-handle.ts';
import { type AbortOptions, checkOptions, noConstructor, notCloneable, refuseAborted } from '../check.ts';
import { runAlone, runWith } from '../command/abort.ts';
import { Kept } from '../command/hold.ts';
import { run, runAllSync, runSync } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import { type BlockOptions, sampleBlocks } from './blocks.ts';
import {
  type SampleOptions,
  type SampleSyncOptions,
  sampleOptionNames,
  sampleSyncOptionNames,
} from './sample-options.ts';
import { type SummaryOf, type SummaryOptions, type SummarySyncOptions, summary } from './summarize.ts';
import type { DistributionTasks } from './tasks.ts';
import { densities } from './tasks.ts';

let hold: (distribution: Distribution) => void;

const noOptions: SampleOptions = Object.freeze({});

/**
 * A distribution of rows of n numbers on a device: the methods that all distributions share. Every method that computes
 * has a synchronous twin, which is faster for small work. After {@link close} each throws `ERR_CLOSED`.
 */
export abstract class Distribution<D extends RealDtype = RealDtype> {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = notCloneable(
    'MultivariateNormal or MultivariateStudentT',
    'send its toJSON() and call fromJSON there',
  );
  /** The device that holds the distribution and computes. */
  readonly device: Device;
  /** n, from 1. */
  readonly dimension: number;
  /** Type of the draws. */
  readonly dtype: D;
  readonly #tasks: DistributionTasks<D>;
  readonly #kept: Kept;
  // Reused by synchronous calls only: a device may read the counter until a commit has run.
  readonly #counter = new Uint32Array(6);
  #closed = false;

  static {
    hold = (distribution) => distribution.#kept.hold();
  }

  /** @internal */
  constructor(tasks: DistributionTasks<D>) {
    if (typeof Object(tasks).draw !== 'function')
      throw noConstructor('Distribution', 'await MultivariateNormal.fromCovariance({ device, covariance })');
    this.#tasks = tasks;
    this.#kept = new Kept(tasks.device, tasks.close);
    this.device = tasks.device;
    this.dimension = tasks.n;
    this.dtype = tasks.dtype;
  }

  /** True once {@link close} was called or the device is closed. */
  get closed(): boolean {
    return this.#closed || this.device.closed;
  }

  /**
   * `count` draws, count x n, written to `out` if given. Rejects with `ERR_OUT_OF_RANGE` (count, seed, stream, rows),
   * `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_SHAPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED` (out), `ERR_ABORTED`.
   */
  async sample(count: number, options: SampleOptions = noOptions): Promise<Matrix<D>> {
    checkOptions(options, sampleOptionNames, 'options', this.#tasks.sampleNames);
    refuseAborted(options.signal);
    return run(this.#open().draw(count, options, new Uint32Array(6)), options.signal);
  }

  /** Synchronous twin of {@link sample}. */
  sampleSync(count: number, options: SampleSyncOptions = noOptions): Matrix<D> {
    checkOptions(options, sampleSyncOptionNames, 'options', this.#tasks.sampleNames);
    return runSync(this.#open().draw(count, options, this.#counter));
  }

  /**
   * `count` draws, which may exceed memory, as matrices of `rowsPerBlock` rows x n (the last has the remaining rows).
   * Two blocks are in memory: each is closed when you request the next. Leaving the loop early frees both. Throws and
   * rejects like {@link sample}.
   *
   * ```ts
   * import { MultivariateNormal, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const normal = await MultivariateNormal.fromCovariance({ device, covariance: [[1, 0.5], [0.5, 1]] });
   * for await (const block of normal.blocks(1e6, { seed: 1, rowsPerBlock: 1e5 })) console.log(block.rows);
   * ```
   */
  blocks(count: number, options: BlockOptions = {}): AsyncGenerator<Matrix<D>, void, undefined> {
    return sampleBlocks(() => this.#open(), count, options);
  }

  /**
   * Summarises `count` draws without keeping them: their mean (n) and, if you ask for them, their covariance, quantiles
   * and the shares that exceed thresholds. The draws are those of {@link sample} with the same seed, stream and first
   * row. They are made block by block and reduced where they were made (on `cuda`, in the GPU's memory), so `count` may
   * exceed memory. Quantiles and shares are exact; sums are float64.
   *
   * ```ts
   * import { MultivariateNormal, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const normal = await MultivariateNormal.fromCovariance({ device, covariance: [[1, 0.5], [0.5, 1]] });
   * const { mean, quantiles } = await normal.summarize(1e7, { seed: 42, quantiles: [0.01, 0.99] });
   * ```
   *
   * Rejects with `ERR_OUT_OF_RANGE` (count below 1, or below 2 with `covariance`; a probability, seed, stream, rows; a
   * standard deviation that the type does not hold), `ERR_SHAPE` and `ERR_NOT_FINITE` (thresholds),
   * `ERR_INVALID_ARGUMENT`, `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`, `ERR_ABORTED`.
   */
  async summarize<const O extends SummaryOptions = object>(
    count: number,
    options?: Only<O, SummaryOptions>,
  ): Promise<SummaryOf<O>> {
    const work = (rest: SummarySyncOptions) => summary(this.#open(), count, rest);
    return (await runWith((options ?? noOptions) as SummaryOptions, work)) as SummaryOf<O>;
  }

  /** Synchronous twin of {@link summarize}. */
  summarizeSync<const O extends SummarySyncOptions = object>(
    count: number,
    options?: Only<O, SummarySyncOptions>,
  ): SummaryOf<O> {
    return runAllSync(summary(this.#open(), count, (options ?? noOptions) as SummarySyncOptions)) as SummaryOf<O>;
  }

  /**
   * Logarithm of the density at each row (count x n, or one vector of n): a Vector of count. Rejects with
   * `ERR_NOT_FINITE`, `ERR_SHAPE`.
   */
  async logPdf(rows: RowsInput, options: AbortOptions = noOptions): Promise<Vector<D>> {
    return runAlone(options, () => this.#open().logPdf(rows));
  }

  /** Synchronous twin of {@link logPdf}. */
  logPdfSync(rows: RowsInput): Vector<D> {
    return runSync(this.#open().logPdf(rows));
  }

  /**
   * The density at each row (count x n, or one vector of n): a Vector of count, 0 if it underflows. Rejects like {@link
   * logPdf}.
   */
  async pdf(rows: RowsInput, options: AbortOptions = noOptions): Promise<Vector<D>> {
    return runAlone(options, () => densities(this.#open().logPdf(rows)));
  }

  /** Synchronous twin of {@link pdf}. */
  pdfSync(rows: RowsInput): Vector<D> {
    return runSync(densities(this.#open().logPdf(rows)));
  }

  /**
   * Mahalanobis distance of each row (count x n, or one vector of n) from the centre c, sqrt((x - c)' S^-1 (x - c)): a
   * Vector of count. Of a normal c is the mean and S the covariance; of a Student-t c is the location and S the scale,
   * which is not its covariance. Rejects like {@link logPdf}.
   */
  async mahalanobis(rows: RowsInput, options: AbortOptions = noOptions): Promise<Vector<D>> {
    return runAlone(options, () => this.#open().mahalanobis(rows));
  }

  /** Synchronous twin of {@link mahalanobis}. */
  mahalanobisSync(rows: RowsInput): Vector<D> {
    return runSync(this.#open().mahalanobis(rows));
  }

  /** Releases the memory once no call in flight uses it. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#kept.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #open(): DistributionTasks<D> {
    requireOpen(this, this.#tasks.name);
    return this.#tasks;
  }
}

/** Lets the call that begins hold the distribution. Throws `ERR_CLOSED` if it or its device is closed. */
export function requireOpen(distribution: Distribution, name: string): void {
  backendOf(distribution.device);
  if (distribution.closed)
    throw new CovariumError('ERR_CLOSED', `${name} of dimension (${distribution.dimension}) is closed.`);
  hold(distribution);
}
