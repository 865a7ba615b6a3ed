import type { Real } from '../dtype.ts';
import { workspace } from './allocate.ts';
import { inTiles } from './tile.ts';
import type { Work } from './work.ts';

/** A lower triangle as float64, in whole tiles: row i starts at i stride; a unit diagonal goes on where the matrix ends. */
export interface PackedFactor {
  readonly values: Float64Array<ArrayBuffer>;
  /** Rows and columns, in whole tiles. */
  readonly stride: number;
}

/**
 * Copies the lower triangle of a factor (n x n); the upper is not read. `transposed` stands for factor', as the lower
 * triangle that acts on reversed rows: factor' x = J (J factor' J) J x, J reversing the order.
 */
export function* packFactor(factor: Real, n: number, transposed: boolean): Work<PackedFactor> {
  const stride = inTiles(n);
  const values = workspace(stride * stride);
  for (let i = 0; i < n; i++) {
    const row = i * stride;
    if (transposed) for (let j = 0; j <= i; j++) values[row + j] = factor[(n - 1 - j) * n + (n - 1 - i)]!;
    else for (let j = 0; j <= i; j++) values[row + j] = factor[i * n + j]!;
    yield;
  }
  for (let i = n; i < stride; i++) values[i * stride + i] = 1;
  return { values, stride };
}
