import { setImmediate } from 'node:timers/promises';
import { agreement } from './agreement.ts';
import { type Contender, type Prepared, type Problem, takesDtype } from './contender.ts';
import { type Cost, type CostForecast, minimumInformativeMs } from './cost-forecast.ts';
import { expectedResultOf } from './expected-result.ts';
import { LeftOut } from './left-out.ts';
import { type Check, definitionName, type Measurement } from './results.ts';

/** One contender's trial of one problem: whether it will be timed, and what it cost. */
export interface Trial {
  readonly contender: Contender;
  readonly state: 'ready' | Exclude<Measurement['state'], 'timed'>;
  readonly reason: string;
  readonly check: Check | null;
  readonly cost: Cost;
}

/** A result found right, with which the results of the other contenders are compared. */
interface Baseline {
  readonly name: string;
  readonly result: ArrayLike<number>;
}

// The contenders whose result may become the baseline, best first: `reference` is also the oracle of the tests.
const baselines = ['reference', 'cpu', 'cpu-1', 'cpu-blas', 'cuda', 'metal', 'softmetal'];

const nothing: Cost = { setupMs: 0, runMs: 0 };

/**
 * Runs a problem once on every contender that has it and can run it in the time given, one after the other, and
 * compares the results. A contender that does not have the problem has no trial. Calls `shouldStop` between contenders.
 */
export async function tryOut(
  problem: Problem,
  contenders: readonly Contender[],
  forecast: CostForecast,
  mostMs: number,
  shouldStop: () => boolean,
): Promise<Trial[]> {
  const trials: Trial[] = [];
  let baseline: Baseline | undefined;
  for (const contender of baselinesFirst(contenders)) {
    // Lets the event loop handle Ctrl-C.
    await setImmediate();
    if (shouldStop()) break;
    const refuse = (error: unknown) => trials.push({ contender, ...refusal(error), check: null, cost: nothing });
    const { name, kind } = contender.facts;
    if (!takesDtype(contender, problem)) {
      // A peer with one dtype just does not have the case; a device is expected to have it.
      if (kind === 'device' && !problem.isOptional) refuse(new LeftOut(`${name} does not support ${problem.dtype}.`));
      continue;
    }
    const foreseen = forecast.foresee(name, problem);
    const reason = unaffordable(foreseen, mostMs);
    try {
      const tried = reason === '' ? await runOnce(problem, contender, 3 * mostMs) : undefined;
      if (tried === undefined) {
        // A limit does not tell whether a device has a case that only some devices have.
        const hasCase = problem.isOptional !== true || forecast.knows(name, problem);
        if (reason !== '' && hasCase) refuse(new LeftOut(reason));
        continue;
      }
      const { result, cost } = tried;
      forecast.note(name, problem, cost);
      const { check, wrong } = compared(problem, baseline, result);
      if (result !== undefined && wrong === '' && baselines.includes(name)) baseline ??= { name, result };
      const tooLong = unaffordable(cost, mostMs);
      if (wrong !== '') trials.push({ contender, state: 'wrong', reason: wrong, check, cost });
      else if (tooLong !== '') trials.push({ contender, state: 'left out', reason: tooLong, check, cost });
      else trials.push({ contender, state: 'ready', reason: '', check, cost });
    } catch (error) {
      // Ctrl-C in a terminal may also end the processes of peers, which is not a failure.
      if (shouldStop()) break;
      refuse(error);
    }
  }
  return contenders.flatMap((contender) => trials.filter((trial) => trial.contender === contender));
}

/** Compares a result with the baseline, or with the definition as long as there is no baseline. */
function compared(problem: Problem, baseline: Baseline | undefined, result: ArrayLike<number> | undefined) {
  const { tolerance } = problem;
  if (result === undefined || tolerance === null) return { check: null, wrong: '' };
  if (baseline !== undefined) return agreement(baseline.result, result, baseline.name, tolerance);
  const definition = expectedResultOf(problem);
  return definition === undefined
    ? { check: null, wrong: '' }
    : agreement(definition.expected(), definition.project(result), definitionName, tolerance);
}

/** The state and the reason to record for a contender that threw. */
export function refusal(error: unknown): { readonly state: 'left out' | 'failed'; readonly reason: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return { state: error instanceof LeftOut ? 'left out' : 'failed', reason };
}

// A library's first use of a GPU takes some seconds, however little time it is given.
const mostStartMs = 6000;

/**
 * Gets ready and runs the problem once, and does each a second time if the first took {@link minimumInformativeMs} or
 * more and at most `patienceMs`, or was a start. The cost is the shorter time: the forecast would scale the cost of
 * cold code, of a GPU that starts or of a stalled thread up to all larger sizes.
 */
async function runOnce(problem: Problem, contender: Contender, patienceMs: number) {
  problem.inputs();
  const first = await timed(() => contender.prepare(problem));
  let setupMs = first.ms;
  const prepared: Prepared | undefined = first.value;
  if (prepared === undefined) return undefined;
  const isWorthAgain = (ms: number, mostMs = patienceMs) => ms >= minimumInformativeMs && ms <= mostMs;
  let result: ArrayLike<number> | undefined;
  let runMs: number;
  try {
    ({ value: result, ms: runMs } = await timed(() => prepared.result()));
    if (isWorthAgain(runMs)) runMs = Math.min(runMs, (await timed(() => prepared.result())).ms);
  } finally {
    await prepared.close();
  }
  if (isWorthAgain(setupMs, Math.max(patienceMs, mostStartMs))) {
    const again = await timed(() => contender.prepare(problem));
    await again.value?.close();
    setupMs = Math.min(setupMs, again.ms);
  }
  return { result, cost: { setupMs, runMs } };
}

async function timed<Value>(
  work: () => Promise<Value> | Value,
): Promise<{ readonly value: Value; readonly ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}

function baselinesFirst(contenders: readonly Contender[]): Contender[] {
  const rank = ({ facts }: Contender) =>
    baselines.includes(facts.name) ? baselines.indexOf(facts.name) : baselines.length;
  return contenders.filter(({ facts }) => facts.available).sort((a, b) => rank(a) - rank(b));
}

export function isAffordable(cost: Cost, mostMs: number): boolean {
  return unaffordable(cost, mostMs) === '';
}

function unaffordable({ setupMs, runMs }: Cost, mostMs: number): string {
  if (runMs > mostMs) return `A run takes about (${seconds(runMs)}), and it is given (${seconds(mostMs)}).`;
  if (setupMs > 3 * mostMs)
    return `Getting ready takes about (${seconds(setupMs)}), and it is given (${seconds(3 * mostMs)}).`;
  return '';
}

function seconds(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toPrecision(2))} s`;
}
