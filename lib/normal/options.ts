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
   * largest variance (from 2^-22 in float32 or 2^-51 in float64, to 1); `true` means 2^-22 or 2^-40. The factor is
   * tried with nothing added, then with 1, 10, 100 and 1,000 times the jitter. Cannot be combined with `singular`. What
   * is added makes it another covariance, with a root of its own: one seed gives other draws than with `singular`.
   */
  readonly jitter?: boolean | number | undefined;
}

/**
 * What to do with a singular covariance. `error` throws `ERR_NOT_POSITIVE_DEFINITE`. `pivoted` finds its rank and a
 * root (n x rank) by a pivoted Cholesky factorisation on the host; it is fast. `eigen` uses the eigenvalues of the
 * correlation matrix, on the host; it judges the rank more sharply, but is slow beyond some hundreds of dimensions.
 * Both refuse a matrix that is clearly not positive semidefinite. Their roots of a singular covariance differ, so one
 * seed gives different draws of the same distribution.
 */
export type SingularCovariance = 'error' | 'pivoted' | 'eigen';

/** What was added to a covariance's diagonal. */
export interface JitterReport {
  /** Amount added to each variance; 0 if none was needed. */
  readonly amount: number;
  /** How often a factor was tried, from 1. */
  readonly attempts: number;
  /** The smallest pivot of the factor: the least variance of a variable that is left when those before it are known. */
  readonly smallestPivot: number;
}

/** Options of {@link MultivariateNormal.fromDiagonal}. */
export interface DiagonalOptions extends NormalOptions {
  /** Positive: n numbers, or one for all. */
  readonly variances: VectorInput | number;
  /** n, if `variances` is one number; by default the length of the mean. */
  readonly dimension?: number | undefined;
}

/** Options of {@link MultivariateNormal.fromEigen}: the covariance is vectors diag(values) vectors'. */
export interface EigenOptions extends NormalOptions {
  /** Eigenvalues, m of them (at most n), none negative except by rounding; if m < n the others are 0. */
  readonly values: VectorInput;
  /** Eigenvectors, n x m, orthonormal but for rounding of their type or the normal's: column j belongs to value j. */
  readonly vectors: MatrixInput;
}

/** Options of {@link MultivariateNormal.fromLowRank}: the covariance is factor factor' + diag(diagonal). */
export interface LowRankOptions extends NormalOptions {
  /** n x k. */
  readonly factor: MatrixInput;
  /** Positive: n numbers, or one for all. */
  readonly diagonal: VectorInput | number;
}

/** Options of {@link MultivariateNormal.fromCorrelation}. */
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
