import type { Real } from '../dtype.ts';
import { inRows, type Work } from '../work.ts';
import { workspace } from './memory.ts';
import { dotTile, inTiles, tileSide } from './tile.ts';

const rowsAtOnce = 256;
const sums = new Float64Array(tileSide * tileSide);

/**
 * Column means, and covariance divided by count - ddof, of `rows` (count x n). Uses two passes: the second subtracts
 * the means of the first, and corrects for their rounding (Chan, Golub, LeVeque 1983), so it is accurate far from the
 * origin.
 */
export function* meanAndCovariance(rows: Real, mean: Real, covariance: Real, ddof: number): Work {
  const n = mean.length;
  const count = rows.length / n;
  const stride = inTiles(n);
  const center = yield* columnSums(rows, n);
  for (let j = 0; j < n; j++) center[j]! /= count;
  const origin = new Float64Array(rows.subarray(0, n));

  const centred = workspace(stride * rowsAtOnce); // transposed: a column of the data is a row here
  const residue = workspace(n);
  const squares = workspace(stride * stride); // tiles of the lower triangle
  for (let first = 0; first < count; first += rowsAtOnce) {
    const taken = Math.min(rowsAtOnce, count - first);
    for (let j = 0; j < n; j++) residue[j]! += centreColumn(rows, n, first, taken, j, origin[j]!, center[j]!, centred);
    yield;
    yield* addSquares(centred, taken, stride, squares);
  }

  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const correction = (residue[i]! * residue[j]!) / count;
      // Where it overflows, so do the squares: their difference would be no number.
      const square = squares[i * stride + j]! - (Number.isFinite(correction) ? correction : 0);
      const value = square / (count - ddof);
      covariance[i * n + j] = value;
      covariance[j * n + i] = value;
    }
    mean[i] = origin[i]! + (center[i]! + residue[i]! / count);
    yield;
  }
}

/** {@link Encoder.addMoments}. */
export function* addMoments(
  rows: Real,
  weights: Float64Array,
  centre: Float64Array,
  sums: Float64Array,
  products: Float64Array,
): Work {
  const n = centre.length;
  const count = rows.length / n;
  const stride = inTiles(n);
  const centred = workspace(stride * rowsAtOnce);
  const squares = workspace(products.length === 0 ? 0 : stride * stride);
  for (let first = 0; first < count; first += rowsAtOnce) {
    const taken = Math.min(rowsAtOnce, count - first);
    const roots = weights.subarray(first, first + taken).map(Math.sqrt);
    for (let j = 0; j < n; j++) {
      const sum = centreColumn(rows, n, first, taken, j, centre[j]!, 0, centred);
      sums[j]! += weights.length === 0 ? sum : weighted(centred, j, roots);
    }
    yield;
    if (products.length > 0) yield* addSquares(centred, taken, stride, squares);
  }
  if (products.length === 0) return;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) products[i * n + j]! += squares[i * stride + j]!;
    yield;
  }
}

/** {@link Encoder.addPowers}, with the differences from the centre times `scale`. */
export function addPowers(
  rows: Real,
  weights: Float64Array,
  centre: Float64Array,
  sums: Float64Array,
  scale = 1,
): Work {
  const n = centre.length;
  return inRows(rows.length / n, n, (begin, end) => {
    for (let r = begin; r < end; r++) {
      const weight = weights[r] ?? 1;
      if (weight === 0) continue;
      let square = 0;
      for (let j = 0, at = r * n; j < n; j++, at++) square += ((rows[at]! - centre[j]!) * scale) ** 2;
      const cubic = weight * square;
      for (let j = 0, at = r * n; j < n; j++, at++) sums[j]! += cubic * ((rows[at]! - centre[j]!) * scale);
      sums[n]! += cubic * square;
    }
  });
}

// Sums of the differences from the first row, so that a large common offset costs no digits.
function* columnSums(rows: Real, n: number): Work<Float64Array<ArrayBuffer>> {
  const total = workspace(n);
  for (let start = 0; start < rows.length; start += n * rowsAtOnce) {
    const end = Math.min(start + n * rowsAtOnce, rows.length);
    for (let i = start; i < end; i += n) for (let j = 0; j < n; j++) total[j]! += rows[i + j]! - rows[j]!;
    yield;
  }
  return total;
}

// Writes column j of `taken` rows minus its centre to row j of `centred`; returns the sum, which rounding of the centre
// keeps from being 0.
function centreColumn(
  rows: Real,
  n: number,
  first: number,
  taken: number,
  j: number,
  origin: number,
  center: number,
  centred: Float64Array<ArrayBuffer>,
): number {
  let sum = 0;
  for (let r = 0; r < taken; r++) {
    const difference = rows[(first + r) * n + j]! - origin - center;
    centred[j * rowsAtOnce + r] = difference;
    sum += difference;
  }
  return sum;
}

// Multiplies row j of `centred` by the roots of the weights; returns the weighted sum of what it was.
function weighted(centred: Float64Array<ArrayBuffer>, j: number, roots: Float64Array): number {
  let sum = 0;
  for (let r = 0, at = j * rowsAtOnce; r < roots.length; r++, at++) {
    centred[at]! *= roots[r]!;
    sum += roots[r]! * centred[at]!;
  }
  return sum;
}

// Rows of `centred` beyond n are 0.
function* addSquares(
  centred: Float64Array<ArrayBuffer>,
  taken: number,
  stride: number,
  squares: Float64Array<ArrayBuffer>,
): Work {
  for (let i = 0; i < stride; i += tileSide) {
    for (let j = 0; j <= i; j += tileSide) {
      dotTile(centred, i * rowsAtOnce, rowsAtOnce, centred, j * rowsAtOnce, rowsAtOnce, taken, sums);
      for (let at = 0; at < tileSide * tileSide; at++) {
        squares[(i + Math.floor(at / tileSide)) * stride + j + (at % tileSide)]! += sums[at]!;
      }
    }
    yield;
  }
}
