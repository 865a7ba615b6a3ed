import type { RowList, RowsInput } from '../array/inputs.ts';
import type { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import type { Timings } from '../backend.ts';
import { describe } from '../check.ts';
import { run, runAll, runAllSync, runSync } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { Distribution, requireOpen } from '../distribution/distribution.ts';
import type { BoxProbability } from '../probability/box-probability.ts';
import { type AffineOptions, affine } from './affine.ts';
import { type ConditionalMeansOptions, type ConditionalOptions, conditional, conditionalMeans } from './conditional.ts';
import { covarianceTask, factorTask } from './covariance.ts';
import { normalEntropy, scoreTask } from './density.ts';
import { drawAboutMeans, hasMeans, type MeansOptions, type MeansSyncOptions } from './draw.ts';
import { type Ellipsoid, type EllipsoidOptions, ellipsoid } from './ellipsoid.ts';
import { type EmpiricalOptions, type EmpiricalSyncOptions, empiricalSample, isEmpirical, plain } from './empirical.ts';
import { fit, fromMoments } from './fit.ts';
import { fromCholesky, fromPrecision } from './from-cholesky.ts';
import { fromCorrelation } from './from-correlation.ts';
import { fromCovariance } from './from-covariance.ts';
import { fromDiagonal } from './from-diagonal.ts';
import { fromEigen } from './from-eigen.ts';
import { fromLowRank } from './from-low-rank.ts';
import { marginal } from './marginal.ts';
import type {
  CholeskyOptions,
  CorrelationOptions,
  CovarianceOptions,
  DiagonalOptions,
  EigenOptions,
  FitOptions,
  FromMomentsOptions,
  JitterReport,
  LowRankOptions,
  PrecisionOptions,
  TransformOptions,
} from './options.ts';
import type { NormalParameters } from './parameters.ts';
import {
  type BoxOptions,
  type BoxSyncOptions,
  boxOf,
  cdfAt,
  integrate,
  integrateSync,
  type ProbabilityOptions,
  type ProbabilitySyncOptions,
} from './probability.ts';
import { normalTasks } from './tasks.ts';
import { factorAndTransformTask, quantileTask, transformTask } from './transform.ts';

let parametersInside: (normal: MultivariateNormal) => NormalParameters;

/**
 * A multivariate normal of dimension n on a device, which computes its Cholesky factor once and keeps it. Every method
 * that computes has a synchronous twin, which is faster for small work. After {@link close} each throws `ERR_CLOSED`.
 */
export class MultivariateNormal extends Distribution {
  /**
   * Logarithm of the covariance's determinant. If the covariance is singular, of its pseudo-determinant: the product of
   * the nonzero eigenvalues.
   */
  readonly logDeterminant: number;
  readonly #parameters: NormalParameters;

  static {
    parametersInside = (normal) => normal.#open();
  }

  private constructor(parameters: NormalParameters) {
    super(normalTasks(parameters));
    this.#parameters = parameters;
    this.logDeterminant = parameters.factor.logDeterminant;
  }

  /**
   * The normal of a mean (n) and a covariance (n x n). Rejects with `ERR_NOT_SYMMETRIC` and `ERR_NOT_FINITE` (the
   * entry), `ERR_NOT_POSITIVE_DEFINITE` (the pivot), `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`, and `ERR_UNSUPPORTED` if the
   * factor is to be made on a GPU and the device has none. `singular` accepts a singular covariance, `jitter` adds to
   * its diagonal.
   */
  static async fromCovariance(options: CovarianceOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(fromCovariance(options)));
  }

  /** Synchronous twin of {@link fromCovariance}. */
  static fromCovarianceSync(options: CovarianceOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(fromCovariance(options)));
  }

  /**
   * The normal of a mean (n) and a lower Cholesky factor L (n x n) of the covariance L L'. Rejects with
   * `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (a diagonal entry that is not positive), `ERR_SHAPE`,
   * `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromCholesky(options: CholeskyOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromCholesky(options)));
  }

  /** Synchronous twin of {@link fromCholesky}. */
  static fromCholeskySync(options: CholeskyOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromCholesky(options)));
  }

  /**
   * The normal of a mean (n) and a precision matrix (n x n), the inverse of the covariance. Rejects like {@link
   * fromCovariance}.
   */
  static async fromPrecision(options: PrecisionOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromPrecision(options)));
  }

  /** Synchronous twin of {@link fromPrecision}. */
  static fromPrecisionSync(options: PrecisionOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromPrecision(options)));
  }

  /**
   * The normal of a mean (n) and variances (n, or one for all); it stores no n x n matrix. Rejects with
   * `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (a variance that is not positive), `ERR_OUT_OF_RANGE` (a
   * variance that the type does not hold), `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromDiagonal(options: DiagonalOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromDiagonal(options)));
  }

  /** Synchronous twin of {@link fromDiagonal}. */
  static fromDiagonalSync(options: DiagonalOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromDiagonal(options)));
  }

  /**
   * The normal of a mean (n), and eigenvalues (m) and eigenvectors (n x m) of its covariance, which is singular if m <
   * n or an eigenvalue is 0. Rejects with `ERR_NOT_POSITIVE_DEFINITE` (a negative eigenvalue), `ERR_INVALID_ARGUMENT`
   * (eigenvectors that are not orthonormal), `ERR_OUT_OF_RANGE` (numbers that the type does not hold),
   * `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromEigen(options: EigenOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(fromEigen(options)));
  }

  /** Synchronous twin of {@link fromEigen}. */
  static fromEigenSync(options: EigenOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(fromEigen(options)));
  }

  /**
   * The normal of a mean (n) and the covariance F F' + diag(d) of a factor F (n x k) and a diagonal d (n, or one number
   * for all). It stores 4 n (k + 1) numbers, and no n x n matrix. Rejects with `ERR_NOT_FINITE` (the entry),
   * `ERR_NOT_POSITIVE_DEFINITE` (an entry of d), `ERR_OUT_OF_RANGE` (numbers that the type does not hold), `ERR_SHAPE`,
   * `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromLowRank(options: LowRankOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await run(fromLowRank(options)));
  }

  /** Synchronous twin of {@link fromLowRank}. */
  static fromLowRankSync(options: LowRankOptions): MultivariateNormal {
    return new MultivariateNormal(runSync(fromLowRank(options)));
  }

  /**
   * The normal of a mean (n), a correlation matrix (n x n) and standard deviations (n). Rejects like {@link
   * fromCovariance}, and with `ERR_OUT_OF_RANGE` if the diagonal is not all ones.
   */
  static async fromCorrelation(options: CorrelationOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(fromCorrelation(options)));
  }

  /** Synchronous twin of {@link fromCorrelation}. */
  static fromCorrelationSync(options: CorrelationOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(fromCorrelation(options)));
  }

  /**
   * The normal with the mean and covariance of rows of data (count x n). Rejects with `ERR_NOT_FINITE` (the entry),
   * `ERR_SHAPE` (fewer than n + 1 rows, and no shrinkage), `ERR_NOT_POSITIVE_DEFINITE` (a column that the columns
   * before it determine), `ERR_OUT_OF_RANGE` (a weight, ddof, shrinkage).
   */
  static async fit(options: FitOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(fit(options)));
  }

  /** Synchronous twin of {@link fit}. */
  static fitSync(options: FitOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(fit(options)));
  }

  /** The normal with the mean and covariance of {@link Moments} of dimension n. Rejects like {@link fit}. */
  static async fromMoments(options: FromMomentsOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(fromMoments(options)));
  }

  /** Synchronous twin of {@link fromMoments}. */
  static fromMomentsSync(options: FromMomentsOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(fromMoments(options)));
  }

  /**
   * mean + L z for one z (n, gives a Vector) or for each row z (count x n, gives a Matrix), where L is the factor of a
   * covariance. It takes one commit and keeps no factor. Rejects like {@link fromCovariance}.
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

  /** The number of dimensions in which the draws vary: n, or fewer if the covariance is singular. */
  get rank(): number {
    return this.#parameters.factor.rank;
  }

  /** What was added to the covariance's diagonal; undefined if no jitter was requested. */
  get jitter(): JitterReport | undefined {
    return this.#parameters.jitter;
  }

  /**
   * Timings of the commit that made this normal. `factor` says whether the CPU or the GPU computed its factor, unless
   * the caller gave one.
   */
  get timings(): Timings {
    return this.#parameters.factor.timings!;
  }

  /** A copy of the mean, n. Throws `ERR_CLOSED`. */
  get mean(): Vector {
    return new Vector(new Storage(this.#open().mean.values.slice()));
  }

  /** Differential entropy in nats: (n (1 + ln 2 pi) + ln det covariance) / 2; for a singular normal on its support. */
  get entropy(): number {
    return normalEntropy({ rank: this.#parameters.factor.rank, logDeterminant: this.logDeterminant });
  }

  /**
   * `count` draws, count x n, written to `out` if given, each about its row of `means` if given. Rejects with
   * `ERR_OUT_OF_RANGE` (count, seed, stream, rows), `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_SHAPE`,
   * `ERR_FOREIGN_BUFFER`, `ERR_CLOSED` (out), `ERR_NOT_FINITE` (means), `ERR_ABORTED`; with `empirical`, which excludes
   * `means`, also with `ERR_INVALID_ARGUMENT` (a first row) and `ERR_OUT_OF_RANGE` (n rows or fewer).
   */
  override async sample(count: number, options: EmpiricalOptions & MeansOptions = {}): Promise<Matrix> {
    if (isEmpirical(options)) return runAll(empiricalSample(this.#open(), count, options), options.signal);
    const rest = plain(options);
    if (hasMeans(rest)) return run(drawAboutMeans(this.#open(), count, rest), rest.signal);
    return super.sample(count, rest);
  }

  /** Synchronous twin of {@link sample}. */
  override sampleSync(count: number, options: EmpiricalSyncOptions & MeansSyncOptions = {}): Matrix {
    if (isEmpirical(options)) return runAllSync(empiricalSample(this.#open(), count, options));
    const rest = plain(options);
    if (hasMeans(rest)) return runSync(drawAboutMeans(this.#open(), count, rest));
    return super.sampleSync(count, rest);
  }

  /**
   * mean + L z for one z (n, gives a Vector) or for each row z of a matrix (count x n, gives a Matrix). Rejects with
   * `ERR_SHAPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED`.
   */
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

  /**
   * P(X <= x), in each coordinate, at each row x (count x n, or one vector of n): a Vector of count, float64. Entries
   * may be infinite. Computed by a formula up to n = 2, and for larger n by randomised quasi-Monte Carlo until the
   * error is below `absoluteError` or `maxPoints` are used; {@link boxProbability} also returns the error. Rejects with
   * `ERR_SHAPE`, `ERR_NOT_FINITE` (NaN), `ERR_OUT_OF_RANGE` (an option), `ERR_ABORTED`.
   */
  async cdf(rows: RowsInput, options: ProbabilityOptions = {}): Promise<Vector> {
    const parameters = this.#open();
    return integrate(parameters, cdfAt(parameters, rows, options, false), options.signal);
  }

  /** Synchronous twin of {@link cdf}. */
  cdfSync(rows: RowsInput, options: ProbabilitySyncOptions = {}): Vector {
    const parameters = this.#open();
    return integrateSync(parameters, cdfAt(parameters, rows, options, true));
  }

  /**
   * P(lower <= X <= upper), in each of n coordinates, with the error of the estimate (Genz and Bretz 2002); see
   * docs/probabilities.md. Rejects with `ERR_SHAPE`, `ERR_NOT_FINITE` (NaN), `ERR_OUT_OF_RANGE` (a lower limit above
   * the upper one, an option), `ERR_ABORTED`.
   */
  async boxProbability(options: BoxOptions): Promise<BoxProbability> {
    const parameters = this.#open();
    return integrate(parameters, boxOf(parameters, options, false), options.signal);
  }

  /** Synchronous twin of {@link boxProbability}. */
  boxProbabilitySync(options: BoxSyncOptions): BoxProbability {
    const parameters = this.#open();
    return integrateSync(parameters, boxOf(parameters, options, true));
  }

  /**
   * The covariance, n x n. Rejects with `ERR_OUT_OF_RANGE` where the type does not hold a variance, `ERR_OUT_OF_MEMORY`,
   * `ERR_CLOSED`.
   */
  async covariance(): Promise<Matrix> {
    return run(covarianceTask(this.#open()));
  }

  /** Synchronous twin of {@link covariance}. */
  covarianceSync(): Matrix {
    return runSync(covarianceTask(this.#open()));
  }

  /**
   * A copy of the lower Cholesky factor of the covariance, n x n. If the covariance is singular, the root from which
   * the draws are made, n x rank (n x 1 of zeros if the rank is 0). Rejects with `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async factor(): Promise<Matrix> {
    return run(factorTask(this.#open()));
  }

  /** Synchronous twin of {@link factor}. */
  factorSync(): Matrix {
    return runSync(factorTask(this.#open()));
  }

  /**
   * The normal of some coordinates (m of them, from 0), in the order given. Rejects with `ERR_OUT_OF_RANGE` (no such
   * coordinate), `ERR_INVALID_ARGUMENT` (one twice), `ERR_SHAPE` (none), `ERR_CLOSED`.
   */
  async marginal(coordinates: readonly number[]): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(marginal(this.#open(), coordinates)));
  }

  /** Synchronous twin of {@link marginal}. */
  marginalSync(coordinates: readonly number[]): MultivariateNormal {
    return new MultivariateNormal(runAllSync(marginal(this.#open(), coordinates)));
  }

  /**
   * The normal of the other coordinates, in their order, given these values of m coordinates. Rejects like {@link
   * marginal}, with `ERR_SHAPE` if no coordinate is left, `ERR_NOT_FINITE`, and `ERR_OUT_OF_RANGE` (a value that is
   * impossible because the normal is singular).
   */
  async conditional(options: ConditionalOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(conditional(this.#open(), options)));
  }

  /** Synchronous twin of {@link conditional}. */
  conditionalSync(options: ConditionalOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(conditional(this.#open(), options)));
  }

  /**
   * Mean of the other coordinates, in their order, for each row of values of the m given ones: count x (n - m). The
   * covariance is the same for all rows: that of {@link conditional}. Rejects like {@link conditional}.
   */
  async conditionalMeans(options: ConditionalMeansOptions): Promise<Matrix> {
    return runAll(conditionalMeans(this.#open(), options));
  }

  /** Synchronous twin of {@link conditionalMeans}. */
  conditionalMeansSync(options: ConditionalMeansOptions): Matrix {
    return runAllSync(conditionalMeans(this.#open(), options));
  }

  /**
   * The normal of A x + b + e for x of this one, where A is m x n, b has m entries, and e is independent noise. Rejects
   * with `ERR_NOT_POSITIVE_DEFINITE` (a row of A that the rows before it determine, unless `singular` allows it; noise
   * that is not a covariance), `ERR_NOT_SYMMETRIC`, `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async affine(options: AffineOptions): Promise<MultivariateNormal> {
    return new MultivariateNormal(await runAll(affine(this.#open(), options)));
  }

  /** Synchronous twin of {@link affine}. */
  affineSync(options: AffineOptions): MultivariateNormal {
    return new MultivariateNormal(runAllSync(affine(this.#open(), options)));
  }

  /**
   * Gradient of the log density with respect to x, at each row x (count x n, or one vector of n): -covariance^-1 (x -
   * mean), count x n. Rejects like {@link Distribution.logPdf}: `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async scoreInput(rows: RowsInput): Promise<Matrix> {
    return run(scoreTask(this.#open(), rows));
  }

  /** Synchronous twin of {@link scoreInput}. */
  scoreInputSync(rows: RowsInput): Matrix {
    return runSync(scoreTask(this.#open(), rows));
  }

  /**
   * mean + L z for each row of probabilities (count x n, or one vector of n), where z are their standard normal
   * quantiles and L is the matrix that {@link transform} multiplies by: count x n. It turns uniform numbers, such as a
   * low-discrepancy sequence, into draws. Rejects with `ERR_OUT_OF_RANGE` (not between 0 and 1), `ERR_SHAPE`,
   * `ERR_CLOSED`.
   */
  async quantile(probabilities: RowsInput): Promise<Matrix> {
    return run(quantileTask(this.#open(), probabilities));
  }

  /** Synchronous twin of {@link quantile}. */
  quantileSync(probabilities: RowsInput): Matrix {
    return runSync(quantileTask(this.#open(), probabilities));
  }

  /**
   * The ellipsoid with n half-axes that holds a share of the draws. Rejects with `ERR_OUT_OF_RANGE`, `ERR_CLOSED`, and
   * `ERR_SHAPE` for a singular normal that is a point.
   */
  async ellipsoid(options: EllipsoidOptions): Promise<Ellipsoid> {
    return runAll(ellipsoid(this.#open(), options));
  }

  /** Synchronous twin of {@link ellipsoid}. */
  ellipsoidSync(options: EllipsoidOptions): Ellipsoid {
    return runAllSync(ellipsoid(this.#open(), options));
  }

  #open(): NormalParameters {
    requireOpen(this, 'Normal');
    return this.#parameters;
  }
}

/** The parameters of an open normal, for other modules of lib only. Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`. */
export function parametersOf(normal: MultivariateNormal): NormalParameters {
  if (normal instanceof MultivariateNormal) return parametersInside(normal);
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Distribution is not a MultivariateNormal (${describe(normal)}).`);
}
