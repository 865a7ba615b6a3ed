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

/**
 * The share that a shrinkage gives for these sums. Throws like {@link requireShrinkage}, and `ERR_OUT_OF_RANGE` if
 * the data are so small that Ledoit and Wolf's share can't be computed.
 */
export function intensityOf(sums: CentralSums, shrinkage: Shrinkage): number {
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
function ledoitWolf({ n, weight, squaredWeight, second, fourth, unit }: CentralSums): number {
  if (fourth === 0) return 0;
  let trace = 0;
  for (let j = 0; j < n; j++) trace += second[j * (n + 1)]! / weight;
  if (trace / n < smallestNormal.float64)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`rows\` is too small for \`shrinkage: 'ledoit-wolf'\` (the mean variance is ${trace / n}): multiply the rows by a constant first.`,
    );
  // The variances are divided by a power of two near their mean, so that no square underflows or overflows.
  const exponent = Math.floor(Math.log2(trace / n));
  const scale = 2 ** -exponent;
  const mean = (trace * scale) / n;
  let size = 0;
  let distance = 0;
  for (let i = 0; i < n; i++) {
    const variance = (second[i * (n + 1)]! / weight) * scale;
    size += variance * variance;
    distance += (variance - mean) ** 2;
    for (let j = 0; j < i; j++) {
      const twice = 2 * ((second[i * n + j]! / weight) * scale) ** 2;
      size += twice;
      distance += twice;
    }
  }
  const effective = (weight / squaredWeight) * weight;
  // Mathematically not negative; rounding may make it so.
  const spread = Math.max((fourth / weight) * 2 ** (4 * unit - 2 * exponent) - size, 0) / effective;
  if (spread === 0 || distance === 0) return 0;
  return Math.min(spread, distance) / distance;
}
