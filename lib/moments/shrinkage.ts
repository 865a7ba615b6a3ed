import { quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { smallestNormal } from '../dtype.ts';
import type { CentralSums } from './central-sums.ts';

/**
 * How far a covariance is shrunk towards the multiple of the identity with the same trace: not at all, as far as Ledoit
 * and Wolf's estimate, or by a share from 0 (not at all) to 1 (completely).
 */
export type Shrinkage = 'none' | 'ledoit-wolf' | number;

/** Returns `shrinkage` if it is valid; throws `ERR_OUT_OF_RANGE`, or `ERR_INVALID_ARGUMENT` for an unknown word. */
export function requireShrinkage(shrinkage: Shrinkage): Shrinkage {
  if (shrinkage === 'none' || shrinkage === 'ledoit-wolf') return shrinkage;
  if (typeof shrinkage !== 'number')
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`shrinkage\` is (${quoted(shrinkage)}): pass 'none', 'ledoit-wolf', or a number from 0 to 1.`,
    );
  if (shrinkage >= 0 && shrinkage <= 1) return shrinkage;
  throw new CovariumError('ERR_OUT_OF_RANGE', `\`shrinkage\` is (${shrinkage}), not a number from 0 to 1.`);
}

/** Sums about a mean that may be another than that of the rows. */
export interface SumsAbout extends CentralSums {
  /** If it is another: the sums about the mean of the rows, and the way from there to the other. */
  readonly own?: { readonly sums: CentralSums; readonly delta: Float64Array };
}

/** The error of variances whose sum overflows. */
export function beyondFloat64(trace: number): CovariumError {
  return new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`rows\` has variances, about \`mean\` if it is given, whose sum (${trace}) float64 does not hold. Pass another unit.`,
  );
}

/**
 * The share that a shrinkage gives for these sums. Throws like {@link requireShrinkage}, and `ERR_OUT_OF_RANGE` if
 * the data are so small that Ledoit and Wolf's share can't be computed.
 */
export function intensityOf(sums: SumsAbout, shrinkage: Shrinkage): number {
  const asked = requireShrinkage(shrinkage);
  if (asked === 'none') return 0;
  return asked === 'ledoit-wolf' ? ledoitWolf(sums) : asked;
}

/**
 * The share of the identity that minimises the expected squared error (O. Ledoit, M. Wolf, "A well-conditioned
 * estimator for large-dimensional covariance matrices", 2004, with the divisor N): b^2 / d^2, where d^2 = |S - m I|^2
 * says how far S is from its target, m = tr S / n, and b^2 = (mean of |d|^4 - |S|^2) / N estimates how far S is from
 * the covariance. With unequal weights N is the effective number of observations.
 */
function ledoitWolf(sums: SumsAbout): number {
  const { n, weight, squaredWeight, second, fourth, own } = sums;
  if (fourth === 0) return 0;
  let trace = 0;
  for (let j = 0; j < n; j++) trace += second[j * (n + 1)]! / weight;
  if (trace / n < smallestNormal.float64)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`rows\` is too small for \`shrinkage: 'ledoit-wolf'\` (the mean variance is ${trace / n}): multiply the rows by a constant first.`,
    );
  if (!Number.isFinite(trace)) throw beyondFloat64(trace);
  // The variances are divided by a power of two near their mean, so that no square underflows or overflows.
  const exponent = Math.floor(Math.log2(trace / n));
  const scale = 2 ** -exponent;
  const mean = (trace * scale) / n;
  let distance = 0;
  for (let i = 0; i < n; i++) {
    const variance = (second[i * (n + 1)]! / weight) * scale;
    distance += (variance - mean) ** 2;
    for (let j = 0; j < i; j++) distance += 2 * ((second[i * n + j]! / weight) * scale) ** 2;
  }
  const effective = (weight / squaredWeight) * weight;
  // Mathematically not negative; rounding may make it so.
  const excess =
    own === undefined
      ? excessOf(sums, exponent)
      : excessOf(own.sums, exponent) + excessOfStep(own.sums, own.delta, exponent);
  const spread = Math.max(excess, 0) / effective;
  if (spread === 0 || distance === 0) return 0;
  return Math.min(spread, distance) / distance;
}

/** The mean of |d|^4 less |S|^2, divided by 4^exponent. */
function excessOf({ n, weight, second, fourth, unit }: CentralSums, exponent: number): number {
  let size = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) size += 2 * ((second[i * n + j]! / weight) * 2 ** -exponent) ** 2;
    size += ((second[i * (n + 1)]! / weight) * 2 ** -exponent) ** 2;
  }
  return (fourth / weight) * 2 ** (4 * unit - 2 * exponent) - size;
}

/**
 * What a step s from the mean of the rows adds to their excess: 2 s' S s + 2 |s|^2 tr S - 4 s . (mean of |d|^2 d). Far
 * out |s|^4 is all that is left of the two terms of the excess there, whose difference would be rounding.
 */
function excessOfStep(sums: CentralSums, delta: Float64Array, exponent: number): number {
  const { n, weight, second, third, unit } = sums;
  const root = 2 ** (-exponent / 2);
  const steps = delta.map((step) => step * root);
  const entry = (at: number) => (second[at]! / weight) * 2 ** -exponent;
  let [trace, norm, quadratic, cubic] = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const step = steps[i]!;
    trace += entry(i * (n + 1));
    norm += step * step;
    quadratic += entry(i * (n + 1)) * step * step;
    for (let j = 0; j < i; j++) quadratic += 2 * entry(i * n + j) * step * steps[j]!;
    cubic += step * (third[i]! / weight) * (2 ** unit * root) ** 3;
  }
  return 2 * quadratic + 2 * norm * trace - 4 * cubic;
}
