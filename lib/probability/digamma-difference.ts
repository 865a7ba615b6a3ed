// From here on the asymptotic series with seven terms is exact to 1e-17.
const seriesFrom = 10;

/** psi(x + b) - psi(x) for positive x and b from 0, psi being the derivative of ln Gamma; exact to the last digits however large x is. */
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
