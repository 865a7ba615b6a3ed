import { totalmem } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { type Contender, type Problem, takesDtype } from './contender.ts';
import { type Cost, CostForecast } from './cost-forecast.ts';
import { Inputs } from './inputs.ts';
import { machine } from './machine.ts';
import { isForPeers } from './peers/cases.ts';
import { fitInto } from './quick-budget.ts';
import { type Limit, type Measurement, type Results, type RunOptions, resultsVersion } from './results.ts';
import { timeInRounds } from './rounds.ts';
import { shareOfLimit } from './share-of-limit.ts';
import { suites } from './suites.ts';
import { isAffordable, type Trial, tryOut } from './trial-pass.ts';

/** Gets reports of the run's progress. */
export interface Observer {
  /** About how long something takes: the run, before it compares anything, then the timing, when costs are known. */
  estimate(what: string, milliseconds: number): void;
  /** A step begins; `amount` is its size, in its own unit. */
  begin(what: string, amount: number): void;
  /** `amount` more of the step is done; `what` names it. */
  advance(amount: number, what: string): void;
}

// The rest of the minute is for loading this code and for the report.
const quickMs = 40_000;
// A quick run that has compared for this long tries no more peers, then no more devices: the rest of its time is for
// timing.
const lateMs = { peer: 25_000, device: 32_000 };
const noTime = 'The quick run has no time for it: it ends within a minute.';

interface TriedProblem {
  readonly problem: Problem;
  readonly trials: readonly Trial[];
}

/**
 * Runs the benchmark: limits, a trial of every problem, in which results are compared and costs noted, then the timed
 * rounds. An abort of `signal` ends it soon, with partial results. A quick run's time counts from `begun` (of
 * `performance.now()`), before the peers were started.
 */
export async function runBenchmark(
  options: RunOptions,
  contenders: readonly Contender[],
  observer: Observer,
  signal: AbortSignal,
  begun: number = performance.now(),
): Promise<Results> {
  const started = new Date();
  const about = machine();
  const shouldStop = () => signal.aborted;
  const limits = await limitsOf(contenders, options, observer, shouldStop);
  const tried = await tryAll(options, contenders, limits, observer, shouldStop, begun);
  const spentMs = performance.now() - begun;
  const fitted = options.quick ? fittedInto(Math.max(5000, quickMs - spentMs), tried, options) : { options, tried };
  const measurements = await timeAll(fitted.options, fitted.tried, limits, observer, shouldStop);
  return {
    schema: 'covarium-benchmark',
    version: resultsVersion,
    started: started.toISOString(),
    seconds: (Date.now() - started.getTime()) / 1000,
    partial: signal.aborted,
    options: fitted.options,
    machine: about,
    contenders: contenders.map(({ facts }) => facts),
    limits,
    measurements,
  };
}

async function limitsOf(
  contenders: readonly Contender[],
  { dtypes, millisecondsPerCase }: RunOptions,
  observer: Observer,
  shouldStop: () => boolean,
): Promise<readonly Limit[]> {
  const limits: Limit[] = [];
  // In a short run, measuring the limits is short too.
  const milliseconds = Math.min(250, millisecondsPerCase);
  observer.begin('Limits', contenders.length * dtypes.length);
  for (const contender of contenders)
    for (const dtype of dtypes) {
      observer.advance(1, contender.facts.name);
      // Lets the event loop handle Ctrl-C.
      await setImmediate();
      if (!contender.facts.available || contender.limit === undefined || shouldStop()) continue;
      if (takesDtype(contender, { dtype })) limits.push(await contender.limit(dtype, milliseconds));
    }
  return limits;
}

async function tryAll(
  options: RunOptions,
  contenders: readonly Contender[],
  limits: readonly Limit[],
  observer: Observer,
  shouldStop: () => boolean,
  begun: number,
): Promise<readonly TriedProblem[]> {
  const forecast = new CostForecast(limits);
  const inputs = new Inputs();
  // Each round takes at least one run.
  const mostMs = Math.max(options.quick ? 300 : 1000, 4 * options.millisecondsPerCase);
  const tried: TriedProblem[] = [];
  const problems = suites
    .filter(({ name }) => options.suites.includes(name))
    .flatMap((suite) => suite.problems(options, inputs));
  const here = contenders.filter(({ facts }) => facts.available);
  if (!options.quick && !shouldStop())
    observer.estimate('The run', foreseenMs(problems, here, forecast, mostMs, options));
  observer.begin('Comparison', problems.length);
  for (const problem of problems) {
    observer.advance(1, `${problem.suite}, ${problem.case}`);
    if (shouldStop()) break;
    const spentMs = options.quick ? performance.now() - begun : 0;
    const reasonAgainst = ({ facts: { kind } }: Contender) =>
      tooLarge(problem) || (spentMs > lateMs[kind] && (kind === 'device' || isForPeers(problem)) ? noTime : '');
    const asked = here.filter((contender) => reasonAgainst(contender) === '');
    const trials = await tryOut(problem, asked, forecast, mostMs, shouldStop);
    const refused = problem.isOptional ? [] : here.filter((each) => !asked.includes(each));
    trials.push(...refused.map((each) => leftOut(each, reasonAgainst(each))));
    trials.sort((a, b) => here.indexOf(a.contender) - here.indexOf(b.contender));
    tried.push({ problem, trials });
  }
  return tried;
}

