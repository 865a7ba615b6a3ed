import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import type { FactorOptions } from '../command/options.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import type { SingularCovariance } from '../normal/options.ts';

/** Options that every constructor of a Student-t distribution takes. */
export interface StudentOptions {
  /** The device that holds the distribution and computes; it must be open. */
  readonly device: Device;
  /** nu: any positive number from 2^-1021 on; Infinity gives the normal. */
  readonly degreesOfFreedom: number;
  /** The centre, n entries; zeros by default. */
  readonly location?: VectorInput | undefined;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** Options of {@link MultivariateStudentT.fromScale}. */
export interface ScaleOptions extends StudentOptions, FactorOptions {
  /** Symmetric and positive definite, n x n. This is not the covariance, which is nu / (nu - 2) times as large. */
  readonly scale: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** What to do with a singular scale; `error` by default. See {@link SingularCovariance}. */
  readonly singular?: SingularCovariance | undefined;
  /** Adds to the diagonal if the scale is not positive definite; see {@link CovarianceOptions}. False by default. */
  readonly jitter?: boolean | number | undefined;
}

/** Options of {@link MultivariateStudentT.fromCholesky}. */
export interface ScaleCholeskyOptions extends StudentOptions {
  /** Lower triangular with a positive diagonal, n x n; entries above the diagonal are not read. */
  readonly factor: MatrixInput;
}

/** Options of {@link MultivariateStudentT.fromPrecision}. */
export interface ScalePrecisionOptions extends StudentOptions, FactorOptions {
  /** The inverse of the scale, symmetric and positive definite, n x n. */
  readonly precision: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
}

/** Options of {@link MultivariateStudentT.fromDiagonal}. */
export interface ScaleDiagonalOptions extends StudentOptions {
  /**
   * The diagonal of the scale, positive: n numbers, or one for all. They are the variances of the normal that is
   * stretched; those of the Student-t are nu / (nu - 2) times as large.
   */
  readonly diagonal: VectorInput | number;
  /** n, needed if `diagonal` is one number and there is no location; by default the length of the location. */
  readonly dimension?: number | undefined;
}

/** Options of {@link MultivariateStudentT.fromEigen}: the scale is vectors diag(values) vectors'. */
export interface ScaleEigenOptions extends StudentOptions {
  /** Eigenvalues, m of them (at most n), none negative except by rounding; if m < n the others are 0. */
  readonly values: VectorInput;
  /** Eigenvectors, n x m, orthonormal up to rounding. Column j belongs to value j. */
  readonly vectors: MatrixInput;
}

/** Options of {@link MultivariateStudentT.fromLowRank}: the scale is factor factor' + diag(diagonal). */
export interface ScaleLowRankOptions extends StudentOptions {
  /** n x k. */
  readonly factor: MatrixInput;
  /** Positive: n of them, or one for all. */
  readonly diagonal: VectorInput | number;
}

/** Options of {@link MultivariateStudentT.fromCorrelation}. */
export interface ScaleCorrelationOptions extends StudentOptions, FactorOptions {
  /**
   * Symmetric, with ones on its diagonal, n x n. With more than two degrees of freedom it is also the draws'
   * correlation.
   */
  readonly correlation: MatrixInput;
  /**
   * The scale of each coordinate, the square root of the scale's diagonal: n numbers, positive; with `singular` also 0.
   * They are the standard deviations of the normal that is stretched; those of the Student-t are sqrt(nu / (nu - 2))
   * times as large.
   */
  readonly scales: VectorInput;
  /** See {@link ScaleOptions}; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** See {@link ScaleOptions}; `error` by default. */
  readonly singular?: SingularCovariance | undefined;
  /** See {@link ScaleOptions}; false by default. */
  readonly jitter?: boolean | number | undefined;
}
