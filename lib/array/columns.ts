// Statistics of the columns of a matrix, in float64 on the host, in pieces between which the event loop has its turn.
import { named, quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import type { Work } from '../work.ts';
import { isStrided } from './foreign.ts';
import { Vector, type VectorInput } from './vector.ts';

/** What is read: `data` gives the numbers anew after each pause, and throws once they are closed. */
export interface Columns {
  readonly rows: number;
  readonly columns: number;
  readonly data: Values;
}

// Numbers between two pauses.
const piece = 1 << 15;

/** The mean of each column: sums of what lies beyond the first row, which does not lose the digits of large numbers. */
export function* columnMeans(matrix: Columns): Work<Float64Array<ArrayBuffer>> {
  requireSomeRows(matrix.rows, 'mean');
  const start = Float64Array.from(matrix.data.subarray(0, matrix.columns), (value) =>
    Number.isFinite(value) ? value : 0,
  );
  const sums = yield* columnSums(matrix, start, 1);
  const means = sums.map((sum, column) => start[column]! + sum / matrix.rows);
  if (means.every(Number.isFinite)) return means;
  // Where numbers are near the largest, their differences and sums overflow though their mean does not.
  const scaled = yield* columnSums(matrix, new Float64Array(matrix.columns), 2 ** -64);
  return means.map((mean, column) => (Number.isFinite(mean) ? mean : (scaled[column]! / matrix.rows) * 2 ** 64));
}

// Of each column, the sum of the numbers times a scale, less `start`.
function* columnSums(matrix: Columns, start: Float64Array, scale: number): Work<Float64Array<ArrayBuffer>> {
  const { rows, columns } = matrix;
  const sums = new Float64Array(columns);
  const block = new Float64Array(columns);
  const atOnce = Math.max(1, Math.floor(piece / columns));
  for (let first = 0; first < rows; first += atOnce) {
    const { data } = matrix;
    block.fill(0);
    for (let row = first; row < Math.min(rows, first + atOnce); row++)
      for (let column = 0; column < columns; column++)
        block[column]! += data[row * columns + column]! * scale - start[column]!;
    for (let column = 0; column < columns; column++) sums[column]! += block[column]!;
    yield;
  }
  return sums;
}

/**
 * The quantiles of each column, a row for each probability: between two order statistics they are interpolated (Hyndman
 * and Fan's definition 7, which NumPy and R take). A column with a NaN has NaN.
 */
export function* columnQuantiles(matrix: Columns, probabilities: VectorInput): Work<Float64Array<ArrayBuffer>> {
  const { rows, columns } = matrix;
  requireSomeRows(rows, 'quantile');
  if (!(Array.isArray(probabilities) || ArrayBuffer.isView(probabilities) || isStrided(probabilities)))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`probabilities\` is (${quoted(probabilities)}): pass an array, as [0.25, 0.5, 0.75].`,
    );
  // A list is read here, whose error names the entry.
  const given: ArrayLike<unknown> = Array.isArray(probabilities)
    ? probabilities
    : named('probabilities', () => Vector.from(probabilities, { dtype: 'float64' }).data);
  for (let at = 0; at < given.length; at++) {
    const p = given[at];
    if (!(typeof p === 'number' && p >= 0 && p <= 1))
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `\`probabilities[${at}]\` is (${quoted(p)}): pass a number from 0 to 1.`,
      );
  }
  const wanted = Array.from(given as ArrayLike<number>, (p, at) => ({ p, at })).sort((a, b) => a.p - b.p);
  const out = new Float64Array(wanted.length * columns);
  const column = new Float64Array(rows);
  for (let j = 0; j < columns; j++) {
    let hasNaN = false;
    for (let first = 0; first < rows; first += piece) {
      const { data } = matrix;
      for (let row = first; row < Math.min(rows, first + piece); row++) {
        column[row] = data[row * columns + j]!;
        hasNaN ||= Number.isNaN(column[row]);
      }
      yield;
    }
    // What is below `from` is in its place already.
    let from = 0;
    for (const { p, at } of wanted) {
      if (hasNaN) {
        out[at * columns + j] = Number.NaN;
        continue;
      }
      const place = p * (rows - 1);
      const below = Math.floor(place);
      yield* select(column, below, from, rows - 1);
      from = below;
      const above = below === place ? below : yield* smallestBehind(column, below);
      out[at * columns + j] = between(column[below]!, column[above]!, place - below);
    }
  }
  return out;
}

// From the nearer of the two, as NumPy does, whose bits these are. An infinite one, which counts from neither, stays.
function between(a: number, b: number, share: number): number {
  const apart = b - a;
  if (a === b || share === 0) return a;
  if (!Number.isFinite(apart)) return (1 - share) * a + share * b;
  return share < 0.5 ? a + apart * share : b - apart * (1 - share);
}

// Ranges that are longer have a pivot from a sample of theirs.
const sampled = 600;

/**
 * Brings the number that sorting from `left` to `right` would to `k`: none before it is larger, and none behind it
 * smaller (Floyd and Rivest's SELECT: Expected time bounds for selection. Communications of the ACM 18, 1975).
 */
function* select(values: Float64Array, k: number, left: number, right: number): Work {
  while (left < right) {
    const length = right - left + 1;
    if (length > sampled) {
      // The k-th of all is near the same share of a sample, of about length^(2/3).
      const size = 0.5 * Math.exp((2 * Math.log(length)) / 3);
      const away = 0.5 * Math.sqrt(Math.log(length) * size * (1 - size / length)) * Math.sign(k - left - length / 2);
      const first = Math.floor(k - ((k - left) * size) / length + away);
      const last = Math.floor(k + ((right - k) * size) / length + away);
      yield* select(values, k, Math.max(left, first), Math.min(right, last));
    }
    const pivot = length > sampled ? values[k]! : median(values[left]!, values[(left + right) >> 1]!, values[right]!);
    const gap = { left, right };
    while (gap.left <= gap.right) {
      part(values, pivot, gap);
      if (length > piece) yield;
    }
    if (gap.right < k) left = gap.left;
    if (k < gap.left) right = gap.right;
  }
}

/** Brings smaller numbers than the pivot before `gap` and larger ones behind it, a piece of it or to its end. */
function part(values: Float64Array, pivot: number, gap: { left: number; right: number }): void {
  let { left: i, right: j } = gap;
  const [most, least] = [i + piece, j - piece];
  while (i <= j) {
    // Each finds the pivot, or what the other has brought: none runs beyond the range.
    while (values[i]! < pivot && i < most) i++;
    while (values[j]! > pivot && j > least) j--;
    if (i > j || i === most || j === least) break;
    const first = values[i]!;
    values[i++] = values[j]!;
    values[j--] = first;
  }
  [gap.left, gap.right] = [i, j];
}

/** Where the smallest number behind place `k` is. */
function* smallestBehind(values: Float64Array, k: number): Work<number> {
  let found = k + 1;
  for (let first = k + 2; first < values.length; first += piece) {
    for (let at = first; at < Math.min(values.length, first + piece); at++)
      if (values[at]! < values[found]!) found = at;
    if (values.length > piece) yield;
  }
  return found;
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function requireSomeRows(rows: number, what: string): void {
  if (rows === 0) throw new CovariumError('ERR_SHAPE', `A matrix of (0) rows has no ${what}.`);
}
