import type { Encoder, Timings } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

/**
 * A root A, n x width, of a covariance A A', in a form that suits it: a draw is mean + A z. It records commands on an
 * encoder of the device that holds it; the commit's scratch provides intermediate memory. Rows are n numbers, dense.
 */
export interface Factor {
  readonly n: number;
  /** Number of normals that one draw uses: the length of z. */
  readonly width: number;
  /** Number of dimensions in which the draws vary: n, or fewer if the covariance is singular. */
  readonly rank: number;
  /**
   * Logarithm of the covariance's determinant. If the covariance is singular, of its pseudo-determinant: the product of
   * the nonzero eigenvalues.
   */
  readonly logDeterminant: number;
  /** Timings of the commit that made the factor; undefined if it was given. */
  readonly timings: Timings | undefined;
  /**
   * Each row of `out` becomes mean + A z, where z of row r is elements [first + r width, first + (r + 1) width) of the
   * stream.
   */
  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array, scratch: Scratch): void;
  /** Each row of `out` becomes mean + A z for a row z of `input` (count x width), which is not changed. */
  transform(encoder: Encoder, mean: Real, input: Real, out: Real, scratch: Scratch): void;
  /**
   * out[r] = constant - |w|^2 / 2, where w is the shortest with A w = row - mean; minus infinity if there is none (off
   * the support of a singular normal). `rows` is not changed.
   */
  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number, scratch: Scratch): void;
  /** Each row x of `rows` becomes the solution y of A A' y = x, the shortest if there are many. */
  solve(encoder: Encoder, rows: Real, scratch: Scratch): void;
  /** out (n) = the diagonal of A A'. */
  variances(encoder: Encoder, out: Real, scratch: Scratch): void;
  /** out (n x n) = A A'. */
  covariance(encoder: Encoder, out: Real, scratch: Scratch): void;
  /**
   * A copy of the lower Cholesky factor (n x n), or of A itself (n x rank) if the covariance is singular: `out` has n
   * rows of {@link rank}.
   */
  root(encoder: Encoder, out: Real, scratch: Scratch): void;
  /**
   * The same factor in float64, in ordinary memory, from which other distributions are computed: long work where it is
   * factored again. Throws `ERR_CLOSED`.
   */
  exact(): Work<Factor>;
  close(): void;
}
