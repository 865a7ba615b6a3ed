import type { OpenBackend } from '../backend-handle.ts';
import { symmetricEigen } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';

/** A symmetric matrix is V diag(values) V'. */
export interface EigenDecomposition {
  /** n eigenvalues in ascending order. */
  readonly values: Float64Array<ArrayBuffer>;
  /** V' (n x n): row i is the eigenvector of value i, of length 1; its entry of largest magnitude is positive. */
  readonly vectors: Float64Array<ArrayBuffer>;
}

/** Decomposes a symmetric n x n matrix; only the lower triangle is read. */
export function* eigenDecomposition(
  device: OpenBackend | undefined,
  matrix: Float64Array,
  n: number,
): Tasks<EigenDecomposition> {
  const vectors = new Float64Array(matrix);
  const values = new Float64Array(n);
  yield* symmetricEigen(device, vectors, values, n);
  for (let i = 0; i < n; i++) {
    const vector = vectors.subarray(i * n, (i + 1) * n);
    if (leading(vector) < 0) for (let k = 0; k < n; k++) vector[k]! *= -1;
    if (i % 64 === 0) yield;
  }
  return { values, vectors };
}

/** The entry of the largest magnitude; the first of several. */
export function leading(vector: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) if (Math.abs(vector[i]!) > Math.abs(largest)) largest = vector[i]!;
  return largest;
}
