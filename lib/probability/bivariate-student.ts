import { studentBetween } from './student.ts';

// Its sums have half as many terms as there are degrees of freedom.
const mostFreedom = 1000;

/** How far {@link bivariateStudentBox} may be off, in absolute terms. */
export const bivariateStudentError = 1e-13;

/** Whether {@link bivariateStudentBox} has a formula for so many degrees of freedom. */
export function areWholeDegrees(degreesOfFreedom: number): boolean {
  return Number.isInteger(degreesOfFreedom) && degreesOfFreedom >= 1 && degreesOfFreedom <= mostFreedom;
}

/**
 * The probability of a box of a bivariate t of correlation r, |r| < 1, with `nu` degrees of freedom, a whole number;
 * `lower` is below `upper`, and either may be infinite.
 */
export function bivariateStudentBox(lower: readonly number[], upper: readonly number[], r: number, nu: number): number {
  const [a, c] = lower as [number, number];
  const [b, d] = upper as [number, number];
  const sum = below(b, d, r, nu) - below(a, d, r, nu) - below(b, c, r, nu) + below(a, c, r, nu);
  return Math.max(0, Math.min(sum, studentBetween(a, b, nu), studentBetween(c, d, nu)));
}

/**
 * P(X <= h, Y <= k): Dunnett and Sobel (A bivariate generalization of Student's t-distribution, with tables for certain
 * special cases, Biometrika 41, 1954) in the form of Genz (Statistics and Computing 14, 2004, section 2).
 */
function below(upperX: number, upperY: number, r: number, nu: number): number {
  const [h, k] = [farthest(upperX), farthest(upperY)];
  if (h === Number.NEGATIVE_INFINITY || k === Number.NEGATIVE_INFINITY) return 0;
  if (h === Number.POSITIVE_INFINITY || k === Number.POSITIVE_INFINITY)
    return studentBetween(Number.NEGATIVE_INFINITY, Math.min(h, k), nu);
  const square = (1 - r) * (1 + r);
  const first = sideOf(h, k, r, square, nu);
  const second = sideOf(k, h, r, square, nu);
  const isEven = nu % 2 === 0;
  let sum = isEven ? Math.atan2(Math.sqrt(square), -r) / (2 * Math.PI) : ofOne(h, k, r, square, nu);
  for (const { limit, share, rest, sign } of [first, second]) {
    const growth = 1 + (limit * limit) / nu;
    // The density's share of the limit, and the incomplete beta function of `share`, term by term.
    let weight = isEven
      ? limit / (4 * Math.hypot(Math.sqrt(nu), limit))
      : limit / (2 * Math.PI * Math.sqrt(nu) * growth);
    let beta = isEven ? (2 / Math.PI) * Math.atan2(Math.sqrt(share), Math.sqrt(rest)) : Math.sqrt(share);
    let term = isEven ? (2 / Math.PI) * Math.sqrt(share * rest) : beta;
    for (let j = 1; j <= Math.floor(nu / 2); ++j) {
      sum += weight * (1 + sign * beta);
      if (isEven) {
        beta += term;
        term *= (2 * j * rest) / (2 * j + 1);
        weight *= (2 * j - 1) / (2 * j * growth);
      } else {
        term *= ((2 * j - 1) * rest) / (2 * j);
        beta += term;
        weight *= (2 * j) / ((2 * j + 1) * growth);
      }
    }
  }
  return Math.max(0, Math.min(1, sum));
}

// Farther out no probability is left, and products would overflow.
function farthest(limit: number): number {
  return Number.isFinite(limit) ? Math.max(-1e70, Math.min(limit, 1e70)) : limit;
}

/** Of one limit beside the other: what of the other's conditional distribution lies below it. */
function sideOf(limit: number, other: number, r: number, square: number, nu: number) {
  const distance = residual(other, limit, r);
  const spread = square * (nu + limit * limit);
  const whole = distance * distance + spread;
  return { limit, share: (distance * distance) / whole, rest: spread / whole, sign: Math.sign(distance) };
}

/** other - r limit, of which nothing is lost where r is next to 1 or -1 and the two are alike. */
function residual(other: number, limit: number, r: number): number {
  return r < 0 ? other + limit - (1 + r) * limit : other - limit + (1 - r) * limit;
}

/** The probability with one degree of freedom, of limits scaled for `nu`: where the odd sum begins. */
function ofOne(h: number, k: number, r: number, square: number, nu: number): number {
  const gap = r < 0 ? h + k : h - k;
  const root = Math.sqrt(gap * gap + 2 * (r < 0 ? -(1 + r) : 1 - r) * h * k + nu * square);
  const [product, across, total] = [h * k - nu, h * k + r * nu, h + k];
  const turn =
    Math.atan2(-Math.sqrt(nu) * (product * root + total * across), product * across - nu * total * root) /
    (2 * Math.PI);
  // Next to 0 rounding decides the sign; above two positive limits the probability is at least the centre's orthant.
  return turn < (h > 0 && k > 0 ? 1e-12 : -1e-15) ? turn + 1 : turn;
}
