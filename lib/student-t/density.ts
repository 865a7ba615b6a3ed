import type { Factor } from '../factor/factor.ts';
import { digammaDifference, logGammaRatio } from '../probability/special-functions.ts';
import type { StudentParameters } from './parameters.ts';

// With b half the dimension (half the rank, if the scale is singular), the density at squared distance d^2 is Gamma(nu
// / 2 + b) / (Gamma(nu / 2) (pi nu)^b sqrt(det)) (1 + d^2 / nu)^-(nu / 2 + b): Kotz and Nadarajah, Multivariate t
// Distributions and Their Applications, Cambridge 2004, (1.1).

/** Logarithm of the density at the location. */
export function logDensityAtLocation({
  normal,
  nu,
}: {
  readonly normal: { readonly factor: Pick<Factor, 'logDeterminant' | 'rank'> };
  readonly nu: number;
}): number {
  const { logDeterminant, rank } = normal.factor;
  const b = rank / 2;
  // (pi nu)^-b = (nu / 2)^-b (2 pi)^-b; the first factor is part of the ratio.
  const ratio = nu === Number.POSITIVE_INFINITY ? 0 : logGammaRatio(nu / 2, b);
  return ratio - b * Math.log(2 * Math.PI) - logDeterminant / 2;
}

/**
 * The logarithm of the density at squared distance square 4^exponent, minus the logarithm at the location; nu is
 * finite.
 */
export function logDecay(
  { factor }: { readonly factor: Pick<Factor, 'rank'> },
  nu: number,
  square: number,
  exponent: number,
): number {
  const ratio = (square / nu) * 4 ** exponent;
  const logarithm = ratio < 1e300 ? Math.log1p(ratio) : Math.log(square) - Math.log(nu) + 2 * exponent * Math.LN2;
  return -(nu / 2 + factor.rank / 2) * logarithm;
}

/** Differential entropy in nats. */
export function studentEntropy(parameters: StudentParameters): number {
  const { nu, normal } = parameters;
  const b = normal.factor.rank / 2;
  const spread = nu === Number.POSITIVE_INFINITY ? b : (nu / 2 + b) * digammaDifference(nu / 2, b);
  return spread - logDensityAtLocation(parameters);
}
