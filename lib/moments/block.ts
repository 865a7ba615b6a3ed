import { isReadable, requireAttached } from '../array/host-memory.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { notFinite } from '../check.ts';
import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Missing, type Real, smallestNormal, type Values } from '../dtype.ts';
import { addPowers } from '../reference/moments.ts';
import { endsPiece, inRows, isSlice, rowsOfPiece, type Work } from '../work.ts';
import { type CentralSums, noRows, shift, unitOf } from './central-sums.ts';

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

/**
 * Rows per block: enough that joining blocks, n^2 operations, costs little compared with the n^2 of each row, and no
 * more than 16 MB where those are enough.
 */
export function rowsPerBlock(n: number): number {
  const [many, large] = [Math.min(4096, Math.floor(2 ** 16 / n)), Math.min(8 * n, Math.floor(2 ** 21 / n))];
  return Math.max(256, 2 * n, many, large);
}

/** True if a device can take the rows where they are: in float32 or float64, and all of them. */
export function areTakenInPlace({ values, missing }: WeightedRows): boolean {
  const dtype = dtypeOf(values);
  return missing === 'error' && (dtype === 'float64' || dtype === 'float32') && isReadable(values, dtype);
}

/**
 * The sums of rows [from, to) about their mean, with the third and fourth if they are wanted. `memory`, of at least
 * (to - from) n numbers, gets copies of the rows; without it they are taken in place. `before` is the sum of weights of
 * the rows before them. Throws `ERR_NOT_FINITE` with the entry, `ERR_OUT_OF_RANGE`, and what the device throws.
 */
export function* blockSums(
  device: OpenBackend,
  rows: WeightedRows,
  from: number,
  to: number,
  wantsHigher: boolean,
  memory: Float64Array<ArrayBuffer> | undefined,
  before: number,
): Tasks<CentralSums> {
  const { n } = rows;
  const sums = noRows(n);
  const block = yield* taken(rows, from, to, sums, memory);
  const { values } = block;
  if (values.length === 0) return sums;

  // The mean, up to rounding, from differences to the first row of a weight, so that a large common offset costs no
  // digits.
  const origin = Math.max(
    0,
    block.weights.findIndex((weight) => weight > 0),
  );
  const centre = new Float64Array(values.subarray(origin * n, (origin + 1) * n));
  const differences = new Float64Array(n);
  yield* adding(device, block, centre, differences, none);
  for (let j = 0; j < n; j++) centre[j]! += differences[j]! / sums.weight;
  // Here the numbers are seen for the first time, if all rows were taken.
  if (sums.dropped === 0 && !centre.every(Number.isFinite))
    for (let r = 0; r < to - from; r++) {
      lacksNumber(values, r * n, n, from + r, 'error');
      if (endsPiece(r, n)) yield;
    }
  if (sums.weight === 0) return sums;

  sums.mean.set(centre);
  if (wantsHigher) yield* addHigher(device, block, centre, sums);
  // Not exactly zero, because the centre is rounded.
  const first = new Float64Array(n);
  yield* adding(device, block, centre, first, sums.second);
  const delta = first.map((sum) => sum / sums.weight);
  yield* shift(sums, delta, first);
  if (block.weights.length > 0) yield* requireKept(block, sums, before + sums.weight);
  return sums;
}

// A variance that has all digits, also where it is a sum of smaller ones.
const leastVariance = 1e-290;

/** Throws `ERR_OUT_OF_RANGE` where the weights bring squares that float64 holds below what it holds. */
function* requireKept({ values, weights }: Taken, { n, mean, second }: CentralSums, total: number): Work {
  for (let j = 0; j < n; j++) {
    const sum = second[j * (n + 1)]!;
    // A sum that is NaN or infinite has overflowed, which is refused later.
    if (!(sum < smallestNormal.float64)) continue;
    let variance = 0;
    for (let r = 0; r < weights.length; r++) {
      const difference = values[r * n + j]! - mean[j]!;
      variance += (weights[r]! / total) * difference * difference;
      if (isSlice(r)) yield;
    }
    if (variance < leastVariance) continue;
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`weights\` are too small for column (${j}) of \`rows\`: the sum of its squares times them is (${sum}). Pass larger ones: only their ratios matter.`,
      { column: j },
    );
  }
}

const none = new Float64Array(0);

// Multiply-adds that are over before a device's commit has begun.
const fewProducts = 1024;

// Encoder.addMoments, by a device unless it is over at once.
function* adding(
  device: OpenBackend,
  { values, weights }: Taken,
  centre: Float64Array,
  sums: Float64Array,
  products: Float64Array,
): Tasks<void> {
  if (values.length * centre.length > fewProducts)
    return yield* exactly(device, (encoder, scratch) => {
      encoder.addMoments(scratch.input(values, dtypeOf(values)), weights, centre, sums, products);
    });
  const n = centre.length;
  const row = new Float64Array(n);
  for (let at = 0; at < values.length; at += n) {
    const weight = weights[at / n] ?? 1;
    for (let i = 0; i < n; i++) {
      const difference = values[at + i]! - centre[i]!;
      row[i] = difference;
      sums[i]! += weight * difference;
      if (products.length > 0) for (let j = 0; j <= i; j++) products[i * n + j]! += weight * difference * row[j]!;
    }
  }
}

