/** A polynomial at x by Horner's rule, the coefficient of the highest power first. */
export function horner(coefficients: readonly number[], x: number): number {
  let sum = coefficients[0]!;
  for (let i = 1; i < coefficients.length; i++) sum = sum * x + coefficients[i]!;
  return sum;
}
