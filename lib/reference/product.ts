import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { workspace } from './memory.ts';
import { dotTile, inTiles, tileSide } from './tile.ts';

const sums = new Float64Array(tileSide * tileSide);
const blockSide = 256; // three blocks of 256 x 256 float64 numbers: 1.5 MiB, mostly in a second-level cache

/**
 * c = alpha op(a) op(b) + beta c, sums in float64; op(a) is m x k, op(b) k x n, c m x n. beta = 0 does not read c, and
 * alpha = 0 neither a nor b, whose sum may overflow.
 */
export function* product(
  a: Real,
  b: Real,
  c: Real,
  m: number,
  n: number,
  k: number,
  transposeA: boolean,
  transposeB: boolean,
  alpha: number,
  beta: number,
): Work {
  const depth = Math.min(blockSide, k);
  const blockA = workspace(inTiles(Math.min(blockSide, m)) * depth);
  const blockB = workspace(inTiles(Math.min(blockSide, n)) * depth);
  const sum = workspace(inTiles(Math.min(blockSide, m)) * inTiles(Math.min(blockSide, n)));
  for (let i = 0; i < m; i += blockSide) {
    const rows = Math.min(blockSide, m - i);
    for (let j = 0; j < n; j += blockSide) {
      const columns = Math.min(blockSide, n - j);
      sum.fill(0);
      for (let l = 0; alpha !== 0 && l < k; l += blockSide) {
        const taken = Math.min(blockSide, k - l);
        if (transposeA) pack(a, l * m + i, 1, m, rows, taken, blockA);
        else pack(a, i * k + l, k, 1, rows, taken, blockA);
        if (transposeB) pack(b, j * k + l, k, 1, columns, taken, blockB);
        else pack(b, l * n + j, 1, n, columns, taken, blockB);
        yield;
        yield* addProduct(blockA, blockB, sum, rows, columns, taken);
      }
      for (let r = 0; r < rows; r++) {
        const at = (i + r) * n + j;
        const from = r * inTiles(columns);
        if (beta === 0) for (let s = 0; s < columns; s++) c[at + s] = alpha * sum[from + s]!;
        else for (let s = 0; s < columns; s++) c[at + s] = alpha * sum[from + s]! + beta * c[at + s]!;
      }
      yield;
    }
  }
}

// Copies rows of op(a), or columns of op(b), side by side along the common dimension.
function pack(
  from: Real,
  start: number,
  rowStep: number,
  step: number,
  rows: number,
  length: number,
  to: Float64Array<ArrayBuffer>,
): void {
  for (let r = 0; r < rows; r++) {
    let at = start + r * rowStep;
    for (let l = 0; l < length; l++, at += step) to[r * length + l] = from[at]!;
  }
}

// Rows beyond `rows` and `columns`, up to whole tiles, hold old numbers; their sums are not read.
function* addProduct(
  a: Float64Array<ArrayBuffer>,
  b: Float64Array<ArrayBuffer>,
  sum: Float64Array<ArrayBuffer>,
  rows: number,
  columns: number,
  length: number,
): Work {
  const width = inTiles(columns);
  for (let j = 0; j < columns; j += tileSide) {
    for (let i = 0; i < rows; i += tileSide) {
      dotTile(a, i * length, length, b, j * length, length, length, sums);
      for (let r = 0; r < tileSide; r++) {
        const at = (i + r) * width + j;
        sum[at]! += sums[4 * r]!;
        sum[at + 1]! += sums[4 * r + 1]!;
        sum[at + 2]! += sums[4 * r + 2]!;
        sum[at + 3]! += sums[4 * r + 3]!;
      }
    }
    yield;
  }
}
