// The normal distribution function, for tests only: a source of expected values that shares no code with what is
// tested.

/**
 * The probability of a standard normal below z: relative error below 1e-14, the lower tail included.
 *
 * Within 3 of 0 by Kummer's series, 1/2 + phi(z) (z + z^3/3 + z^5/15 + ...), whose terms have one sign; beyond by the
 * continued fraction of Mills' ratio, 1/(z + 1/(z + 2/(z + 3/(z + ...)))) (Abramowitz and Stegun 26.2.11, 26.2.14).
 */
export function normalCdf(z: number): number {
  const density = Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
  if (Math.abs(z) < 3) {
    let term = z;
    let sum = 0;
    for (let odd = 3; sum + term !== sum; odd += 2) {
      sum += term;
      term *= (z * z) / odd;
    }
    return 0.5 + density * sum;
  }
  const x = Math.abs(z);
  let fraction = x;
  for (let k = 120; k >= 1; k--) fraction = x + k / fraction;
  return z < 0 ? density / fraction : 1 - density / fraction;
}

/** The z with normalCdf(z) = p, 0 < p < 1, as exact as {@link normalCdf}. */
export function normalQuantile(p: number): number {
  let low = -40;
  let high = 10;
  for (;;) {
    const middle = 0.5 * (low + high);
    if (middle === low || middle === high) return middle;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
}