/**
 * Milliseconds that comparing and timing will take, as far as limits tell; only devices have limits. Cases that some
 * devices do not have are left out.
 */
function foreseenMs(
  problems: readonly Problem[],
  here: readonly Contender[],
  forecast: CostForecast,
  mostMs: number,
  options: RunOptions,
): number {
  let sum = 0;
  for (const problem of problems.filter((each) => !each.isOptional && !tooLarge(each))) {
    for (const contender of here.filter((each) => takesDtype(each, problem))) {
      if (contender.facts.kind === 'peer' && !isForPeers(problem)) continue;
      const cost = forecast.foresee(contender.facts.name, problem);
      if (isAffordable(cost, mostMs)) sum += cost.setupMs + 2 * cost.runMs + timingMs(cost, options);
    }
  }
  return sum;
}

function leftOut(contender: Contender, reason: string): Trial {
  return { contender, state: 'left out', reason, check: null, cost: { setupMs: 0, runMs: 0 } };
}

/**
 * Why a problem is too large for this machine, or ''. Every contender holds the problem's data, and results are
 * copied to be compared.
 */
function tooLarge({ work: { bytes } }: Problem): string {
  if (bytes <= totalmem() / 16) return '';
  const gib = (size: number) => `${(size / 2 ** 30).toFixed(1)} GiB`;
  return `It takes (${gib(bytes)}) for each contender, of this machine's memory (${gib(totalmem())}).`;
}

/** Milliseconds of timing: the preparation, a warm-up run, and the rounds. */
function timingMs({ setupMs, runMs }: Cost, { millisecondsPerCase, rounds }: RunOptions): number {
  return setupMs + runMs + 1.1 * Math.max(millisecondsPerCase, rounds * runMs);
}

function fittedInto(budgetMs: number, tried: readonly TriedProblem[], options: RunOptions) {
  const { millisecondsPerCase, dropped } = fitInto(budgetMs, tried, options.millisecondsPerCase, ({ cost }, ms) =>
    timingMs(cost, { ...options, millisecondsPerCase: ms }),
  );
  const leave = (trial: Trial): Trial => (dropped.has(trial) ? { ...trial, state: 'left out', reason: noTime } : trial);
  return {
    options: { ...options, millisecondsPerCase },
    tried: tried.map(({ problem, trials }) => ({ problem, trials: trials.map(leave) })),
  };
}

async function timeAll(
  options: RunOptions,
  tried: readonly TriedProblem[],
  limits: readonly Limit[],
  observer: Observer,
  shouldStop: () => boolean,
): Promise<readonly Measurement[]> {
  const isReady = (trial: Trial) => trial.state === 'ready';
  const costMs = ({ cost }: Trial) => timingMs(cost, options);
  const expected = tried.flatMap(({ trials }) => trials.filter(isReady).map(costMs)).reduce((sum, ms) => sum + ms, 0);
  if (!shouldStop()) {
    observer.estimate('Timing', expected);
    observer.begin('Timing', expected);
  }
  const measurements: Measurement[] = [];
  for (const { problem, trials } of tried) {
    const times = await timeInRounds(problem, shouldStop() ? [] : trials.filter(isReady), {
      ...options,
      shouldStop,
      onSlice: (trial) => observer.advance(costMs(trial) / options.rounds, `${problem.suite}, ${problem.case}`),
    });
    for (const trial of trials) {
      const { suite, case: name, dtype, dimension, count } = problem;
      const { name: contender } = trial.contender.facts;
      const where = { suite, case: name, dtype, dimension, count, contender, check: trial.check };
      const timed = times.get(trial);
      if (timed !== undefined) {
        // A case without a dtype only moves bytes; the memory's rate is in the limit of any dtype.
        const limit = limits.find((each) => each.contender === contender && [each.dtype, null].includes(dtype));
        const share = timed.time && shareOfLimit(problem.work, limit, timed.time.median);
        measurements.push({ ...where, ...timed, shareOfLimit: share });
      } else if (trial.state !== 'ready') {
        const { state, reason } = trial;
        measurements.push({ ...where, state, reason, time: null, split: null, shareOfLimit: null });
      }
    }
  }
  return measurements;
}
