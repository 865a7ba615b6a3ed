import { jacobiRotation, turnRows } from './rotation.ts';

/**
 * Turns `count` rows of `length` numbers among themselves until they are orthogonal, in place; `companions` (rows of as
 * many numbers as there are rows) are turned with them. Their norms are then the singular values: the one-sided method
 * of Jacobi, which finds small ones beside large ones to high relative accuracy (Demmel and Veselic, Jacobi's method is
 * more accurate than QR, SIAM J. Matrix Anal. Appl. 13, 1992), as those that begin with a bidiagonal form do not.
 */
export function orthogonalize(rows: Float64Array, count: number, companions?: Float64Array): void {
  const length = rows.length / count;
  const tolerance = length * 2 ** -52;
  let isDone = false;
  while (!isDone) {
    isDone = true;
    for (let i = 0; i < count; i++)
      for (let j = i + 1; j < count; j++) {
        const [a, b] = [i * length, j * length];
        const alpha = dot(rows, a, a, length);
        const beta = dot(rows, b, b, length);
        const gamma = dot(rows, a, b, length);
        if (!(Math.abs(gamma) > tolerance * Math.sqrt(alpha) * Math.sqrt(beta))) continue;
        isDone = false;
        const rotation = jacobiRotation(beta - alpha, gamma);
        turnRows(rows, length, i, j, rotation);
        if (companions !== undefined) turnRows(companions, count, i, j, rotation);
      }
  }
}

function dot(rows: Float64Array, a: number, b: number, length: number): number {
  let sum = 0;
  for (let k = 0; k < length; k++) sum += rows[a + k]! * rows[b + k]!;
  return sum;
}

/** Euclidean, without overflow. */
export function norm(values: Float64Array): number {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return 0;
  let sum = 0;
  for (const value of values) sum += (value / largest) ** 2;
  return largest * Math.sqrt(sum);
}
