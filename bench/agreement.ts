import type { Check } from './results.ts';

interface Agreement {
  readonly check: Check;
  /** What is wrong, with both figures; '' where the result is right. */
  readonly wrong: string;
}

/**
 * Compares a result with the one of `against`. With a tolerance of 0, every number must have the same bits, including
 * the sign of a zero.
 */
export function agreement(
  right: ArrayLike<number>,
  result: ArrayLike<number>,
  against: string,
  tolerance: number,
): Agreement {
  // JSON has no infinity.
  const beyond = { against, error: Number.MAX_VALUE, tolerance };
  if (right.length !== result.length)
    return {
      check: beyond,
      wrong: `The result has (${result.length}) numbers, and that of ${against} (${right.length}).`,
    };
  let largest = 0;
  let worst = 0;
  let place = -1;
  for (let i = 0; i < right.length; ++i) {
    largest = Math.max(largest, Math.abs(right[i]!));
    if (Object.is(right[i], result[i])) continue;
    const difference = Math.abs(right[i]! - result[i]!);
    // A NaN on one side counts as an infinite difference, a zero of the other sign as the smallest one.
    const distance = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : Math.max(difference, Number.MIN_VALUE);
    if (distance > worst) [worst, place] = [distance, i];
  }
  if (worst === 0) return { check: { against, error: 0, tolerance }, wrong: '' };
  const relative = Math.max(worst / (largest || 1), Number.MIN_VALUE);
  const error = Math.min(relative, Number.MAX_VALUE);
  const check = { against, error, tolerance };
  if (error <= tolerance) return { check, wrong: '' };
  return { check, wrong: `Number (${place}) is (${result[place]}), and that of ${against} (${right[place]}).` };
}
