import { log1pmx, stirlingError } from './special-functions.ts';
import { quantile } from './standard-normal.ts';

const mostFreedom = 1e300;

/**
 * The logarithm of the quantile of Snedecor's F distribution. F is the ratio of the mean squares of m and of nu
 * independent standard normals (any positive m and nu), and lies below the quantile with probability p, 0 < p < 1.
 * `above` is 1 - p; pass it if it is known more accurately. The nearer `start` is to the answer, the sooner that is
 * found.
 */
export function logFQuantile(p: number, m: number, nu: number, above: number = 1 - p, start = 0): number {
  // More change no digit, and products of them overflow.
  const [a, b] = [Math.min(m, mostFreedom) / 2, Math.min(nu, mostFreedom) / 2];
  // 1 / F has the degrees of freedom in reverse order.
  return p <= above ? lowerTail(p, a, b, start) : -lowerTail(above, b, a, -start);
}

/**
 * The v with ln I(v) = ln p, p up to a half, where I is the incomplete beta function of x = a e^v / (a e^v + b). As a
 * function of v, I is the integral of a log-concave density and so itself log-concave: once below the root, Newton's
 * steps approach it from there and never pass it.
 */
function lowerTail(p: number, a: number, b: number, start: number): number {
  const logP = Math.log(p);
  const peak = peakOf(a, b);
  let v = start;
  let isBelow = false;
  for (let step = 0; step < 1000; step++) {
    const { logI, slope } = integral(v, a, b, peak + fall(v, a, b));
    const change = (logP - logI) / slope;
    if (isBelow && !(change > 0)) break;
    isBelow = change > 0;
    // Bounds each step back: far from the root the slope says little about the way to it.
    v += Math.max(change, -(2 ** step));
    if (Math.abs(change) <= 2 ** -53 * Math.max(1, Math.abs(v))) break;
  }
  return v;
}

// ln of x^a (1 - x)^b / B(a, b) at v = 0.
function peakOf(a: number, b: number): number {
  return 0.5 * Math.log(a / (1 + a / b) / (2 * Math.PI)) + stirlingError(a + b) - stirlingError(a) - stirlingError(b);
}

// ln of x^a (1 - x)^b minus that at v = 0: a ln(x / x0) + b ln((1 - x) / (1 - x0)), whose first-order terms cancel.
function fall(v: number, a: number, b: number): number {
  if (v > 0) return fall(-v, b, a);
  const by = Math.expm1(v);
  const mean = meanOf(v, a, b);
  const less = ((b / (a + b)) * by) / mean;
  const more = ((-a / (a + b)) * by) / mean;
  // ln(1 + less) = v - ln mean, for a `less` so near to -1 that it has lost digits.
  return a * (less > -0.5 ? log1pmx(less) : v - Math.log(mean) - less) + b * log1pmx(more);
}

// (a e^v + b) / (a + b); x is the share of a e^v in it.
function meanOf(v: number, a: number, b: number): number {
  return (a / (a + b)) * Math.exp(v) + b / (a + b);
}

// ln I and its derivative with respect to v, which is the density divided by I.
function integral(v: number, a: number, b: number, logDensity: number): { logI: number; slope: number } {
  if (v <= 0) {
    const ratio = integralOverDensity(v, a, b);
    return { logI: logDensity + Math.log(ratio), slope: 1 / ratio };
  }
  const logI = Math.log1p(-Math.exp(logDensity) * integralOverDensity(-v, b, a));
  return { logI, slope: Math.exp(logDensity - logI) };
}

/**
 * For v up to 0, the continued fraction of A. R. DiDonato and A. H. Morris, Significant digit computation of the
 * incomplete beta function ratios, ACM Transactions on Mathematical Software 18 (1992), (9), by Lentz's method. It
 * needs a - (a + b) x, which v gives to full accuracy, and no x near 1.
 */
function integralOverDensity(v: number, a: number, b: number): number {
  const x = 1 / (1 + (b / a) * Math.exp(-v));
  const y = 1 / (1 + (a / b) * Math.exp(v));
  const lambda = (-a * Math.expm1(v) * (b / (a + b))) / meanOf(v, a, b);
  const denominator = (n: number) =>
    n + (n * (b - n) * x) / (a + 2 * n - 1) + ((a + n) / (a + 2 * n + 1)) * (lambda + 1 + n * (1 + y));
  let d = (a + 1) / (a * (lambda + 1));
  let c = 1e300;
  let value = d;
  for (let n = 1; n < 1e6; n++) {
    const s = a + 2 * n - 1;
    const numerator = ((a + n - 1) / s) * (((a + b + n - 1) / s) * x) * ((b - n) * x) * n;
    const next = denominator(n);
    d = 1 / (next + numerator * d);
    c = next + numerator / c;
    value *= c * d;
    if (!(Math.abs(c * d - 1) > 2 ** -53)) break;
  }
  return value;
}

/**
 * P(T > t) of Student's t with nu degrees of freedom, for a positive finite t. It keeps its digits far out, and nu may
 * be large.
 */
export function studentTail(t: number, nu: number): number {
  const [a, b] = [0.5, Math.min(nu, mostFreedom) / 2];
  // Of F = t^2, as in studentQuantile.
  const v = 2 * Math.log(t);
  const density = Math.exp(peakOf(a, b) + fall(v, a, b));
  return 0.5 * (v > 0 ? density * integralOverDensity(-v, b, a) : 1 - density * integralOverDensity(v, a, b));
}

/**
 * The quantile of Student's t with nu degrees of freedom (any positive number; Infinity is the normal) at a probability
 * between 0 and 1; infinite if it overflows.
 */
export function studentQuantile(p: number, nu: number): number {
  if (nu === Number.POSITIVE_INFINITY) return quantile(p);
  // t^2 is F with 1 and nu degrees of freedom. Each tail of t is half a tail of F, and the central probability is exact
  // near a half.
  const tails = 2 * Math.min(p, 1 - p);
  const between = Math.abs(2 * p - 1);
  if (between === 0) return 0;
  const start = nu < 1 ? 0 : Math.log(roughSquare(tails, nu));
  const size = Math.exp(logFQuantile(between, 1, nu, tails, Number.isFinite(start) ? start : 0) / 2);
  return p < 0.5 ? -size : size;
}

/**
 * The square of the t that so much is beyond on both sides, to some digits, with one degree of freedom or more: G. W.
 * Hill, Algorithm 396, Communications of the ACM 13 (1970).
 */
function roughSquare(tails: number, nu: number): number {
  const a = 1 / (nu - 0.5);
  const b = 48 / (a * a);
  const c = ((20700 * (a / b) - 98) * a - 16) * a + 96.36;
  const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt(a * (Math.PI / 2)) * nu;
  const y = (d * tails) ** (2 / nu);
  if (y > 0.05 + a) {
    const x = -quantile(tails / 2);
    const near = nu < 5 ? c + 0.3 * (nu - 4.5) * (x + 0.6) : c;
    const e = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + near;
    const square = x * x;
    const rest = (((0.4 * square + 6.3) * square + 36) * square + 94.5) / e;
    return nu * Math.expm1(a * (x * ((rest - square - 3) / b + 1)) ** 2);
  }
  const far = 1 / (((nu + 6) / (nu * y) - 0.089 * d - 0.822) * (nu + 2) * 3) + 0.5 / (nu + 4);
  return nu * ((far * y - 1) * ((nu + 1) / (nu + 2)) + 1 / y);
}
