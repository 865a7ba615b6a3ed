import type { RowsInput } from '../array/inputs.ts';
import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import type { FactorOptions } from '../command/options.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import type { EstimateOptions, Moments } from '../moments/moments.ts';
import type { AddSyncOptions } from '../moments/weighted-rows.ts';

/** Options that every constructor of a normal distribution takes. */
export interface NormalOptions {
  /** The device that holds the normal and computes; it must be open. */
  readonly device: Device;
  /** n entries; zeros by default. */
  readonly mean?: VectorInput | undefined;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** Options of {@link MultivariateNormal.fromCovariance}. */
export interface CovarianceOptions extends NormalOptions, FactorOptions {
  /** Symmetric and positive definite, n x n. */
  readonly covariance: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** What to do with a singular covariance; `error` by default. See {@link SingularCovariance}. */
  readonly singular?: SingularCovariance | undefined;
  /**
   * Adds to the diagonal if the covariance is not positive definite; false by default. The jitter is a share of the
   * largest variance (from 2^-22 in float32 or 2^-51 in float64, to 1); `true` means 2^-22 or 2^-40. The matrix is
   * factored with nothing added, then with 1, 10, 100 and 1,000 times the jitter, until that succeeds. Cannot be
   * combined with `singular`. What is added changes the covariance and its root, so one seed gives other draws than
   * with `singular`.
   */
  readonly jitter?: boolean | number | undefined;
}

/**
 * What to do with a singular covariance. `error` throws `ERR_NOT_POSITIVE_DEFINITE`. `pivoted` finds its rank and a
 * root (n x rank) by a pivoted Cholesky factorisation, which is fast. `eigen` uses the eigenvalues of the correlation
 * matrix; it judges the rank more sharply, but takes longer. LAPACK computes both on the device; without it TypeScript
 * does. Both refuse a matrix that is clearly not positive semidefinite. Their roots of a singular covariance differ, so
 * one seed gives different draws of the same distribution.
 */
export type SingularCovariance = 'error' | 'pivoted' | 'eigen';

/** What was added to a covariance's diagonal. */
export interface JitterReport {
  /** Amount added to each variance; 0 if none was needed. */
  readonly amount: number;
  /** How often a factor was tried, from 1. */
  readonly attempts: number;
  /** The smallest pivot of the factor: the least variance that a variable keeps when those before it are known. */
  readonly smallestPivot: number;
}

/** Options of {@link MultivariateNormal.fromDiagonal}. */
export interface DiagonalOptions extends NormalOptions {
  /** Positive: n numbers, or one for all. */
  readonly variances: VectorInput | number;
  /** n, needed if `variances` is one number and there is no mean; by default the length of the mean. */
  readonly dimension?: number | undefined;
}

/**
 * Options of {@link MultivariateNormal.fromEigen}: the covariance is vectors diag(values) vectors'.
 *
 * ```ts
 * import { MultivariateNormal, openDevice } from 'covarium';
 *
 * const device = openDevice();
 * const vectors = [[0.6, -0.8], [0.8, 0.6]]; // columns are eigenvectors
 * const normal = await MultivariateNormal.fromEigen({ device, values: [2, 0.5], vectors });
 * ```
 */
export interface EigenOptions extends NormalOptions {
  /** Eigenvalues, m of them (at most n), none negative except by rounding; if m < n the others are 0. */
  readonly values: VectorInput;
  /** Eigenvectors, n x m, orthonormal up to the rounding of their type or the normal's. Column j belongs to value j. */
  readonly vectors: MatrixInput;
}

/**
 * Options of {@link MultivariateNormal.fromLowRank}: the covariance is factor factor' + diag(diagonal).
 *
 * ```ts
 * import { MultivariateNormal, openDevice } from 'covarium';
 *
 * const device = openDevice();
 * const factor = [[1], [0.5], [2]]; // how each of 3 variables depends on 1 common factor
 * const market = await MultivariateNormal.fromLowRank({ device, factor, diagonal: [1, 1, 0.25] });
 * ```
 */
export interface LowRankOptions extends NormalOptions {
  /** n x k. */
  readonly factor: MatrixInput;
  /** Positive: n numbers, or one for all. */
  readonly diagonal: VectorInput | number;
}

/**
 * Options of {@link MultivariateNormal.fromCorrelation}.
 *
 * ```ts
 * import { MultivariateNormal, openDevice } from 'covarium';
 *
 * const correlation = [[1, 0.5], [0.5, 1]];
 * const options = { device: openDevice(), correlation, standardDeviations: [2, 3] };
 * const normal = await MultivariateNormal.fromCorrelation(options); // covariance [[4, 3], [3, 9]]
 * ```
 */
export interface CorrelationOptions extends NormalOptions, FactorOptions {
  /** Symmetric, with ones on its diagonal, n x n. */
  readonly correlation: MatrixInput;
  /** n numbers, positive; with `singular` also 0. */
  readonly standardDeviations: VectorInput;
  /** See {@link CovarianceOptions}; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** See {@link CovarianceOptions}; `error` by default. */
  readonly singular?: SingularCovariance | undefined;
  /** See {@link CovarianceOptions}; false by default. */
  readonly jitter?: boolean | number | undefined;
}

/** Options of the static {@link MultivariateNormal.transform}. */
export interface TransformOptions<Z extends RowsInput = RowsInput>
  extends Omit<CovarianceOptions, 'singular' | 'jitter'> {
  /** One vector of n, or rows of n. */
  readonly z: Z;
}

/** Options of {@link MultivariateNormal.fromCholesky}. */
export interface CholeskyOptions extends NormalOptions {
  /** Lower triangular with a positive diagonal, n x n; entries above the diagonal are not read. */
  readonly factor: MatrixInput;
}

/** Options of {@link MultivariateNormal.fromPrecision}. */
export interface PrecisionOptions extends NormalOptions, FactorOptions {
  /** The inverse of the covariance, symmetric and positive definite, n x n. */
  readonly precision: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
}

/** What a fit does if the covariance of the rows is singular: a column is constant, or a combination of others. */
export interface SingularFitOptions {
  /** See {@link CovarianceOptions}; `error` by default. */
  readonly singular?: SingularCovariance | undefined;
  /** See {@link CovarianceOptions}; false by default. */
  readonly jitter?: boolean | number | undefined;
}

/** Options of {@link MultivariateNormal.fit}. */
export interface FitOptions extends FactorOptions, EstimateOptions, AddSyncOptions, SingularFitOptions {
  /** The device that holds the normal and computes; it must be open. */
  readonly device: Device;
  /** Observations, count x n; count is at least n + 1, or fewer with `shrinkage`, `singular` or `jitter`. */
  readonly rows: MatrixInput;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** Options of {@link MultivariateNormal.fromMoments}. */
export interface FromMomentsOptions extends FactorOptions, EstimateOptions, SingularFitOptions {
  /** The device that holds the normal and computes; it must be open. */
  readonly device: Device;
  /** Moments of the rows; they are not changed. */
  readonly moments: Moments;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}
