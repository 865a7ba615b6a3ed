import type { FactorOptions } from './command-options.ts';
import type { Device } from './device.ts';
import type { RowsInput } from './distribution-input.ts';
import type { Dtype } from './dtype.ts';
import type { MatrixInput } from './matrix.ts';
import type { VectorInput } from './vector.ts';

/** What every way to make a normal distribution takes. */
export interface NormalOptions {
  readonly device: Device;
  /** n entries; zeros by default. */
  readonly mean?: VectorInput | undefined;
  /** `float32` by default. */
  readonly dtype?: Dtype | undefined;
}

/** What {@link MultivariateNormal.fromCovariance} takes. */
export interface CovarianceOptions extends NormalOptions, FactorOptions {
  /** Symmetric and positive definite, n x n. */
  readonly covariance: MatrixInput;
  /** How far a_ij and a_ji may differ, relative to their size: 1e-5 for float32, 1e-9 for float64. */
  readonly symmetryTolerance?: number | undefined;
}

/** What {@link MultivariateNormal.transform} takes, the static one. */
export interface TransformOptions<Z extends RowsInput = RowsInput> extends CovarianceOptions {
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
  readonly symmetryTolerance?: number | undefined;
}

/** What {@link MultivariateNormal.fit} takes. */
export interface FitOptions extends FactorOptions {
  readonly device: Device;
  /** Observations, count x n; count is at least n + 1. */
  readonly rows: MatrixInput;
  /** Degrees of freedom taken from the covariance's divisor, count - ddof; 1 by default. */
  readonly ddof?: number | undefined;
  readonly dtype?: Dtype | undefined;
}
