import { cdf, probabilityBetween } from './standard-normal.ts';

const { nodes, weights } = gaussLegendre(20);

/** The greatest absolute error of {@link bivariateBox}. */
export const bivariateError = 4e-15;

/**
 * The probability of a box of two standard normals with correlation r, |r| < 1; `lower` is below `upper`, and both may
 * be infinite.
 */
export function bivariateBox(lower: readonly number[], upper: readonly number[], r: number): number {
  // Reflected so that the limits are in the upper tails: the subtracted probabilities are small there, or 0.
  const [a, b, flipped] = turned(lower[0]!, upper[0]!);
  const [c, d, alsoFlipped] = turned(lower[1]!, upper[1]!);
  const rho = flipped === alsoFlipped ? r : -r;
  const sum = beyond(a, c, rho) - beyond(b, c, rho) - beyond(a, d, rho) + beyond(b, d, rho);
  return Math.max(0, Math.min(sum, probabilityBetween(a, b), probabilityBetween(c, d)));
}

function turned(lower: number, upper: number): [number, number, boolean] {
  return lower + upper < 0 ? [-upper, -lower, true] : [lower, upper, false];
}

/**
 * P(X > h, Y > k): BVND of Genz (Numerical computation of rectangular bivariate and trivariate normal and t
 * probabilities, Statistics and Computing 14, 2004), after Drezner and Wesolowsky (1990).
 */
function beyond(h: number, k: number, r: number): number {
  if (h === Number.POSITIVE_INFINITY || k === Number.POSITIVE_INFINITY) return 0;
  return Math.abs(r) < 0.925 ? fromIndependent(h, k, r) : fromEqual(h, k, r);
}

// The integral over the correlation, from 0 to r.
function fromIndependent(h: number, k: number, r: number): number {
  const squares = 0.5 * (h * h + k * k);
  const half = 0.5 * Math.asin(r);
  let sum = 0;
  for (let i = 0; i < nodes.length; i++) {
    const sine = Math.sin(half * (1 + nodes[i]!));
    sum += weights[i]! * Math.exp((sine * h * k - squares) / (1 - sine * sine));
  }
  return (sum * half) / (2 * Math.PI) + cdf(-h) * cdf(-k);
}

// The integral over the correlation, from r to 1 or -1, with the singular part of the integrand taken exactly.
function fromEqual(h: number, second: number, r: number): number {
  const k = r < 0 ? -second : second;
  const hk = h * k;
  const square = (1 - r) * (1 + r);
  const gap = (h - k) ** 2;
  const c = (4 - hk) / 8;
  const d = (12 - hk) / 80;
  const root = Math.sqrt(square);
  const singular = root * Math.exp(-(gap / square + hk) / 2);
  let sum = -singular * (1 - (c * (gap - square) * (1 - d * gap)) / 3 + c * d * square * square);
  if (hk > -100) {
    const width = Math.sqrt(gap);
    const tail = Math.sqrt(2 * Math.PI) * cdf(-width / root);
    sum += Math.exp(-hk / 2) * tail * width * (1 - (c * gap * (1 - d * gap)) / 3);
  }
  for (let i = 0; i < nodes.length; i++) {
    const x = ((root / 2) * (1 + nodes[i]!)) ** 2;
    const exponent = -(gap / x + hk) / 2;
    if (exponent <= -100) continue;
    const cosine = Math.sqrt(1 - x);
    const expansion = 1 + c * x * (1 + 5 * d * x);
    const exact = Math.exp(((-hk / 2) * x) / (1 + cosine) ** 2) / cosine;
    sum += (root / 2) * weights[i]! * Math.exp(exponent) * (expansion - exact);
  }
  const rest = sum / (2 * Math.PI);
  return r > 0 ? cdf(-Math.max(h, k)) + rest : probabilityBetween(h, k) - rest;
}

/**
 * Nodes on (-1, 1) and weights of the Gauss-Legendre rule of `count` points, by Newton's steps on the Legendre
 * polynomial.
 */
export function gaussLegendre(count: number): { readonly nodes: Float64Array; readonly weights: Float64Array } {
  const nodes = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let x = -Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 0;
    // Quadratic convergence from 1e-3: four steps are enough, the last makes the slope exact.
    for (let step = 0; step < 5; step++) {
      let [before, value] = [0, 1];
      for (let k = 1; k <= count; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
      slope = (count * (x * value - before)) / (x * x - 1);
      x -= value / slope;
    }
    nodes[i] = x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}
