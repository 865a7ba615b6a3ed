import { checkOptions, wrongArgument } from '../check.ts';
import type { Task, Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { fromCholesky, fromPrecision } from '../normal/from-cholesky.ts';
import { fromCorrelation } from '../normal/from-correlation.ts';
import { fromCovariance } from '../normal/from-covariance.ts';
import { fromDiagonal } from '../normal/from-diagonal.ts';
import { fromEigen } from '../normal/from-eigen.ts';
import { fromLowRank } from '../normal/from-low-rank.ts';
import type { NormalParameters } from '../normal/parameters.ts';
import type {
  ScaleCholeskyOptions,
  ScaleCorrelationOptions,
  ScaleDiagonalOptions,
  ScaleEigenOptions,
  ScaleLowRankOptions,
  ScaleOptions,
  ScalePrecisionOptions,
} from './options.ts';

/** A Student-t: the normal with its location and scale, whose draws are stretched from the location. */
export interface StudentParameters<D extends RealDtype = RealDtype> {
  readonly normal: NormalParameters<D>;
  /** Degrees of freedom, positive; Infinity gives the normal. */
  readonly nu: number;
}

type StudentTask = Task<StudentParameters>;

export function* studentFromScale(options: ScaleOptions): Tasks<StudentParameters> {
  checkOptions(options, [...shared, 'scale', 'symmetryTolerance', 'factor', 'singular', 'jitter']);
  const { degreesOfFreedom, location, scale, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  const normal = yield* fromCovariance({ ...rest, mean: location, covariance: scale }, 'Scale', 'Location');
  return { normal, nu };
}

export function studentFromCholesky(options: ScaleCholeskyOptions): StudentTask {
  checkOptions(options, [...shared, 'factor']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromCholesky({ ...rest, mean: location }, 'Location'), nu);
}

export function studentFromPrecision(options: ScalePrecisionOptions): StudentTask {
  checkOptions(options, [...shared, 'precision', 'symmetryTolerance', 'factor']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromPrecision({ ...rest, mean: location }, 'Location'), nu);
}

/** Options of every constructor. */
const shared: readonly string[] = ['device', 'degreesOfFreedom', 'location', 'dtype'];

// Half of a smaller number loses digits or is 0.
const smallest = 2 ** -1021;

/**
 * Returns `value` if it is a positive number or Infinity; throws `ERR_INVALID_ARGUMENT` if it is not a number,
 * `ERR_OUT_OF_RANGE` if it is not positive.
 */
export function requireDegreesOfFreedom(value: unknown): number {
  if (typeof value !== 'number') throw wrongArgument('degreesOfFreedom', value, 'a positive number, or Infinity');
  if (value >= smallest) return value;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`degreesOfFreedom\` is (${value}), not a positive number${value > 0 ? ` of at least (${smallest})` : ''}.`,
  );
}

/** The Student-t over the normal that a task makes. */
function stretched({ result, ...task }: Task<NormalParameters>, nu: number): StudentTask {
  return { ...task, result: { normal: result, nu } };
}
// Each of these makes the normal that is stretched. Its covariance is the scale, and errors speak of scale and
// location.

export function studentFromDiagonal(options: ScaleDiagonalOptions): Task<StudentParameters> {
  checkOptions(options, [...shared, 'diagonal', 'dimension']);
  const { degreesOfFreedom, location, diagonal, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromDiagonal({ ...rest, mean: location, variances: diagonal }, 'Location', 'Diagonal'), nu);
}

export function* studentFromEigen(options: ScaleEigenOptions): Tasks<StudentParameters> {
  checkOptions(options, [...shared, 'values', 'vectors']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return { normal: yield* fromEigen({ ...rest, mean: location }, 'Location'), nu };
}

export function* studentFromLowRank(options: ScaleLowRankOptions): Tasks<StudentParameters> {
  checkOptions(options, [...shared, 'factor', 'diagonal']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return { normal: yield* fromLowRank({ ...rest, mean: location }, 'Location'), nu };
}

export function* studentFromCorrelation(options: ScaleCorrelationOptions): Tasks<StudentParameters> {
  checkOptions(options, [...shared, ...['correlation', 'scales', 'symmetryTolerance', 'factor', 'singular', 'jitter']]);
  const { degreesOfFreedom, location, scales, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return {
    normal: yield* fromCorrelation({ ...rest, mean: location, standardDeviations: scales }, 'Location', 'Scales'),
    nu,
  };
}
