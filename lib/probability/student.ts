import { studentTail } from './f-quantile.ts';
import { logGamma, logGammaRatio } from './special-functions.ts';

// With more degrees of freedom x is near 1 and only 1 - x matters: the tails would lose digits.
const fractionLimit = 1000;

/** The greatest error of {@link studentBetween}. */
export const studentError = 2e-14;

/** The error of {@link studentBetween} at these limits: of a box on one side of 0 it is a share of the nearer tail. */
export function studentErrorOf(lower: number, upper: number, nu: number): number {
  const nearer = Math.max(lower, -upper);
  if (!(nearer >= 0)) return studentError;
  const beyond = Math.max(2 ** -1022, tail(nearer, nu));
  return beyond * (3e-14 - 2 ** -50 * Math.log(beyond));
}

/** P(lower < T <= upper) of Student's t with nu degrees of freedom, any positive finite number of them. */
export function studentBetween(lower: number, upper: number, nu: number): number {
  if (lower >= 0) return Math.max(0, tail(lower, nu) - tail(upper, nu));
  if (upper <= 0) return Math.max(0, tail(-upper, nu) - tail(-lower, nu));
  return Math.max(0, 1 - tail(-lower, nu) - tail(upper, nu));
}

// P(T > t) for t from 0: half the incomplete beta function I_x(nu / 2, 1 / 2) of x = nu / (nu + t^2) (DLMF 8.17.9,
// 8.17.22).
function tail(t: number, nu: number): number {
  if (t === 0) return 0.5;
  if (t === Number.POSITIVE_INFINITY) return 0;
  if (nu > fractionLimit) return studentTail(t, nu);
  const [a, b] = [nu / 2, 0.5];
  const [unit, root] = [Math.sqrt(nu), Math.hypot(Math.sqrt(nu), t)];
  const [x, rest] = [(unit / root) ** 2, (t / root) ** 2];
  // x^a. Neither t^2 nor t beside the root of a minute nu may overflow.
  const far = nu < 1 ? nu ** a * root ** -nu : (root / unit) ** -nu;
  const power = rest < 0.5 ? Math.exp(-a * Math.log1p((t / unit) ** 2)) : far;
  // 1 / (a B(a, b)) without the root of pi. The logarithms of a small a and of its gamma function are large and cancel.
  const ratio = a < 1 ? Math.exp(logGamma(a + b) - logGamma(a + 1)) : Math.exp(logGammaRatio(a, b)) / Math.sqrt(a);
  const front = (ratio * power * (t / root)) / Math.sqrt(Math.PI);
  if (x < (a + 1) / (a + b + 2)) return front * fraction(a, b, x) * 0.5;
  return 0.5 - ((front * a) / b) * fraction(b, a, rest) * 0.5;
}

// The continued fraction of the incomplete beta function, by Lentz's method.
function fraction(a: number, b: number, x: number): number {
  const guarded = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / guarded(1 - ((a + b) * x) / (a + 1));
  let product = d;
  for (let m = 1; m < 1e7; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    product *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    product *= d * c;
    if (Math.abs(d * c - 1) <= 2 ** -52) break;
  }
  return product;
}
