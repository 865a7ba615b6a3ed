import { zerosOf } from '../dtype.ts';
import { endsPiece, rowsOfPiece, type Work } from '../work.ts';

/**
 * Sums over weighted rows x of n numbers about their mean, all in float64. Let d = x - mean, and w the weight of x. The
 * sums of two sets of rows give the sums of both (Chan, Golub, LeVeque 1983, extended to the third and fourth order),
 * so rows may come in any pieces.
 */
export interface CentralSums {
  readonly n: number;
  /** Number of observations: rows of positive weight, each counted as often as its frequency. */
  count: number;
  /** Number of rows dropped because they have a missing value. */
  dropped: number;
  /** Sum of w, and of w^2: (sum w)^2 / sum w^2 is the effective number of observations. */
  weight: number;
  squaredWeight: number;
  /**
   * The mean is mean + meanRest: the nearest float64 and its rounding error. An offset of 10^8 then costs no digits.
   */
  readonly mean: Float64Array<ArrayBuffer>;
  readonly meanRest: Float64Array<ArrayBuffer>;
  /** Sum of w d d', n x n: the lower triangle. */
  readonly second: Float64Array<ArrayBuffer>;
  /** Sum of w |d|^2 d, where d is in units of 2^unit. */
  readonly third: Float64Array<ArrayBuffer>;
  /** Sum of w |d|^4, where d is in units of 2^unit. */
  fourth: number;
  /** 0, unless the fourth powers would underflow or overflow: d is below 1e-60 or above 1e60. */
  unit: number;
}

// float64 holds the scale of each unit, and in the least one the fourth power of 2^-1074.
export const leastUnit = -1000;
export const mostUnit = 500;

/** The unit for differences of this size, whose fourth powers it brings near 1; -Infinity for 0. */
export function unitOf(size: number): number {
  if (size === 0) return Number.NEGATIVE_INFINITY;
  if (size > 2 ** -200 && size < 2 ** 200) return 0;
  return Math.max(leastUnit, Math.min(mostUnit, Math.floor(Math.log2(size))));
}

function toUnit(sums: CentralSums, unit: number): void {
  if (unit === sums.unit) return;
  if (sums.fourth > 0) {
    const ratio = 2 ** (sums.unit - unit);
    for (let j = 0; j < sums.n; j++) sums.third[j]! *= ratio ** 3;
    sums.fourth *= ratio ** 4;
  }
  sums.unit = unit;
}

// Without fourth powers any unit will do.
function unitNeeded({ fourth, unit }: CentralSums): number {
  return fourth > 0 ? unit : Number.NEGATIVE_INFINITY;
}

/** The sums of no rows. */
export function noRows(n: number): CentralSums {
  const zeros = (length: number) => zerosOf('float64', length) as Float64Array<ArrayBuffer>;
  const sums = { count: 0, dropped: 0, weight: 0, squaredWeight: 0, fourth: 0, unit: 0 };
  return { n, ...sums, mean: zeros(n), meanRest: zeros(n), second: zeros(n * n), third: zeros(n) };
}

/** Adds the sums of other rows; both operands change. */
export function* absorb(sums: CentralSums, other: CentralSums): Work {
  sums.dropped += other.dropped;
  if (other.weight === 0) return;
  const { n } = sums;
  const weight = sums.weight + other.weight;
  if (sums.weight > 0) {
    const toMean = new Float64Array(n);
    const toOther = new Float64Array(n);
    for (let j = 0; j < n; j++) {
      // The difference of two nearby numbers is nearly exact, whatever their offset.
      const difference = other.mean[j]! - sums.mean[j]! + (other.meanRest[j]! - sums.meanRest[j]!);
      toMean[j] = difference * (other.weight / weight);
      toOther[j] = -difference * (sums.weight / weight);
    }
    yield* shift(sums, toMean);
    yield* shift(other, toOther);
  } else {
    sums.mean.set(other.mean);
    sums.meanRest.set(other.meanRest);
  }
  const unit = Math.max(unitNeeded(sums), unitNeeded(other));
  if (Number.isFinite(unit)) for (const each of [sums, other]) toUnit(each, unit);
  for (let i = 0; i < n; i++) {
    for (let at = i * n; at <= i * n + i; at++) sums.second[at]! += other.second[at]!;
    if (endsPiece(i, n)) yield;
  }
  for (let j = 0; j < n; j++) sums.third[j]! += other.third[j]!;
  sums.fourth += other.fourth;
  sums.count += other.count;
  sums.weight = weight;
  sums.squaredWeight += other.squaredWeight;
}

