import type { RowsInput } from '../array/inputs.ts';
import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import type { FactorOptions } from '../command/options.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import type { EstimateOptions, Moments } from '../moments/moments.ts';
import type { AddSyncOptions } from '../moments/weighted-rows.ts';

/** What every way to make a normal distribution takes. */
export interface NormalOptions {
  /** Where the normal lives and computes; it must be open. */
  readonly device: Device;
  /** n entries; zeros by default. */
  readonly mean?: VectorInput | undefined;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** What {@link MultivariateNormal.fromCovariance} takes. */
export interface CovarianceOptions extends NormalOptions, FactorOptions {
  /** Symmetric and positive definite, n x n. */
  readonly covariance: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** What becomes of a covariance that is singular; `error` by default. See {@link SingularCovariance}. */
  readonly singular?: SingularCovariance | undefined;
  /**
   * Adds to the diagonal where the covariance is not positive definite without; false by default. `true`, or a share of
   * the largest variance to begin with (from 2^-22 in float32, 2^-51 in float64, to 1; `true` is 2^-22 and 2^-40).
   * Nothing is added first, then that, then ten, a hundred and a thousand times as much. Not together with `singular`.
   */
  readonly jitter?: boolean | number | undefined;
}

/**
 * What becomes of a singular covariance. `error`: `ERR_NOT_POSITIVE_DEFINITE`. `pivoted`: its rank, and a root of
 * n x rank, by a pivoted Cholesky factorisation on the host; quick. `eigen`: by the eigenvalues of the correlation
 * matrix, on the host: a sharper judge of the rank, and slow beyond some hundreds of dimensions. Either refuses what is
 * clearly not positive semidefinite. Of a singular covariance the two have different roots, so that one seed gives them
 * different draws of the one distribution.
 */
export type SingularCovariance = 'error' | 'pivoted' | 'eigen';

/** What was added to a covariance's diagonal. */
export interface JitterReport {
  /** Added to each variance; 0 where nothing had to be. */
  readonly amount: number;
  /** How often a factor was tried, from 1. */
  readonly attempts: number;
  /** The smallest pivot of the factor: the variance that the variables before one leave to it, at its smallest. */
  readonly smallestPivot: number;
}

/** What {@link MultivariateNormal.fromDiagonal} takes. */
export interface DiagonalOptions extends NormalOptions {
  /** Positive: n of them, or one for all. */
  readonly variances: VectorInput | number;
  /** n, where `variances` is one number; by default the length of the mean. */
  readonly dimension?: number | undefined;
}

/** What {@link MultivariateNormal.fromEigen} takes: the covariance is vectors diag(values) vectors'. */
export interface EigenOptions extends NormalOptions {
  /** Eigenvalues, m of them (at most n), none below zero but by rounding; where m < n the others are 0. */
  readonly values: VectorInput;
  /** Eigenvectors of length 1, n x m: column j belongs to value j. */
  readonly vectors: MatrixInput;
}

/** What {@link MultivariateNormal.fromLowRank} takes: the covariance is factor factor' + diag(diagonal). */
export interface LowRankOptions extends NormalOptions {
  /** n x k. */
  readonly factor: MatrixInput;
  /** Positive: n of them, or one for all. */
  readonly diagonal: VectorInput | number;
}

/** What {@link MultivariateNormal.fromCorrelation} takes. */
export interface CorrelationOptions extends NormalOptions, FactorOptions {
  /** Symmetric, with ones on its diagonal, n x n. */
  readonly correlation: MatrixInput;
  /** n of them, positive; with `singular` also 0. */
  readonly standardDeviations: VectorInput;
  /** As of {@link CovarianceOptions}: by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** As of {@link CovarianceOptions}; `error` by default. */
  readonly singular?: SingularCovariance | undefined;
  /** As of {@link CovarianceOptions}; false by default. */
  readonly jitter?: boolean | number | undefined;
}

/** What {@link MultivariateNormal.transform} takes, the static one. */
export interface TransformOptions<Z extends RowsInput = RowsInput>
  extends Omit<CovarianceOptions, 'singular' | 'jitter'> {
  /** One vector of n, or rows of n. */
  readonly z: Z;
}

/** What {@link MultivariateNormal.fromCholesky} takes. */
export interface CholeskyOptions extends NormalOptions {
  /** Lower triangular with a positive diagonal, n x n; what is above the diagonal is not read. */
  readonly factor: MatrixInput;
}

/** What {@link MultivariateNormal.fromPrecision} takes. */
export interface PrecisionOptions extends NormalOptions, FactorOptions {
  /** The inverse of the covariance, symmetric and positive definite, n x n. */
  readonly precision: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
}

/** What {@link MultivariateNormal.fit} takes. */
export interface FitOptions extends FactorOptions, EstimateOptions, AddSyncOptions {
  /** Where the normal lives and computes; it must be open. */
  readonly device: Device;
  /** Observations, count x n; count is at least n + 1, or any from 1 with shrinkage. */
  readonly rows: MatrixInput;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** What {@link MultivariateNormal.fromMoments} takes. */
export interface FromMomentsOptions extends FactorOptions, EstimateOptions {
  /** Where the normal lives and computes; it must be open. */
  readonly device: Device;
  /** Moments of the rows; they stay as they are. */
  readonly moments: Moments;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}
