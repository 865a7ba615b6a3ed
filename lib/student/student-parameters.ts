import { checkOptions } from '../check-options.ts';
import { CovariumError } from '../covarium-error.ts';
import { describe } from '../describe.ts';
import { fromCholesky, fromPrecision, type NormalParameters } from '../normal-parameters.ts';
import type { Procedure } from '../procedure.ts';
import type { Task } from '../task.ts';
import { ofCovariance } from '../ways-in/covariance.ts';
import type { ScaleCholeskyOptions, ScaleOptions, ScalePrecisionOptions } from './student-options.ts';

/** A Student-t: the normal of its location and scale, each of whose draws is stretched from the location. */
export interface StudentParameters {
  readonly normal: NormalParameters;
  /** Degrees of freedom, positive; Infinity is the normal. */
  readonly nu: number;
}

type Making = Task<StudentParameters>;

export function* studentFromScale(options: ScaleOptions): Procedure<StudentParameters> {
  checkOptions(options, [...shared, 'scale', 'symmetryTolerance', 'factor', 'singular', 'jitter']);
  const { degreesOfFreedom, location, scale, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  const normal = yield* ofCovariance({ ...rest, mean: location, covariance: scale }, 'Scale', 'Location');
  return { normal, nu };
}

export function studentFromCholesky(options: ScaleCholeskyOptions): Making {
  checkOptions(options, [...shared, 'factor']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromCholesky({ ...rest, mean: location }, 'Location'), nu);
}

export function studentFromPrecision(options: ScalePrecisionOptions): Making {
  checkOptions(options, [...shared, 'precision', 'symmetryTolerance', 'factor']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromPrecision({ ...rest, mean: location }, 'Location'), nu);
}

/** Options of every way in. */
export const shared: readonly string[] = ['device', 'degreesOfFreedom', 'location', 'dtype'];

/** `value` where it is a positive number, Infinity included; throws `ERR_INVALID_ARGUMENT` for no number, `ERR_OUT_OF_RANGE`. */
export function requireDegreesOfFreedom(value: unknown): number {
  if (typeof value !== 'number')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Degrees of freedom are not a number (${describe(value)}).`);
  if (value > 0) return value;
  throw new CovariumError('ERR_OUT_OF_RANGE', `Degrees of freedom are (${value}), not a positive number.`);
}

/** The Student-t of the normal that a task makes. */
export function stretched({ result, ...task }: Task<NormalParameters>, nu: number): Making {
  return { ...task, result: { normal: result, nu } };
}
