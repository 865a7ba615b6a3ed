import { checkOptions } from '../check-options.ts';
import type { Procedure } from '../procedure.ts';
import type { Task } from '../task.ts';
import { ofCorrelation } from '../ways-in/correlation.ts';
import { fromDiagonal } from '../ways-in/diagonal.ts';
import { fromEigen } from '../ways-in/eigen.ts';
import { fromLowRank } from '../ways-in/low-rank.ts';
import type {
  ScaleCorrelationOptions,
  ScaleDiagonalOptions,
  ScaleEigenOptions,
  ScaleLowRankOptions,
} from './student-options.ts';
import { requireDegreesOfFreedom, type StudentParameters, shared, stretched } from './student-parameters.ts';

// Each makes the normal whose draws are stretched, whose covariance is the scale; errors speak of scale and location.

export function studentFromDiagonal(options: ScaleDiagonalOptions): Task<StudentParameters> {
  checkOptions(options, [...shared, 'diagonal', 'dimension']);
  const { degreesOfFreedom, location, diagonal, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromDiagonal({ ...rest, mean: location, variances: diagonal }, 'Scale', 'Location', 'Diagonal'), nu);
}

export function studentFromEigen(options: ScaleEigenOptions): Task<StudentParameters> {
  checkOptions(options, [...shared, 'values', 'vectors']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromEigen({ ...rest, mean: location }, 'Scale', 'Location'), nu);
}

export function studentFromLowRank(options: ScaleLowRankOptions): Task<StudentParameters> {
  checkOptions(options, [...shared, 'factor', 'diagonal']);
  const { degreesOfFreedom, location, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return stretched(fromLowRank({ ...rest, mean: location }, 'Scale', 'Location'), nu);
}

export function* studentFromCorrelation(options: ScaleCorrelationOptions): Procedure<StudentParameters> {
  checkOptions(options, [...shared, ...['correlation', 'scales', 'symmetryTolerance', 'factor', 'singular', 'jitter']]);
  const { degreesOfFreedom, location, scales, ...rest } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom);
  return {
    normal: yield* ofCorrelation(
      { ...rest, mean: location, standardDeviations: scales },
      'Scale',
      'Location',
      'Scales',
    ),
    nu,
  };
}
