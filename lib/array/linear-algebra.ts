import type { OpenBackend } from '../backend-handle.ts';
import { CovariumError } from '../covarium-error.ts';

/** Where linear algebra computes. */
export interface LinearAlgebraOptions {
  /** By default the device that computed the matrix, or that has its memory; else that of the other operand. */
  readonly device?: OpenBackend | undefined;
}

/** What {@link Matrix.lstsq} takes. */
export interface LeastSquaresOptions extends LinearAlgebraOptions {
  /** Singular values count as 0 up to this share of the largest; by default max(rows, columns) roundings. */
  readonly rcond?: number | undefined;
}

/** What {@link Matrix.covariance} takes. */
export interface SampleCovarianceOptions extends LinearAlgebraOptions {
  /** Degrees of freedom taken from the divisor; 1 by default. */
  readonly ddof?: number | undefined;
}

/** A = V diag(values) V'. */
export interface Eigen<Matrix, Vector> {
  /** A vector of n, the smallest first. */
  readonly values: Vector;
  /** V (n x n): column i is the vector of value i, of length 1 and either sign. */
  readonly vectors: Matrix;
}

/** A = u diag(s) vt, k = min(m, n). */
export interface SingularValues<Matrix, Vector> {
  /** m x k, with orthonormal columns. */
  readonly u: Matrix;
  /** A vector of k = min(m, n) numbers, the largest first: diag(s) is k x k. */
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

/** The shortest x of the least |A x - b|. */
export interface LeastSquares<X, Vector> {
  /** n x k where b is m x k, or a vector of n. */
  readonly x: X;
  /** How many singular values count. */
  readonly rank: number;
  /** The singular values of A (m x n), a vector of min(m, n), the largest first. */
  readonly s: Vector;
}

/** What {@link LinearAlgebra} asks of the room that has the commands: an operation by name, awaited or not. */
export interface Operations {
  run(name: string, matrix: unknown, operands: readonly unknown[]): Promise<unknown>;
  runSync(name: string, matrix: unknown, operands: readonly unknown[]): unknown;
}

let operations: Operations | undefined;

/** Tells how operations are computed; a device's module does. */
export function provideOperations(provided: Operations): void {
  operations = provided;
}

// Who has a device has loaded its module.
function known(): Operations {
  if (operations !== undefined) return operations;
  throw new CovariumError('ERR_INVALID_ARGUMENT', 'Linear algebra needs a device, and none was opened (undefined).');
}

/**
 * Linear algebra of a matrix A (m x n), with the shapes of NumPy's functions of these names, in the type of A, on a
 * device. Every method rejects with `ERR_INVALID_ARGUMENT` (no device), `ERR_SHAPE`, `ERR_NOT_FINITE` (the entry),
 * `ERR_UNSUPPORTED_DTYPE`, `ERR_FOREIGN_BUFFER` and `ERR_CLOSED`, and has a synchronous twin that throws.
 */
export abstract class LinearAlgebra<Matrix, Vector> {
  /**
   * Eigenvalues and vectors of a symmetric A (n x n), of which the lower triangle is read. Rejects with `ERR_SHAPE`,
   * `ERR_NOT_FINITE` and as every method here.
   */
  async eigh(options: LinearAlgebraOptions = {}): Promise<Eigen<Matrix, Vector>> {
    return known().run('eigh', this, [options]) as Promise<Eigen<Matrix, Vector>>;
  }

  /** Synchronous twin of {@link eigh}. */
  eighSync(options: LinearAlgebraOptions = {}): Eigen<Matrix, Vector> {
    return known().runSync('eigh', this, [options]) as Eigen<Matrix, Vector>;
  }

  /**
   * Singular values and vectors of A (m x n), min(m, n) of them (NumPy's `full_matrices=False`). Rejects with
   * `ERR_SHAPE` (0 rows), `ERR_NOT_FINITE` and as every method here.
   */
  async svd(options: LinearAlgebraOptions = {}): Promise<SingularValues<Matrix, Vector>> {
    return known().run('svd', this, [options]) as Promise<SingularValues<Matrix, Vector>>;
  }

  /** Synchronous twin of {@link svd}. */
  svdSync(options: LinearAlgebraOptions = {}): SingularValues<Matrix, Vector> {
    return known().runSync('svd', this, [options]) as SingularValues<Matrix, Vector>;
  }