// Beyond them, powers of single rows may lose digits, or overflow.
const [leastFourth, mostFourth] = [2 ** -800, 2 ** 800];

// Makes the third and fourth sums, in a unit of the largest difference if powers ask for one.
function* addHigher(
  device: OpenBackend,
  { values, weights }: Taken,
  centre: Float64Array,
  sums: CentralSums,
): Tasks<void> {
  const { n } = sums;
  const powers = new Float64Array(n + 1);
  if (values.length > fewProducts)
    yield* exactly(device, (encoder, scratch) => {
      encoder.addPowers(scratch.input(values, dtypeOf(values)), weights, centre, powers);
    });
  else yield* addPowers(values, weights, centre, powers);
  setPowers(sums, powers);
  if (sums.fourth > leastFourth && sums.fourth < mostFourth) return;
  let most = 0;
  yield* inRows(values.length / n, n, (begin, end) => {
    for (let r = begin, at = begin * n; r < end; r++)
      for (let j = 0; j < n; j++, at++) {
        const size = Math.abs(values[at]! - centre[j]!);
        if (size > most && weights[r] !== 0) most = size;
      }
  });
  const unit = unitOf(most);
  if (!Number.isFinite(unit)) return;
  sums.unit = unit;
  powers.fill(0);
  yield* addPowers(values, weights, centre, powers, 2 ** -unit);
  setPowers(sums, powers);
}

function setPowers(sums: CentralSums, powers: Float64Array): void {
  sums.third.set(powers.subarray(0, sums.n));
  sums.fourth = powers[sums.n]!;
}

/** Rows of a block, and the weight of each; all 1 if there are no weights. */
interface Taken {
  readonly values: Real;
  readonly weights: Float64Array;
}

// The rows that lack no number, with their weights, and their counts; later copies move up to replace those left out.
function* taken(
  { n, values, weights, frequencies, missing }: WeightedRows,
  from: number,
  to: number,
  sums: CentralSums,
  memory: Float64Array<ArrayBuffer> | undefined,
): Work<Taken> {
  const atOnce = rowsOfPiece(n);
  const isWeighted = weights !== undefined || frequencies !== undefined;
  const each = new Float64Array(isWeighted ? to - from : 0);
  let kept = 0;
  for (let begin = from; begin < to; begin += atOnce) {
    if (begin > from) yield;
    const end = Math.min(to, begin + atOnce);
    requireAttached('Rows', values);
    memory?.set(values.subarray(begin * n, end * n), (begin - from) * n);
    if (!isWeighted && missing === 'error') {
      kept += end - begin;
      continue;
    }
    for (let row = begin, at = (begin - from) * n; row < end; row++, at += n) {
      if (memory !== undefined && missing === 'drop' && lacksNumber(memory, at, n, row, missing)) {
        sums.dropped += 1;
        continue;
      }
      if (kept < row - from) memory?.copyWithin(kept * n, at, at + n);
      kept += 1;
      if (!isWeighted) continue;
      const weight = weights?.[row] ?? 1;
      const frequency = frequencies?.[row] ?? 1;
      each[kept - 1] = weight * frequency;
      if (weight * frequency === 0) continue;
      sums.count += frequency;
      sums.weight += weight * frequency;
      sums.squaredWeight += weight * weight * frequency;
    }
  }
  if (!isWeighted) sums.count = sums.weight = sums.squaredWeight = kept;
  const all = memory ?? (values.subarray(from * n, to * n) as Real);
  return { values: all.subarray(0, kept * n), weights: each.subarray(0, kept) };
}

function lacksNumber(values: Real, at: number, n: number, row: number, missing: Missing): boolean {
  let zero = 0;
  for (let j = at; j < at + n; j++) zero += 0 * values[j]!;
  if (zero === 0) return false;
  const entries = values.subarray(at, at + n);
  const refused = (value: number) => !Number.isFinite(value) && (missing === 'error' || !Number.isNaN(value));
  const column = entries.findIndex(refused);
  if (column < 0) return true;
  throw withDrop(notFinite('Data', `${row}, ${column}`, entries[column]!, { row, column }));
}

/** An error of an entry of `rows` that is NaN, with the option that leaves its row out; any other as it is. */
export function withDrop(error: CovariumError): CovariumError {
  const { code, message, row, column } = error;
  if (!/^`rows` entry \([\d, ]+\) is \(NaN\), not a finite number\.$/.test(message)) return error;
  const remedy = `${message} Pass \`missing\` 'drop' to leave its row out.`;
  return new CovariumError(code, remedy, { row: row!, column: column!, cause: error });
}
