import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { casesOf, type Suite } from '../suite.ts';
import {
  type Call,
  closeResult,
  functionProblem,
  otherFunctions,
  type PublicFunction,
  publicFunctions,
  settingOf,
} from './public-functions.ts';

// One call is too short for the clock.
const repeats = 20;
const small = 3;

const all: Readonly<Record<string, PublicFunction>> = { ...publicFunctions, ...otherFunctions };
// It has no awaited twin.
const synchronousAlone = 'toArray';

/** Processor time of this thread in ms, which Linux tells in steps of some; Infinity elsewhere. */
function threadTime(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * The longest time that the event loop does not turn while a call is awaited, in nanoseconds. Where other programs had
 * the processor meanwhile, it is the processor time of the thread, which is less.
 */
async function longestHold({ awaited }: Call): Promise<number> {
  let isRunning = true;
  let longest = 0;
  const watching = (async () => {
    let [last, lastOwn] = [performance.now(), threadTime()];
    while (isRunning) {
      await setImmediate();
      const [now, own] = [performance.now(), threadTime()];
      const held = Number.isFinite(own) ? Math.min(now - last, own - lastOwn) : now - last;
      longest = Math.max(longest, held);
      [last, lastOwn] = [now, own];
    }
  })();
  try {
    closeResult(await awaited());
  } finally {
    isRunning = false;
    await watching;
  }
  return longest * 1e6;
}

/**
 * What each public function costs where it has next to nothing to compute, at three dimensions and one row: called
 * synchronously and awaited. `longest hold` is how long the event loop stands still while the call is awaited, at each
 * dimension asked for, with as many rows as the largest count.
 */
export const calls: Suite = {
  name: 'calls',
  isOnRequest: true,
  problems: ({ dimensions, counts, dtypes }, inputs) =>
    casesOf(
      Object.keys(all).flatMap((name) =>
        name === synchronousAlone ? [name] : [name, `${name}: awaited`, `${name}: longest hold`],
      ),
      dtypes,
    ).flatMap(({ name, dtype }) => {
      const [of, how] = name.split(': ') as [string, string | undefined];
      const called = all[of]!;
      const isHold = how === 'longest hold';
      const sizes = isHold ? dimensions.filter((n) => n <= (called.most ?? n)) : [small];
      const problem = { suite: 'calls', case: name, dtype, tolerance: null };
      return sizes.map((n) => functionProblem(problem, called, n, isHold ? counts.at(-1)! : 1, inputs));
    }),
  layOut: (problem, device) => {
    const { setting, close } = settingOf(device, problem);
    const [of, how] = problem.case.split(': ') as [string, string | undefined];
    const call = all[of]!.of(setting);
    if (how === 'longest hold') return { run: async () => undefined, nanoseconds: () => longestHold(call), close };
    const sync = () => {
      for (let i = 0; i < repeats; ++i) closeResult(call.sync());
      return undefined;
    };
    const awaited = async () => {
      for (let i = 0; i < repeats; ++i) closeResult(await call.awaited());
      return undefined;
    };
    return how === undefined ? { run: sync, repeats, close } : { run: awaited, isAsync: true, repeats, close };
  },
};
