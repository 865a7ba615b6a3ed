import { gammaQuantile } from './gamma-quantile.ts';

/**
 * The quantile of the chi-squared distribution: the q that a sum of squares of so many (n, from 1) independent standard normals stays below
 * with this probability, which is between 0 and 1.
 */
export function chiSquareQuantile(probability: number, n: number): number {
  return n === 2 ? -2 * Math.log1p(-probability) : 2 * gammaQuantile(n / 2, probability);
}
