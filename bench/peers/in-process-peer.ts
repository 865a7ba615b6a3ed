import type { Contender, Prepared, Problem } from '../contender.ts';
import { LeftOut } from '../left-out.ts';
import { isForPeers } from './cases.ts';
import { checkResult, rowsLookedAt } from './check-result.ts';
import type { PeerLimits } from './peer-limits.ts';

/** A problem laid out by an npm package. */
export interface Run {
  /** Computes once. */
  readonly once: () => void;
  /** Computes and returns the result; for draws, at most `rows` rows. */
  readonly result: (rows: number) => Float64Array;
}

interface InProcessPeer {
  readonly name: string;
  readonly version: string;
  readonly prepare: (problem: Problem) => Run | undefined;
  /** About how long one run takes, in seconds: a run can't be stopped, and blocks everything else. */
  readonly estimate: (problem: Problem) => number;
}

// A longer run would hold up Ctrl-C and the progress display, too.
const longestSeconds = 5;

// Shorter runs than this are timed several at a time, so that the clock's own cost does not show.
const shortestMilliseconds = 0.02;

/** An npm package as a contender, in this process. */
export function inProcessPeer({ name, version, prepare, estimate }: InProcessPeer, limits: PeerLimits): Contender {
  return {
    dtypes: ['float64'],
    facts: {
      name,
      kind: 'peer',
      available: true,
      about: `${name} ${version}`,
      reason: '',
      threads: 1,
      facts: { dtype: 'float64' },
      measuresSpeed: true,
    },
    prepare: async (problem) => {
      if (!isForPeers(problem)) return undefined;
      const longest = Math.min(longestSeconds, limits.run);
      const seconds = estimate(problem);
      if (seconds > longest)
        throw new LeftOut(`It takes about (${Number(seconds.toPrecision(2))}) s, over (${longest}) s.`);
      const run = prepare(problem);
      return run === undefined ? undefined : prepared(problem, run);
    },
    close: async () => {},
  };
}

function prepared(problem: Problem, { once, result }: Run): Prepared {
  return {
    result: async () => checkResult(problem, result(rowsLookedAt)),
    measure: async (milliseconds) => ({ nanoseconds: times(once, milliseconds) }),
    close: async () => {},
  };
}

function times(once: () => void, milliseconds: number): number[] {
  // The result was computed before, so this run is not cold: if it outlasts the time asked for, it is not repeated.
  const warmUp = millisecondsOf(once, 1);
  if (warmUp >= milliseconds) return [warmUp * 1e6];
  const batch = Math.max(1, Math.floor(shortestMilliseconds / Math.max(millisecondsOf(once, 1), 1e-6)));
  const nanoseconds: number[] = [];
  const end = performance.now() + milliseconds;
  do nanoseconds.push(Math.max(1, (millisecondsOf(once, batch) * 1e6) / batch));
  while (performance.now() < end);
  return nanoseconds;
}

/** The time that this many runs take. */
export function millisecondsOf(once: () => void, runs: number): number {
  const start = performance.now();
  for (let i = 0; i < runs; ++i) once();
  return performance.now() - start;
}
