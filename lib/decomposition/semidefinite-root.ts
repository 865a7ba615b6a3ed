import type { OpenBackend } from '../backend-handle.ts';
import { marked } from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { eigenDecomposition } from './eigen.ts';
import { pivotedCholesky } from './pivoted-cholesky.ts';

/** A root A, n x rank, of a covariance A A'. */
export interface Root {
  readonly root: Float64Array<ArrayBuffer>;
  readonly rank: number;
}

/**
 * The bound below which a number counts as zero in a positive semidefinite correlation matrix of n variables that was
 * rounded to `dtype`: max(n, 8) roundings.
 */
export function rankTolerance(n: number, dtype: RealDtype): number {
  return Math.max(n, 8) * (dtype === 'float32' ? 2 ** -23 : 2 ** -52);
}

// A value below zero by more than this many tolerances is not rounding.
const indefinite = 16;

/**
 * A root of a symmetric matrix (`name` in messages), and its rank, judged by its correlation matrix, so that the
 * variables' units do not matter. Throws `ERR_NOT_POSITIVE_DEFINITE`, with the pivot or the eigenvalue in the message,
 * if the matrix is clearly not positive semidefinite.
 */
export function* rootOf(
  device: OpenBackend,
  square: Float64Array,
  n: number,
  how: 'pivoted' | 'eigen',
  dtype: RealDtype,
  name: string,
): Tasks<Root> {
  const tolerance = rankTolerance(n, dtype);
  // With a negative variance, or a covariance beside a variance of zero, there is no correlation matrix.
  for (let i = 0; i < n; i++) {
    if (square[i * (n + 1)]! > 0) continue;
    for (let j = 0; j < n; j++)
      if (square[i * n + j] !== 0) refuse(name, { row: i, column: j, value: square[i * n + j]! });
  }
  if (how === 'eigen') return yield* eigenRoot(device, square, n, tolerance, name);
  const { root, rank, worst } = yield* pivotedCholesky(device, square, n, tolerance);
  if (Math.abs(worst.value) > indefinite * tolerance) refuse(name, worst);
  return { root, rank };
}

function* eigenRoot(
  device: OpenBackend,
  square: Float64Array,
  n: number,
  tolerance: number,
  name: string,
): Tasks<Root> {
  const deviations = Float64Array.from({ length: n }, (_, i) => Math.sqrt(square[i * (n + 1)]!));
  const correlation = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const size = deviations[i]! * deviations[j]!;
      correlation[i * n + j] = size === 0 ? 0 : square[i * n + j]! / size;
    }
    if (i % 64 === 0) yield;
  }
  const { values, vectors } = yield* eigenDecomposition(device, correlation, n);
  const least = values[0]!;
  if (least < -indefinite * tolerance)
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `${marked(name)} is not positive semidefinite: its correlation matrix has an eigenvalue of (${least}).`,
    );
  // The error of an eigenvalue is a few roundings of the largest one, which is at most n.
  const zero = Math.max(tolerance, 8 * 2 ** -52 * values[n - 1]!);
  const rank = values.filter((value) => value > zero).length;
  const root = new Float64Array(n * rank);
  // The largest first.
  for (let k = 0; k < rank; k++) {
    const from = n - 1 - k;
    const length = Math.sqrt(values[from]!);
    for (let i = 0; i < n; i++) root[i * rank + k] = deviations[i]! * length * vectors[from * n + i]!;
    if (k % 64 === 0) yield;
  }
  return { root, rank };
}

function refuse(name: string, { row, column, value }: { row: number; column: number; value: number }): never {
  throw new CovariumError(
    'ERR_NOT_POSITIVE_DEFINITE',
    `${marked(name)} is not positive semidefinite: pivot (${row}) is not positive, and the remainder of entry (${row}, ${column}) is (${value}).`,
    { pivot: row },
  );
}
