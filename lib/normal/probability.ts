import { type RowsInput, rowsInput } from '../array/inputs.ts';
import { Storage } from '../array/storage.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import {
  type AbortOptions,
  checkOptions,
  marked,
  orElse,
  refuseAborted,
  wholeNumber,
  withoutSignal,
  wrongArgument,
} from '../check.ts';
import { holding } from '../command/hold.ts';
import { runAll, runAllSync } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { type BoxProbability, boxProbability, closedCdf, type Moments64 } from '../probability/box-probability.ts';
import { type Accuracy, pointLimits } from '../probability/lattice.ts';
import { normalCounter, type Word64 } from '../stream/counter.ts';
import type { Work } from '../work.ts';
import { runSliced, runToEnd } from '../work.ts';
import { exactMoments } from './covariance.ts';
import type { NormalParameters } from './parameters.ts';

/** How accurately a probability is computed. */
export interface ProbabilitySyncOptions {
  /** The seed of the random shifts, from 0 to 2^64 - 1; 0 by default, so that the same call gives the same answer. */
  readonly seed?: Word64 | undefined;
  /**
   * The absolute error to reach; 1e-5 by default. The computation stops at the larger of this error and `relativeError`
   * times the probability.
   */
  readonly absoluteError?: number | undefined;
  /** The error to reach relative to the probability; 0 by default. Use it for tails, with an `absoluteError` of 0. */
  readonly relativeError?: number | undefined;
  /** The most values of the integrand to compute, whatever the error: from 1,536 to 12,582,912; 786,432 by default. */
  readonly maxPoints?: number | undefined;
}

/** How accurately a probability is computed, and a signal to stop. */
export interface ProbabilityOptions extends ProbabilitySyncOptions, AbortOptions {}

/** A box, for {@link MultivariateNormal.boxProbabilitySync}. */
export interface BoxSyncOptions extends ProbabilitySyncOptions {
  /** n lower limits; -Infinity means no limit and is the default. */
  readonly lower?: VectorInput | undefined;
  /** n upper limits; Infinity means no limit and is the default. */
  readonly upper?: VectorInput | undefined;
}

/** A box, for {@link MultivariateNormal.boxProbability}. */
export interface BoxOptions extends BoxSyncOptions, ProbabilityOptions {}

/** A probability of a normal with these moments. Its options are checked, and its work has not begun. */
type Integral<Result> = (moments: Moments64) => Work<Result>;

/**
 * Integrates what `integralOf` makes of all options but the signal, which stops it. It blocks the event loop for a few
 * milliseconds at a time at most.
 */
export async function integrate<Options extends ProbabilitySyncOptions, Result>(
  open: () => NormalParameters,
  integralOf: (parameters: NormalParameters, rest: Options) => Integral<Result>,
  options: Options & AbortOptions,
): Promise<Result> {
  return holding(async (isClosed) => {
    const parameters = open();
    const integral = integralOf(parameters, withoutSignal(options));
    // By now options that are not an object are refused.
    const { signal } = options;
    refuseAborted(signal);
    return runSliced(integral(await runAll(exactMoments(parameters), signal)), signal, isClosed);
  });
}

/** Integrates before it returns. */
export function integrateSync<Result>(parameters: NormalParameters, integral: Integral<Result>): Result {
  return runToEnd(integral(runAllSync(exactMoments(parameters))));
}

// Rows of a formula between two looks at the clock.
const rowsInSlice = 256;

/**
 * P(X <= row) for each of `count` rows, as float64. With `degreesOfFreedom`, of a Student-t with the normal's mean and
 * covariance as location and scale. Throws what {@link MultivariateNormal.cdf} does.
 */
export function cdfAt(
  { device, n }: NormalParameters,
  rows: RowsInput,
  options: ProbabilitySyncOptions,
  degreesOfFreedom?: number,
): Integral<Vector<'float64'>> {
  const accuracy = probabilityOptions(options);
  const { values, count } = rowsInput('Input', device, rows, n);
  // A copy, because the caller may change their array between two slices of work.
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
      return new Vector(new Storage<'float64'>(probabilities, undefined, device));
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
    return new Vector(new Storage<'float64'>(probabilities, undefined, device));
  };
}

/**
 * P(lower <= X <= upper), of a normal or a Student-t like {@link cdfAt}. Throws what {@link
 * MultivariateNormal.boxProbability} does.
 */
export function boxOf(
  { device, n }: NormalParameters,
  options: BoxSyncOptions,
  degreesOfFreedom?: number,
): Integral<BoxProbability> {
  const accuracy = probabilityOptions(options, ['lower', 'upper']);
  const lower = side(
    'Lower limits',
    device,
    orElse<VectorInput>(options.lower, new Float64Array(n).fill(Number.NEGATIVE_INFINITY)),
    n,
  );
  const upper = side(
    'Upper limits',
    device,
    orElse<VectorInput>(options.upper, new Float64Array(n).fill(Number.POSITIVE_INFINITY)),
    n,
  );
  for (let i = 0; i < n; i++)
    if (lower[i]! > upper[i]!)
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `\`lower[${i}]\` is (${lower[i]}), above \`upper[${i}]\` (${upper[i]}).`,
      );
  return (moments) => boxProbability(moments, { ...accuracy, lower, upper, degreesOfFreedom });
}

// The accuracy that the options request; `others` names the options that are not about accuracy.
function probabilityOptions(
  options: ProbabilitySyncOptions,
  others: readonly string[] = [],
): Accuracy & { readonly seed: Word64 } {
  checkOptions(options, ['seed', 'absoluteError', 'relativeError', 'maxPoints', ...others]);
  const { seed = 0, absoluteError = 1e-5, relativeError = 0, maxPoints = 786_432 } = options;
  normalCounter(seed, 0, 0);
  return {
    seed,
    absoluteError: error('Absolute error', absoluteError),
    relativeError: error('Relative error', relativeError),
    maxPoints: wholeNumber('maxPoints', maxPoints, ...pointLimits),
  };
}

function error(name: string, value: unknown): number {
  if (typeof value !== 'number') throw wrongArgument(name, value, 'a number of at least 0');
  if (value >= 0) return value;
  throw new CovariumError('ERR_OUT_OF_RANGE', `${marked(name)} is (${value}), not a number of at least 0.`);
}

function side(name: string, device: Device, input: VectorInput, n: number): Float64Array {
  const { values, count } = rowsInput(name, device, input, n);
  if (count !== 1) throw new CovariumError('ERR_SHAPE', `${marked(name)} has (${count}) rows, not one row of (${n}).`);
  return limits(name, values, n);
}

// Infinite limits are allowed; NaN is not.
function limits(name: string, values: ArrayLike<number>, n: number): Float64Array {
  const copy = new Float64Array(values);
  const at = copy.findIndex(Number.isNaN);
  if (at < 0) return copy;
  const [row, column] = [Math.floor(at / n), at % n];
  throw new CovariumError('ERR_NOT_FINITE', `${marked(name)} entry (${row}, ${column}) is (NaN), not a number.`, {
    row,
    column,
  });
}
