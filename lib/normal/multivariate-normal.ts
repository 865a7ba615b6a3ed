import type { DtypeOf, Only } from '../array/element-type.ts';
import type { RowsInput, Transformed } from '../array/inputs.ts';
import type { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { Timings } from '../backend.ts';
import { type AbortOptions, checkOptions, inspectFields, noConstructor, wrongArgument } from '../check.ts';
import { runAlone, runWith } from '../command/abort.ts';
import { holding } from '../command/hold.ts';
import { run, runAll, runAllSync, runSync } from '../command/task.ts';
import { Distribution, requireOpen } from '../distribution/distribution.ts';
import { sampleOptionNames, sampleSyncOptionNames } from '../distribution/sample-options.ts';
import type { RealDtype, Values } from '../dtype.ts';
import type { BoxProbability } from '../probability/box-probability.ts';
import { type AffineOptions, affine } from './affine.ts';
import { type ConditionalMeansOptions, type ConditionalOptions, conditional, conditionalMeans } from './conditional.ts';
import { covarianceTask, factorMatrix } from './covariance.ts';
import { normalEntropy, scoreTask } from './density.ts';
import { drawAboutMeans, type MeansOptions, type MeansSyncOptions } from './draw.ts';
import { type Ellipsoid, type EllipsoidOptions, ellipsoid } from './ellipsoid.ts';
import { type EmpiricalOptions, type EmpiricalSyncOptions, empiricalSample, splitOptions } from './empirical.ts';
import { fit, fromMoments } from './fit.ts';
import { fromCholesky, fromPrecision } from './from-cholesky.ts';
import { fromCorrelation } from './from-correlation.ts';
import { fromCovariance } from './from-covariance.ts';
import { fromDiagonal } from './from-diagonal.ts';
import { fromEigen } from './from-eigen.ts';
import { fromLowRank } from './from-low-rank.ts';
import { covarianceOfJson, type DtypeOfJson, type JsonOptions, type NormalJson, normalToJson } from './json.ts';
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
import { correlation, deviationsTask, variancesTask } from './spread.ts';
import { normalTasks } from './tasks.ts';
import { factorAndTransformTask, quantiles, transformTask } from './transform.ts';

let parametersInside: (normal: MultivariateNormal) => NormalParameters;
let normalWith: <D extends RealDtype>(parameters: NormalParameters<D>) => MultivariateNormal<D>;

/**
 * A multivariate normal of dimension n on a device. It computes its Cholesky factor once and keeps it. Every method
 * that computes has a synchronous twin, which is faster for small work. After {@link close} each throws `ERR_CLOSED`.
 */
export class MultivariateNormal<D extends RealDtype = RealDtype> extends Distribution<D> {
  /**
   * Logarithm of the covariance's determinant. If the covariance is singular, of its pseudo-determinant: the product of
   * the nonzero eigenvalues.
   */
  readonly logDeterminant: number;
  readonly #parameters: NormalParameters<D>;

  static {
    parametersInside = (normal) => normal.#open();
    inspectFields(MultivariateNormal.prototype, 'MultivariateNormal');
    normalWith = (parameters) => new MultivariateNormal(parameters);
  }

  private constructor(parameters: NormalParameters) {
    if (!('factor' in Object(parameters)))
      throw noConstructor(
        'MultivariateNormal',
        'await MultivariateNormal.fromCovariance({ device, mean, covariance })',
      );
    // The static methods say which type their options give.
    const own = parameters as NormalParameters<D>;
    super(normalTasks(own));
    this.#parameters = own;
    this.logDeterminant = parameters.factor.logDeterminant;
    Object.freeze(this);
  }

  /**
   * The normal of a mean (n) and a covariance (n x n). `singular` accepts a singular covariance, and `jitter` adds to
   * its diagonal. Rejects with `ERR_NOT_SYMMETRIC` and `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (the
   * pivot), `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`, `ERR_CLOSED` (the device), and `ERR_UNSUPPORTED` (a factor on a GPU
   * that the device does not have).
   *
   * ```ts
   * import { MultivariateNormal, openDevice } from 'covarium';
   * const normal = await MultivariateNormal.fromCovariance({ device: openDevice(), covariance: [[1, 0.5], [0.5, 2]] });
   * const draws = await normal.sample(1000, { seed: 42 }); // a Matrix, 1000 x 2
   * ```
   */
  static async fromCovariance<O extends CovarianceOptions & AbortOptions>(
    options: Only<O, CovarianceOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromCovariance));
  }

  /** Synchronous twin of {@link fromCovariance}. */
  static fromCovarianceSync<O extends CovarianceOptions>(
    options: Only<O, CovarianceOptions>,
  ): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runAllSync(fromCovariance(options)));
  }

  /**
   * The normal of a mean (n) and a lower Cholesky factor L (n x n) of the covariance L L'. Rejects with
   * `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (a diagonal entry that is not positive), `ERR_SHAPE`,
   * `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromCholesky<O extends CholeskyOptions & AbortOptions>(
    options: Only<O, CholeskyOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromCholesky));
  }

  /** Synchronous twin of {@link fromCholesky}. */
  static fromCholeskySync<O extends CholeskyOptions>(
    options: Only<O, CholeskyOptions>,
  ): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runSync(fromCholesky(options)));
  }

  /**
   * The normal of a mean (n) and a precision matrix (n x n), the inverse of the covariance. Rejects like {@link
   * fromCovariance}.
   */
  static async fromPrecision<O extends PrecisionOptions & AbortOptions>(
    options: Only<O, PrecisionOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromPrecision));
  }

  /** Synchronous twin of {@link fromPrecision}. */
  static fromPrecisionSync<O extends PrecisionOptions>(
    options: Only<O, PrecisionOptions>,
  ): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runSync(fromPrecision(options)));
  }

  /**
   * The normal of a mean (n) and variances (n, or one for all); it stores no n x n matrix. Rejects with
   * `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (a variance that is not positive), `ERR_OUT_OF_RANGE` (a
   * variance that the type does not hold), `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromDiagonal<O extends DiagonalOptions & AbortOptions>(
    options: Only<O, DiagonalOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromDiagonal));
  }

  /** Synchronous twin of {@link fromDiagonal}. */
  static fromDiagonalSync<O extends DiagonalOptions>(
    options: Only<O, DiagonalOptions>,
  ): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runSync(fromDiagonal(options)));
  }

  /**
   * The normal of a mean (n), and eigenvalues (m) and eigenvectors (n x m) of its covariance, which is singular if m <
   * n or an eigenvalue is 0. An eigenvalue counts as 0 if it adds at most a share of max(n, 8) 2^-52 to each variance.
   * Rejects with `ERR_NOT_POSITIVE_DEFINITE` (a negative eigenvalue), `ERR_INVALID_ARGUMENT` (eigenvectors that are not
   * orthonormal), `ERR_OUT_OF_RANGE` (numbers that the type does not hold), `ERR_NOT_FINITE`, `ERR_SHAPE`,
   * `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromEigen<O extends EigenOptions & AbortOptions>(
    options: Only<O, EigenOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromEigen));
  }

  /** Synchronous twin of {@link fromEigen}. */
  static fromEigenSync<O extends EigenOptions>(options: Only<O, EigenOptions>): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runAllSync(fromEigen(options)));
  }

  /**
   * The normal of a mean (n) and the covariance F F' + diag(d) of a factor F (n x k) and a diagonal d (n, or one number
   * for all). It stores 4 n (k + 1) numbers, and no n x n matrix. Rejects with `ERR_NOT_FINITE` (the entry),
   * `ERR_NOT_POSITIVE_DEFINITE` (an entry of d), `ERR_OUT_OF_RANGE` (numbers that the type does not hold), `ERR_SHAPE`,
   * `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromLowRank<O extends LowRankOptions & AbortOptions>(
    options: Only<O, LowRankOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromLowRank));
  }

  /** Synchronous twin of {@link fromLowRank}. */
  static fromLowRankSync<O extends LowRankOptions>(options: Only<O, LowRankOptions>): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runAllSync(fromLowRank(options)));
  }

  /**
   * The normal of a mean (n), a correlation matrix (n x n) and standard deviations (n). Rejects like {@link
   * fromCovariance}, and with `ERR_OUT_OF_RANGE` if the diagonal is not all ones.
   */
  static async fromCorrelation<O extends CorrelationOptions & AbortOptions>(
    options: Only<O, CorrelationOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromCorrelation));
  }

  /** Synchronous twin of {@link fromCorrelation}. */
  static fromCorrelationSync<O extends CorrelationOptions>(
    options: Only<O, CorrelationOptions>,
  ): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runAllSync(fromCorrelation(options)));
  }

  /**
   * The normal with the mean and covariance of rows of data (count x n). Rejects with `ERR_NOT_FINITE` (the entry),
   * `ERR_SHAPE` (fewer than n + 1 rows, and no shrinkage), `ERR_NOT_POSITIVE_DEFINITE` (a column that the columns
   * before it determine, if rounding shows it), `ERR_OUT_OF_RANGE` (a weight, ddof, shrinkage).
   * ```ts
   * import { MultivariateNormal, openDevice } from 'covarium';
   * const normal = await MultivariateNormal.fit({ device: openDevice(), rows: [[1, 2], [3, 5], [4, 4], [2, 3]] });
   * ```
   */
  static async fit<O extends FitOptions & AbortOptions>(
    options: Only<O, FitOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fit));
  }

  /** Synchronous twin of {@link fit}. */
  static fitSync<O extends FitOptions>(options: Only<O, FitOptions>): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runAllSync(fit(options)));
  }

  /**
   * The normal of the parsed JSON of {@link toJSON} or `covarium fit`. Its factor is computed anew, so its draws equal
   * those of the original up to rounding.
   *
   * ```ts
   * const normal = await MultivariateNormal.fromJSON(JSON.parse(await readFile('model.json', 'utf8')), { device });
   * ```
   * Rejects with `ERR_MALFORMED_MODEL`, and like {@link fromCovariance}.
   */
  static async fromJSON<O extends JsonOptions & AbortOptions>(
    json: unknown,
    options: Only<O, JsonOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOfJson<O>>> {
    return new MultivariateNormal(
      await runWith(options, (rest: JsonOptions) => fromCovariance(covarianceOfJson(json, rest))),
    );
  }

  /** Synchronous twin of {@link fromJSON}. */
  static fromJSONSync<O extends JsonOptions>(
    json: unknown,
    options: Only<O, JsonOptions>,
  ): MultivariateNormal<DtypeOfJson<O>> {
    return new MultivariateNormal(runAllSync(fromCovariance(covarianceOfJson(json, options))));
  }

  /** The normal with the mean and covariance of {@link Moments} of dimension n. Rejects like {@link fit}. */
  static async fromMoments<O extends FromMomentsOptions & AbortOptions>(
    options: Only<O, FromMomentsOptions & AbortOptions>,
  ): Promise<MultivariateNormal<DtypeOf<O>>> {
    return new MultivariateNormal(await runWith(options, fromMoments));
  }

  /** Synchronous twin of {@link fromMoments}. */
  static fromMomentsSync<O extends FromMomentsOptions>(
    options: Only<O, FromMomentsOptions>,
  ): MultivariateNormal<DtypeOf<O>> {
    return new MultivariateNormal(runAllSync(fromMoments(options)));
  }

  /**
   * mean + L z for one z (n, gives a Vector) or for each row z (count x n, gives a Matrix), where L is the Cholesky
   * factor of a covariance. It is one commit, which does not keep the factor. Rejects like {@link fromCovariance}.
   */
  static transform<Z extends RowsInput>(options: TransformOptions<Z> & AbortOptions): Promise<Transformed<Z>>;
  static async transform(options: TransformOptions & AbortOptions): Promise<Matrix | Vector> {
    return runWith(options, (rest: TransformOptions) => factorAndTransformTask(rest));
  }

  /** Synchronous twin of the static {@link transform}. */
  static transformSync<Z extends RowsInput>(options: TransformOptions<Z>): Transformed<Z>;
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
  get mean(): Vector<D> {
    return new Vector(new Storage(this.#open().mean.values.slice() as Values as Values<D>, undefined, this.device));
  }

  /** Differential entropy in nats: (n (1 + ln 2 pi) + ln det covariance) / 2; for a singular normal on its support. */
  get entropy(): number {
    return normalEntropy({ rank: this.#parameters.factor.rank, logDeterminant: this.logDeterminant });
  }

  /**
   * `count` draws, count x n, written to `out` if given, each about its row of `means` if given. Rejects with
   * `ERR_OUT_OF_RANGE` (count, seed, stream, rows), `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_SHAPE`,
   * `ERR_FOREIGN_BUFFER`, `ERR_CLOSED` (out), `ERR_NOT_FINITE` (means), `ERR_ABORTED`; with `empirical`, also with
   * `ERR_INVALID_ARGUMENT` (`means`, a first row) and `ERR_OUT_OF_RANGE` (n rows or fewer).
   */
  override async sample(count: number, options: EmpiricalOptions & MeansOptions = {}): Promise<Matrix<D>> {
    const { isEmpirical, means, rest } = splitOptions(options);
    if (isEmpirical)
      return holding((isClosed) => runAll(empiricalSample(this.#open(), count, options), options.signal, isClosed));
    if (means === undefined) return super.sample(count, rest);
    checkOptions(rest, sampleOptionNames, 'options', ['means', 'empirical']);
    return run(drawAboutMeans(this.#open(), count, means, rest), rest.signal);
  }

  /** Synchronous twin of {@link sample}. */
  override sampleSync(count: number, options: EmpiricalSyncOptions & MeansSyncOptions = {}): Matrix<D> {
    checkOptions(options, [...sampleSyncOptionNames, 'means', 'empirical']);
    const { isEmpirical, means, rest } = splitOptions(options);
    if (isEmpirical) return runAllSync(empiricalSample(this.#open(), count, options));
    if (means === undefined) return super.sampleSync(count, rest);
    return runSync(drawAboutMeans(this.#open(), count, means, rest));
  }

  /**
   * mean + L z for one z (n, gives a Vector) or for each row z of a matrix (count x n, gives a Matrix); a z has {@link
   * rank} numbers if the covariance is singular. Rejects with `ERR_SHAPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED`.
   */
  transform<Z extends RowsInput>(z: Z, options?: AbortOptions): Promise<Transformed<Z, D>>;
  async transform(z: RowsInput, options: AbortOptions = {}): Promise<Matrix<D> | Vector<D>> {
    return runAlone(options, () => transformTask(this.#open(), z));
  }

  /** Synchronous twin of {@link transform}. */
  transformSync<Z extends RowsInput>(z: Z): Transformed<Z, D>;
  transformSync(z: RowsInput): Matrix<D> | Vector<D> {
    return runSync(transformTask(this.#open(), z));
  }

  /**
   * P(X <= x), in all coordinates, at each row x (count x n, or one vector of n): a Vector of count, float64. Entries
   * may be infinite. A formula computes it up to n = 2. For larger n randomised quasi-Monte Carlo estimates it, until
   * the error is below `absoluteError` or `maxPoints` are used; {@link boxProbability} also returns the error. Rejects
   * with `ERR_SHAPE`, `ERR_NOT_FINITE` (NaN), `ERR_OUT_OF_RANGE` (an option), `ERR_ABORTED`.
   */
  async cdf(rows: RowsInput, options: ProbabilityOptions = {}): Promise<Vector<'float64'>> {
    return integrate(
      () => this.#open(),
      (parameters, rest) => cdfAt(parameters, rows, rest),
      options,
    );
  }

  /** Synchronous twin of {@link cdf}. */
  cdfSync(rows: RowsInput, options: ProbabilitySyncOptions = {}): Vector<'float64'> {
    const parameters = this.#open();
    return integrateSync(parameters, cdfAt(parameters, rows, options));
  }

  /**
   * P(lower <= X <= upper), in all n coordinates, and the error of the estimate (Genz and Bretz 2002); see
   * docs/probabilities.md. Rejects with `ERR_SHAPE`, `ERR_NOT_FINITE` (NaN), `ERR_OUT_OF_RANGE` (a lower limit above
   * the upper one, an option), `ERR_ABORTED`.
   *
   * ```ts
   * import { MultivariateNormal, openDevice } from 'covarium';
   * const normal = await MultivariateNormal.fromCovariance({ device: openDevice(), covariance: [[1, 0.5], [0.5, 1]] });
   * const { probability, error } = await normal.boxProbability({ lower: [0, 0], upper: [1, Infinity] });
   * ```
   */
  async boxProbability(options: BoxOptions): Promise<BoxProbability> {
    return integrate(() => this.#open(), boxOf, options);
  }

  /** Synchronous twin of {@link boxProbability}. */
  boxProbabilitySync(options: BoxSyncOptions): BoxProbability {
    const parameters = this.#open();
    return integrateSync(parameters, boxOf(parameters, options));
  }

  /**
   * The normal for JSON.stringify, as `covarium fit` writes it and {@link fromJSON} reads it. It takes n^3 operations
   * before it returns. A normal has no names of columns: add those of a model yourself. The covariance of a low-rank
   * normal may be singular in float32: then pass `dtype: 'float64'` to {@link fromJSON}. For a singular normal, pass it
   * `singular`; otherwise it refuses the covariance, or, if rounding hides the rank, makes a regular normal. Throws
   * `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  toJSON(): NormalJson {
    return normalToJson(this.#open());
  }

  /**
   * Variances of the n coordinates: the covariance's diagonal. Rejects with `ERR_OUT_OF_RANGE` if the dtype can't hold
   * one, `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async variances(options: AbortOptions = {}): Promise<Vector<D>> {
    return runAlone(options, () => variancesTask(this.#open()));
  }

  /** Synchronous twin of {@link variances}. */
  variancesSync(): Vector<D> {
    return runSync(variancesTask(this.#open()));
  }

  /** Standard deviations of the n coordinates. Rejects like {@link variances}. */
  async standardDeviations(options: AbortOptions = {}): Promise<Vector<D>> {
    return runAlone(options, () => deviationsTask(this.#open()));
  }

  /** Synchronous twin of {@link standardDeviations}. */
  standardDeviationsSync(): Vector<D> {
    return runSync(deviationsTask(this.#open()));
  }

  /**
   * The correlation matrix, n x n, with ones on its diagonal. The correlations of a coordinate that does not vary
   * are 0. The dtype need not hold the variances. Rejects with `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async correlation(options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => correlation(this.#open()));
  }

  /** Synchronous twin of {@link correlation}. */
  correlationSync(): Matrix<D> {
    return runAllSync(correlation(this.#open()));
  }

  /**
   * The covariance, n x n. Rejects with `ERR_OUT_OF_RANGE` if the dtype can't hold a variance, `ERR_OUT_OF_MEMORY`,
   * `ERR_CLOSED`.
   */
  async covariance(options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => covarianceTask(this.#open()));
  }

  /** Synchronous twin of {@link covariance}. */
  covarianceSync(): Matrix<D> {
    return runSync(covarianceTask(this.#open()));
  }

  /**
   * A copy of the lower Cholesky factor of the covariance, n x n. If the covariance is singular, it is the root with
   * which draws are made, n x rank (n x 1 of zeros if the rank is 0). Rejects with `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async factor(options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => factorMatrix(this.#open()));
  }

  /** Synchronous twin of {@link factor}. */
  factorSync(): Matrix<D> {
    return runAllSync(factorMatrix(this.#open()));
  }

  /**
   * The normal of some coordinates (m of them, from 0), in the order given. Rejects with `ERR_OUT_OF_RANGE` (no such
   * coordinate), `ERR_INVALID_ARGUMENT` (one twice), `ERR_SHAPE` (none), `ERR_CLOSED`.
   */
  async marginal(coordinates: readonly number[], options: AbortOptions = {}): Promise<MultivariateNormal<D>> {
    return new MultivariateNormal(await runAlone(options, () => marginal(this.#open(), coordinates)));
  }

  /** Synchronous twin of {@link marginal}. */
  marginalSync(coordinates: readonly number[]): MultivariateNormal<D> {
    return new MultivariateNormal(runAllSync(marginal(this.#open(), coordinates)));
  }

  /**
   * The normal of the other coordinates, in their order, given values of m coordinates. Rejects like {@link marginal},
   * with `ERR_SHAPE` if no coordinate is left, `ERR_NOT_FINITE`, and `ERR_OUT_OF_RANGE` (a value that a singular normal
   * cannot have; a mean of the result beyond its type).
   *
   * ```ts
   * import { MultivariateNormal, openDevice } from 'covarium';
   * const normal = await MultivariateNormal.fromCovariance({ device: openDevice(), covariance: [[1, 0.5], [0.5, 1]] });
   * const first = await normal.conditional({ given: [1], values: [2] }); // mean 1
   * ```
   */
  async conditional(options: ConditionalOptions & AbortOptions): Promise<MultivariateNormal<D>> {
    return new MultivariateNormal(await runWith(options, (rest) => conditional(this.#open(), rest)));
  }

  /** Synchronous twin of {@link conditional}. */
  conditionalSync(options: ConditionalOptions): MultivariateNormal<D> {
    return new MultivariateNormal(runAllSync(conditional(this.#open(), options)));
  }

  /**
   * Means of the other coordinates, in their order, for each row of values of m given ones: count x (n - m). The
   * covariance is the same for all rows: that of {@link conditional}. Rejects like {@link conditional}.
   */
  async conditionalMeans(options: ConditionalMeansOptions & AbortOptions): Promise<Matrix<D>> {
    return runWith(options, (rest) => conditionalMeans(this.#open(), rest));
  }

  /** Synchronous twin of {@link conditionalMeans}. */
  conditionalMeansSync(options: ConditionalMeansOptions): Matrix<D> {
    return runAllSync(conditionalMeans(this.#open(), options));
  }

  /**
   * The normal of A x + b + e, where x has this normal, A is m x n, b has m entries, and e is independent noise.
   * Rejects with `ERR_NOT_POSITIVE_DEFINITE` (a row of A that the rows before it determine, unless `singular` allows
   * it; noise that is not a covariance), `ERR_OUT_OF_RANGE` (a mean or a variance of the result beyond its type),
   * `ERR_NOT_SYMMETRIC`, `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async affine(options: AffineOptions & AbortOptions): Promise<MultivariateNormal<D>> {
    return new MultivariateNormal(await runWith(options, (rest) => affine(this.#open(), rest)));
  }

  /** Synchronous twin of {@link affine}. */
  affineSync(options: AffineOptions): MultivariateNormal<D> {
    return new MultivariateNormal(runAllSync(affine(this.#open(), options)));
  }

  /**
   * Gradient of the log density with respect to x, at each row x (count x n, or one vector of n): -covariance^-1 (x -
   * mean), count x n. Rejects like {@link Distribution.logPdf}: `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async scoreInput(rows: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => scoreTask(this.#open(), rows));
  }

  /** Synchronous twin of {@link scoreInput}. */
  scoreInputSync(rows: RowsInput): Matrix<D> {
    return runSync(scoreTask(this.#open(), rows));
  }

  /**
   * mean + L z for each row of probabilities (count x n, or one vector of n; {@link rank} replaces n if the covariance
   * is singular): count x n. z are the standard normal quantiles of the probabilities, and L is the matrix of {@link
   * transform}. It turns uniform numbers, such as a low-discrepancy sequence, into draws. Rejects with
   * `ERR_OUT_OF_RANGE` (not between 0 and 1), `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async quantile(probabilities: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => quantiles(this.#open(), probabilities));
  }

  /** Synchronous twin of {@link quantile}. */
  quantileSync(probabilities: RowsInput): Matrix<D> {
    return runAllSync(quantiles(this.#open(), probabilities));
  }

  /**
   * The ellipsoid that holds a share of the draws, with n half-axes. Rejects with `ERR_OUT_OF_RANGE` (a share not
   * between 0 and 1), `ERR_CLOSED`, and `ERR_SHAPE` (a singular normal that is a point).
   */
  async ellipsoid(options: EllipsoidOptions & AbortOptions): Promise<Ellipsoid> {
    return runWith(options, (rest) => ellipsoid(this.#open(), rest));
  }

  /** Synchronous twin of {@link ellipsoid}. */
  ellipsoidSync(options: EllipsoidOptions): Ellipsoid {
    return runAllSync(ellipsoid(this.#open(), options));
  }

  #open(): NormalParameters<D> {
    requireOpen(this, 'Normal');
    return this.#parameters;
  }
}

/** The normal with these parameters, for other modules of lib only. */
export function normalOf<D extends RealDtype>(parameters: NormalParameters<D>): MultivariateNormal<D> {
  return normalWith(parameters);
}

/** The parameters of an open normal, for other modules of lib only. Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`. */
export function parametersOf(name: string, normal: MultivariateNormal): NormalParameters {
  if (normal instanceof MultivariateNormal) return parametersInside(normal);
  throw wrongArgument(name, normal, 'a MultivariateNormal');
}
