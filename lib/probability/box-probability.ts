import { CovariumError } from '../covarium-error.ts';
import { normalCounter, type Word64 } from '../stream/counter.ts';
import type { Work } from '../work.ts';
import { bivariateBox, bivariateError } from './bivariate.ts';
import { areWholeDegrees, bivariateStudentBox, bivariateStudentError } from './bivariate-student.ts';
import { gammaQuantile } from './gamma-quantile.ts';
import { type Accuracy, latticeMean } from './lattice.ts';
import { boxPoint, orderedBox } from './ordered-box.ts';
import { probabilityBetween } from './standard-normal.ts';
import { studentBetween, studentError, studentErrorOf } from './student.ts';

/** A box, and the accuracy of its probability. */
export interface BoxQuestion extends Accuracy {
  /** n entries, of which some may be -Infinity. */
  readonly lower: Float64Array;
  /** n entries, none below its lower one; some may be Infinity. */
  readonly upper: Float64Array;
  /** The seed of the random shifts. */
  readonly seed: Word64;
  /**
   * If finite, the distribution is the multivariate t with the mean as location and the covariance as scale; it must be
   * positive. Infinity, the normal, by default.
   */
  readonly degreesOfFreedom?: number | undefined;
}

/** A probability and its error. */
export interface BoxProbability {
  /** P(lower <= X <= upper). */
  readonly probability: number;
  /**
   * Three standard errors of the estimate plus the rounding of float64: in about 98 of 100 runs the true value is no
   * further away.
   */
  readonly error: number;
  /** How often the integrand was computed: 0 if the probability has a formula. */
  readonly points: number;
}

/**
 * The probability of a box, by a formula for normals of up to two dimensions, a Student-t of one, and one of two with a
 * whole number of degrees of freedom; by randomised quasi-Monte Carlo beyond: see docs/probabilities.md.
 * Throws `ERR_NOT_POSITIVE_DEFINITE` for an indefinite covariance, `ERR_OUT_OF_RANGE` for a seed.
 */
export function* boxProbability(normal: Moments64, question: BoxQuestion): Work<BoxProbability> {
  const box = standardBox(normal, question);
  if (box === undefined) return { probability: 0, error: 0, points: 0 };
  const { lower, upper, correlation } = box;
  const m = lower.length;
  if (m === 0) return { probability: 1, error: 0, points: 0 };
  const rounding = (probability: number) => 4 * m * 2 ** -52 * probability;
  const { degreesOfFreedom = Number.POSITIVE_INFINITY } = question;
  const isNormal = degreesOfFreedom === Number.POSITIVE_INFINITY;
  if (m === 1 && isNormal) {
    const probability = probabilityBetween(lower[0]!, upper[0]!);
    return { probability, error: rounding(probability), points: 0 };
  }
  // A formula has an absolute error: what is asked for in relative terms may have to be integrated.
  const formula = formulaOf(lower, upper, correlation, degreesOfFreedom);
  if (formula && formula.error <= Math.max(question.absoluteError, question.relativeError * formula.probability))
    return formula;
  const ordered = yield* orderedBox(lower, upper, correlation);
  const { coordinates } = ordered;
  const y = new Float64Array(coordinates);
  if (coordinates === 1 && isNormal) {
    const probability = boxPoint(ordered, y, 0, y, 1);
    return { probability, error: rounding(probability), points: 0 };
  }
  // The cost of one point, in multiplications.
  const work = (m + 100) * coordinates + (isNormal ? 0 : 1000 + 20 * Math.sqrt(Math.min(degreesOfFreedom, 1e5)));
  const { mean, error, points } = yield* latticeMean(
    isNormal
      ? (u) => boxPoint(ordered, u, 0, y, 1)
      : (u) => boxPoint(ordered, u, 1, y, chiScale(degreesOfFreedom, u[0]!)),
    isNormal ? coordinates - 1 : coordinates,
    normalCounter(question.seed, 0, 0),
    question,
    Math.ceil(100_000 / work),
    ordered.steps,
    isNormal ? probabilityBetween(ordered.lower[0]!, ordered.upper[0]!) : 1,
  );
  const estimate = { probability: mean, error: error + rounding(mean), points };
  // Few points of a Student-t reach its tails, where the formula may know more.
  return formula && formula.error <= estimate.error ? formula : estimate;
}

/** The probability of a box by a formula, with its error; undefined if there is none. */
function formulaOf(
  lower: Float64Array,
  upper: Float64Array,
  correlation: Float64Array,
  nu: number,
): BoxProbability | undefined {
  const isNormal = nu === Number.POSITIVE_INFINITY;
  if (lower.length === 1 && !isNormal) {
    const [from, to] = [lower[0]!, upper[0]!];
    return { probability: studentBetween(from, to, nu), error: studentErrorOf(from, to, nu), points: 0 };
  }
  if (lower.length !== 2 || !isRegular(correlation[1]!)) return undefined;
  if (isNormal) {
    const probability = bivariateBox([...lower], [...upper], correlation[1]!);
    return { probability, error: bivariateError, points: 0 };
  }
  if (!areWholeDegrees(nu)) return undefined;
  const probability = bivariateStudentBox([...lower], [...upper], correlation[1]!, nu);
  return { probability, error: bivariateStudentError, points: 0 };
}

