import { hostValues, hostZeros, requireAttached } from '../array/host-memory.ts';
import { realDtype, rowsInput } from '../array/inputs.ts';
import type { MatrixInput } from '../array/matrix.ts';
import { finiteNumber } from '../array/operand.ts';
import { Volume } from '../array/volume.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, orElse, requireFiniteEntries, wholeNumber } from '../check.ts';
import { exactDevice, exactly } from '../command/float64.ts';
import { step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { type Real, type RealDtype, smallestNormal, type Values } from '../dtype.ts';
import { accumulating } from '../moments/accumulate.ts';
import { estimating } from '../moments/estimate.ts';
import { weightedRows } from '../moments/weighted-rows.ts';
import { normalCounter, type Word64 } from '../stream/counter.ts';
import { inRows } from '../work.ts';
import {
  type BatchParameters,
  type BatchWords,
  batchConstants,
  batchInput,
  estimatedWords,
  factorBatch,
  parametersAt,
} from './batch.ts';
import { measureAgain } from './far-rows.ts';
import { clusters } from './k-means.ts';
import { requireRepresented } from './represented.ts';
import { singularRows, unheldColumn } from './singular-rows.ts';

/** Options of {@link MultivariateNormalMixture.fit}. */
export interface MixtureFitOptions {
  /** The device that holds the mixture and computes; it must be open. */
  readonly device: Device;
  /** Observations, count x n. */
  readonly rows: MatrixInput;
  /** K, the number of components, from 1. */
  readonly components: number;
  /** By default `float64` where `rows` are a Float64Array, or a Matrix of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
  /** Chooses the centres to begin with; 0 by default. */
  readonly seed?: Word64 | undefined;
  /** 200 by default. */
  readonly maxIterations?: number | undefined;
  /** Ends when an iteration raises the mean log density of a row by less; 1e-6 by default. */
  readonly tolerance?: number | undefined;
  /** Added to the variances of each component, as a share of the column's variance; 1e-6 by default. */
  readonly regularization?: number | undefined;
}

/** How a fit ended. */
export interface MixtureReport {
  /** How often expectation and maximisation took turns. */
  readonly iterations: number;
  /** False if the iterations ended before the tolerance was reached. */
  readonly converged: boolean;
  /** Sum of the log densities of the rows. */
  readonly logLikelihood: number;
}

/** The parts of a mixture. */
export interface MixtureParameters {
  readonly components: BatchParameters;
  /** K, positive, with sum 1. */
  readonly weights: Float64Array;
  readonly report: MixtureReport | undefined;
}

/** Rows of a commit: few enough that the host's share of them keeps the event loop for some milliseconds only. */
export function rowsPerCommit(size: number): number {
  return Math.ceil(2 ** 16 / size);
}

/**
 * Expectation and maximisation (Dempster, Laird and Rubin 1977) in float64, from a k-means clustering of the
 * standardised columns whose first centres are chosen by k-means++ (Arthur and Vassilvitskii 2007).
 */
export function* fitMixture(options: MixtureFitOptions): Tasks<MixtureParameters> {
  const names = ['device', 'rows', 'components', 'dtype', 'seed', 'maxIterations', 'tolerance', 'regularization'];
  checkOptions(options, names);
  const device = requireDevice(options.device);
  const { rows, dtype, seed = 0 } = options;
  normalCounter(seed, 0, 0); // All is checked before the long work begins.
  const type = { asked: dtype, chosen: realDtype(device, dtype, rows), inputs: [rows] };
  const size = wholeNumber('components', options.components, 1);
  const maxIterations = wholeNumber('`maxIterations`', orElse(options.maxIterations, 200), 1);
  const tolerance = finiteNumber('tolerance', orElse(options.tolerance, 1e-6), 0);
  const regularization = finiteNumber('regularization', orElse(options.regularization, 1e-6), 0);
  const given = rowsInput('Data', device, rows);
  const { count, n } = given;
  if (count < size * (n + 1))
    throw new CovariumError(
      'ERR_SHAPE',
      `\`rows\` has (${count}) rows, but (${size}) components of dimension (${n}) need at least (${size * (n + 1)}).`,
    );
  const values = hostValues(given.values, 'float64', true) as Float64Array<ArrayBuffer>;
  yield;
  requireFiniteEntries('Data', values, n);
  yield;
  refuseConstant(values, n);
  yield;
  const exact = exactDevice(device);
  const sumsOf = (weights?: Float64Array) =>
    accumulating(exact, weightedRows(values, n, { weights }), { higher: false });
  const whole = yield* estimating(yield* sumsOf(), { ddof: 0, mean: undefined, shrinkage: undefined });
  const variances = Float64Array.from({ length: n }, (_, j) => whole.covariance[j * (n + 1)]!);
  const narrow = variances.findIndex((variance) => variance < smallestNormal.float64);
  const unheld = narrow < 0 ? undefined : unheldColumn(values, n, 'float64', narrow);
  if (unheld !== undefined) throw unheld;
  if (!variances.every((variance) => Number.isFinite(variance * (1 + regularization))))
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`regularization\` is (${regularization}): that share of a variance of \`rows\` is beyond float64.`,
    );
  requireRepresented(type, whole.mean, (j) => variances[j]!, 'Mean');
  const shares = yield* clusters(values, variances, size, seed);
  const weights = new Float64Array(size);
  const means = new Float64Array(size * n);
  const squares = new Float64Array(size * n * n);
  let logLikelihood = Number.NEGATIVE_INFINITY;
  let converged = false;
  let iterations = 0;
  while (!converged && iterations < maxIterations) {
    iterations += 1;
    for (let k = 0; k < size; k++) {
      const sums = yield* sumsOf(shares[k]!);
      if (!(sums.weight > 1e-8 * count))
        throw new CovariumError(
          'ERR_OUT_OF_RANGE',
          `Component (${k}) has lost its rows after (${iterations}) iterations: fit fewer components, or pass another seed.`,
        );
      const { mean, covariance } = yield* estimating(sums, { ddof: 0, mean: undefined, shrinkage: undefined });
      for (let j = 0; j < n; j++) covariance[j * (n + 1)]! += regularization * variances[j]!;
      weights[k] = sums.weight / count;
      means.set(mean, k * n);
      squares.set(covariance, k * n * n);
      yield;
    }
    const before = logLikelihood;
    logLikelihood = yield* expect({ exact, values, n, weights, means, squares, shares });
    converged = Math.abs(logLikelihood - before) < tolerance * count;
  }
  const covariances = Volume.from(squares, { width: n, height: n, depth: size });
  const input = batchInput({ device, dtype, centres: means, squares: covariances, inputs: [rows] }, words);
  const explain = (error: CovariumError) => singularComponent(values, n, error);
  const components = yield* step({ ...factorBatch(input, undefined, words, false), explain });
  return { components, weights, report: { iterations, converged, logLikelihood } };
}

