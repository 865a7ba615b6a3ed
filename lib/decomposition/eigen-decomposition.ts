import { jacobiRotation, turnRows } from './rotation.ts';

/** A symmetric matrix is V diag(values) V'. */
export interface EigenDecomposition {
  /** n of them, the largest first. */
  readonly values: Float64Array<ArrayBuffer>;
  /** V' (n x n): row i is the vector of value i, of length 1, and its entry of the largest magnitude is positive. */
  readonly vectors: Float64Array<ArrayBuffer>;
}

const sweeps = 60; // ten are plenty: the convergence is quadratic

/**
 * Of a symmetric n x n matrix, by Jacobi's rotations, row by row (Golub and Van Loan: Matrix Computations, section
 * 8.5): slower than what is done by way of a tridiagonal matrix, and more exact. For orders in the hundreds.
 */
export function eigenDecomposition(matrix: Float64Array, n: number): EigenDecomposition {
  // ml-matrix would be a dependency for this, but has (6.15.1) eigenvectors that are not orthogonal for the 100 x 100
  // matrix of ones.
  const a = Float64Array.from(matrix);
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * (n + 1)] = 1;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let rotations = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        const off = a[p * n + q]!;
        const [app, aqq] = [a[p * (n + 1)]!, a[q * (n + 1)]!];
        // Relative to both: small eigenvalues of a graded matrix come out as exact as large ones. The roots do not
        // underflow.
        if (Math.abs(off) <= Number.EPSILON * Math.sqrt(Math.abs(app)) * Math.sqrt(Math.abs(aqq))) continue;
        if (Math.abs(off) < Number.MIN_VALUE / Number.EPSILON) continue;
        rotate(a, v, n, p, q);
        rotations++;
      }
    if (rotations === 0) break;
  }
  return sorted(a, v, n);
}

function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number): void {
  const off = a[p * n + q]!;
  const [app, aqq] = [a[p * (n + 1)]!, a[q * (n + 1)]!];
  const rotation = jacobiRotation(aqq - app, off);
  turnRows(a, n, p, q, rotation);
  // The same from the right: the matrix is symmetric, so that its columns are the rows that have just been made.
  for (let k = 0; k < n; k++) {
    a[k * n + p] = a[p * n + k]!;
    a[k * n + q] = a[q * n + k]!;
  }
  a[p * (n + 1)] = app - rotation.tangent * off;
  a[q * (n + 1)] = aqq + rotation.tangent * off;
  a[p * n + q] = 0;
  a[q * n + p] = 0;
  turnRows(v, n, p, q, rotation);
}

function sorted(a: Float64Array, v: Float64Array, n: number): EigenDecomposition {
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => a[j * (n + 1)]! - a[i * (n + 1)]! || i - j);
  const vectors = new Float64Array(n * n);
  order.forEach((from, to) => {
    const row = v.subarray(from * n, (from + 1) * n);
    let largest = 0;
    for (const entry of row) if (Math.abs(entry) > Math.abs(largest)) largest = entry;
    for (let k = 0; k < n; k++) vectors[to * n + k] = largest < 0 ? -row[k]! : row[k]!;
  });
  return { values: Float64Array.from(order, (i) => a[i * (n + 1)]!), vectors };
}
