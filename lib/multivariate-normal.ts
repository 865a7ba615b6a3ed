import type { Timings } from './backend.ts';
import { checkOptions } from './check-options.ts';
import { refuseAborted } from './commit.ts';
import { CovariumError } from './covarium-error.ts';
import { backendOf, type Device } from './device.ts';
import type { RealDtype, RowList, RowsInput } from './distribution-input.ts';
import {
  drawTask,
  type SampleOptions,
  type SampleSyncOptions,
  sampleOptionNames,
  sampleSyncOptionNames,
} from './draw.ts';
import { logPdfTask } from './log-pdf.ts';
import type { Matrix } from './matrix.ts';
import type {
  CholeskyOptions,
  CovarianceOptions,
  FitOptions,
  PrecisionOptions,
  TransformOptions,
} from './normal-options.ts';
import {
  fit,
  fromCholesky,
  fromCovariance,
  fromPrecision,
  logDeterminant,
  type NormalParameters,
} from './normal-parameters.ts';
import { type BlockOptions, sampleBlocks } from './sample-blocks.ts';
import { covarianceTask, factorTask } from './second-moment.ts';
import { Storage } from './storage.ts';
import { run, runSync } from './task.ts';
import { factorAndTransformTask, transformTask } from './transform.ts';
import { Vector, type VectorInput } from './vector.ts';

const noOptions: SampleOptions = Object.freeze({});

/**
 * A multivariate normal of dimension n on a device: its Cholesky factor is computed once and kept there. Every method that computes has
 * a synchronous twin, the quicker one for small work. After {@link close} each throws `ERR_CLOSED`.
 */
export class MultivariateNormal {
  readonly device: Device;
  readonly dimension: number;
  readonly dtype: RealDtype;
  /** Logarithm of the covariance's determinant. */
  readonly logDeterminant: number;
  readonly #parameters: NormalParameters;
  // Reused by synchronous calls only: a device may read the counter until a commit has run.
  readonly #counter = new Uint32Array(6);
  #closed = false;

  private constructor(parameters: NormalParameters) {
    this.#parameters = parameters;
    this.device = parameters.device;
    this.dimension = parameters.n;
    this.dtype = parameters.dtype;
    this.logDeterminant = logDeterminant(parameters);
  }

