import type { Points } from './points.ts';

/** A bar of a histogram. The areas of all bars, and the share outside of them, add up to 1. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly density: number;
}

/** The histogram of column `column` of `n`, `count` bars wide from `low` to `high`. */
export function histogram(
  { values, rows }: Points,
  column: number,
  n: number,
  [low, high]: readonly [low: number, high: number],
  count = 24,
): Bar[] {
  const width = (high - low) / count;
  const counts = new Float64Array(count);
  for (let at = column; at < rows * n; at += n) {
    const value = values[at]!;
    // The last bar includes both of its ends.
    if (value >= low && value <= high) counts[Math.min(count - 1, Math.floor((value - low) / width))]! += 1;
  }
  return Array.from(counts, (inside, i) => ({
    from: low + i * width,
    to: low + (i + 1) * width,
    density: inside / (rows * width),
  }));
}

/** The density of a normal of one dimension. */
export function normalDensity(x: number, mean: number, variance: number): number {
  return Math.exp(-((x - mean) ** 2) / (2 * variance)) / Math.sqrt(2 * Math.PI * variance);
}
