import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import type { FactorOptions } from '../command/options.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import type { SingularCovariance } from '../normal/options.ts';

/** What every way to make a Student-t distribution takes. */
export interface StudentOptions {
  /** Where it lives and computes; it must be open. */
  readonly device: Device;
  /** nu: any positive number; Infinity gives the normal. */
  readonly degreesOfFreedom: number;
  /** The centre, n entries; zeros by default. */
  readonly location?: VectorInput | undefined;
  /** By default `float64` where an input is a Float64Array, or a Matrix or Vector of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** What {@link MultivariateStudentT.fromScale} takes. */
export interface ScaleOptions extends StudentOptions, FactorOptions {
  /** Symmetric and positive definite, n x n. It is not the covariance, which is nu / (nu - 2) times as large. */
  readonly scale: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** What becomes of a scale that is singular; `error` by default. See {@link SingularCovariance}. */
  readonly singular?: SingularCovariance | undefined;
  /**
   * Adds to the diagonal where the scale is not positive definite without, as of {@link CovarianceOptions}; false by
   * default.
   */
  readonly jitter?: boolean | number | undefined;
}

/** What {@link MultivariateStudentT.fromCholesky} takes. */
export interface ScaleCholeskyOptions extends StudentOptions {
  /** Lower triangular with a positive diagonal, n x n; what is above the diagonal is not read. */
  readonly factor: MatrixInput;
}

/** What {@link MultivariateStudentT.fromPrecision} takes. */
export interface ScalePrecisionOptions extends StudentOptions, FactorOptions {
  /** The inverse of the scale, symmetric and positive definite, n x n. */
  readonly precision: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size; by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
}

/** What {@link MultivariateStudentT.fromDiagonal} takes. */
export interface ScaleDiagonalOptions extends StudentOptions {
  /**
   * Of the scale, positive: n of them, or one for all. They are the variances of the normal that is stretched; those of
   * the Student-t are nu / (nu - 2) times as large.
   */
  readonly diagonal: VectorInput | number;
  /** n, where `diagonal` is one number; by default the length of the location. */
  readonly dimension?: number | undefined;
}

/** What {@link MultivariateStudentT.fromEigen} takes: the scale is vectors diag(values) vectors'. */
export interface ScaleEigenOptions extends StudentOptions {
  /** Eigenvalues, m of them (at most n), none below zero but by rounding; where m < n the others are 0. */
  readonly values: VectorInput;
  /** Eigenvectors of length 1, n x m: column j belongs to value j. */
  readonly vectors: MatrixInput;
}

/** What {@link MultivariateStudentT.fromLowRank} takes: the scale is factor factor' + diag(diagonal). */
export interface ScaleLowRankOptions extends StudentOptions {
  /** n x k. */
  readonly factor: MatrixInput;
  /** Positive: n of them, or one for all. */
  readonly diagonal: VectorInput | number;
}

/** What {@link MultivariateStudentT.fromCorrelation} takes. */
export interface ScaleCorrelationOptions extends StudentOptions, FactorOptions {
  /** Symmetric, with ones on its diagonal, n x n; more than two degrees of freedom have the same correlations. */
  readonly correlation: MatrixInput;
  /**
   * Each coordinate's own scale, a root of the scale's diagonal: n of them, positive; with `singular` also 0. They are
   * the standard deviations of the normal that is stretched; those of the Student-t are sqrt(nu / (nu - 2)) times as
   * large.
   */
  readonly scales: VectorInput;
  /** As of {@link ScaleOptions}: by default 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
  /** As of {@link ScaleOptions}; `error` by default. */
  readonly singular?: SingularCovariance | undefined;
  /** As of {@link ScaleOptions}; false by default. */
  readonly jitter?: boolean | number | undefined;
}
