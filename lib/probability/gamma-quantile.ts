import { log1pmx } from './special-functions.ts';
import { quantile } from './standard-normal.ts';

/**
 * The x with P(a, x) = p, 0 < p < 1, of the regularised lower incomplete gamma function with a > 0: Halley's or
 * Newton's steps from Wilson and Hilferty's approximation (1931), or from the first term of the power series. The cost
 * grows as the square root of a, so a large one takes Cornish and Fisher's expansion.
 */
export function gammaQuantile(a: number, p: number): number {
  const z = quantile(p);
  if (a > 2000 + 500 * z * z) return expansion(a, z);
  const logGamma = logGammaOfNext(a);
  const root = 1 - 1 / (9 * a) + z / (3 * Math.sqrt(a));
  // P(a, x) = x^a / Gamma(a + 1) (1 - ...), so this first estimate is always below the answer.
  const leading = Math.exp((Math.log(p) + logGamma) / a);
  let x = root > 0.3 && a > 0.5 ? a * root ** 3 : leading;
  if (!(x > 1e-300)) return leading;
  for (let step = 0; step < 60; step++) {
    const logTerm = logTermOf(a, x, logGamma);
    const change = p < 0.1 ? logStep(a, x, p, logTerm) : halleyStep(a, x, p, logTerm);
    const next = x - change;
    if (!(Math.abs(change) > 1e-14 * x)) return next > 0 ? next : x;
    x = next > 0 ? next : x / 2;
  }
  return x;
}

// E. A. Cornish and R. A. Fisher (1937), to eight terms (H. Goldberg and H. Levine, The Annals of Mathematical
// Statistics 17, 1946); from where it is used on, the next is below 1e-15 of the sum.
function expansion(a: number, z: number): number {
  const s = z * z;
  const root = Math.sqrt(a);
  // From the last to the second, each is divided by the root once more than the one before it.
  const terms = [
    (-z * (((3753 * s + 4353) * s - 289_517) * s - 289_717)) / 146_966_400,
    (((12 * s - 243) * s - 923) * s + 1472) / 204_120,
    (z * ((9 * s + 256) * s - 433)) / 38_880,
    (16 - (3 * s + 7) * s) / 810,
    (z * (s - 7)) / 36,
    (s - 1) / 3,
  ];
  let sum = 0;
  for (const term of terms) sum = sum / root + term;
  return a + (z * root + sum);
}

// Newton's step for ln P = ln p, which works for terms of any size.
function logStep(a: number, x: number, p: number, logTerm: number): number {
  const sum = series(a, x);
  return ((sum * x) / a) * (Math.log(sum) + logTerm - Math.log(p));
}

function halleyStep(a: number, x: number, p: number, logTerm: number): number {
  const term = Math.exp(logTerm);
  // Uses the smaller of the two tails.
  const gap = x < a + 1 ? term * series(a, x) - p : 1 - p - term * fraction(a, x);
  const newton = (gap * x) / (a * term);
  const halley = newton / (1 - 0.5 * newton * ((a - 1) / x - 1));
  return Math.abs(halley) < 2 * Math.abs(newton) ? halley : newton;
}

// ln Gamma(a + 1), by Stirling's series from 16 on.
function logGammaOfNext(a: number): number {
  let product = 1;
  let b = a;
  for (; b < 16; b++) product *= b + 1;
  return (b + 0.5) * Math.log(b) - b + 0.5 * Math.log(2 * Math.PI) + stirling(b) - Math.log(product);
}

function stirling(b: number): number {
  const square = 1 / (b * b);
  return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / b;
}

// ln x^a exp(-x) / Gamma(a + 1), for a large a without subtracting large numbers.
function logTermOf(a: number, x: number, logGamma: number): number {
  if (a < 16) return a * Math.log(x) - x - logGamma;
  const delta = (x - a) / a;
  // Far below a, 1 + delta has lost digits that x / a still has.
  const bend = delta < -0.5 ? Math.log(x / a) - delta : log1pmx(delta);
  return a * bend - 0.5 * Math.log(2 * Math.PI * a) - stirling(a);
}

// P(a, x) divided by x^a exp(-x) / Gamma(a + 1).
function series(a: number, x: number): number {
  let [term, sum] = [1, 1];
  for (let k = 1; term > 1e-17 * sum; k++) {
    term *= x / (a + k);
    sum += term;
  }
  return sum;
}

// 1 - P(a, x) divided by the same, by Lentz's method for the continued fraction (Abramowitz and Stegun 6.5.31).
function fraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let value = d;
  for (let k = 1; k < 1e7; k++) {
    const numerator = k * (a - k);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    value *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return a * value;
}

/**
 * The quantile of the chi-squared distribution: the q that a sum of squares of n independent standard normals, n from
 * 1, lies below with this probability, which is between 0 and 1.
 */
export function chiSquareQuantile(probability: number, n: number): number {
  return n === 2 ? -2 * Math.log1p(-probability) : 2 * gammaQuantile(n / 2, probability);
}

/** The square root of {@link chiSquareQuantile}, of one that underflows too. */
export function chiQuantile(probability: number, n: number): number {
  const square = chiSquareQuantile(probability, n);
  if (square > 1e-290) return Math.sqrt(square);
  // The first term of the power series is all there is.
  return Math.SQRT2 * probability ** (1 / n) * Math.exp(logGammaOfNext(n / 2) / n);
}
