/** Euclidean, without overflow. */
export function norm(values: Float64Array): number {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return 0;
  let sum = 0;
  for (const value of values) sum += (value / largest) ** 2;
  return largest * Math.sqrt(sum);
}
