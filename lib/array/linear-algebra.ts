import type { OpenBackend } from '../backend-handle.ts';
import type { AbortOptions } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** Options of the operations of linear algebra. */
export interface LinearAlgebraOptions {
  /**
   * The device that computes. By default the one that computed the matrix or holds its memory, else that of the other
   * operand.
   */
  readonly device?: OpenBackend | undefined;
  /**
   * True to leave results in the memory of a GPU that has its own (`cuda`) until they are read; false by default. On
   * other devices nothing changes.
   */
  readonly onDevice?: boolean | undefined;
}

/** Options of {@link Matrix.lstsq}. */
export interface LeastSquaresOptions extends LinearAlgebraOptions {
  /**
   * Singular values up to this share of the largest count as 0; by default max(rows, columns) roundings. 0 means the
   * unit roundoff, 2^-53 or 2^-24, as in NumPy and LAPACK.
   */
  readonly rcond?: number | undefined;
}

/** What {@link Matrix.covariance} takes. */
export interface SampleCovarianceOptions extends LinearAlgebraOptions {
  /** Degrees of freedom taken from the divisor; 1 by default. */
  readonly ddof?: number | undefined;
}

/** A = V diag(values) V'. */
export interface Eigen<Matrix, Vector> {
  /** A vector of n in ascending order. */
  readonly values: Vector;
  /** V (n x n): column i is the eigenvector of value i, with length 1 and either sign. */
  readonly vectors: Matrix;
}

/** A = u diag(s) vt, k = min(m, n). */
export interface SingularValues<Matrix, Vector> {
  /** m x k, with orthonormal columns. */
  readonly u: Matrix;
  /** A vector of k = min(m, n) numbers in descending order: diag(s) is k x k. */
  readonly s: Vector;
  /** k x n, with orthonormal rows. */
  readonly vt: Matrix;
}

/** A = q r, k = min(m, n). */
export interface Qr<Matrix> {
  /** m x k, with orthonormal columns. */
  readonly q: Matrix;
  /** k x n, upper triangular, with a diagonal that is not negative. */
  readonly r: Matrix;
}

/** A determinant, sign exp(logAbsDet). */
export interface SignAndLogarithm {
  /** 1 or -1; 0 of a singular matrix. */
  readonly sign: number;
  /** Natural logarithm of its absolute value; -Infinity of a singular matrix. */
  readonly logAbsDet: number;
}

/** The shortest x that minimises |A x - b|. */
export interface LeastSquares<X, Vector> {
  /** n x k if b is m x k; a vector of n if b is a vector. */
  readonly x: X;
  /** Number of singular values that do not count as 0. */
  readonly rank: number;
  /** The singular values of A (m x n), a vector of min(m, n) in descending order. */
  readonly s: Vector;
}

/** What {@link LinearAlgebra} needs from lib/command: run an operation by name, asynchronously or synchronously. */
export interface Operations {
  run(name: string, matrix: unknown, operands: readonly unknown[]): Promise<unknown>;
  runSync(name: string, matrix: unknown, operands: readonly unknown[]): unknown;
}

let operations: Operations | undefined;

/** Registers how operations are computed; the module of the devices calls it. */
export function provideOperations(provided: Operations): void {
  operations = provided;
}

// A caller who has a device has loaded its module.
function known(): Operations {
  if (operations !== undefined) return operations;
  throw new CovariumError('ERR_INVALID_ARGUMENT', 'Linear algebra needs a device, and none was opened (undefined).');
}

/**
 * Linear algebra of a matrix A (m x n) on a device, in A's type, with the shapes of NumPy's functions of the same
 * names. Every method rejects with `ERR_INVALID_ARGUMENT` (no device), `ERR_SHAPE`, `ERR_NOT_FINITE` (the entry),
 * `ERR_UNSUPPORTED_DTYPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED` and `ERR_ABORTED`, and has a synchronous twin that throws
 * all but the last.
 */