const words: BatchWords = { ...estimatedWords, one: 'Component' };

/** Throws `ERR_NOT_POSITIVE_DEFINITE`. */
function refuseConstant(values: Float64Array, n: number): void {
  for (let j = 0; j < n; j++) {
    let at = j;
    while (at < values.length && values[at] === values[j]) at += n;
    if (at < values.length) continue;
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `\`rows\` column (${j}) is constant (${values[j]}): leave it out.`,
      { pivot: j },
    );
  }
}

function singularComponent(values: Float64Array, n: number, error: CovariumError): CovariumError {
  const ways = ', pass a larger `regularization` or fewer `components`';
  return singularRows(values, n, 'float64', error, { among: ` in component (${error.matrix})`, ways });
}

interface Expectation {
  readonly exact: ReturnType<typeof exactDevice>;
  readonly values: Float64Array;
  readonly n: number;
  readonly weights: Float64Array;
  readonly means: Float64Array;
  readonly squares: Float64Array;
  /** Of each component, overwritten: the probability that a row is its. */
  readonly shares: readonly Float64Array[];
}

/** Computes the shares; returns the log likelihood. */
function* expect({ exact, values, n, weights, means, squares, shares }: Expectation): Tasks<number> {
  const size = weights.length;
  const factors = squares.slice();
  yield;
  try {
    yield* exactly(exact, (encoder) => encoder.choleskyBatch(factors, n, 1e-9));
  } catch (error) {
    throw error instanceof CovariumError ? singularComponent(values, n, error) : error;
  }
  const logarithms = weights.map((_, k) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += 2 * Math.log(factors[k * n * n + i * (n + 1)]!);
    return sum;
  });
  const constants = batchConstants({ n }, logarithms).map((constant, k) => constant + Math.log(weights[k]!));
  const count = values.length / n;
  let logLikelihood = 0;
  const most = rowsPerCommit(size);
  for (let first = 0; first < count; first += most) {
    const here = Math.min(most, count - first);
    const scores = new Float64Array(size * here);
    const block = values.subarray(first * n, (first + here) * n);
    yield* exactly(exact, (encoder) => encoder.logDensityBatch(factors, means, block, scores, n, constants));
    for (let r = 0; r < here; r++) {
      logLikelihood += toShares(scores, r, here);
      for (let k = 0; k < size; k++) shares[k]![first + r] = scores[k * here + r]!;
    }
  }
  return logLikelihood;
}

/** log sum_k exp(scores[k stride + column]); minus infinity if all scores are. */
export function logSumExp(scores: ArrayLike<number>, column: number, stride: number): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let at = column; at < scores.length; at += stride) largest = Math.max(largest, scores[at]!);
  if (largest === Number.NEGATIVE_INFINITY) return largest;
  let sum = 0;
  for (let at = column; at < scores.length; at += stride) sum += Math.exp(scores[at]! - largest);
  return largest + Math.log(sum);
}

