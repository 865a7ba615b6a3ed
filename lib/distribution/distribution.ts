import type { RowsInput } from '../array/inputs.ts';
import type { Matrix } from '../array/matrix.ts';
import type { Vector } from '../array/vector.ts';
import { backendOf } from '../backend-handle.ts';
import { type AbortOptions, checkOptions, notCloneable, refuseAborted } from '../check.ts';
import { runAlone } from '../command/abort.ts';
import { run, runSync } from '../command/task.ts';
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
import type { DistributionTasks } from './tasks.ts';
import { densities } from './tasks.ts';

const cloning = notCloneable('MultivariateNormal or MultivariateStudentT', 'send its toJSON() and call fromJSON there');

const noOptions: SampleOptions = Object.freeze({});

/**
 * A distribution of rows of n numbers on a device: the methods that all distributions share. Every method that computes
 * has a synchronous twin, which is faster for small work. After {@link close} each throws `ERR_CLOSED`.
 */
export abstract class Distribution<D extends RealDtype = RealDtype> {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = cloning;
  /** The device that holds the distribution and computes. */
  readonly device: Device;
  /** n, from 1. */
  readonly dimension: number;
  /** Type of the draws. */
  readonly dtype: D;
  readonly #tasks: DistributionTasks<D>;
  // Reused by synchronous calls only: a device may read the counter until a commit has run.
  readonly #counter = new Uint32Array(6);
  #closed = false;

  /** @internal */
  constructor(tasks: DistributionTasks<D>) {
    this.#tasks = tasks;
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
    checkOptions(options, sampleOptionNames);
    refuseAborted(options.signal);
    return run(this.#open().draw(count, options, new Uint32Array(6)), options.signal);
  }

  /** Synchronous twin of {@link sample}. */
  sampleSync(count: number, options: SampleSyncOptions = noOptions): Matrix<D> {
    checkOptions(options, sampleSyncOptionNames);
    return runSync(this.#open().draw(count, options, this.#counter));
  }

  /**
   * `count` draws, which may exceed memory, as matrices of `rowsPerBlock` rows x n (the last has the remaining rows).
   * Two blocks are in flight; each is closed when the next is requested. Leaving the loop early frees both. Throws and
   * rejects like {@link sample}.
   */
  blocks(count: number, options: BlockOptions = {}): AsyncGenerator<Matrix<D>, void, undefined> {
    return sampleBlocks(this.#open(), count, options);
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
   * Mahalanobis distance of each row (count x n, or one vector of n) from the centre, sqrt((x - mean)' covariance^-1 (x
   * - mean)): a Vector of count. Rejects like {@link logPdf}.
   */
  async mahalanobis(rows: RowsInput, options: AbortOptions = noOptions): Promise<Vector<D>> {
    return runAlone(options, () => this.#open().mahalanobis(rows));
  }

  /** Synchronous twin of {@link mahalanobis}. */
  mahalanobisSync(rows: RowsInput): Vector<D> {
    return runSync(this.#open().mahalanobis(rows));
  }

  /** Releases the memory once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#tasks.close();
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

/** Throws `ERR_CLOSED` if the distribution or its device is closed. */
export function requireOpen(distribution: Distribution, name: string): void {
  backendOf(distribution.device);
  if (distribution.closed)
    throw new CovariumError('ERR_CLOSED', `${name} of dimension (${distribution.dimension}) is closed.`);
}
