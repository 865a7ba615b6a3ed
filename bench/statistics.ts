import type { Time } from './results.ts';

/**
 * The value below which a share of the sorted sample lies, interpolated linearly between neighbours (Hyndman and
 * Fan's type 7).
 */
export function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - below);
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/** Half the width of the 95% confidence interval of the mean, relative to the mean; two values or more. */
export function relativeMargin(values: readonly number[]): number {
  const degrees = values.length - 1;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return (studentQuantile(degrees) * Math.sqrt(squares / degrees / values.length)) / mean;
}

// A coarse clock may measure 0 for a short run. But no run takes no time, and neither ratios nor log axes can show 0.
const leastNanoseconds = 1;

/** What the rounds' runs (nanoseconds) say together; at least two runs. */
export function timeOf(runs: readonly (readonly number[])[]): Time {
  const rounds = runs.map((round) => round.map((run) => Math.max(leastNanoseconds, run)));
  const all = rounds.flat().sort((a, b) => a - b);
  return {
    runs: all.length,
    median: quantile(all, 0.5),
    p25: quantile(all, 0.25),
    p75: quantile(all, 0.75),
    relativeMargin: relativeMargin(all),
    rounds: rounds.filter((round) => round.length > 0).map(median),
  };
}

/** Student's 97.5% quantile: exact for one and two degrees of freedom, then Fisher's expansion, good to 1%. */
function studentQuantile(degrees: number): number {
  const z = 1.959964;
  if (degrees === 1) return 12.706;
  if (degrees === 2) return 4.303;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / degrees + second / degrees ** 2 + third / degrees ** 3;
}
