import type { Encoder, Timings } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import type { Real } from '../dtype.ts';

/**
 * A root A of a covariance A A', n x width, in whatever form suits it: a draw is mean + A z. It records commands on an
 * encoder of the device whose memory it lives in; what they need besides is made by the commit's scratch. Rows are n
 * numbers, dense.
 */
export interface Factor {
  readonly n: number;
  /** How many normals one draw takes, which is how many numbers a z has. */
  readonly width: number;
  /** In how many dimensions the draws vary: n, or fewer where the covariance is singular. */
  readonly rank: number;
  /**
   * Of the covariance; of a singular one the logarithm of its pseudo-determinant, the product of the eigenvalues that
   * are not 0.
   */
  readonly logDeterminant: number;
  /** Of the commit that made it, if it wasn't given. */
  readonly timings: Timings | undefined;
  /**
   * Each row of `out` becomes mean + A z, where z of row r is elements [first + r width, first + (r + 1) width) of the
   * stream.
   */
  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array, scratch: Scratch): void;
  /** Each row of `out` becomes mean + A z for a row z of `input` (count x width), which is not changed. */
  transform(encoder: Encoder, mean: Real, input: Real, out: Real, scratch: Scratch): void;
  /**
   * out[r] = constant - |w|^2 / 2, where A w = row - mean and w is the shortest; minus infinity where no w is (off the
   * support of a singular normal). `rows` is not changed.
   */
  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number, scratch: Scratch): void;
  /** Each row x of `rows` becomes the solution y of A A' y = x, the shortest where there are many. */
  solve(encoder: Encoder, rows: Real, scratch: Scratch): void;
  /** out (n) = the diagonal of A A'. */
  variances(encoder: Encoder, out: Real, scratch: Scratch): void;
  /** out (n x n) = A A'. */
  covariance(encoder: Encoder, out: Real, scratch: Scratch): void;
  /**
   * A copy of the lower Cholesky factor (n x n); of a singular covariance, of A itself (n x rank): `out` has n rows of
   * {@link rank}.
   */
  root(encoder: Encoder, out: Real, scratch: Scratch): void;
  /**
   * The same in float64, in ordinary memory: what other distributions are computed from, by its root, its covariance
   * and {@link transform}. Throws `ERR_CLOSED`.
   */
  exact(): Factor;
  close(): void;
}
