import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { norm, unitOf } from './svd.ts';

/**
 * a (m x n) becomes the lower L (m x k, then columns of zeros) of a = L q, with a diagonal that is not negative; q (k x
 * n) gets orthonormal rows, k = min(m, n), and may be empty. Uses reflections (Golub and Van Loan, Matrix Computations,
 * 4th ed., 5.2).
 */
export function* lq(a: Real, q: Real, m: number, n: number): Work {
  const rows = new Float64Array(a);
  const k = Math.min(m, n);
  const reflections: (Float64Array | undefined)[] = [];
  const signs: number[] = [];
  // Each row is in a unit of its own, a power of two: subnormal numbers, too, keep their digits.
  const units: number[] = [];
  for (let i = 0; i < m; i++) {
    units.push(unitOf(a.subarray(i * n, (i + 1) * n), 0));
    for (let j = 0; j < n; j++) rows[i * n + j]! /= units[i]!;
    if (i % 16 === 0) yield;
  }
  yield;
  for (let i = 0; i < k; i++) {
    const row = rows.subarray(i * n, (i + 1) * n);
    const v = row.slice(i);
    const length = norm(v);
    // Reflects away from the first number, so that nothing cancels; the sign is corrected below.
    const sign = v[0]! < 0 ? -1 : 1;
    const turned = length === 0 ? 1 : -sign;
    signs.push(turned);
    reflections.push(unit(v, length, sign));
    row.fill(0, i);
    row[i] = length;
    for (let r = i + 1; r < m; r++) {
      reflect(rows.subarray(r * n + i, (r + 1) * n), reflections[i]);
      rows[r * n + i]! *= turned;
      if (r % 16 === 0) yield;
    }
    yield;
  }
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) a[i * n + j] = rows[i * n + j]! * units[i]!;
    if (i % 16 === 0) yield;
  }
  if (q.length === 0) return;
  const basis = new Float64Array(k * n);
  for (let i = 0; i < k; i++) basis[i * (n + 1)] = signs[i]!;
  for (let i = k - 1; i >= 0; i--) {
    for (let r = i; r < k; r++) {
      reflect(basis.subarray(r * n + i, (r + 1) * n), reflections[i]);
      if (r % 16 === 0) yield;
    }
    yield;
  }
  q.set(basis);
}

// The unit vector w of the reflection I - 2 w w' that makes x a multiple of the first axis; undefined if x is zero.
function unit(x: Float64Array, length: number, sign: number): Float64Array | undefined {
  if (length === 0) return undefined;
  for (let k = 0; k < x.length; k++) x[k]! /= length;
  x[0]! += sign;
  const size = norm(x);
  for (let k = 0; k < x.length; k++) x[k]! /= size;
  return x;
}

function reflect(row: Float64Array, w: Float64Array | undefined): void {
  if (w === undefined) return;
  let product = 0;
  for (let k = 0; k < row.length; k++) product += w[k]! * row[k]!;
  product *= 2;
  for (let k = 0; k < row.length; k++) row[k]! -= product * w[k]!;
}