  /**
   * Orthonormal columns and a triangle of A (m x n; NumPy's `reduced`). Rejects with `ERR_SHAPE` (0 rows),
   * `ERR_NOT_FINITE` and as every method here.
   */
  async qr(options: LinearAlgebraOptions = {}): Promise<Qr<Matrix>> {
    return known().run('qr', this, [options]) as Promise<Qr<Matrix>>;
  }

  /** Synchronous twin of {@link qr}. */
  qrSync(options: LinearAlgebraOptions = {}): Qr<Matrix> {
    return known().runSync('qr', this, [options]) as Qr<Matrix>;
  }

  /** The x of A x = b, for b (n x k) or a vector of n. Rejects with `ERR_SINGULAR` too. */
  async solve<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions = {}): Promise<B> {
    return known().run('solve', this, [b, options]) as Promise<B>;
  }

  /** Synchronous twin of {@link solve}. */
  solveSync<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions = {}): B {
    return known().runSync('solve', this, [b, options]) as B;
  }

  /**
   * The shortest x with the least |A x - b|, for b (m x k) or a vector of m. Rejects with `ERR_SHAPE`,
   * `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE` (rcond) and as every method here.
   */
  async lstsq<B extends Matrix | Vector>(b: B, options: LeastSquaresOptions = {}): Promise<LeastSquares<B, Vector>> {
    return known().run('lstsq', this, [b, options]) as Promise<LeastSquares<B, Vector>>;
  }

  /** Synchronous twin of {@link lstsq}. */
  lstsqSync<B extends Matrix | Vector>(b: B, options: LeastSquaresOptions = {}): LeastSquares<B, Vector> {
    return known().runSync('lstsq', this, [b, options]) as LeastSquares<B, Vector>;
  }

  /** The inverse (n x n). Rejects with `ERR_SINGULAR` too; {@link solve} is quicker and more exact. */
  async inverse(options: LinearAlgebraOptions = {}): Promise<Matrix> {
    return known().run('inverse', this, [options]) as Promise<Matrix>;
  }

  /** Synchronous twin of {@link inverse}. */
  inverseSync(options: LinearAlgebraOptions = {}): Matrix {
    return known().runSync('inverse', this, [options]) as Matrix;
  }

  /**
   * The determinant of A (n x n): infinite where it overflows. Rejects with `ERR_SHAPE`, `ERR_NOT_FINITE` and as every
   * method here.
   */
  async det(options: LinearAlgebraOptions = {}): Promise<number> {
    return known().run('det', this, [options]) as Promise<number>;
  }

  /** Synchronous twin of {@link det}. */
  detSync(options: LinearAlgebraOptions = {}): number {
    return known().runSync('det', this, [options]) as number;
  }

  /**
   * A b, for b (n x k) or a vector of n. Entries need not be finite. Rejects with `ERR_SHAPE` and as every method here.
   */
  async multiply<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions = {}): Promise<B> {
    return known().run('multiply', this, [b, options]) as Promise<B>;
  }

  /** Synchronous twin of {@link multiply}. */
  multiplySync<B extends Matrix | Vector>(b: B, options: LinearAlgebraOptions = {}): B {
    return known().runSync('multiply', this, [b, options]) as B;
  }

  /**
   * The covariance of the columns of A, whose rows are observations: n x n, over m - ddof. Rejects with `ERR_SHAPE`
   * (fewer rows than that takes), `ERR_NOT_FINITE` and as every method here.
   */
  async covariance(options: SampleCovarianceOptions = {}): Promise<Matrix> {
    return known().run('covariance', this, [options]) as Promise<Matrix>;
  }

  /** Synchronous twin of {@link covariance}. */
  covarianceSync(options: SampleCovarianceOptions = {}): Matrix {
    return known().runSync('covariance', this, [options]) as Matrix;
  }

  /**
   * A' (n x m), a copy. Entries need not be finite. Rejects with `ERR_SHAPE` (0 rows) and as every method here.
   */
  async transpose(options: LinearAlgebraOptions = {}): Promise<Matrix> {
    return known().run('transpose', this, [options]) as Promise<Matrix>;
  }

  /** Synchronous twin of {@link transpose}. */
  transposeSync(options: LinearAlgebraOptions = {}): Matrix {
    return known().runSync('transpose', this, [options]) as Matrix;
  }
}