/**
 * Replaces scores by the shares that their exponentials have in the sum; returns what {@link logSumExp} does. Far out
 * the logarithm of the sum is lost beside the scores: the shares are divided by the sum itself.
 */
function toShares(scores: Values | number[], column: number, stride: number): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let at = column; at < scores.length; at += stride) largest = Math.max(largest, scores[at]!);
  if (largest === Number.NEGATIVE_INFINITY) return largest;
  let sum = 0;
  for (let at = column; at < scores.length; at += stride) {
    scores[at] = Math.exp(scores[at]! - largest);
    sum += scores[at]!;
  }
  for (let at = column; at < scores.length; at += stride) scores[at]! /= sum;
  return largest + Math.log(sum);
}

/**
 * Writes to `row` (K) the shares of the components from the scores (scores[k stride + column]), which are log densities
 * without the constants: far out a constant would be lost beside the square, so it is added to what the squares differ
 * by. Returns the largest score; NaNs are written if it is minus infinity.
 */
function sharesFrom(scores: Real, column: number, stride: number, constants: Float64Array, row: Float64Array): number {
  let nearest = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < row.length; k++) nearest = Math.max(nearest, scores[k * stride + column]!);
  for (let k = 0; k < row.length; k++) row[k] = constants[k]! + (scores[k * stride + column]! - nearest);
  toShares(row, 0, 1);
  return nearest;
}

// From here on float32 numbers differ by 2^-15 or more.
const coarse = -(2 ** 8);

/**
 * Writes to `shares` (rows x K) those of `count` rows from their scores (K x count), minus half the squared distances.
 * Scores that the type holds too coarsely are computed again.
 */
export function* writeShares(
  components: BatchParameters,
  constants: Float64Array,
  rows: Values,
  scores: Real,
  shares: Values,
): Tasks<void> {
  const { size, dtype } = components;
  const count = scores.length / size;
  const row = new Float64Array(size);
  const far: number[] = [];
  for (let r = 0; r < count; r++) {
    const nearest = sharesFrom(scores, r, count, constants, row);
    shares.set(row, r * size);
    let isFar = nearest === Number.NEGATIVE_INFINITY;
    // A component whose share float32 loses beside 1 does not matter.
    if (dtype === 'float32' && size > 1)
      for (let k = 0; k < size; k++) isFar ||= scores[k * count + r]! < coarse && row[k]! > 2 ** -24;
    if (isFar) far.push(r);
  }
  if (far.length === 0) return;
  yield* (dtype === 'float32' ? exactShares : farShares)(components, constants, rows, far, shares);
}

/** The shares of `far` rows of float32 from scores in float64, which holds the square of each distance of float32. */
function* exactShares(
  { device, size, n, means, factors }: BatchParameters,
  constants: Float64Array,
  rows: Values,
  far: readonly number[],
  shares: Values,
): Tasks<void> {
  const given = hostZeros(far.length * n);
  yield* inRows(far.length, n, (from, to) => {
    requireAttached('Rows', rows);
    for (let i = from; i < to; i++) for (let j = 0; j < n; j++) given[i * n + j] = rows[far[i]! * n + j]!;
  });
  const lower = hostZeros(size * n * n);
  yield* inRows(size * n, n, (from, to) => lower.set(factors.values.subarray(from * n, to * n), from * n));
  const centres = new Float64Array(means.values);
  const scores = hostZeros(size * far.length);
  yield* exactly(device, (encoder) =>
    encoder.logDensityBatch(lower, centres, given, scores, n, new Float64Array(size)),
  );
  const row = new Float64Array(size);
  for (const [i, at] of far.entries()) {
    sharesFrom(scores, i, far.length, constants, row);
    shares.set(row, at * size);
  }
}

/**
 * The shares of `far` rows of float64, all of whose scores are -Infinity: the nearest component has all, and components
 * at one distance have it by their constants.
 */
function* farShares(
  components: BatchParameters,
  constants: Float64Array,
  rows: Values,
  far: readonly number[],
  shares: Values,
): Tasks<void> {
  const { size } = components;
  const found = new Map(far.map((row) => [row, Array<readonly [square: number, exponent: number]>(size).fill([0, 0])]));
  for (let k = 0; k < size; k++)
    yield* measureAgain(parametersAt(components, k), rows, far, (row, square, exponent) => {
      found.get(row)![k] = [square, exponent];
    });
  for (const [row, squares] of found) {
    const unit = Math.max(...squares.map(([, exponent]) => exponent));
    const inUnit = squares.map(([square, exponent]) => square * 4 ** (exponent - unit));
    const least = Math.min(...inUnit);
    // Half the difference of the squares; that of equal ones is not 0 times Infinity.
    const scores = inUnit.map((square, k) => constants[k]! - (square > least ? ((square - least) / 2) * 4 ** unit : 0));
    toShares(scores, 0, 1);
    shares.set(scores, row * size);
  }
}
