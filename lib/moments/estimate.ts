import { orElse, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Work } from '../work.ts';
import { type CentralSums, copiedSums, shift } from './central-sums.ts';
import { beyondFloat64, intensityOf, type Shrinkage, type SumsAbout } from './shrinkage.ts';

/** The options of an estimate; their types are checked, their ranges are not. */
export interface Asked {
  /** By default 1, or 0 about a given mean. */
  readonly ddof: number | undefined;
  /** n entries to use in place of the mean of the rows. */
  readonly mean: Float64Array | undefined;
  readonly shrinkage: Shrinkage | undefined;
}

/** Mean and covariance of rows. */
interface Estimate {
  readonly mean: Float64Array<ArrayBuffer>;
  /** n x n, both triangles. */
  readonly covariance: Float64Array<ArrayBuffer>;
  /** The share of the identity in the covariance. */
  readonly intensity: number;
}

/**
 * The covariance (1 - a) S + a (tr S / n) I, where a is the shrinkage and S, like numpy.cov's, is the sum of w d d'
 * divided by W - ddof (sum of w^2) / W; d is the difference from the mean, or from the given one. Throws `ERR_SHAPE`
 * (no rows, or one) and `ERR_OUT_OF_RANGE`.
 */
export function* estimating(sums: CentralSums, asked: Asked): Work<Estimate> {
  const { n } = sums;
  const about = yield* aboutMean(sums, asked.mean);
  const intensity = intensityOf(about, asked.shrinkage ?? 'none');
  const divisor = divisorOf(sums, asked);
  const covariance = new Float64Array(n * n);
  let trace = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const value = about.second[i * n + j]! / divisor;
      covariance[i * n + j] = covariance[j * n + i] = (1 - intensity) * value;
    }
    const variance = about.second[i * (n + 1)]! / divisor;
    if (!Number.isFinite(variance))
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `\`rows\` has column (${i}), whose variance (${variance}) float64 does not hold. Pass the column in another unit.`,
        { column: i },
      );
    trace += variance;
    if (i % rowsAtOnce === 0) yield;
  }
  if (intensity > 0 && !Number.isFinite(trace)) throw beyondFloat64(trace);
  if (intensity > 0) for (let i = 0; i < n; i++) covariance[i * (n + 1)]! += (intensity * trace) / n;
  return { mean: new Float64Array(asked.mean ?? sums.mean), covariance, intensity };
}

const rowsAtOnce = 32;

/** The sums about another mean, if one is given; throws `ERR_SHAPE` if there are no rows. */
export function* aboutMean(sums: CentralSums, mean: Float64Array | undefined): Work<SumsAbout> {
  if (sums.weight === 0)
    throw new CovariumError('ERR_SHAPE', `Moments have (${sums.count}) observations, but need at least (1).`);
  if (mean === undefined) return sums;
  const about = yield* copiedSums(sums);
  const delta = mean.map((centre, j) => centre - sums.mean[j]! - sums.meanRest[j]!);
  yield* shift(about, delta);
  return { ...about, own: { sums, delta } };
}

function divisorOf({ weight, squaredWeight, count }: CentralSums, { ddof, mean }: Asked): number {
  const taken = wholeNumber('ddof', orElse(ddof, mean === undefined ? 1 : 0));
  const divisor = weight - taken * (squaredWeight / weight);
  if (divisor > 0) return divisor;
  const effective = (weight / squaredWeight) * weight;
  if (ddof === undefined && count === 1)
    throw new CovariumError(
      'ERR_SHAPE',
      '`rows` has (1) observation, and one row is not enough for a covariance; pass two or more.',
    );
  if (ddof === undefined)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `The weights of (${count}) observations make them (${effective}) effective ones, too few for a covariance.`,
    );
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`ddof\` is (${taken}), but there are (${effective}) effective observations.`,
  );
}
