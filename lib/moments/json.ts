import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { zerosOf } from '../dtype.ts';
import { type CentralSums, leastUnit, mostUnit } from './central-sums.ts';

/** {@link Moments} as JSON, version 1. Numbers are written so that they read back as the same float64. */
export interface MomentsJson {
  /** Version of this format. */
  readonly covariumMoments: 1;
  /** n, from 1. */
  readonly dimension: number;
  /** Observations. */
  readonly count: number;
  /** Number of rows left out because they have a missing value. */
  readonly dropped: number;
  /** Sum of the weights w. */
  readonly weight: number;
  /** Sum of w^2. */
  readonly squaredWeight: number;
  /** The mean, n entries. */
  readonly mean: readonly number[];
  /** The rounding error of the mean in float64, n entries. */
  readonly meanRest: readonly number[];
  /** Sum of w d d', where d = row - mean: n rows, row i of the lower triangle with i + 1 entries. */
  readonly second: readonly (readonly number[])[];
  /** Sum of w |d|^2 d, n entries. */
  readonly third: readonly number[];
  /** Sum of w |d|^4. */
  readonly fourth: number;
  /**
   * If there, d in `third` and `fourth` is in units of 2^unit, which keeps the powers of numbers below 1e-60 or above
   * 1e60 within float64.
   */
  readonly unit?: number;
}

/** Sums as JSON. */
export function momentsToJson(sums: CentralSums): MomentsJson {
  const { n, count, dropped, weight, squaredWeight, mean, meanRest, second, third, fourth, unit } = sums;
  return {
    covariumMoments: 1,
    dimension: n,
    count,
    dropped,
    weight,
    squaredWeight,
    mean: Array.from(mean),
    meanRest: Array.from(meanRest),
    second: Array.from({ length: n }, (_, i) => Array.from(second.subarray(i * n, i * n + i + 1))),
    third: Array.from(third),
    fourth,
    ...(unit !== 0 && { unit }),
  };
}

const names: readonly (keyof MomentsJson)[] = [
  ...(['covariumMoments', 'dimension', 'count', 'dropped', 'weight', 'squaredWeight'] as const),
  ...(['mean', 'meanRest', 'second', 'third', 'fourth', 'unit'] as const),
];

/** Sums from JSON; throws `ERR_MALFORMED_MOMENTS` with the path of the first invalid field. */
export function momentsFromJson(json: unknown): CentralSums {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw malformed('', 'not an object', json);
  const fields = json as Record<keyof MomentsJson, unknown>;
  if (fields.covariumMoments !== 1) throw malformed('covariumMoments', 'not version 1', fields.covariumMoments);
  const unknown = Object.keys(json).find((name) => !names.includes(name as keyof MomentsJson));
  if (unknown !== undefined)
    throw malformed(describe(unknown), 'an unknown field', fields[unknown as keyof MomentsJson]);
  const n = whole('dimension', fields.dimension, 1);
  const sums: CentralSums = {
    n,
    count: countOf('count', fields.count),
    dropped: countOf('dropped', fields.dropped),
    weight: number('weight', fields.weight),
    squaredWeight: number('squaredWeight', fields.squaredWeight),
    mean: numbers('mean', fields.mean, n),
    meanRest: numbers('meanRest', fields.meanRest, n),
    second: triangle(fields.second, n),
    third: numbers('third', fields.third, n),
    fourth: number('fourth', fields.fourth),
    unit: fields.unit === undefined ? 0 : whole('unit', fields.unit, leastUnit, mostUnit),
  };
  requirePossible(sums);
  return sums;
}

// Squares of numbers below this lose digits or underflow to 0.
const underflow = 1e-300;

// The sums of any rows satisfy these Cauchy-Schwarz inequalities, up to rounding.
function requirePossible(sums: CentralSums): void {
  const { n, count, weight, squaredWeight, mean, meanRest, second, third, fourth } = sums;
  const atMost = (value: number, bound: number) => value <= bound * (1 + 1e-6) + underflow;
  if (weight < 0 || (weight === 0) !== (count === 0)) throw impossible('weight', weight);
  const isPossible = atMost(squaredWeight, weight * weight) && atMost(weight * weight, count * squaredWeight);
  if (squaredWeight < 0 || !isPossible) throw impossible('squaredWeight', squaredWeight);
  const scale = 2 ** -sums.unit;
  // What sums of squares near the smallest numbers lose to rounding.
  const rounding = count * Number.MIN_VALUE;
  let least = 0;
  let most = 0;
  let length = 0;
  for (let i = 0; i < n; i++) {
    // Adding the rest must not change the nearest float64.
    if (mean[i]! + meanRest[i]! !== mean[i]!) throw impossible(`meanRest[${i}]`, meanRest[i]!);
    const variance = second[i * (n + 1)]!;
    if (variance < 0 || (weight === 0 && variance > 0)) throw impossible(`second[${i}][${i}]`, variance);
    for (let j = 0; j < i; j++) {
      const product = second[i * n + j]!;
      const bound = Math.sqrt(variance + underflow) * Math.sqrt(second[j * (n + 1)]! + underflow);
      if (!atMost(Math.abs(product), bound)) throw impossible(`second[${i}][${j}]`, product);
    }
    least += Math.max(0, variance - rounding) * scale * scale;
    most += (variance + rounding) * scale * scale;
    length = Math.hypot(length, third[i]!);
  }
  if (fourth < 0 || !atMost((least / (weight || 1)) * least, fourth)) throw impossible('fourth', fourth);
  if (!atMost(length, Math.sqrt(fourth + underflow) * Math.sqrt(most + underflow)))
    throw malformed('third', 'longer than possible', length);
}

function triangle(rows: unknown, n: number): Float64Array<ArrayBuffer> {
  if (!Array.isArray(rows) || rows.length !== n) throw malformed('second', `not an array of ${n} rows`, rows);
  for (let i = 0; i < n; i++) requireNumbers(`second[${i}]`, rows[i], i + 1);
  const second = zerosOf('float64', n * n) as Float64Array<ArrayBuffer>;
  for (let i = 0; i < n; i++) second.set(rows[i], i * n);
  return second;
}

function numbers(path: string, value: unknown, length: number): Float64Array<ArrayBuffer> {
  requireNumbers(path, value, length);
  return Float64Array.from(value);
}

// Memory is taken only for numbers that are there: an array of holes, or `dimension`, may be of any length.
function requireNumbers(path: string, value: unknown, length: number): asserts value is number[] {
  if (!Array.isArray(value) || value.length !== length)
    throw malformed(path, `not an array of ${length} numbers`, value);
  for (let index = 0; index < length; index++) number(`${path}[${index}]`, value[index]);
}

function whole(path: string, value: unknown, minimum = 0, maximum?: number): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) >= minimum;
  if (isWhole && (maximum === undefined || (value as number) <= maximum)) return value as number;
  const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw malformed(path, `not a whole number ${range}`, value);
}

// Beyond 2^53 counts are rounded, as the sums are: so many observations are summed and written, and so they are read.
function countOf(path: string, value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw malformed(path, 'not a whole number of at least 0', value);
}

function number(path: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw malformed(path, 'not a finite number', value);
}

function impossible(path: string, value: number): CovariumError {
  return malformed(path, 'not what the other sums allow', value);
}

function malformed(path: string, why: string, value: unknown): CovariumError {
  const where = path === '' ? '`json` is' : `${path} is`;
  return new CovariumError('ERR_MALFORMED_MOMENTS', `Moments are malformed: ${where} ${why} (${describe(value)}).`);
}
