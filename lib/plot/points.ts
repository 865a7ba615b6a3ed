/** Rows of numbers to show, one number for each column, row after row. */
export interface Points {
  readonly values: ArrayLike<number>;
  readonly rows: number;
  /** The number of rows from which these are an even choice; `rows` by default. */
  readonly of?: number;
  /** The number of rows left out beside these because they have a missing value; 0 by default. */
  readonly dropped?: number;
}

/** At most `limit` of the rows 0 to `rows` - 1, evenly spaced, ascending. */
export function evenRows(rows: number, limit: number): number[] {
  const count = Math.min(rows, limit);
  return Array.from({ length: count }, (_, i) => Math.floor((i * rows) / count));
}

/** Correlations of the `n` columns, row after row; NaN if a column does not vary. */
export function correlations({ values, rows }: Points, n: number): Float64Array {
  // Differences to the first row: those of a column that does not vary are exactly 0.
  const mean = new Float64Array(n);
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < n; i++) mean[i]! += (values[row * n + i]! - values[i]!) / rows;
  const products = new Float64Array(n * n);
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < n; i++) {
      const deviation = values[row * n + i]! - values[i]! - mean[i]!;
      for (let j = 0; j <= i; j++) products[i * n + j]! += deviation * (values[row * n + j]! - values[j]! - mean[j]!);
    }
  return correlationsOf((i, j) => products[Math.max(i, j) * n + Math.min(i, j)]!, n);
}

/** Correlations of a covariance, row after row. */
export function correlationsOf(covariance: (i: number, j: number) => number, n: number): Float64Array {
  return Float64Array.from({ length: n * n }, (_, at) => {
    const i = Math.floor(at / n);
    const j = at % n;
    return covariance(i, j) / Math.sqrt(covariance(i, i)) / Math.sqrt(covariance(j, j));
  });
}
