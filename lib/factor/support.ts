import type { Real } from '../dtype.ts';

/** A row, and what is left of it, by standard deviation, once its part in the span of a singular normal's root is taken away. */
export interface SupportQuestion {
  readonly row: Real;
  readonly mean: Real;
  readonly left: Real;
  /** Of the variables; 0 where one does not vary. */
  readonly deviations: Real;
  /** Mahalanobis distance of that part. */
  readonly distance: number;
}

/**
 * Whether a row is on the support of a singular normal, but for rounding: what is left of each variable is at most t (1 + distance) of its
 * standard deviation, t = 1e3 2^-23 in float32 and 1e6 2^-52 in float64 (the factors are SciPy's), and besides n roundings of the numbers
 * themselves where these are large beside the deviations. A variable that does not vary is its mean, to four roundings.
 */
export function isOnSupport({ row, mean, left, deviations, distance }: SupportQuestion): boolean {
  const n = row.length;
  const [eps, factor] = row instanceof Float32Array ? [2 ** -23, 1e3] : [2 ** -52, 1e6];
  let rounding = 0;
  for (let i = 0; i < n; i++) {
    const size = Math.abs(row[i]!) + Math.abs(mean[i]!);
    if (deviations[i] === 0) {
      if (Math.abs(row[i]! - mean[i]!) > 4 * eps * size) return false;
    } else rounding = Math.max(rounding, size / deviations[i]!);
  }
  const most = factor * eps * (1 + distance) + n * eps * rounding;
  for (let i = 0; i < n; i++) if (Math.abs(left[i]!) > most) return false;
  return true;
}
