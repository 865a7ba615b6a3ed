import { requireAttached } from '../array/host-memory.ts';
import { notFinite } from '../check.ts';
import type { Missing, Values } from '../dtype.ts';
import { endsPiece, inRows, rowsOfPiece, type Work } from '../work.ts';
import { type CentralSums, largest, noRows, shift, unitOf } from './central-sums.ts';

/** Rows of n numbers with their weights, as they are given. */
export interface WeightedRows {
  readonly values: Values;
  readonly count: number;
  readonly n: number;
  /** The weight of each row; all 1 by default. */
  readonly weights: Float64Array | undefined;
  /** How often each row is counted; all 1 by default. */
  readonly frequencies: Float64Array | undefined;
  readonly missing: Missing;
}

/** A block of rows, centred, to be added to {@link CentralSums}. */
export interface Block {
  /** sqrt(weight) times (row - centre), one row each, in units of 2^unit. */
  readonly deviations: Float64Array<ArrayBuffer>;
  /** All sums but the second, about the centre. */
  readonly sums: CentralSums;
  /** Sum of w (row - centre), which is not exactly zero because the centre is rounded. */
  readonly first: Float64Array;
}

/**
 * Rows per block: enough that joining blocks, n^2 operations, costs little compared with the n^2 of each row, and no
 * more than 16 MB where those are enough.
 */
export function rowsPerBlock(n: number): number {
  const [many, large] = [Math.min(4096, Math.floor(2 ** 16 / n)), Math.min(8 * n, Math.floor(2 ** 21 / n))];
  return Math.max(256, 2 * n, many, large);
}

/**
 * Rows [from, to), centred at approximately their mean, with the third and fourth sums if they are wanted. `memory`, of
 * at least (to - from) n numbers, gets the deviations. Throws `ERR_NOT_FINITE` with the entry.
 */
export function* centredBlock(
  rows: WeightedRows,
  from: number,
  to: number,
  wantsHigher: boolean,
  memory: Float64Array<ArrayBuffer>,
): Work<Block> {
  const { n } = rows;
  const sums = noRows(n);
  const { deviations, weights } = yield* taken(rows, from, to, sums, memory);
  const kept = weights.length;
  const first = new Float64Array(n);
  if (kept === 0) return { deviations, sums, first };

  const centre = yield* nearMean(deviations, weights, sums.weight, n);
  // Here the numbers are seen for the first time, if all rows were taken.
  if (kept === to - from && !centre.every(Number.isFinite))
    for (let r = 0; r < kept; r++) {
      lacksNumber(deviations, r * n, n, from + r, 'error');
      if (endsPiece(r, n)) yield;
    }
  sums.mean.set(centre);
  yield* inRows(kept, n, (begin, end) => {
    if (wantsHigher) for (let r = begin; r < end; r++) addHigher(deviations, r, n, weights[r]!, centre, sums);
    centreRows(deviations, begin, end, weights, centre, first);
  });
  if (wantsHigher && !(sums.fourth > leastFourth && sums.fourth < mostFourth))
    yield* higherInUnit(deviations, weights, sums);
  return { deviations, sums, first };
}

/** The sums of a block about its mean, once the second sums are added. */
export function* sumsOf({ sums, first }: Block): Work<CentralSums> {
  if (sums.weight > 0) {
    const delta = first.map((sum) => sum / sums.weight);
    yield* shift(sums, delta, first);
  }
  return sums;
}

// The mean, up to rounding, from differences to the first row, so that a large common offset costs no digits.
function* nearMean(rows: Float64Array, weights: Float64Array, weight: number, n: number): Work<Float64Array> {
  const centre = rows.slice(0, n);
  const sum = new Float64Array(n);
  yield* inRows(weights.length, n, (begin, end) => addDifferences(rows, begin, end, weights, centre, sum));
  for (let j = 0; j < n; j++) centre[j]! += sum[j]! / weight;
  return centre;
}

// Adds the weighted differences of rows [begin, end) from the centre to the sum.
function addDifferences(
  rows: Float64Array,
  begin: number,
  end: number,
  weights: Float64Array,
  centre: Float64Array,
  sum: Float64Array,
): void {
  const n = centre.length;
  for (let r = begin, at = begin * n; r < end; r++) {
    const weight = weights[r]!;
    for (let j = 0; j < n; j++, at++) sum[j]! += weight * (rows[at]! - centre[j]!);
  }
}

