import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Ellipsoid, type EllipsoidOptions, ellipsoid } from '../normal/ellipsoid.ts';
import { logFQuantile } from '../probability/f-quantile.ts';
import type { StudentParameters } from './parameters.ts';

/** The ellipsoid that holds a share of a Student-t: d^2 / n has the F distribution with n and nu degrees of freedom. */
export function studentEllipsoid({ normal, nu }: StudentParameters, options: EllipsoidOptions): Tasks<Ellipsoid> {
  const name = 'Student-t';
  if (nu === Number.POSITIVE_INFINITY) return ellipsoid(normal, options, name);
  return ellipsoid(normal, options, name, (probability, rank) => {
    const radius = Math.sqrt(rank) * Math.exp(logFQuantile(probability, rank, nu) / 2);
    if (Number.isFinite(radius)) return radius;
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`probability\` is (${probability}), and the radius that holds it of (${nu}) degrees of freedom is not finite in float64.`,
    );
  });
}