export abstract class LinearAlgebra<Matrix, Vector> {
  /**
   * Eigenvalues and eigenvectors of a symmetric A (n x n). Only the lower triangle is used, but all entries must be
   * finite. Rejects with `ERR_SHAPE`, `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE` (an eigenvalue beyond the type) and like
   * every method here.
   *
   * ```ts
   * import { Matrix, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const a = Matrix.from([[2, 1], [1, 3]], { dtype: 'float64' });
   * const { values, vectors } = await a.eigh({ device }); // values in ascending order
   * ```
   */
  async eigh(options: LinearAlgebraOptions & AbortOptions = {}): Promise<Eigen<Matrix, Vector>> {
    return known().run('eigh', this, [options]) as Promise<Eigen<Matrix, Vector>>;
  }

  /** Synchronous twin of {@link eigh}. */
  eighSync(options: LinearAlgebraOptions = {}): Eigen<Matrix, Vector> {
    return known().runSync('eigh', this, [options]) as Eigen<Matrix, Vector>;
  }

  /**
   * Singular values and vectors of A (m x n), min(m, n) of each (NumPy's `full_matrices=False`). Rejects with
   * `ERR_SHAPE` (0 rows), `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE` (a singular value beyond the type) and like every method
   * here.
   *
   * ```ts
   * import { Matrix, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const a = Matrix.from([[2, 1], [1, 3], [0, 1]], { dtype: 'float64' });
   * const { u, s, vt } = await a.svd({ device }); // s in descending order
   * ```
   */
  async svd(options: LinearAlgebraOptions & AbortOptions = {}): Promise<SingularValues<Matrix, Vector>> {
    return known().run('svd', this, [options]) as Promise<SingularValues<Matrix, Vector>>;
  }

  /** Synchronous twin of {@link svd}. */
  svdSync(options: LinearAlgebraOptions = {}): SingularValues<Matrix, Vector> {
    return known().runSync('svd', this, [options]) as SingularValues<Matrix, Vector>;
  }

  /**
   * The QR factorisation of A (m x n): orthonormal columns and a triangle (NumPy's `reduced`). Rejects with `ERR_SHAPE`
   * (0 rows), `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE` (a triangle beyond the type) and like every method here.
   */
  async qr(options: LinearAlgebraOptions & AbortOptions = {}): Promise<Qr<Matrix>> {
    return known().run('qr', this, [options]) as Promise<Qr<Matrix>>;
  }

  /** Synchronous twin of {@link qr}. */
  qrSync(options: LinearAlgebraOptions = {}): Qr<Matrix> {
    return known().runSync('qr', this, [options]) as Qr<Matrix>;
  }

