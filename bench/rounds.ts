import { setImmediate } from 'node:timers/promises';
import type { Prepared, Problem, Samples } from './contender.ts';
import type { Measurement, Split, Use } from './results.ts';
import { median, timeOf } from './statistics.ts';
import { refusal, type Trial } from './trial-pass.ts';

interface RoundsOptions {
  readonly rounds: number;
  /** Measuring time of one contender in a case, all rounds together. */
  readonly millisecondsPerCase: number;
  /** Called between slices. */
  readonly shouldStop: () => boolean;
  readonly onSlice: (trial: Trial) => void;
}

interface Runner {
  readonly trial: Trial;
  readonly prepared: Prepared;
  readonly rounds: Samples[];
  use?: Use | undefined;
  refused: ReturnType<typeof refusal> | undefined;
}

type Timed = Pick<Measurement, 'state' | 'reason' | 'time' | 'split' | 'use'>;

/**
 * Times one problem on the contenders that got it right. In each round every contender measures a slice, and the
 * order rotates, so that a machine that slows down does so for all. If timing is stopped, contenders with fewer than
 * two runs are not in the result.
 */
export async function timeInRounds(
  problem: Problem,
  trials: readonly Trial[],
  options: RoundsOptions,
): Promise<Map<Trial, Timed>> {
  const runners: Runner[] = [];
  try {
    for (const trial of trials) runners.push(await runnerOf(problem, trial));
    for (const runner of runners) if (!options.shouldStop()) await watch(runner);
    for (let round = 0; round < options.rounds; ++round) {
      for (let turn = 0; turn < runners.length; ++turn) {
        // Lets the event loop handle Ctrl-C.
        await setImmediate();
        if (options.shouldStop()) return timed(runners);
        const runner = runners[(turn + round) % runners.length]!;
        if (runner.refused === undefined) await measureSlice(runner, options);
        options.onSlice(runner.trial);
      }
    }
    return timed(runners);
  } finally {
    for (const { prepared } of runners) await prepared.close();
  }
}

const unprepared: Prepared = {
  result: async () => undefined,
  measure: async () => ({ nanoseconds: [] }),
  close: async () => {},
};

async function runnerOf(problem: Problem, trial: Trial): Promise<Runner> {
  try {
    const prepared = await trial.contender.prepare(problem);
    if (prepared !== undefined) return { trial, prepared, rounds: [], refused: undefined };
    throw new Error('It had the case before, and has it no longer.');
  } catch (error) {
    return { trial, prepared: unprepared, rounds: [], refused: refusal(error) };
  }
}

async function watch(runner: Runner): Promise<void> {
  try {
    runner.use = await runner.prepared.watch?.();
  } catch (error) {
    runner.refused = refusal(error);
  }
}

async function measureSlice(runner: Runner, options: RoundsOptions): Promise<void> {
  try {
    runner.rounds.push(await runner.prepared.measure(options.millisecondsPerCase / options.rounds));
  } catch (error) {
    // Ctrl-C in a terminal may also end peers that are processes: that does not count as their failure.
    if (!options.shouldStop()) runner.refused = refusal(error);
  }
}

function timed(runners: readonly Runner[]): Map<Trial, Timed> {
  const entries = runners.flatMap(({ trial, rounds, use, refused }): [Trial, Timed][] => {
    if (refused !== undefined) return [[trial, { ...refused, time: null, split: null }]];
    const nanoseconds = rounds.map((round) => round.nanoseconds);
    if (nanoseconds.flat().length < 2) return [];
    const time = timeOf(nanoseconds);
    const splits = rounds.flatMap((round) => round.splits ?? []);
    return [[trial, { state: 'timed', reason: '', time, split: splitOf(splits, time.median), ...(use && { use }) }]];
  });
  return new Map(entries);
}

function splitOf(splits: readonly Omit<Split, 'rest'>[], whole: number): Split | null {
  if (splits.length === 0) return null;
  const encode = median(splits.map((split) => split.encode));
  const device = median(splits.map((split) => split.device));
  const readBack = median(splits.map((split) => split.readBack));
  // Medians of parts needn't add up to the median of the whole.
  return { encode, device, readBack, rest: Math.max(0, whole - encode - device - readBack) };
}
