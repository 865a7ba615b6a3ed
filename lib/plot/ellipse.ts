import { chiSquareQuantile } from '../probability/gamma-quantile.ts';

/**
 * The radius, in standard deviations, of the ellipse that holds a share of a normal in two dimensions: the squared
 * radius of a draw is chi-squared with 2 degrees of freedom.
 */
export function ellipseRadius(share: number): number {
  return Math.sqrt(chiSquareQuantile(share, 2));
}

/** A normal in two dimensions: a marginal of a larger one. */
export interface PairMargin {
  readonly mean: readonly [x: number, y: number];
  readonly covariance: readonly [xx: number, xy: number, yy: number];
}

/**
 * `count` points around the ellipse that holds `share` of the normal: mean + r L u, u on the unit circle, L the
 * Cholesky factor.
 */
export function ellipse({ mean, covariance }: PairMargin, share: number, count = 64): [x: number, y: number][] {
  const [xx, xy, yy] = covariance;
  const radius = ellipseRadius(share);
  const l11 = Math.sqrt(xx);
  const l21 = xy / l11;
  // For a singular normal this is 0, or negative by a rounding.
  const l22 = Math.sqrt(Math.max(0, yy - l21 * l21));
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    const u = radius * Math.cos(angle);
    const v = radius * Math.sin(angle);
    return [mean[0] + l11 * u, mean[1] + l21 * u + l22 * v];
  });
}
