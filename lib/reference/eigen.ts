import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { jacobiRotation, turnRows } from './rotation.ts';
import { unitOf } from './svd.ts';

const sweeps = 60; // ten suffice: the convergence is quadratic
const operationsAtOnce = 1 << 16;

/**
 * The symmetric a (n x n; only the lower triangle is read) becomes V': row i is the eigenvector of values[i], and
 * values ascend. Uses Jacobi's rotations, row by row (Golub and Van Loan: Matrix Computations, section 8.5), which are
 * slower than methods by a tridiagonal matrix, but more exact.
 */
export function* symmetricEigen(a: Real, values: Real, n: number): Work {
  // We do not use ml-matrix (6.15.1): its eigenvectors of the 100 x 100 matrix of ones are not orthogonal.
  const left = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) left[i * n + j] = left[j * n + i] = a[i * n + j]!;
  // So that no rotation meets numbers with fewer digits.
  const unit = unitOf(left, 1000);
  for (let i = 0; i < left.length; i++) left[i]! /= unit;
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * (n + 1)] = 1;
  yield;
  let operations = 0;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let rotations = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        if (++operations > operationsAtOnce) {
          operations = 0;
          yield;
        }
        const off = left[p * n + q]!;
        const [app, aqq] = [left[p * (n + 1)]!, left[q * (n + 1)]!];
        // Relative to both entries, so that small eigenvalues of a graded matrix are as exact as large ones. The roots
        // do not underflow.
        if (Math.abs(off) <= Number.EPSILON * Math.sqrt(Math.abs(app)) * Math.sqrt(Math.abs(aqq))) continue;
        if (Math.abs(off) < Number.MIN_VALUE / Number.EPSILON) continue;
        rotate(left, v, n, p, q);
        rotations++;
        operations += 6 * n;
      }
    if (rotations === 0) break;
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => left[i * (n + 1)]! - left[j * (n + 1)]! || j - i);
  for (const [to, from] of order.entries()) {
    values[to] = left[from * (n + 1)]! * unit;
    a.set(v.subarray(from * n, (from + 1) * n), to * n);
  }
}

function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number): void {
  const off = a[p * n + q]!;
  const [app, aqq] = [a[p * (n + 1)]!, a[q * (n + 1)]!];
  const rotation = jacobiRotation(aqq - app, off);
  turnRows(a, n, p, q, rotation);
  // The same from the right: the matrix is symmetric, so its columns are the rows that were just computed.
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