/**
 * Moves sums from a centre c to c + delta. `first` is the sum of w (x - c), which is zero if c is the mean. With t the
 * trace of C, the second sum, s the first, v the third and W the weight:
 *     C' = C - s delta' - delta s' + W delta delta'
 *     v' = v - 2 C delta - t delta + |delta|^2 s + 2 (delta . s) delta - W |delta|^2 delta
 *     q' = q - 4 v . delta + 4 delta' C delta + 2 |delta|^2 t - 4 |delta|^2 (delta . s) + W |delta|^4
 */
export function* shift(sums: CentralSums, delta: Float64Array, first?: Float64Array): Work {
  const { n, weight, mean, meanRest, second, third } = sums;
  // Without fourth powers, the sums have the unit of the longest of steps and rows: in that of a step which is minute
  // beside the rows, the second sum would overflow.
  const longest = largest(delta);
  let rows = 0;
  if (longest > 0) for (let j = 0; j < n; j++) rows = Math.max(rows, second[j * (n + 1)]!);
  const unit = Math.max(unitNeeded(sums), unitOf(longest), unitOf(Math.sqrt(rows)));
  if (Number.isFinite(unit)) toUnit(sums, unit);
  // What is added to the third and the fourth sum is in their unit.
  const scale = 2 ** -sums.unit;
  const steps = delta.map((step) => step * scale);
  // Scaled before and after: the product of the sums with the steps would overflow, and the square of the scale may.
  const product = yield* symmetricProduct(
    second,
    steps.map((step) => step * scale),
  );
  for (let i = 0; i < n; i++) product[i]! *= scale;
  let trace = 0;
  let norm = 0;
  let along = 0;
  let cubic = 0;
  let quadratic = 0;
  for (let j = 0; j < n; j++) {
    trace += second[j * (n + 1)]! * scale * scale;
    norm += steps[j]! * steps[j]!;
    along += steps[j]! * (first?.[j] ?? 0) * scale;
    cubic += steps[j]! * third[j]!;
    quadratic += steps[j]! * product[j]!;
  }
  sums.fourth += -4 * cubic + 4 * quadratic + norm * (2 * trace - 4 * along + weight * norm);
  const pull = 2 * along - trace - weight * norm;
  for (let i = 0; i < n; i++) {
    const step = delta[i]!;
    const moment = first?.[i] ?? 0;
    third[i]! += -2 * product[i]! + norm * (moment * scale) + pull * steps[i]!;
    for (let j = 0; j <= i; j++)
      second[i * n + j]! += weight * step * delta[j]! - moment * delta[j]! - step * (first?.[j] ?? 0);
    addExactly(mean, meanRest, i, step);
    if (endsPiece(i, n)) yield;
  }
}

/** The largest absolute value; NaN if there is one. */
function largest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** True if all sums are finite; the fourth is the first to overflow, if it is wanted. */
export function isFiniteSums({ n, weight, squaredWeight, second, fourth, mean }: CentralSums): boolean {
  let trace = 0;
  for (let j = 0; j < n; j++) trace += second[j * (n + 1)]!;
  return [weight, squaredWeight, trace, fourth].every(Number.isFinite) && mean.every(Number.isFinite);
}

/** A copy that may be changed. */
export function* copiedSums(sums: CentralSums): Work<CentralSums> {
  const { mean, meanRest, second, third } = sums;
  const copy = zerosOf('float64', second.length) as Float64Array<ArrayBuffer>;
  yield* copySquare(second, copy, sums.n);
  return { ...sums, mean: mean.slice(), meanRest: meanRest.slice(), second: copy, third: third.slice() };
}

/** Copies n x n numbers. */
function* copySquare(from: Float64Array, to: Float64Array, n: number): Work {
  const step = rowsOfPiece(n) * n;
  for (let at = 0; at < to.length; at += step) {
    to.set(from.subarray(at, at + step), at);
    yield;
  }
}

// Adds a step to mean + meanRest. The rounding error of the sum is computed exactly (Knuth's two-sum) and added to
// meanRest.
function addExactly(mean: Float64Array, meanRest: Float64Array, j: number, step: number): void {
  const a = mean[j]!;
  const b = meanRest[j]! + step;
  const sum = a + b;
  const taken = sum - a;
  mean[j] = sum;
  meanRest[j] = a - (sum - taken) + (b - taken);
}

// The product of a symmetric matrix, given by its lower triangle, with a vector.
function* symmetricProduct(lower: Float64Array, vector: Float64Array): Work<Float64Array> {
  const n = vector.length;
  const product = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const entry = vector[i]!;
    let sum = lower[i * (n + 1)]! * entry;
    for (let j = 0; j < i; j++) {
      const value = lower[i * n + j]!;
      sum += value * vector[j]!;
      product[j]! += value * entry;
    }
    product[i]! += sum;
    if (endsPiece(i, n)) yield;
  }
  return product;
}