// Replaces rows [begin, end) by their deviations times the roots of their weights, and adds them to the first sum.
function centreRows(
  deviations: Float64Array,
  begin: number,
  end: number,
  weights: Float64Array,
  centre: Float64Array,
  first: Float64Array,
): void {
  const n = centre.length;
  for (let r = begin, at = begin * n; r < end; r++) {
    const weight = weights[r]!;
    const scale = Math.sqrt(weight);
    for (let j = 0; j < n; j++, at++) {
      const difference = deviations[at]! - centre[j]!;
      first[j]! += weight * difference;
      deviations[at] = scale * difference;
    }
  }
}

// Adds a row to the third and fourth sums.
function addHigher(
  rows: Float64Array,
  r: number,
  n: number,
  weight: number,
  centre: Float64Array,
  sums: CentralSums,
): void {
  const { third } = sums;
  let square = 0;
  for (let j = 0, at = r * n; j < n; j++, at++) square += (rows[at]! - centre[j]!) ** 2;
  const cubic = weight * square;
  for (let j = 0, at = r * n; j < n; j++, at++) third[j]! += cubic * (rows[at]! - centre[j]!);
  sums.fourth += cubic * square;
}

// Beyond them, powers of single rows may lose digits, or overflow.
const [leastFourth, mostFourth] = [2 ** -800, 2 ** 800];

// Computes the third and fourth sums again, in a unit of the largest deviation, and brings the deviations to it.
function* higherInUnit(deviations: Float64Array, weights: Float64Array, sums: CentralSums): Work {
  const { n } = sums;
  let most = 0;
  for (let r = 0; r < weights.length; r++) {
    most = Math.max(most, largest(deviations.subarray(r * n, (r + 1) * n)) / Math.sqrt(weights[r]!));
    if (endsPiece(r, n)) yield;
  }
  const unit = unitOf(most);
  if (!Number.isFinite(unit)) return;
  sums.unit = unit;
  sums.third.fill(0);
  sums.fourth = 0;
  const zeros = new Float64Array(n);
  const scale = 2 ** -unit;
  for (let r = 0; r < weights.length; r++) {
    const row = deviations.subarray(r * n, (r + 1) * n);
    for (let j = 0; j < n; j++) row[j]! *= scale;
    const unweighted = 1 / Math.sqrt(weights[r]!);
    addHigher(
      row.map((deviation) => deviation * unweighted),
      0,
      n,
      weights[r]!,
      zeros,
      sums,
    );
    if (endsPiece(r, n)) yield;
  }
}

interface Taken {
  readonly deviations: Float64Array<ArrayBuffer>;
  readonly weights: Float64Array;
}

// The rows with a positive weight, as float64, with their weights; later rows move up to replace those left out.
function* taken(
  rows: WeightedRows,
  from: number,
  to: number,
  sums: CentralSums,
  deviations: Float64Array<ArrayBuffer>,
): Work<Taken> {
  const { n, values } = rows;
  const atOnce = rowsOfPiece(n);
  const weights = new Float64Array(to - from);
  const mayLeaveOut = rows.missing === 'drop' || hasZero(rows.weights, from, to) || hasZero(rows.frequencies, from, to);
  let kept = 0;
  for (let row = from; row < to; row++) {
    const at = (row - from) * n;
    if ((row - from) % atOnce === 0) {
      if (row > from) yield;
      requireAttached('Rows', values);
      deviations.set(values.subarray(row * n, Math.min(to, row + atOnce) * n), at);
    }
    const isMissing = mayLeaveOut && lacksNumber(deviations, at, n, row, rows.missing);
    if (isMissing) sums.dropped += 1;
    const weight = rows.weights?.[row] ?? 1;
    const frequency = rows.frequencies?.[row] ?? 1;
    if (isMissing || weight * frequency === 0) continue;
    if (kept * n !== at) deviations.copyWithin(kept * n, at, at + n);
    weights[kept] = weight * frequency;
    kept += 1;
    sums.count += frequency;
    sums.weight += weight * frequency;
    sums.squaredWeight += weight * weight * frequency;
  }
  return { deviations: deviations.subarray(0, kept * n), weights: weights.subarray(0, kept) };
}

function hasZero(numbers: Float64Array | undefined, from: number, to: number): boolean {
  return numbers?.subarray(from, to).includes(0) === true;
}

function lacksNumber(values: Float64Array, at: number, n: number, row: number, missing: Missing): boolean {
  let zero = 0;
  for (let j = at; j < at + n; j++) zero += 0 * values[j]!;
  if (zero === 0) return false;
  const entries = values.subarray(at, at + n);
  const refused = (value: number) => !Number.isFinite(value) && (missing === 'error' || !Number.isNaN(value));
  const column = entries.findIndex(refused);
  if (column < 0) return true;
  throw notFinite('Data', `${row}, ${column}`, entries[column]!, {
    row,
    column,
  });
}
