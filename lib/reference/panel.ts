import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { workspace } from './memory.ts';
import { inTiles, tileSide } from './tile.ts';

const cacheBytes = 1 << 18; // a quarter of a common second-level cache

/** Rows of a matrix as float64 in whole tiles, as many as fit into a cache: the form in which this device computes. */
export class Panel {
  readonly values: Float64Array<ArrayBuffer>;
  /** Distance between two rows: n rounded up to whole tiles. Numbers beyond n are 0 or not read. */
  readonly stride: number;
  /** Rows that fit, in whole tiles. */
  readonly rows: number;
  readonly #n: number;

  /** For at most `count` rows of `n` numbers. */
  constructor(n: number, count: number) {
    this.#n = n;
    this.stride = inTiles(n);
    const fit = Math.floor(cacheBytes / (Float64Array.BYTES_PER_ELEMENT * this.stride * tileSide)) * tileSide;
    this.rows = Math.max(tileSide, Math.min(fit, inTiles(count)));
    this.values = workspace(this.rows * this.stride);
  }

  /** Loads `count` rows of `matrix` from row `first`; each is read backwards if `reversed`. */
  load(matrix: Real, first: number, count: number, reversed: boolean): void {
    const n = this.#n;
    const step = reversed ? -1 : 1;
    for (let r = 0; r < count; r++) {
      const to = r * this.stride;
      let from = (first + r) * n + (reversed ? n - 1 : 0);
      for (let j = 0; j < n; j++, from += step) this.values[to + j] = matrix[from]!;
    }
  }

  /** Stores the rows that {@link load} loaded. */
  store(matrix: Real, first: number, count: number, reversed: boolean): void {
    const n = this.#n;
    const step = reversed ? -1 : 1;
    for (let r = 0; r < count; r++) {
      const from = r * this.stride;
      let to = (first + r) * n + (reversed ? n - 1 : 0);
      for (let j = 0; j < n; j++, to += step) matrix[to] = this.values[from + j]!;
    }
  }

  /** Adds `scale` * row to each of the first `count` rows. */
  addRow(row: Real, scale: number, count: number): void {
    for (let r = 0; r < count; r++) {
      const start = r * this.stride;
      for (let j = 0; j < this.#n; j++) this.values[start + j]! += scale * row[j]!;
    }
  }

  /** The sum of squares of row `r`. */
  squaredNorm(r: number): number {
    const start = r * this.stride;
    let sum = 0;
    for (let j = 0; j < this.#n; j++) sum += this.values[start + j]! ** 2;
    return sum;
  }
}

/**
 * A lower triangle as float64, in whole tiles: row i starts at i stride. Beyond the matrix, the diagonal continues with
 * ones.
 */
export interface PackedFactor {
  readonly values: Float64Array<ArrayBuffer>;
  /** Rows and columns, in whole tiles. */
  readonly stride: number;
}

/**
 * Copies the lower triangle of a factor (n x n); the upper one is not read. `transposed` gives factor', as the lower
 * triangle that acts on reversed rows: factor' x = J (J factor' J) J x, where J reverses the order.
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
