import { setImmediate } from 'node:timers/promises';
import { agreement } from './agreement.ts';
import type { Contender, Prepared, Problem } from './contender.ts';
import { type Cost, type CostForecast, tellingMs } from './cost-forecast.ts';
import { definitionOf } from './definition.ts';
import { LeftOut } from './left-out.ts';
import { type Check, definitionName, type Measurement } from './results.ts';

/** One contender's trial of one problem: whether it is to be timed, and what it took. */
export interface Trial {
  readonly contender: Contender;
  readonly state: 'ready' | Exclude<Measurement['state'], 'timed'>;
  readonly reason: string;
  readonly check: Check | null;
  readonly cost: Cost;
}

interface Judge {
  readonly name: string;
  readonly result: ArrayLike<number>;
}

// Whose result the others' are compared with, where it is right itself: the oracle of the tests first.
const judges = ['reference', 'cpu', 'cpu-1', 'metal', 'softmetal'];

const nothing: Cost = { setupMs: 0, runMs: 0 };

/**
 * Runs a problem once on every contender that has it and can afford it, one after the other, and compares the results. Those that have no
 * such thing are not in the answer; `shouldStop` is asked between contenders.
 */
export async function tryOut(
  problem: Problem,
  contenders: readonly Contender[],
  forecast: CostForecast,
  mostMs: number,
  shouldStop: () => boolean,
): Promise<Trial[]> {
  const trials: Trial[] = [];
  let judge: Judge | undefined;
  for (const contender of judgesFirst(contenders)) {
    // The loop turns, so that Ctrl-C is heard.
    await setImmediate();
    if (shouldStop()) break;
    const refuse = (error: unknown) => trials.push({ contender, ...refusal(error), check: null, cost: nothing });
    const { name } = contender.facts;
    const foreseen = forecast.foresee(name, problem);
    const reason = unaffordable(foreseen, mostMs);
    try {
      const tried = reason === '' ? await runOnce(problem, contender, 3 * mostMs) : undefined;
      if (tried === undefined) {
        // The limit alone doesn't say whether a device has a case that not all have.
        const hasCase = problem.isOptional !== true || forecast.knows(name, problem);
        if (reason !== '' && hasCase) refuse(new LeftOut(reason));
        continue;
      }
      const { result, cost } = tried;
      forecast.note(name, problem, cost);
      const { check, wrong } = compared(problem, judge, result);
      if (result !== undefined && wrong === '' && judges.includes(name)) judge ??= { name, result };
      const tooLong = unaffordable(cost, mostMs);
      if (wrong !== '') trials.push({ contender, state: 'wrong', reason: wrong, check, cost });
      else if (tooLong !== '') trials.push({ contender, state: 'left out', reason: tooLong, check, cost });
      else trials.push({ contender, state: 'ready', reason: '', check, cost });
    } catch (error) {
      // Ctrl-C in a terminal may end the peers that are processes, too: that is no failure of theirs.
      if (shouldStop()) break;
      refuse(error);
    }
  }
  return contenders.flatMap((contender) => trials.filter((trial) => trial.contender === contender));
}

/** With the judge's result; the first, which may become it, with what is right by definition. */
function compared(problem: Problem, judge: Judge | undefined, result: ArrayLike<number> | undefined) {
  const { tolerance } = problem;
  if (result === undefined || tolerance === null) return { check: null, wrong: '' };
  if (judge !== undefined) return agreement(judge.result, result, judge.name, tolerance);
  const definition = definitionOf(problem);
  return definition === undefined
    ? { check: null, wrong: '' }
    : agreement(definition.right(), definition.seen(result), definitionName, tolerance);
}

/** What to record of one that threw. */
export function refusal(error: unknown): { readonly state: 'left out' | 'failed'; readonly reason: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return { state: error instanceof LeftOut ? 'left out' : 'failed', reason };
}

/** What a run takes, up to `patienceMs`, is the less of two: cold code, or threads that stall, would be foreseen in all larger sizes. */
async function runOnce(problem: Problem, contender: Contender, patienceMs: number) {
  problem.inputs();
  const start = performance.now();
  const prepared: Prepared | undefined = await contender.prepare(problem);
  if (prepared === undefined) return undefined;
  try {
    const laidOut = performance.now();
    const result = await prepared.result();
    const firstMs = performance.now() - laidOut;
    const again = firstMs >= tellingMs && firstMs <= patienceMs;
    const runMs = again ? Math.min(firstMs, await resultMs(prepared)) : firstMs;
    return { result, cost: { setupMs: laidOut - start, runMs } };
  } finally {
    await prepared.close();
  }
}

async function resultMs(prepared: Prepared): Promise<number> {
  const start = performance.now();
  await prepared.result();
  return performance.now() - start;
}

function judgesFirst(contenders: readonly Contender[]): Contender[] {
  const rank = ({ facts }: Contender) => (judges.includes(facts.name) ? judges.indexOf(facts.name) : judges.length);
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
