const halfLog2Pi = 0.9189385332046727; // ln(2 pi) / 2

// From here on, Stirling's series with eight terms has an error below 1e-17.
const stirlingFrom = 10;

/** Logarithm of the gamma function of a positive x. The error is below 1e-14, relative if the value exceeds 1. */
export function logGamma(x: number): number {
  if (x >= stirlingFrom) return (x - 0.5) * Math.log(x) - x + halfLog2Pi + stirling(x);
  // Gamma(x) = Gamma(x + k) / (x (x + 1) ... (x + k - 1)).
  let product = 1;
  let up = x;
  for (; up < stirlingFrom; up++) product *= up;
  return logGamma(up) - Math.log(product);
}

/**
 * ln Gamma(x + b) - ln Gamma(x) - b ln x for positive x and b from 0. It tends to 0 as x grows. A difference of
 * logarithms would lose every digit there; the error here is a few units in the last place of b.
 */
export function logGammaRatio(x: number, b: number): number {
  if (x < stirlingFrom) return logGamma(x + b) - logGamma(x) - b * Math.log(x);
  return (x + b - 0.5) * Math.log1p(b / x) - b + stirling(x + b) - stirling(x);
}

/** ln Gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2) of a positive x: the error of Stirling's formula. */
export function stirlingError(x: number): number {
  return x >= stirlingFrom ? stirling(x) : logGamma(x) - ((x - 0.5) * Math.log(x) - x + halfLog2Pi);
}

// Like {@link stirlingError} from stirlingFrom on, by its asymptotic series (Abramowitz and Stegun 6.1.41).
function stirling(x: number): number {
  const y = 1 / (x * x);
  const tail = -691 / 360360 + y * (1 / 156 - (y * 3617) / 122400);
  return (1 / 12 + y * (-1 / 360 + y * (1 / 1260 + y * (-1 / 1680 + y * (1 / 1188 + y * tail))))) / x;
}

/** ln(1 + x) - x, which is never positive, to a few units in the last place, even near 0, where it is -x^2 / 2. */
export function log1pmx(x: number): number {
  if (!(x > -0.39 && x < 0.57)) return x === Number.POSITIVE_INFINITY ? -x : Math.log1p(x) - x;
  // ln(1 + x) = 2 artanh r = 2 (r + r^3 / 3 + r^5 / 5 ...), and 2 r - x = -x r.
  const r = x / (2 + x);
  const square = r * r;
  let sum = 0;
  for (let k = 27; k >= 3; k -= 2) sum = sum * square + 1 / k;
  return r * (2 * square * sum - x);
}
// From here on, the asymptotic series with seven terms has an error below 1e-17.
const seriesFrom = 10;

/**
 * psi(x + b) - psi(x) for positive x and b from 0, where psi is the derivative of ln Gamma; accurate to the last digits
 * for any x.
 */
export function digammaDifference(x: number, b: number): number {
  if (x >= seriesFrom) return Math.log1p(b / x) + (tail(x + b) - tail(x));
  // psi(x) = psi(x + 1) - 1 / x.
  const k = Math.ceil(seriesFrom - x);
  let sum = 0;
  for (let i = 0; i < k; i++) sum += b / ((x + i) * (x + i + b));
  return sum + digammaDifference(x + k, b);
}
// psi(x) - ln x, by its asymptotic series (Abramowitz and Stegun 6.3.18).
function tail(x: number): number {
  const y = 1 / (x * x);
  const rest = y * (1 / 240 + y * (-1 / 132 + y * (691 / 32760 - y / 12)));
  return -0.5 / x - y * (1 / 12 + y * (-1 / 120 + y * (1 / 252 - rest)));
}