  /**
   * The solution x of A x = b, for b (n x k) or a vector of n. Rejects with `ERR_SINGULAR` (a pivot is 0, or
   * subnormal), `ERR_OUT_OF_RANGE` (x is beyond the type) and like every method here.
   *
   * ```ts
   * import { Matrix, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const a = Matrix.from([[2, 1], [1, 3]], { dtype: 'float64' });
   * const x = await a.solve(Matrix.from([[3], [4]], { dtype: 'float64' }), { device });
   * console.log(x.toArray()); // about [[1], [1]]
   * ```
   */
  async solve<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions & AbortOptions = {}): Promise<B> {
    return known().run('solve', this, [b, options]) as Promise<B>;
  }

  /** Synchronous twin of {@link solve}. */
  solveSync<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions = {}): B {
    return known().runSync('solve', this, [b, options]) as B;
  }

  /**
   * The shortest x that minimises |A x - b|, for b (m x k) or a vector of m. Rejects with `ERR_SHAPE`,
   * `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE` (rcond, a solution beyond the type) and like every method here.
   *
   * ```ts
   * import { Matrix, openDevice, Vector } from 'covarium';
   *
   * const design = Matrix.from([[1, 0], [1, 1], [1, 2]], { dtype: 'float64' });
   * const observed = Vector.from([0.1, 0.9, 2.1], { dtype: 'float64' });
   * const { x, rank } = await design.lstsq(observed, { device: openDevice() });
   * console.log(x.toArray(), rank); // about [0.033, 1], and 2
   * ```
   */
  async lstsq<B extends Matrix | Vector>(
    b: B,
    options: LeastSquaresOptions & AbortOptions = {},
  ): Promise<LeastSquares<B, Vector>> {
    return known().run('lstsq', this, [b, options]) as Promise<LeastSquares<B, Vector>>;
  }

  /** Synchronous twin of {@link lstsq}. */
  lstsqSync<B extends Matrix | Vector>(b: B, options: LeastSquaresOptions = {}): LeastSquares<B, Vector> {
    return known().runSync('lstsq', this, [b, options]) as LeastSquares<B, Vector>;
  }

  /** The inverse of A (n x n). Rejects like {@link solve}, which is faster and more exact if you need A^-1 b. */
  async inverse(options: LinearAlgebraOptions & AbortOptions = {}): Promise<Matrix> {
    return known().run('inverse', this, [options]) as Promise<Matrix>;
  }

  /** Synchronous twin of {@link inverse}. */
  inverseSync(options: LinearAlgebraOptions = {}): Matrix {
    return known().runSync('inverse', this, [options]) as Matrix;
  }

  /**
   * The determinant of A (n x n). If it overflows, it is infinite: use {@link slogdet}. Rejects with `ERR_SHAPE`,
   * `ERR_NOT_FINITE` and like every method here.
   */
  async det(options: LinearAlgebraOptions & AbortOptions = {}): Promise<number> {
    return known().run('det', this, [options]) as Promise<number>;
  }

  /** Synchronous twin of {@link det}. */
  detSync(options: LinearAlgebraOptions = {}): number {
    return known().runSync('det', this, [options]) as number;
  }

  /**
   * The sign and the logarithm of the absolute determinant of A (n x n), which may be beyond any type. Rejects with
   * `ERR_SHAPE`, `ERR_NOT_FINITE` and like every method here.
   *
   * ```ts
   * import { Matrix, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const a = Matrix.from([[2, 1], [1, 3]], { dtype: 'float64' });
   * const { sign, logAbsDet } = await a.slogdet({ device });
   * console.log(sign, logAbsDet); // 1 and log(5), about 1.609
   * ```
   */
  async slogdet(options: LinearAlgebraOptions & AbortOptions = {}): Promise<SignAndLogarithm> {
    return known().run('slogdet', this, [options]) as Promise<SignAndLogarithm>;
  }

  /** Synchronous twin of {@link slogdet}. */
  slogdetSync(options: LinearAlgebraOptions = {}): SignAndLogarithm {
    return known().runSync('slogdet', this, [options]) as SignAndLogarithm;
  }

  /**
   * The product A b, for b (n x k) or a vector of n. Entries need not be finite. Rejects with `ERR_SHAPE` and like
   * every method here.
   *
   * ```ts
   * import { Matrix, openDevice } from 'covarium';
   *
   * const device = openDevice();
   * const a = Matrix.from([[2, 1], [1, 3]], { dtype: 'float64' });
   * const product = await a.multiply(a, { device });
   * console.log(product.toArray()); // [[5, 5], [5, 10]]
   * ```
   */
  async multiply<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions & AbortOptions = {}): Promise<B> {
    return known().run('multiply', this, [b, options]) as Promise<B>;
  }

  /** Synchronous twin of {@link multiply}. */
  multiplySync<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions = {}): B {
    return known().runSync('multiply', this, [b, options]) as B;
  }

  /**
   * The covariance of the columns of A, whose rows are observations: n x n, with the divisor m - ddof. An entry is
   * infinite if its sum of products overflows, even if it would not after the division, and NaN if the deviations from
   * the mean overflow. Rejects with `ERR_SHAPE` (too few rows for the divisor), `ERR_NOT_FINITE` and like every method
   * here.
   */
  async covariance(options: SampleCovarianceOptions & AbortOptions = {}): Promise<Matrix> {
    return known().run('covariance', this, [options]) as Promise<Matrix>;
  }

  /** Synchronous twin of {@link covariance}. */
  covarianceSync(options: SampleCovarianceOptions = {}): Matrix {
    return known().runSync('covariance', this, [options]) as Matrix;
  }

  /** A' (n x m), a copy. Entries need not be finite. Rejects with `ERR_SHAPE` (0 rows) and like every method here. */
  async transpose(options: LinearAlgebraOptions & AbortOptions = {}): Promise<Matrix> {
    return known().run('transpose', this, [options]) as Promise<Matrix>;
  }

  /** Synchronous twin of {@link transpose}. */
  transposeSync(options: LinearAlgebraOptions = {}): Matrix {
    return known().runSync('transpose', this, [options]) as Matrix;
  }
}
