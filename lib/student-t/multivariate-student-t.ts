import type { DtypeOf, Only } from '../array/element-type.ts';
import type { RowsInput } from '../array/inputs.ts';
import type { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { Timings } from '../backend.ts';
import { type AbortOptions, checkOptions, inspectFields, noConstructor } from '../check.ts';
import { runAlone, runWith } from '../command/abort.ts';
import { run, runAllSync, runSync, type Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { Distribution, requireOpen } from '../distribution/distribution.ts';
import { sampleOptionNames, sampleSyncOptionNames } from '../distribution/sample-options.ts';
import type { RealDtype, Values } from '../dtype.ts';
import { type ConditionalMeansOptions, type ConditionalOptions, conditionalMeans } from '../normal/conditional.ts';
import { covarianceTask, factorMatrix } from '../normal/covariance.ts';
import type { Ellipsoid, EllipsoidOptions } from '../normal/ellipsoid.ts';
import type { DtypeOfJson, JsonOptions } from '../normal/json.ts';
import type { JitterReport } from '../normal/options.ts';
import {
  type BoxOptions,
  type BoxSyncOptions,
  boxOf,
  cdfAt,
  integrate,
  integrateSync,
  type ProbabilityOptions,
  type ProbabilitySyncOptions,
} from '../normal/probability.ts';
import { correlation, deviationsTask, variancesTask } from '../normal/spread.ts';
import type { BoxProbability } from '../probability/box-probability.ts';
import { type StudentAffineOptions, studentAffine, studentMarginal } from './affine.ts';
import { studentConditional } from './conditional.ts';
import { studentEntropy, studentScoreTask } from './density.ts';
import { drawAboutLocations, type LocationsOptions, type LocationsSyncOptions, splitLocations } from './draw.ts';
import { studentEllipsoid } from './ellipsoid.ts';
import { type StudentJson, scaleOfJson, studentToJson } from './json.ts';
import type {
  ScaleCholeskyOptions,
  ScaleCorrelationOptions,
  ScaleDiagonalOptions,
  ScaleEigenOptions,
  ScaleLowRankOptions,
  ScaleOptions,
  ScalePrecisionOptions,
} from './options.ts';
import {
  type StudentParameters,
  studentFromCholesky,
  studentFromCorrelation,
  studentFromDiagonal,
  studentFromEigen,
  studentFromLowRank,
  studentFromPrecision,
  studentFromScale,
} from './parameters.ts';
import { studentTasks } from './tasks.ts';
import { studentQuantiles } from './transform.ts';

let studentWith: <D extends RealDtype>(parameters: StudentParameters<D>) => MultivariateStudentT<D>;

/**
 * A multivariate Student-t of dimension n on a device: location + sqrt(nu / w) A z, where z is standard normal, w is
 * chi-squared with nu degrees of freedom, and A A' is the scale. With infinitely many degrees of freedom it equals the
 * normal, bit for bit. Every method that computes has a synchronous twin, which is faster for small work. After {@link
 * close} each throws `ERR_CLOSED`.
 */
export class MultivariateStudentT<D extends RealDtype = RealDtype> extends Distribution<D> {
  /** nu, positive; Infinity for the normal. */
  readonly degreesOfFreedom: number;
  /**
   * Logarithm of the scale's determinant. If the scale is singular, of its pseudo-determinant: the product of the
   * nonzero eigenvalues.
   */
  readonly logDeterminant: number;
  /** Differential entropy in nats. */
  readonly entropy: number;
  readonly #parameters: StudentParameters<D>;

  static {
    studentWith = (parameters) => new MultivariateStudentT(parameters);
    inspectFields(MultivariateStudentT.prototype, 'MultivariateStudentT');
  }

  private constructor(parameters: StudentParameters) {
    if (!('nu' in Object(parameters)))
      throw noConstructor(
        'MultivariateStudentT',
        'await MultivariateStudentT.fromScale({ device, scale, degreesOfFreedom })',
      );
    // The static methods say which type their options give.
    const own = parameters as StudentParameters<D>;
    super(studentTasks(own));
    this.#parameters = own;
    this.degreesOfFreedom = parameters.nu;
    this.logDeterminant = parameters.normal.factor.logDeterminant;
    this.entropy = studentEntropy(parameters);
    Object.freeze(this);
  }

  /**
   * The Student-t of a location (n) and a scale (n x n; SciPy's `shape`, mvtnorm's `sigma`). Rejects with
   * `ERR_OUT_OF_RANGE` (degrees of freedom that are not positive), `ERR_NOT_SYMMETRIC` and `ERR_NOT_FINITE` (the
   * entry), `ERR_NOT_POSITIVE_DEFINITE` (the pivot), `ERR_SHAPE`, `ERR_UNSUPPORTED_DTYPE`, and `ERR_UNSUPPORTED` if the
   * factor is to be made on a GPU and the device has none. `singular` accepts a singular scale, `jitter` adds to its
   * diagonal.
   *
   * ```ts
   * import { MultivariateStudentT, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const scale = [[1, 0.5], [0.5, 2]];
   * const student = await MultivariateStudentT.fromScale({ device, location: [0, 10], scale, degreesOfFreedom: 5 });
   * const draws = await student.sample(1000, { seed: 42 });
   * ```
   */
  static async fromScale<O extends ScaleOptions & AbortOptions>(
    options: Only<O, ScaleOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromScale));
  }

  /** Synchronous twin of {@link fromScale}. */
  static fromScaleSync<O extends ScaleOptions>(options: Only<O, ScaleOptions>): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runAllSync(studentFromScale(options)));
  }

  /**
   * The Student-t of a location (n) and a lower Cholesky factor L (n x n) of the scale L L'. Rejects like {@link
   * fromScale}.
   */
  static async fromCholesky<O extends ScaleCholeskyOptions & AbortOptions>(
    options: Only<O, ScaleCholeskyOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromCholesky));
  }

  /** Synchronous twin of {@link fromCholesky}. */
  static fromCholeskySync<O extends ScaleCholeskyOptions>(
    options: Only<O, ScaleCholeskyOptions>,
  ): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runSync(studentFromCholesky(options)));
  }

  /**
   * The Student-t of a location (n) and the inverse of a scale (n x n). The inverse is factored, but never inverted.
   * Rejects like {@link fromScale}.
   */
  static async fromPrecision<O extends ScalePrecisionOptions & AbortOptions>(
    options: Only<O, ScalePrecisionOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromPrecision));
  }

  /** Synchronous twin of {@link fromPrecision}. */
  static fromPrecisionSync<O extends ScalePrecisionOptions>(
    options: Only<O, ScalePrecisionOptions>,
  ): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runSync(studentFromPrecision(options)));
  }

  /**
   * The Student-t of a location (n) and the diagonal of its scale (n, or one number for all); it stores no n x n
   * matrix. Rejects with `ERR_OUT_OF_RANGE` (degrees of freedom, a number that the type does not hold),
   * `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (a number that is not positive), `ERR_SHAPE`,
   * `ERR_UNSUPPORTED_DTYPE`.
   */
  static async fromDiagonal<O extends ScaleDiagonalOptions & AbortOptions>(
    options: Only<O, ScaleDiagonalOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromDiagonal));
  }

  /** Synchronous twin of {@link fromDiagonal}. */
  static fromDiagonalSync<O extends ScaleDiagonalOptions>(
    options: Only<O, ScaleDiagonalOptions>,
  ): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runSync(studentFromDiagonal(options)));
  }

  /**
   * The Student-t of a location (n), and eigenvalues (m) and eigenvectors (n x m) of its scale, which is singular if m
   * < n or an eigenvalue is 0, as with a normal. Rejects like {@link fromDiagonal}, with `ERR_NOT_POSITIVE_DEFINITE` (a
   * negative eigenvalue) and `ERR_INVALID_ARGUMENT` (eigenvectors that are not orthonormal).
   */
  static async fromEigen<O extends ScaleEigenOptions & AbortOptions>(
    options: Only<O, ScaleEigenOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromEigen));
  }

  /** Synchronous twin of {@link fromEigen}. */
  static fromEigenSync<O extends ScaleEigenOptions>(
    options: Only<O, ScaleEigenOptions>,
  ): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runAllSync(studentFromEigen(options)));
  }

  /**
   * The Student-t of a location (n) and the scale F F' + diag(d) of a factor F (n x k) and a diagonal d (n, or one
   * number for all); it stores no n x n matrix. Rejects like {@link fromDiagonal}.
   */
  static async fromLowRank<O extends ScaleLowRankOptions & AbortOptions>(
    options: Only<O, ScaleLowRankOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromLowRank));
  }

  /** Synchronous twin of {@link fromLowRank}. */
  static fromLowRankSync<O extends ScaleLowRankOptions>(
    options: Only<O, ScaleLowRankOptions>,
  ): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runAllSync(studentFromLowRank(options)));
  }

  /**
   * The Student-t of a location (n), a correlation matrix (n x n) and the square roots of the scale's diagonal (n).
   * Rejects like {@link fromScale}, and with `ERR_OUT_OF_RANGE` if the diagonal of the correlation matrix is not all
   * ones.
   */
  static async fromCorrelation<O extends ScaleCorrelationOptions & AbortOptions>(
    options: Only<O, ScaleCorrelationOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOf<O>>> {
    return new MultivariateStudentT(await runWith(options, studentFromCorrelation));
  }

  /** Synchronous twin of {@link fromCorrelation}. */
  static fromCorrelationSync<O extends ScaleCorrelationOptions>(
    options: Only<O, ScaleCorrelationOptions>,
  ): MultivariateStudentT<DtypeOf<O>> {
    return new MultivariateStudentT(runAllSync(studentFromCorrelation(options)));
  }

  /**
   * The Student-t of the parsed JSON of {@link toJSON}. Its draws equal those of the original up to rounding. Rejects
   * with `ERR_MALFORMED_MODEL`, and like {@link fromScale}.
   */
  static async fromJSON<O extends JsonOptions & AbortOptions>(
    json: unknown,
    options: Only<O, JsonOptions & AbortOptions>,
  ): Promise<MultivariateStudentT<DtypeOfJson<O>>> {
    return new MultivariateStudentT(
      await runWith(options, (rest: JsonOptions) => studentFromScale(scaleOfJson(json, rest))),
    );
  }

  /** Synchronous twin of {@link fromJSON}. */
  static fromJSONSync<O extends JsonOptions>(
    json: unknown,
    options: Only<O, JsonOptions>,
  ): MultivariateStudentT<DtypeOfJson<O>> {
    return new MultivariateStudentT(runAllSync(studentFromScale(scaleOfJson(json, options))));
  }

  /** The number of dimensions in which the draws vary: n, or fewer if the scale is singular. */
  get rank(): number {
    return this.#parameters.normal.factor.rank;
  }

  /** What was added to the scale's diagonal; undefined if no jitter was requested. */
  get jitter(): JitterReport | undefined {
    return this.#parameters.normal.jitter;
  }

  /**
   * Timings of the commit that made this distribution. `factor` says whether the CPU or the GPU computed its factor,
   * unless the caller gave one.
   */
  get timings(): Timings {
    return this.#parameters.normal.factor.timings!;
  }

  /** A copy of the location, n. Throws `ERR_CLOSED`. */
  get location(): Vector<D> {
    return new Vector(
      new Storage(this.#open().normal.mean.values.slice() as Values as Values<D>, undefined, this.device),
    );
  }

  /**
   * A copy of the mean, n: the location. Throws `ERR_OUT_OF_RANGE` with one degree of freedom or fewer, because the
   * mean does not exist then; `ERR_CLOSED`.
   */
  get mean(): Vector<D> {
    this.#requireDegrees('mean', 1);
    return this.location;
  }

  /**
   * `count` draws, count x n, written to `out` if given, each about its row of `locations` if given. Rejects with
   * `ERR_OUT_OF_RANGE` (count, seed, stream, rows, locations that float32 rounds), `ERR_TOO_LARGE`,
   * `ERR_OUT_OF_MEMORY`, `ERR_SHAPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED` (out), `ERR_NOT_FINITE` (locations),
   * `ERR_ABORTED`.
   */
  override async sample(count: number, options: LocationsOptions = {}): Promise<Matrix<D>> {
    const { locations, rest } = splitLocations(options);
    if (locations === undefined) return super.sample(count, rest);
    checkOptions(rest, sampleOptionNames, 'options', ['locations']);
    return run(drawAboutLocations(this.#open(), count, locations, rest), rest.signal);
  }

  /** Synchronous twin of {@link sample}. */
  override sampleSync(count: number, options: LocationsSyncOptions = {}): Matrix<D> {
    const { locations, rest } = splitLocations(options);
    if (locations === undefined) return super.sampleSync(count, rest);
    checkOptions(rest, sampleSyncOptionNames, 'options', ['locations']);
    return runSync(drawAboutLocations(this.#open(), count, locations, rest));
  }

  /**
   * P(X <= x), in all coordinates, at each row x (count x n, or one vector of n): a Vector of count, float64. Entries
   * may be infinite. A formula computes it in one dimension, and in two with whole degrees of freedom up to 1000;
   * infinitely many give the normal's. Otherwise randomised quasi-Monte Carlo estimates it, until the error is below
   * `absoluteError` or `maxPoints` are used. {@link boxProbability} also returns the error. Rejects with `ERR_SHAPE`,
   * `ERR_NOT_FINITE` (NaN), `ERR_OUT_OF_RANGE` (an option), `ERR_ABORTED`.
   */
  async cdf(rows: RowsInput, options: ProbabilityOptions = {}): Promise<Vector<'float64'>> {
    const nu = this.degreesOfFreedom;
    return integrate(
      () => this.#open().normal,
      (normal, rest) => cdfAt(normal, rows, rest, nu),
      options,
    );
  }

  /** Synchronous twin of {@link cdf}. */
  cdfSync(rows: RowsInput, options: ProbabilitySyncOptions = {}): Vector<'float64'> {
    const { normal, nu } = this.#open();
    return integrateSync(normal, cdfAt(normal, rows, options, nu));
  }

  /**
   * P(lower <= X <= upper), in all n coordinates, and the error of the estimate (Genz and Bretz 2002); see
   * docs/probabilities.md. Rejects with `ERR_SHAPE`, `ERR_NOT_FINITE` (NaN), `ERR_OUT_OF_RANGE` (a lower limit above
   * the upper one, an option), `ERR_ABORTED`.
   */
  async boxProbability(options: BoxOptions): Promise<BoxProbability> {
    const nu = this.degreesOfFreedom;
    return integrate(
      () => this.#open().normal,
      (normal, rest) => boxOf(normal, rest, nu),
      options,
    );
  }

  /** Synchronous twin of {@link boxProbability}. */
  boxProbabilitySync(options: BoxSyncOptions): BoxProbability {
    const { normal, nu } = this.#open();
    return integrateSync(normal, boxOf(normal, options, nu));
  }

  /**
   * The Student-t for JSON.stringify, which {@link fromJSON} reads. If the scale is singular, pass `singular` to {@link
   * fromJSON}. It takes n^3 operations before it returns. Throws `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  toJSON(): StudentJson {
    return studentToJson(this.#open());
  }

  /**
   * Variances of the n coordinates, nu / (nu - 2) times the scale's diagonal. Rejects with `ERR_OUT_OF_RANGE` with two
   * degrees of freedom or fewer, because variances do not exist then; `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async variances(options: AbortOptions = {}): Promise<Vector<D>> {
    return runAlone(options, () => variancesTask(this.#open().normal, this.#stretch()));
  }

  /** Synchronous twin of {@link variances}. */
  variancesSync(): Vector<D> {
    return runSync(variancesTask(this.#open().normal, this.#stretch()));
  }

  /** Standard deviations of the n coordinates. Rejects like {@link variances}: `ERR_OUT_OF_RANGE`, `ERR_CLOSED`. */
  async standardDeviations(options: AbortOptions = {}): Promise<Vector<D>> {
    return runAlone(options, () => deviationsTask(this.#open().normal, this.#stretch()));
  }

  /** Synchronous twin of {@link standardDeviations}. */
  standardDeviationsSync(): Vector<D> {
    return runSync(deviationsTask(this.#open().normal, this.#stretch()));
  }

  /**
   * The correlation matrix, n x n, with ones on its diagonal: that of the scale. Rejects like {@link variances}:
   * `ERR_OUT_OF_RANGE`, `ERR_CLOSED`.
   */
  async correlation(options: AbortOptions = {}): Promise<Matrix<D>> {
    this.#stretch();
    return runAlone(options, () => correlation(this.#open().normal));
  }

  /** Synchronous twin of {@link correlation}. */
  correlationSync(): Matrix<D> {
    this.#stretch();
    return runAllSync(correlation(this.#open().normal));
  }

  /**
   * The scale, n x n. Rejects with `ERR_OUT_OF_RANGE` (an entry beyond the type), `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async scale(options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => covarianceTask(this.#open().normal, 'scale'));
  }

  /** Synchronous twin of {@link scale}. */
  scaleSync(): Matrix<D> {
    return runSync(covarianceTask(this.#open().normal, 'scale'));
  }

  /**
   * The covariance, nu / (nu - 2) times the scale, n x n. Rejects with `ERR_OUT_OF_RANGE` with two degrees of freedom
   * or fewer, because the covariance does not exist then, and if the type can't hold a variance; `ERR_OUT_OF_MEMORY`,
   * `ERR_CLOSED`.
   */
  async covariance(options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => this.#covarianceTask());
  }

  /** Synchronous twin of {@link covariance}. */
  covarianceSync(): Matrix<D> {
    return runSync(this.#covarianceTask());
  }

  /**
   * A copy of the lower Cholesky factor of the scale, n x n. If the scale is singular, it is the root with which draws
   * are made, n x rank (n x 1 of zeros if the rank is 0). Rejects with `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  async factor(options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => factorMatrix(this.#open().normal));
  }

  /** Synchronous twin of {@link factor}. */
  factorSync(): Matrix<D> {
    return runAllSync(factorMatrix(this.#open().normal));
  }

  /**
   * The Student-t of some coordinates (m of them, from 0), in the order given, with the same degrees of freedom.
   * Rejects with `ERR_OUT_OF_RANGE` (no such coordinate), `ERR_INVALID_ARGUMENT` (one twice), `ERR_SHAPE` (none),
   * `ERR_CLOSED`.
   */
  async marginal(coordinates: readonly number[], options: AbortOptions = {}): Promise<MultivariateStudentT<D>> {
    return new MultivariateStudentT(await runAlone(options, () => studentMarginal(this.#open(), coordinates)));
  }

  /** Synchronous twin of {@link marginal}. */
  marginalSync(coordinates: readonly number[]): MultivariateStudentT<D> {
    return new MultivariateStudentT(runAllSync(studentMarginal(this.#open(), coordinates)));
  }

  /**
   * The Student-t of the other coordinates, in their order, given values of m coordinates. It has m more degrees of
   * freedom, and its scale grows with the distance of the values from their location. Rejects like {@link marginal},
   * with `ERR_SHAPE` if no coordinate is left, `ERR_NOT_FINITE`, and `ERR_OUT_OF_RANGE` (a value that a singular scale
   * does not allow).
   */
  async conditional(options: ConditionalOptions & AbortOptions): Promise<MultivariateStudentT<D>> {
    return new MultivariateStudentT(await runWith(options, (rest) => studentConditional(this.#open(), rest)));
  }

  /** Synchronous twin of {@link conditional}. */
  conditionalSync(options: ConditionalOptions): MultivariateStudentT<D> {
    return new MultivariateStudentT(runAllSync(studentConditional(this.#open(), options)));
  }

  /**
   * The conditional mean of the other coordinates for each row of values of m given ones (count x m): count x (n - m),
   * equal to that of the normal with the same location and scale. Rejects with `ERR_OUT_OF_RANGE` (coordinates),
   * `ERR_SHAPE` (none, or all of them), `ERR_NOT_FINITE`.
   */
  async conditionalMeans(options: ConditionalMeansOptions & AbortOptions): Promise<Matrix<D>> {
    return runWith(options, (rest) => conditionalMeans(this.#open().normal, rest));
  }

  /** Synchronous twin of {@link conditionalMeans}. */
  conditionalMeansSync(options: ConditionalMeansOptions): Matrix<D> {
    return runAllSync(conditionalMeans(this.#open().normal, options));
  }

  /**
   * The gradient of the log density with respect to x, at each row x (count x n, or one vector of n), count x n:
   * Gonum's ScoreInput. Rejects with `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async scoreInput(rows: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => studentScoreTask(this.#open(), rows));
  }

  /** Synchronous twin of {@link scoreInput}. */
  scoreInputSync(rows: RowsInput): Matrix<D> {
    return runSync(studentScoreTask(this.#open(), rows));
  }

  /**
   * The Student-t of A x + b, of dimension m for a matrix A (m x n), with the same degrees of freedom. Rejects with
   * `ERR_SHAPE`, `ERR_NOT_FINITE`, `ERR_NOT_POSITIVE_DEFINITE` (a row of A that depends on the rows before it, unless
   * `singular` allows it), `ERR_CLOSED`.
   */
  async affine(options: StudentAffineOptions & AbortOptions): Promise<MultivariateStudentT<D>> {
    return new MultivariateStudentT(await runWith(options, (rest) => studentAffine(this.#open(), rest)));
  }

  /** Synchronous twin of {@link affine}. */
  affineSync(options: StudentAffineOptions): MultivariateStudentT<D> {
    return new MultivariateStudentT(runAllSync(studentAffine(this.#open(), options)));
  }

  /**
   * location + L t for each row of probabilities (count x n, or one vector of n; {@link rank} replaces n if the scale
   * is singular): count x n. L is the factor, and t_k is the quantile of Student's t with nu + k degrees of freedom (k
   * from 0) times sqrt((nu + t_0^2 + ... + t_(k-1)^2) / (nu + k)). It turns uniform numbers, such as a low-discrepancy
   * sequence, into draws. With infinitely many degrees of freedom it equals the normal's. Rejects with
   * `ERR_OUT_OF_RANGE` (not between 0 and 1), `ERR_SHAPE`, `ERR_CLOSED`.
   */
  async quantile(probabilities: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => studentQuantiles(this.#open(), probabilities));
  }

  /** Synchronous twin of {@link quantile}. */
  quantileSync(probabilities: RowsInput): Matrix<D> {
    return runAllSync(studentQuantiles(this.#open(), probabilities));
  }

  /**
   * The ellipsoid with n half-axes that holds a share of the draws: its radius is sqrt(n F), where F is the quantile of
   * the F distribution with n and nu degrees of freedom. Rejects with `ERR_OUT_OF_RANGE` (a share not between 0 and 1,
   * a radius that overflows), `ERR_CLOSED`, and `ERR_SHAPE` for a singular Student-t that is a point.
   */
  async ellipsoid(options: EllipsoidOptions & AbortOptions): Promise<Ellipsoid> {
    return runWith(options, (rest) => studentEllipsoid(this.#open(), rest));
  }

  /** Synchronous twin of {@link ellipsoid}. */
  ellipsoidSync(options: EllipsoidOptions): Ellipsoid {
    return runAllSync(studentEllipsoid(this.#open(), options));
  }

  #covarianceTask(): Task<Matrix<D>> {
    return covarianceTask(this.#open().normal, this.#stretch());
  }

  // The covariance is so many times the scale: nu / (nu - 2), of Infinity too.
  #stretch(): number {
    this.#requireDegrees('covariance', 2);
    return 1 / (1 - 2 / this.degreesOfFreedom);
  }

  #requireDegrees(moment: string, bound: number): void {
    if (this.degreesOfFreedom > bound) return;
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `A Student-t with (${this.degreesOfFreedom}) degrees of freedom has no ${moment}: it needs more than (${bound}).`,
    );
  }

  #open(): StudentParameters<D> {
    requireOpen(this, 'Student-t');
    return this.#parameters;
  }
}

/** The Student-t with these parameters, for other modules of lib only. */
export function studentOf<D extends RealDtype>(parameters: StudentParameters<D>): MultivariateStudentT<D> {
  return studentWith(parameters);
}
