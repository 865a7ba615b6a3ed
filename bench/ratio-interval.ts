// How certain a ratio of two times is, without assuming a distribution: the confidence interval of the exact
// Mann-Whitney test (Hodges and Lehmann 1963, Annals of Mathematical Statistics 34, "Estimates of location based on
// rank tests"), with quotients in place of the original's differences.
import type { Time } from './results.ts';

/** From `low` to `high`: ratios that the samples don't rule out. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Two samples of one distribution may be called different in this share of cases, no more. */
export const falseAlarms = 0.01;

/**
 * The interval of the ratio `time` / `base` of the medians. Undefined where the rounds are too few to tell anything at
 * this level (five and five are enough), or where the clock is too coarse.
 *
 * It covers the interval of the rounds ({@link roundsInterval}) and the ratios of each side's quartiles to the other
 * side's median. So 1 is outside only if the rounds tell the two apart and neither median lies in the middle half of
 * the other side's runs.
 */
export function ratioInterval(base: Time, time: Time): Interval | undefined {
  const ofRounds = roundsInterval(base.rounds, time.rounds);
  if (ofRounds === undefined) return undefined;
  const ends = [
    ofRounds.low,
    ofRounds.high,
    time.p25 / base.median,
    time.p75 / base.median,
    time.median / base.p25,
    time.median / base.p75,
  ];
  const interval = { low: Math.min(...ends), high: Math.max(...ends) };
  return interval.low > 0 && interval.high < Infinity ? interval : undefined;
}

/**
 * The ratios r for which the exact Mann-Whitney test cannot tell `rounds` from r times `base` at the level of {@link
 * falseAlarms}: all quotients in order, without as many at either end as the test allows.
 */
export function roundsInterval(base: readonly number[], rounds: readonly number[]): Interval | undefined {
  const left = quotientsLeftOut(base.length, rounds.length);
  if (left === 0) return undefined;
  const quotients = rounds.flatMap((each) => base.map((other) => each / other)).sort((p, q) => p - q);
  return { low: quotients[left - 1]!, high: quotients.at(-left)! };
}

/**
 * The largest k for which the Mann-Whitney statistic of m and n is below k with a chance of at most half of
 * {@link falseAlarms}; 0: none.
 */
function quotientsLeftOut(m: number, n: number): number {
  // From 50 on by the normal approximation, as R's wilcox.test: 2.5758 is the normal's quantile at 0.995.
  if (m >= 50 || n >= 50) return Math.max(0, Math.floor((m * n) / 2 - 2.5758 * Math.sqrt((m * n * (m + n + 1)) / 12)));
  const chances = statisticChances(m, n);
  let sum = 0;
  for (let k = 0; k < chances.length; ++k) {
    sum += chances[k]!;
    if (sum > falseAlarms / 2) return k;
  }
  return 0;
}

/**
 * The chance of each value of the Mann-Whitney statistic, 0 to m n, for samples of m and n of one distribution. The
 * largest of all m + n values belongs to the first sample with a chance of m / (m + n), and then adds n to the
 * statistic.
 */
export function statisticChances(m: number, n: number): Float64Array {
  // ofSizes[j]: the chances for samples of i and j.
  let ofSizes = Array.from({ length: n + 1 }, () => Float64Array.of(1));
  for (let i = 1; i <= m; ++i) {
    const next = [Float64Array.of(1)];
    for (let j = 1; j <= n; ++j) {
      const chances = new Float64Array(i * j + 1);
      ofSizes[j]!.forEach((chance, u) => {
        chances[u + j]! += (chance * i) / (i + j);
      });
      next[j - 1]!.forEach((chance, u) => {
        chances[u]! += (chance * j) / (i + j);
      });
      next.push(chances);
    }
    ofSizes = next;
  }
  return ofSizes[n]!;
}
