import { wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type CentralSums, copiedSums, shift } from './central-sums.ts';
import { intensityOf, type Shrinkage } from './shrinkage.ts';

/** What is asked of moments, checked but for its range. */
export interface Asked {
  /** By default 1, and 0 about a mean that is given. */
  readonly ddof: number | undefined;
  /** n entries that stand for the mean of the rows. */
  readonly mean: Float64Array | undefined;
  readonly shrinkage: Shrinkage | undefined;
}

/** Mean and covariance of rows. */
export interface Estimate {
  readonly mean: Float64Array<ArrayBuffer>;
  /** n x n, both triangles. */
  readonly covariance: Float64Array<ArrayBuffer>;
  /** The share of the identity in it. */
  readonly intensity: number;
}

/**
 * The covariance (1 - a) S + a (tr S / n) I, where a is the shrinkage's share and S the sum of w d d' over W - ddof
 * (sum of w^2) / W, as numpy.cov has it: d is taken from the mean, or from the one given. Throws `ERR_SHAPE` (no rows)
 * and `ERR_OUT_OF_RANGE`.
 */
export function estimated(sums: CentralSums, asked: Asked): Estimate {
  const { n } = sums;
  const about = aboutMean(sums, asked.mean);
  const intensity = intensityOf(about, asked.shrinkage ?? 'none');
  const divisor = divisorOf(sums, asked.ddof ?? (asked.mean === undefined ? 1 : 0));
  const covariance = new Float64Array(n * n);
  let trace = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const value = about.second[i * n + j]! / divisor;
      covariance[i * n + j] = covariance[j * n + i] = (1 - intensity) * value;
    }
    trace += about.second[i * (n + 1)]! / divisor;
  }
  if (intensity > 0) for (let i = 0; i < n; i++) covariance[i * (n + 1)]! += (intensity * trace) / n;
  return { mean: Float64Array.from(asked.mean ?? sums.mean), covariance, intensity };
}

/** The sums about another mean, where one is given; throws `ERR_SHAPE` where there are no rows. */
export function aboutMean(sums: CentralSums, mean: Float64Array | undefined): CentralSums {
  if (sums.weight === 0)
    throw new CovariumError('ERR_SHAPE', `Moments have (${sums.count}) observations, and at least (1) is needed.`);
  if (mean === undefined) return sums;
  const about = copiedSums(sums);
  shift(
    about,
    mean.map((centre, j) => centre - sums.mean[j]! - sums.meanRest[j]!),
  );
  return about;
}

function divisorOf({ weight, squaredWeight }: CentralSums, ddof: number): number {
  const taken = wholeNumber('Degrees of freedom taken (ddof)', ddof);
  const divisor = weight - taken * (squaredWeight / weight);
  if (divisor > 0) return divisor;
  const effective = (weight / squaredWeight) * weight;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `Degrees of freedom taken (ddof) are (${taken}), but there are (${effective}) effective observations.`,
  );
}
