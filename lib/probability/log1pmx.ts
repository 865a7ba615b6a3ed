/** ln(1 + x) - x, which is never positive, to a few units in the last place: also near 0, where it is -x^2 / 2. */
export function log1pmx(x: number): number {
  if (!(x > -0.39 && x < 0.57)) return x === Number.POSITIVE_INFINITY ? -x : Math.log1p(x) - x;
  // ln(1 + x) = 2 artanh r = 2 (r + r^3 / 3 + r^5 / 5 ...), and 2 r - x = -x r.
  const r = x / (2 + x);
  const square = r * r;
  let sum = 0;
  for (let k = 27; k >= 3; k -= 2) sum = sum * square + 1 / k;
  return r * (2 * square * sum - x);
}
