import type { Problem } from './contender.ts';
import type { Trial } from './trial-pass.ts';

/** The part of a quick run that fits into its time. */
interface Fitted {
  readonly millisecondsPerCase: number;
  /** Too expensive: left out. */
  readonly dropped: ReadonlySet<Trial>;
}

// A shorter slice has time for only one or two runs of most cases.
const leastMs = 6;

/**
 * Fits the timing of `tried` into `budgetMs`: first by shorter slices, then by leaving out what costs most, peers
 * before devices. `costMs` gives the time that timing a trial takes with that many milliseconds per case.
 */
export function fitInto(
  budgetMs: number,
  tried: readonly { readonly problem: Problem; readonly trials: readonly Trial[] }[],
  millisecondsPerCase: number,
  costMs: (trial: Trial, millisecondsPerCase: number) => number,
): Fitted {
  const ready = tried.flatMap(({ trials }) => trials.filter(({ state }) => state === 'ready'));
  const total = (ms: number) => ready.reduce((sum, trial) => sum + costMs(trial, ms), 0);
  let shorter = millisecondsPerCase;
  while (shorter > leastMs && total(shorter) > budgetMs) shorter = Math.max(leastMs, Math.floor(shorter / 1.5));
  const isPeer = ({ contender }: Trial) => (contender.facts.kind === 'peer' ? 1 : 0);
  const dearest = [...ready].sort((a, b) => isPeer(b) - isPeer(a) || costMs(b, shorter) - costMs(a, shorter));
  const dropped = new Set<Trial>();
  let left = total(shorter);
  for (const trial of dearest) {
    if (left <= budgetMs) break;
    dropped.add(trial);
    left -= costMs(trial, shorter);
  }
  return { millisecondsPerCase: shorter, dropped };
}
