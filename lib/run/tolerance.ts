import type { Matrix } from '../array/matrix.ts';
import type { Real, RealDtype } from '../dtype.ts';

// A wrong seed differs by far more than this share of a column's scale, whatever the condition number.
const largestShare = 1 / 16;
const iterations = 12;

/**
 * How far two devices may differ, in ulps of a column's scale, |mean| + standard deviation. Each sums n products in its
 * own order, and rounding errors of random sign grow as sqrt(n). Its factor is that of a covariance near the given one,
 * and the effect of that error grows with the norm of the inverse of the correlation matrix H (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2002, theorems 10.5 and 10.6; with the inverse of the covariance it would depend
 * on the columns' units). So the bound is 16 sqrt(n) (1 + |H^-1|), and never more than 1/16 of the scale. The root of a
 * singular covariance, n x rank, is the same everywhere.
 */
export function allowedUlps({ rows: n, data }: Matrix, rank: number, dtype: RealDtype): number {
  const growth = rank === n ? 1 + inverseNorm(data as Real, n) : 1;
  return Math.min(16 * Math.sqrt(n) * growth, largestShare / epsilonOf(dtype));
}

/** The unit of {@link allowedUlps}: the distance from 1 to the next number. */
export function epsilonOf(dtype: RealDtype): number {
  return dtype === 'float32' ? 2 ** -23 : 2 ** -52;
}

/** Standard deviations: norms of the rows of the factor. */
export function deviationsOf({ rows, columns, data }: Matrix): Float64Array {
  return normsOfRows(data as Real, rows, columns);
}

function normsOfRows(factor: Real, rows: number, columns: number): Float64Array {
  return Float64Array.from({ length: rows }, (_, row) => normOf(factor.subarray(row * columns, (row + 1) * columns)));
}

/**
 * 2-norm of the inverse of the correlation matrix, by the power method. The result is slightly too small; the safety
 * factor of the tolerance covers that.
 */
function inverseNorm(factor: Real, n: number): number {
  const deviations = normsOfRows(factor, n, n);
  // The factor R of H has the rows of L divided by their norms. Any start that is not in an invariant subspace will do.
  let x = Float64Array.from({ length: n }, (_, i) => 1 + Math.sin(i + 1) / 2);
  let norm = 1;
  for (let iteration = 0; iteration < iterations; iteration++) {
    const size = normOf(x);
    x = x.map((value) => value / size);
    for (let i = 0; i < n; i++) {
      let sum = x[i]! * deviations[i]!;
      for (let k = 0; k < i; k++) sum -= factor[i * n + k]! * x[k]!;
      x[i] = sum / factor[i * n + i]!;
    }
    for (let i = n - 1; i >= 0; i--) {
      const value = x[i]! / factor[i * n + i]!;
      for (let k = 0; k < i; k++) x[k]! -= factor[i * n + k]! * value;
      x[i] = value * deviations[i]!;
    }
    norm = normOf(x);
  }
  return norm;
}

function normOf(x: Real): number {
  let sum = 0;
  for (const value of x) sum += value * value;
  return Math.sqrt(sum);
}
