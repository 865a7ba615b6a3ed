import { columnBytes } from '../backend.ts';
import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { type PackedFactor, Panel, packFactor } from './panel.ts';
import { dotTile, tileSide } from './tile.ts';

const sums = new Float64Array(tileSide * tileSide);

/** Each row x of `rows` becomes factor x, or factor' x where `transposed`. */
export function triangularProduct(factor: Real, rows: Real, n: number, transposed: boolean): Work {
  return eachPanel(factor, rows, n, transposed, multiplyPanel);
}

/** out[r] = start + factor z[r] for rows z, by a factor in columns; see `Encoder`. */
export function* multiplyColumns(columns: Real, start: Real, z: Real, out: Real, n: number): Work {
  const wide = columnBytes / columns.BYTES_PER_ELEMENT;
  for (let r = 0; r < out.length; r += n) {
    for (let i = 0; i < n; i++) {
      const block = Math.floor(i / wide);
      const at = wide * wide * ((block * (block + 1)) / 2) + (i % wide);
      let sum = 0;
      for (let k = 0; k <= i; k++) sum += columns[at + k * wide]! * z[r + k]!;
      out[r + i] = (start.length === 0 ? 0 : start[i]!) + sum;
    }
    yield;
  }
}

/** Each row x of `rows` becomes the y of factor y = x, or of factor' y = x where `transposed`. */
export function triangularSolve(factor: Real, rows: Real, n: number, transposed: boolean): Work {
  return eachPanel(factor, rows, n, transposed, solvePanel);
}

/** Each row x of `rows` becomes the y of factor factor' y = x. */
export function* choleskySolve(factor: Real, rows: Real, n: number): Work {
  yield* triangularSolve(factor, rows, n, false);
  yield* triangularSolve(factor, rows, n, true);
}

function* eachPanel(
  factor: Real,
  rows: Real,
  n: number,
  transposed: boolean,
  act: (factor: PackedFactor, panel: Panel, count: number) => Work,
): Work {
  const packed = yield* packFactor(factor, n, transposed);
  const count = rows.length / n;
  const panel = new Panel(n, count);
  for (let first = 0; first < count; first += panel.rows) {
    const taken = Math.min(panel.rows, count - first);
    panel.load(rows, first, taken, transposed);
    yield* act(packed, panel, taken);
    panel.store(rows, first, taken, transposed);
  }
}

/**
 * The first `count` rows x of a panel become factor x. From the last columns to the first, so that it can be done in
 * place.
 */
export function* multiplyPanel(factor: PackedFactor, panel: Panel, count: number): Work {
  for (let column = factor.stride - tileSide; column >= 0; column -= tileSide) {
    for (let r = 0; r < count; r += tileSide) multiplyTile(factor, panel, r, column);
    yield;
  }
}

/** The first `count` rows x of a panel become the y of factor y = x. */
export function* solvePanel(factor: PackedFactor, panel: Panel, count: number): Work {
  for (let column = 0; column < factor.stride; column += tileSide) {
    for (let r = 0; r < count; r += tileSide) {
      solveTile(factor.values, factor.stride, panel.values, r * panel.stride, panel.stride, column);
    }
    yield;
  }
}

function multiplyTile(factor: PackedFactor, panel: Panel, row: number, column: number): void {
  const f = factor.values;
  const stride = factor.stride;
  const x = panel.values;
  const start = row * panel.stride;
  dotTile(x, start, panel.stride, f, column * stride, stride, column, sums);
  const d0 = column * stride + column;
  const d1 = d0 + stride;
  const d2 = d1 + stride;
  const d3 = d2 + stride;
  for (let i = 0; i < tileSide; i++) {
    const at = start + i * panel.stride + column;
    const x0 = x[at]!;
    const x1 = x[at + 1]!;
    const x2 = x[at + 2]!;
    const x3 = x[at + 3]!;
    x[at] = sums[4 * i]! + f[d0]! * x0;
    x[at + 1] = sums[4 * i + 1]! + f[d1]! * x0 + f[d1 + 1]! * x1;
    x[at + 2] = sums[4 * i + 2]! + f[d2]! * x0 + f[d2 + 1]! * x1 + f[d2 + 2]! * x2;
    x[at + 3] = sums[4 * i + 3]! + f[d3]! * x0 + f[d3 + 1]! * x1 + f[d3 + 2]! * x2 + f[d3 + 3]! * x3;
  }
}

/**
 * Four columns, from `column`, of the solution of factor y = x, for the four rows x that begin at `start` in `x`, whose
 * columns before these are solved. The factor's row i begins at i * stride in `f`.
 */
export function solveTile(
  f: Float64Array<ArrayBuffer>,
  stride: number,
  x: Float64Array<ArrayBuffer>,
  start: number,
  xStride: number,
  column: number,
): void {
  dotTile(x, start, xStride, f, column * stride, stride, column, sums);
  const d0 = column * stride + column;
  const d1 = d0 + stride;
  const d2 = d1 + stride;
  const d3 = d2 + stride;
  for (let i = 0; i < tileSide; i++) {
    const at = start + i * xStride + column;
    const y0 = (x[at]! - sums[4 * i]!) / f[d0]!;
    const y1 = (x[at + 1]! - sums[4 * i + 1]! - f[d1]! * y0) / f[d1 + 1]!;
    const y2 = (x[at + 2]! - sums[4 * i + 2]! - f[d2]! * y0 - f[d2 + 1]! * y1) / f[d2 + 2]!;
    const y3 = (x[at + 3]! - sums[4 * i + 3]! - f[d3]! * y0 - f[d3 + 1]! * y1 - f[d3 + 2]! * y2) / f[d3 + 3]!;
    x[at] = y0;
    x[at + 1] = y1;
    x[at + 2] = y2;
    x[at + 3] = y3;
  }
}

/** Entries of `a` (n x n) above the diagonal become 0. */
export function* zeroUpper(a: Real, n: number): Work {
  for (let i = 0; i < n; i++) {
    a.fill(0, i * n + i + 1, (i + 1) * n);
    yield;
  }
}

/** Transposes `a` (n x n) along its other diagonal, in place: a_ij <-> a_(n-1-j)(n-1-i). */
export function* antitranspose(a: Real, n: number): Work {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n - 1 - i; j++) {
      const here = i * n + j;
      const there = (n - 1 - j) * n + (n - 1 - i);
      const value = a[here]!;
      a[here] = a[there]!;
      a[there] = value;
    }
    yield;
  }
}
