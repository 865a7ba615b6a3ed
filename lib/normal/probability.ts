import { type RowsInput, rowsInput } from '../array/inputs.ts';
import { Storage } from '../array/storage.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import { checkOptions, describe, refuseAborted, wholeNumber } from '../check.ts';
import { runAll, runAllSync } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { type BoxProbability, boxProbability, closedCdf, type Moments64 } from '../probability/box-probability.ts';
import { type Accuracy, pointLimits } from '../probability/lattice.ts';
import { normalCounter, type Word64 } from '../stream/counter.ts';
import type { Work } from '../work.ts';
import { runSliced, runToEnd } from '../work.ts';
import { exactMoments } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

/** How well a probability is to be known. */
export interface ProbabilitySyncOptions {
  /** Of the random shifts, from 0 to 2^64 - 1; 0 by default: the same question has the same answer. */
  readonly seed?: Word64 | undefined;
  /**
   * The error that is good enough; 1e-5 by default. The larger of this and of `relativeError` times the probability
   * holds.
   */
  readonly absoluteError?: number | undefined;
  /** The error over the probability that is good enough; 0 by default. For a tail, with an `absoluteError` of 0. */
  readonly relativeError?: number | undefined;
  /** Where it ends, whatever the error: values of the integrand, from 1,536 to 12,582,912; 786,432 by default. */
  readonly maxPoints?: number | undefined;
}

/** How well a probability is to be known, and until when. */
export interface ProbabilityOptions extends ProbabilitySyncOptions {
  /** Stops the work within some milliseconds; the promise rejects with `ERR_ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** A box, for {@link MultivariateNormal.boxProbabilitySync}. */
export interface BoxSyncOptions extends ProbabilitySyncOptions {
  /** n lower limits, -Infinity by default and where there is none. */
  readonly lower?: VectorInput | undefined;
  /** n upper limits, Infinity by default and where there is none. */
  readonly upper?: VectorInput | undefined;
}

/** A box, for {@link MultivariateNormal.boxProbability}. */
export interface BoxOptions extends BoxSyncOptions, ProbabilityOptions {}

/** A probability of a normal with these moments, its options checked, not begun. */
type Integral<Result> = (moments: Moments64) => Work<Result>;

/** Integrates without holding the event loop for more than some milliseconds. */
export async function integrate<Result>(
  parameters: NormalParameters,
  integral: Integral<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  refuseAborted(signal);
  return runSliced(integral(await runAll(exactMoments(parameters), signal)), signal);
}

/** Integrates before it returns. */
export function integrateSync<Result>(parameters: NormalParameters, integral: Integral<Result>): Result {
  return runToEnd(integral(runAllSync(exactMoments(parameters))));
}

// Rows of a formula between two looks at the clock.
const rowsInSlice = 256;

/**
 * P(X <= row) for each row, count of them, as float64; with `degreesOfFreedom` of a t with the normal's mean and
 * covariance as location and scale. Throws what {@link MultivariateNormal.cdf} does.
 */
export function cdfAt(
  { device, n }: NormalParameters,
  rows: RowsInput,
  options: ProbabilityOptions,
  isSync: boolean,
  degreesOfFreedom?: number,
): Integral<Vector> {
  const accuracy = probabilityOptions(options, isSync);
  const { values, count } = rowsInput('Input', device, rows, n);
  // A copy: the caller may write into their own array between two slices.
  const uppers = limits('Input', values, n);
  return function* (moments) {
    const lower = new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
    const probabilities = new Float64Array(count);
    const closed = closedCdf(moments, accuracy, degreesOfFreedom);
    if (closed !== undefined) {
      for (let row = 0; row < count; row++) {
        probabilities[row] = closed(uppers, row * n);
        if (row % rowsInSlice === 0) yield;
      }
      return new Vector(new Storage(probabilities));
    }
    for (let row = 0; row < count; row++) {
      const upper = uppers.subarray(row * n, (row + 1) * n);
      probabilities[row] = (yield* boxProbability(moments, {
        ...accuracy,
        lower,
        upper,
        degreesOfFreedom,
      })).probability;
      yield;
    }
    return new Vector(new Storage(probabilities));
  };
}

/**
 * P(lower <= X <= upper), of a normal or a t as {@link cdfAt}. Throws what {@link MultivariateNormal.boxProbability}
 * does.
 */
export function boxOf(
  { device, n }: NormalParameters,
  options: BoxOptions,
  isSync: boolean,
  degreesOfFreedom?: number,
): Integral<BoxProbability> {
  const accuracy = probabilityOptions(options, isSync, ['lower', 'upper']);
  const lower = side('Lower limits', device, options.lower ?? new Float64Array(n).fill(Number.NEGATIVE_INFINITY), n);
  const upper = side('Upper limits', device, options.upper ?? new Float64Array(n).fill(Number.POSITIVE_INFINITY), n);
  for (let i = 0; i < n; i++)
    if (lower[i]! > upper[i]!)
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `Lower limit (${i}) is (${lower[i]}), above the upper one (${upper[i]}).`,
      );
  return (moments) => boxProbability(moments, { ...accuracy, lower, upper, degreesOfFreedom });
}

// The accuracy that the options ask for; `others` are the names of options that are not about accuracy.
function probabilityOptions(
  options: ProbabilityOptions,
  isSync: boolean,
  others: readonly string[] = [],
): Accuracy & { readonly seed: Word64 } {
  const signal = isSync ? [] : ['signal'];
  checkOptions(options, ['seed', 'absoluteError', 'relativeError', 'maxPoints', ...signal, ...others]);
  const { seed = 0, absoluteError = 1e-5, relativeError = 0, maxPoints = 786_432 } = options;
  normalCounter(seed, 0, 0);
  return {
    seed,
    absoluteError: error('Absolute error', absoluteError),
    relativeError: error('Relative error', relativeError),
    maxPoints: wholeNumber('Points at most (maxPoints)', maxPoints, ...pointLimits),
  };
}

function error(name: string, value: unknown): number {
  if (typeof value !== 'number')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `${name} is not a number (${describe(value)}).`);
  if (value >= 0) return value;
  throw new CovariumError('ERR_OUT_OF_RANGE', `${name} is (${value}), not a number from 0.`);
}

function side(name: string, device: Device, input: VectorInput, n: number): Float64Array {
  const { values, count } = rowsInput(name, device, input, n);
  if (count !== 1) throw new CovariumError('ERR_SHAPE', `${name} are (${count}) rows, not one of (${n}).`);
  return limits(name, values, n);
}

// Infinite ones are numbers too.
function limits(name: string, values: ArrayLike<number>, n: number): Float64Array {
  const copy = Float64Array.from(values);
  const at = copy.findIndex(Number.isNaN);
  if (at < 0) return copy;
  const [row, column] = [Math.floor(at / n), at % n];
  throw new CovariumError('ERR_NOT_FINITE', `${name} entry (${row}, ${column}) is not a number (NaN).`, {
    row,
    column,
  });
}
