import type { OpenBackend } from '../backend-handle.ts';
import { decomposed } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';

/** A root A (n x rank) of a matrix A A', and the remainder. */
interface PivotedCholesky {
  /** n x rank, row-major. */
  readonly root: Float64Array<ArrayBuffer>;
  readonly rank: number;
  /**
   * If the matrix is positive semidefinite, the remainder after A A' is subtracted is rounding. This is its most
   * negative diagonal entry, or the entry that exceeds most what the diagonal allows, relative to the variables' own
   * variances.
   */
  readonly worst: { readonly row: number; readonly column: number; readonly value: number };
}

/**
 * Cholesky's factorisation of a symmetric n x n matrix. The variable whose remaining variance is largest, relative to
 * its own variance, is eliminated next, until none exceeds `tolerance`. The measure is relative so that the variables'
 * units do not matter. Variances must not be negative, and a variable of variance 0 must have no covariance.
 */
export function* pivotedCholesky(
  device: OpenBackend | undefined,
  matrix: Float64Array,
  n: number,
  tolerance: number,
): Tasks<PivotedCholesky> {
  const scale = Float64Array.from({ length: n }, (_, i) => Math.sqrt(matrix[i * (n + 1)]!));
  const left = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const size = scale[i]! * scale[j]!;
      left[i * n + j] = size === 0 ? 0 : matrix[i * n + j]! / size;
    }
    if (i % 64 === 0) yield;
  }
  const factor = left.slice();
  const order = new Float64Array(n);
  yield* decomposed(device, (encoder) => {
    encoder.pivotedCholesky(factor, order, n, tolerance);
    encoder.product(factor, factor, left, n, n, n, false, true, -1, 1);
  });
  const taken = new Uint8Array(n);
  let rank = 0;
  for (const variable of order)
    if (variable >= 0) {
      taken[variable] = 1;
      rank++;
    }
  const root = new Float64Array(n * rank);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < rank; k++) root[i * rank + k] = scale[i]! * factor[i * n + k]!;
    if (i % 64 === 0) yield;
  }
  let worst = { row: 0, column: 0, value: 0 };
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      if (taken[i] === 1 || taken[j] === 1) continue;
      const value = i === j ? Math.min(0, left[i * n + j]!) : left[i * n + j]!;
      if (Math.abs(value) > Math.abs(worst.value)) worst = { row: i, column: j, value };
    }
  return { root, rank, worst };
}
