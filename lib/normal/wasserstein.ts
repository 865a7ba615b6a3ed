import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { norm, orthogonalize } from '../decomposition/orthogonalize.ts';
import { type ExactRoot, exactRoot, isSame } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The 2-Wasserstein distance of two normals. Its square, |d|^2 + tr(P + Q - 2 (P^1/2 Q P^1/2)^1/2) with d the
 * difference of the means, equals |d|^2 plus the least |A - B U|_F^2 over orthogonal U, for any roots A of P and B of Q
 * (Bhatia, Jain, Lim, Expositiones Mathematicae 37, 2019). This form subtracts no large numbers from each other. U is
 * the orthogonal polar factor of B' A.
 */
export function* wasserstein(p: NormalParameters, q: NormalParameters): Tasks<number> {
  const ours = yield* exactRoot(p);
  const theirs = yield* exactRoot(q);
  if (isSame(ours, theirs)) return 0;
  const { n } = ours;
  const [a, b] = [square(ours), square(theirs)];
  const product = new Float64Array(n * n);
  yield* exactly(p.device, (encoder) => encoder.product(b, a, product, n, n, n, true, false, 1, 0));
  const [left, right] = polarParts(product, n);
  const [u, turned] = [new Float64Array(n * n), new Float64Array(n * n)];
  yield* exactly(p.device, (encoder) => {
    encoder.product(left, right, u, n, n, n, true, false, 1, 0);
    encoder.product(b, u, turned, n, n, n, false, false, 1, 0);
  });
  // U is known to rounding of the largest deviation alone: where normals are nearly alike and deviations differ widely,
  // the roots as they are may be closer.
  return Math.min(...[turned, b].map((root) => distance(a, root, ours.mean, theirs.mean)));
}

function distance(a: Float64Array, b: Float64Array, mean: Float64Array, other: Float64Array): number {
  const apart = new Float64Array(a.length + mean.length);
  for (let at = 0; at < a.length; at++) apart[at] = a[at]! - b[at]!;
  for (let i = 0; i < mean.length; i++) apart[a.length + i] = mean[i]! - other[i]!;
  return norm(apart);
}

// A singular normal's root has fewer columns: zeros stand in for the others.
function square({ root, n, width }: ExactRoot): Float64Array {
  if (width === n) return root;
  const whole = new Float64Array(n * n);
  for (let i = 0; i < n; i++) whole.set(root.subarray(i * width, (i + 1) * width), i * n);
  return whole;
}

// Orthogonal matrices J and V' with J' S V' the matrix (overwritten), S diagonal: its orthogonal polar factor is J' V'.
function polarParts(matrix: Float64Array, n: number): [Float64Array, Float64Array] {
  const left = new Float64Array(n * n);
  for (let i = 0; i < n; i++) left[i * (n + 1)] = 1;
  orthogonalize(matrix, n, left);
  const rows = Array.from({ length: n }, (_, i) => matrix.subarray(i * n, (i + 1) * n));
  const [some, none] = [rows.filter((row) => norm(row) > 0), rows.filter((row) => norm(row) === 0)];
  for (const row of some) scale(row, 1 / norm(row));
  for (const row of none) {
    complete(row, some);
    some.push(row);
  }
  return [left, matrix];
}

// A unit vector that is orthogonal to unit vectors which are fewer than its numbers.
function complete(row: Float64Array, others: readonly Float64Array[]): void {
  for (let axis = 0; axis < row.length; axis++) {
    row.fill(0);
    row[axis] = 1;
    // Twice is enough (Kahan; Parlett, The Symmetric Eigenvalue Problem, 6.9).
    for (let pass = 0; pass < 2; pass++) for (const other of others) remove(row, other);
    const length = norm(row);
    // The squares of what is left of all axes add up to what is missing, which is at least 1.
    if (length ** 2 < 0.5 / row.length) continue;
    scale(row, 1 / length);
    return;
  }
}

function remove(row: Float64Array, other: Float64Array): void {
  let product = 0;
  for (let k = 0; k < row.length; k++) product += row[k]! * other[k]!;
  for (let k = 0; k < row.length; k++) row[k]! -= product * other[k]!;
}

function scale(row: Float64Array, by: number): void {
  for (let k = 0; k < row.length; k++) row[k]! *= by;
}
