// Statistics of the columns of a matrix, in float64 on the host, in pieces between which the event loop has its turn.
import { quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import type { Work } from '../work.ts';
import { hostValues } from './host-memory.ts';

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
  const { rows, columns } = matrix;
  requireRows(rows, 'mean');
  const means = new Float64Array(columns);
  const start = Float64Array.from(matrix.data.subarray(0, columns), (value) => (Number.isFinite(value) ? value : 0));
  const block = new Float64Array(columns);
  const atOnce = Math.max(1, Math.floor(piece / columns));
  for (let first = 0; first < rows; first += atOnce) {
    const { data } = matrix;
    block.fill(0);
    for (let row = first; row < Math.min(rows, first + atOnce); row++)
      for (let column = 0; column < columns; column++) block[column]! += data[row * columns + column]! - start[column]!;
    for (let column = 0; column < columns; column++) means[column]! += block[column]!;
    yield;
  }
  return means.map((sum, column) => start[column]! + sum / rows);
}

/**
 * The quantiles of each column, a row for each probability: between two order statistics they are interpolated (Hyndman
 * and Fan's definition 7, which NumPy and R take). A column with a NaN has NaN.
 */
export function* columnQuantiles(matrix: Columns, probabilities: readonly number[]): Work<Float64Array<ArrayBuffer>> {
  const { rows, columns } = matrix;
  requireRows(rows, 'quantile');
  if (!(Array.isArray(probabilities) || ArrayBuffer.isView(probabilities)))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`probabilities\` is (${quoted(probabilities)}): pass an array, as [0.25, 0.5, 0.75].`,
    );
  const given: ArrayLike<unknown> = ArrayBuffer.isView(probabilities)
    ? hostValues(probabilities as unknown as Values, 'float64')
    : probabilities;
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
      const place = p * (rows - 1);
      const [below, above] = [Math.floor(place), Math.ceil(place)];
      yield* select(column, below, from);
      from = below;
      yield* select(column, above, from);
      const value = between(column[below]!, column[above]!, place - below);
      out[at * columns + j] = hasNaN ? Number.NaN : value;
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

/** Brings the number that sorting would to `k`: none before it is larger, and none behind it smaller (Hoare's FIND). */
function* select(values: Float64Array, k: number, from: number): Work {
  let [left, right] = [from, values.length - 1];
  let steps = 0;
  while (left < right) {
    const pivot = median(values[left]!, values[(left + right) >> 1]!, values[right]!);
    let [i, j] = [left, right];
    while (i <= j) {
      for (; values[i]! < pivot; i++) steps += 1;
      for (; values[j]! > pivot; j--) steps += 1;
      if (i <= j) {
        [values[i], values[j]] = [values[j]!, values[i]!];
        i += 1;
        j -= 1;
        steps += 1;
      }
      if (steps >= piece) {
        steps = 0;
        yield;
      }
    }
    if (j < k) left = i;
    if (k < i) right = j;
  }
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function requireRows(rows: number, what: string): void {
  if (rows === 0) throw new CovariumError('ERR_SHAPE', `A matrix of (0) rows has no ${what}.`);
}
