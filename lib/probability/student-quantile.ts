import { logFQuantile } from './f-quantile.ts';
import { quantile } from './standard-normal.ts';

/**
 * The quantile of Student's t with nu degrees of freedom (any positive number; Infinity is the normal) at a probability between 0 and 1:
 * infinite where it is no number.
 */
export function studentQuantile(p: number, nu: number): number {
  if (nu === Number.POSITIVE_INFINITY) return quantile(p);
  // t^2 is F with 1 and nu degrees of freedom; both tails of it are one of t, and what is between is exact near a half.
  const tails = 2 * Math.min(p, 1 - p);
  const between = Math.abs(2 * p - 1);
  if (between === 0) return 0;
  const size = Math.exp(logFQuantile(between, 1, nu, tails) / 2);
  return p < 0.5 ? -size : size;
}