  /**
   * The normal of a mean (n) and a covariance (n x n). Rejects with `ERR_NOT_SYMMETRIC` and `ERR_NOT_FINITE` (the entry),
   * `ERR_NOT_POSITIVE_DEFINITE` (the pivot), `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`, and `ERR_UNSUPPORTED` for a factor on a GPU
   * where the device has none.
   */
  static async fromCovariance(options: CovarianceOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromCovariance(options)));
  }

  /** Synchronous twin of {@link fromCovariance}. */
  static fromCovarianceSync(options: CovarianceOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromCovariance(options)));
  }

  /**
   * The normal of a mean (n) and a lower Cholesky factor L (n x n) of the covariance L L'. Rejects with `ERR_NOT_FINITE` (the
   * entry), `ERR_NOT_POSITIVE_DEFINITE` where a diagonal entry is not positive, `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromCholesky(options: CholeskyOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromCholesky(options)));
  }

  /** Synchronous twin of {@link fromCholesky}. */
  static fromCholeskySync(options: CholeskyOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromCholesky(options)));
  }

  /** The normal of a mean (n) and a precision matrix (n x n), the covariance's inverse; rejects as {@link fromCovariance}. */
  static async fromPrecision(options: PrecisionOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromPrecision(options)));
  }

  /** Synchronous twin of {@link fromPrecision}. */
  static fromPrecisionSync(options: PrecisionOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromPrecision(options)));
  }

  /**
   * The normal of the mean and covariance of rows of data (count x n). Rejects with `ERR_NOT_FINITE` (the entry), `ERR_SHAPE` (fewer than
   * n + 1 rows), `ERR_NOT_POSITIVE_DEFINITE` (a column that the columns before it determine).
   */
  static async fit(options: FitOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fit(options)));
  }

  /** Synchronous twin of {@link fit}. */
  static fitSync(options: FitOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fit(options)));
  }

  /**
   * mean + L z for one z (n, gives a Vector) or for each row z (count x n, gives a Matrix), where L is the factor of a covariance: all in
   * one commit, and no factor is kept. Rejects as {@link fromCovariance}.
   */
  static transform(options: TransformOptions<VectorInput>): Promise<Vector>;
  static transform(options: TransformOptions<RowList>): Promise<Matrix>;
  static async transform(options: TransformOptions): Promise<Matrix | Vector> {
    return run(factorAndTransformTask(options));
  }

  /** Synchronous twin of the static {@link transform}. */
  static transformSync(options: TransformOptions<VectorInput>): Vector;
  static transformSync(options: TransformOptions<RowList>): Matrix;
  static transformSync(options: TransformOptions): Matrix | Vector {
    return runSync(factorAndTransformTask(options));
  }

  /** Of the commit that made this normal: `factor` says whether its factor was made on the CPU or on the GPU, if it wasn't given. */
  get timings(): Timings {
    return this.#parameters.factor.timings!;
  }

  /** A copy of the mean, n. */
  get mean(): Vector {
    return new Vector(new Storage(this.#open().mean.values.slice()));
  }

  /** Differential entropy in nats: (n (1 + ln 2 pi) + ln det covariance) / 2. */
  get entropy(): number {
    return (this.dimension * (1 + Math.log(2 * Math.PI)) + this.logDeterminant) / 2;
  }

  get closed(): boolean {
    return this.#closed || this.device.closed;
  }

  /**
   * `count` draws, count x n, into `out` where one is given. Rejects with `ERR_OUT_OF_RANGE` (count, seed, stream, rows),
   * `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_SHAPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED` (out), `ERR_ABORTED`.
   */
  async sample(count: number, options: SampleOptions = noOptions): Promise<Matrix> {
    checkOptions(options, sampleOptionNames);
    refuseAborted(options.signal);
    return run(drawTask(this.#open(), count, options, new Uint32Array(6)), options.signal);
  }

  /** Synchronous twin of {@link sample}. */
  sampleSync(count: number, options: SampleSyncOptions = noOptions): Matrix {
    checkOptions(options, sampleSyncOptionNames);
    return runSync(drawTask(this.#open(), count, options, this.#counter));
  }

  /**
   * `count` draws, more than memory holds, as matrices of `rowsPerBlock` rows (the last has the rest). Two blocks are in flight; a
   * block is closed as the next is asked for. Leaving the loop early frees both. Throws and rejects as {@link sample}.
   */
  blocks(count: number, options: BlockOptions = {}): AsyncGenerator<Matrix, void, undefined> {
    return sampleBlocks(this.#open(), count, options);
  }

  /** mean + L z for one z (n, gives a Vector) or for each row z of a matrix (count x n, gives a Matrix). */
  transform(z: VectorInput): Promise<Vector>;
  transform(z: RowList): Promise<Matrix>;
  async transform(z: RowsInput): Promise<Matrix | Vector> {
    return run(transformTask(this.#open(), z));
  }

  /** Synchronous twin of {@link transform}. */
  transformSync(z: VectorInput): Vector;
  transformSync(z: RowList): Matrix;
  transformSync(z: RowsInput): Matrix | Vector {
    return runSync(transformTask(this.#open(), z));
  }

  /** Logarithm of the density at each row (count x n, or one vector of n): a Vector of count. Rejects with `ERR_NOT_FINITE`, `ERR_SHAPE`. */
  async logPdf(rows: RowsInput): Promise<Vector> {
    return run(logPdfTask(this.#open(), rows, this.logDeterminant));
  }

  /** Synchronous twin of {@link logPdf}. */
  logPdfSync(rows: RowsInput): Vector {
    return runSync(logPdfTask(this.#open(), rows, this.logDeterminant));
  }

  /** The covariance, n x n. */
  async covariance(): Promise<Matrix> {
    return run(covarianceTask(this.#open()));
  }

  /** Synchronous twin of {@link covariance}. */
  covarianceSync(): Matrix {
    return runSync(covarianceTask(this.#open()));
  }

  /** A copy of the lower Cholesky factor of the covariance, n x n. */
  async factor(): Promise<Matrix> {
    return run(factorTask(this.#open()));
  }

  /** Synchronous twin of {@link factor}. */
  factorSync(): Matrix {
    return runSync(factorTask(this.#open()));
  }

  /** Gives the factor's memory back, once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#parameters.mean.close();
    this.#parameters.factor.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): NormalParameters {
    if (this.#closed) throw new CovariumError('ERR_CLOSED', `Normal of dimension (${this.dimension}) is closed.`);
    backendOf(this.device);
    return this.#parameters;
  }
}
