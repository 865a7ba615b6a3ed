const halfLog2Pi = 0.9189385332046727; // ln(2 pi) / 2

// From here on Stirling's series with eight terms is exact to 1e-17.
const stirlingFrom = 10;

/** Logarithm of the gamma function of a positive x: its error is below 1e-14, times its size where that is over 1. */
export function logGamma(x: number): number {
  if (x >= stirlingFrom) return (x - 0.5) * Math.log(x) - x + halfLog2Pi + stirling(x);
  // Gamma(x) = Gamma(x + k) / (x (x + 1) ... (x + k - 1)).
  let product = 1;
  let up = x;
  for (; up < stirlingFrom; up++) product *= up;
  return logGamma(up) - Math.log(product);
}

/**
 * ln Gamma(x + b) - ln Gamma(x) - b ln x for positive x and b from 0. It tends to 0 as x grows: a difference of logarithms would lose every
 * digit there, this one errs by a few units in the last place of b.
 */
export function logGammaRatio(x: number, b: number): number {
  if (x < stirlingFrom) return logGamma(x + b) - logGamma(x) - b * Math.log(x);
  return (x + b - 0.5) * Math.log1p(b / x) - b + stirling(x + b) - stirling(x);
}

/** ln Gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2) of a positive x: what Stirling's formula lacks. */
export function stirlingError(x: number): number {
  return x >= stirlingFrom ? stirling(x) : logGamma(x) - ((x - 0.5) * Math.log(x) - x + halfLog2Pi);
}

// The same from stirlingFrom on, by its asymptotic series (Abramowitz and Stegun 6.1.41).
function stirling(x: number): number {
  const y = 1 / (x * x);
  const tail = -691 / 360360 + y * (1 / 156 - (y * 3617) / 122400);
  return (1 / 12 + y * (-1 / 360 + y * (1 / 1260 + y * (-1 / 1680 + y * (1 / 1188 + y * tail))))) / x;
}
