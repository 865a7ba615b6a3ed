import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { jacobiRotation, turnRows } from './rotation.ts';

const sweeps = 60; // more than a matrix of any condition needs
const operationsAtOnce = 1 << 16;
// The squares of shorter rows underflow, and their directions have lost digits.
const shortest = 2 ** -500;

/**
 * a (m x n) = u diag(values) v with k = min(m, n) values that fall, u (m x k) with orthonormal columns and v (k x n)
 * with orthonormal rows; a is lost. Without vectors u and v are empty; u may be empty alone.
 */
export function* svd(a: Real, u: Real, values: Real, v: Real, m: number, n: number): Work {
  if (m === 0) return;
  const isTall = m > n;
  const [count, length] = isTall ? [n, m] : [m, n];
  const rows = new Float64Array(count * length);
  const unit = unitOf(a, 400);
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) rows[isTall ? j * m + i : i * n + j] = a[i * n + j]! / unit;
  const turns = new Float64Array(count * count);
  for (let i = 0; i < count; i++) turns[i * (count + 1)] = 1;
  yield;
  yield* orthogonalize(rows, count, turns);
  const lengths = Array.from({ length: count }, (_, i) => norm(rows.subarray(i * length, (i + 1) * length)));
  const order = lengths.map((_, i) => i).sort((i, j) => lengths[j]! - lengths[i]! || i - j);
  const directions: Float64Array[] = [];
  for (const [to, from] of order.entries()) {
    values[to] = lengths[from]! * unit;
    const row = rows.slice(from * length, (from + 1) * length);
    if (lengths[from]! < shortest) complete(row, directions);
    else scale(row, 1 / lengths[from]!);
    directions.push(row);
    yield;
  }
  if (v.length === 0) return;
  // The rotations T make T rows = diag(values) directions, so rows = T' diag(values) directions.
  for (const [k, from] of order.entries()) {
    const own = turns.subarray(from * count, (from + 1) * count);
    const direction = directions[k]!;
    if (u.length > 0) for (let i = 0; i < m; i++) u[i * count + k] = isTall ? direction[i]! : own[i]!;
    v.set(isTall ? own : direction, k * n);
    yield;
  }
}

/** A power of four that divides numbers exactly and makes the largest about 2^exponent, to use the type's range. */
export function unitOf(values: ArrayLike<number>, exponent: number): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]!));
  // Smaller ones have no inverse.
  return 4 ** Math.max(-511, Math.floor((Math.log2(largest) - exponent) / 2));
}

/**
 * Rotates `count` rows of `length` numbers among themselves until they are orthogonal, in place; `companions` (rows
 * with `count` numbers) are rotated with them. The norms of the rows are then the singular values. This is Jacobi's
 * one-sided method, which computes small values beside large ones to high relative accuracy (Demmel and Veselic,
 * Jacobi's method is more accurate than QR, SIAM J. Matrix Anal. Appl. 13, 1992); methods that begin with a bidiagonal
 * form do not.
 */
function* orthogonalize(rows: Float64Array, count: number, companions: Float64Array): Work {
  const length = rows.length / count;
  // That of LAPACK's gesvj: cosines of n rows then add up to less than 30 n 2^-52.
  const tolerance = Math.sqrt(length) * 2 ** -52;
  let operations = 0;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let isDone = true;
    for (let i = 0; i < count; i++)
      for (let j = i + 1; j < count; j++) {
        const [a, b] = [i * length, j * length];
        const alpha = dot(rows, a, a, length);
        const beta = dot(rows, b, b, length);
        const gamma = dot(rows, a, b, length);
        operations += 3 * length;
        if (operations > operationsAtOnce) {
          operations = 0;
          yield;
        }
        if (!(Math.abs(gamma) > tolerance * Math.sqrt(alpha) * Math.sqrt(beta))) continue;
        isDone = false;
        const rotation = jacobiRotation(beta - alpha, gamma);
        turnRows(rows, length, i, j, rotation);
        turnRows(companions, count, i, j, rotation);
        operations += 6 * length;
      }
    if (isDone) return;
  }
}

function dot(rows: Float64Array, a: number, b: number, length: number): number {
  let sum = 0;
  for (let k = 0; k < length; k++) sum += rows[a + k]! * rows[b + k]!;
  return sum;
}

// A unit vector orthogonal to the given unit vectors, of which there must be fewer than its entries.
function complete(row: Float64Array, others: readonly Float64Array[]): void {
  for (let axis = 0; axis < row.length; axis++) {
    row.fill(0);
    row[axis] = 1;
    // Two passes suffice (Kahan; Parlett, The Symmetric Eigenvalue Problem, 6.9).
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

/** Euclidean, without overflow. */
export function norm(values: Float64Array): number {
  // Four sums, none of which waits for another, where no square overflows or vanishes; not in one pattern, as areFinite
  // of lib/check.ts says.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const whole = values.length - (values.length % 4);
  for (let i = 0; i < whole; i += 4) {
    a += values[i]! ** 2;
    b += values[i + 1]! ** 2;
    c += values[i + 2]! ** 2;
    d += values[i + 3]! ** 2;
  }
  for (let i = whole; i < values.length; i++) a += values[i]! ** 2;
  const squared = a + b + (c + d);
  if (squared > 1e-280 && squared < 1e280) return Math.sqrt(squared);
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i]!);
    if (!(size <= largest)) largest = size;
  }
  if (largest === 0) return 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i]! / largest) ** 2;
  return largest * Math.sqrt(sum);
}
