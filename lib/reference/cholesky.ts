import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Real, type RealDtype, smallestNormal } from '../dtype.ts';
import type { Work } from '../work.ts';
import { packFactor } from './panel.ts';
import { dotTile, tileSide } from './tile.ts';
import { solveTile } from './triangular.ts';

const sums = new Float64Array(tileSide * tileSide);
const rowsAtOnce = 32; // rows that stay in cache while the factor's earlier rows stream by

/**
 * Lower Cholesky factor of `a` (n x n) in place, in float64 throughout; reads the lower triangle, the upper becomes 0.
 * Throws `ERR_NOT_POSITIVE_DEFINITE` with the first pivot that is not positive, or so small that other devices take it
 * for 0, and leaves `a` as it was.
 */
export function* cholesky(a: Real, n: number): Work {
  const { values, stride } = yield* packFactor(a, n, false);
  const least = smallestNormal[dtypeOf(a) as RealDtype];
  // Row by row, a factor solves its own triangular system: row i of the factor is the y of factor y = (row i of a).
  for (let first = 0; first < stride; first += rowsAtOnce) {
    const end = Math.min(first + rowsAtOnce, stride);
    for (let column = 0; column < end; column += tileSide) {
      if (column >= first) factorDiagonalTile(values, stride, column, least);
      for (let row = Math.max(first, column + tileSide); row < end; row += tileSide) {
        solveTile(values, stride, values, row * stride, stride, column);
      }
      yield;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) a[i * n + j] = j <= i ? values[i * stride + j]! : 0;
    yield;
  }
}

function factorDiagonalTile(values: Float64Array<ArrayBuffer>, stride: number, first: number, least: number): void {
  const start = first * stride;
  dotTile(values, start, stride, values, start, stride, first, sums);
  for (let i = 0; i < tileSide; i++) {
    const row = start + i * stride + first;
    for (let j = 0; j <= i; j++) {
      const other = start + j * stride + first;
      let rest = values[row + j]! - sums[tileSide * i + j]!;
      for (let k = 0; k < j; k++) rest -= values[row + k]! * values[other + k]!;
      values[row + j] = i === j ? Math.sqrt(requirePivot(rest, first + i, least)) : rest / values[other + j]!;
    }
  }
}

function requirePivot(value: number, pivot: number, least: number): number {
  if (value >= least && value < Number.POSITIVE_INFINITY) return value;
  throw new CovariumError(
    'ERR_NOT_POSITIVE_DEFINITE',
    `Matrix is not positive definite: pivot (${pivot}) is not positive.`,
    { pivot },
  );
}