/** Whether a covariance of this correlation has rank 2, as {@link orderedBox} tells it. */
function isRegular(r: number): boolean {
  return 1 - r * r > 2 ** -49;
}

/**
 * P(X <= upper) as {@link boxProbability} gives it, without an estimate, for many rows: `upper` holds them one after
 * the other, and a row begins at `at`. Undefined beyond two dimensions, where the covariance is singular, and where
 * more is asked of the error than the formula gives.
 */
export function closedCdf(
  { mean, covariance, units }: Moments64,
  { absoluteError }: Accuracy,
  degreesOfFreedom: number = Number.POSITIVE_INFINITY,
): ((upper: Float64Array, at: number) => number) | undefined {
  const n = mean.length;
  const inUnit = mean.map((_, i) => Math.sqrt(covariance[i * (n + 1)]!));
  if (n > 2 || !inUnit.every((each) => each > 0)) return undefined;
  const deviation = inUnit.map((each, i) => each * (units?.[i] ?? 1));
  const standard = (upper: Float64Array, at: number, i: number) => (upper[at + i]! - mean[i]!) / deviation[i]!;
  const isNormal = degreesOfFreedom === Number.POSITIVE_INFINITY;
  if (!isNormal && absoluteError < studentError) return undefined;
  const below = (z: number) =>
    isNormal
      ? probabilityBetween(Number.NEGATIVE_INFINITY, z)
      : studentBetween(Number.NEGATIVE_INFINITY, z, degreesOfFreedom);
  if (n === 1) return (upper, at) => below(standard(upper, at, 0));
  const r = covariance[1]! / inUnit[0]! / inUnit[1]!;
  if (!isRegular(r) || !(isNormal || areWholeDegrees(degreesOfFreedom))) return undefined;
  if (absoluteError < (isNormal ? bivariateError : bivariateStudentError)) return undefined;
  const lower = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return (upper, at) => {
    const [h, k] = [standard(upper, at, 0), standard(upper, at, 1)];
    const least = Math.min(h, k);
    if (Math.max(h, k) === Number.POSITIVE_INFINITY || least === Number.NEGATIVE_INFINITY) return below(least);
    return isNormal ? bivariateBox(lower, [h, k], r) : bivariateStudentBox(lower, [h, k], r, degreesOfFreedom);
  };
}

/**
 * sqrt(chi^2 / degrees of freedom) by inversion. A t is a normal divided by it, so the limits are multiplied by it
 * (Genz and Bretz 2002).
 */
function chiScale(degreesOfFreedom: number, u: number): number {
  const a = Math.max(2 ** -1022, degreesOfFreedom / 2);
  const scale = Math.sqrt(gammaQuantile(a, Math.max(2 ** -60, Math.min(1 - 2 ** -53, u))) / a);
  // With few degrees of freedom it may underflow to 0, and 0 times an infinite limit is NaN.
  return Math.max(Number.MIN_VALUE, scale);
}

/**
 * Limits and correlation of coordinates scaled to variance 1 and mean 0, without those that have no limit; undefined if
 * the box is empty.
 */
function standardBox(
  { mean, covariance, units }: Moments64,
  { lower, upper }: BoxQuestion,
): { lower: Float64Array; upper: Float64Array; correlation: Float64Array } | undefined {
  const n = mean.length;
  const bound: number[] = [];
  for (let i = 0; i < n; i++) {
    const variance = covariance[i * (n + 1)]!;
    if (variance < 0)
      throw new CovariumError('ERR_NOT_POSITIVE_DEFINITE', `Variance (${i}) is negative (${variance}).`, { pivot: i });
    if (variance === 0 && !(lower[i]! <= mean[i]! && mean[i]! <= upper[i]!)) return undefined;
    if (variance > 0 && !(lower[i]! < upper[i]!)) return undefined;
    if (variance > 0 && (lower[i]! > Number.NEGATIVE_INFINITY || upper[i]! < Number.POSITIVE_INFINITY)) bound.push(i);
  }
  const m = bound.length;
  const inUnit = Float64Array.from(bound, (i) => Math.sqrt(covariance[i * (n + 1)]!));
  const deviation = inUnit.map((each, at) => each * (units?.[bound[at]!] ?? 1));
  const standard = (limits: ArrayLike<number>) =>
    Float64Array.from(bound, (i, at) => (limits[i]! - mean[i]!) / deviation[at]!);
  const correlation = new Float64Array(m * m);
  for (const [i, row] of bound.entries())
    for (let j = 0, at = i * m; j < m; j++, at++)
      correlation[at] = i === j ? 1 : covariance[row * n + bound[j]!]! / inUnit[i]! / inUnit[j]!;
  return { lower: standard(lower), upper: standard(upper), correlation };
}

/** A mean (n) and a covariance (n x n) in float64, in ordinary memory. */
export interface Moments64 {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  /** Those of the coordinates in the covariance, where it has others than the mean (n). */
  readonly units?: Float64Array;
}
