import { holdsOf } from '../longest-hold.ts';
import { casesOf, type Suite } from '../suite.ts';
import { functionsWithPeers } from './functions-with-peers.ts';
import { functionsWithoutPeers } from './functions-without-peers.ts';
import { type Call, closeResult, functionProblem, type PublicFunction, settingOf } from './public-function.ts';

// One call is too short for the clock.
const repeats = 20;
const small = 3;

const all: Readonly<Record<string, PublicFunction>> = { ...functionsWithPeers, ...functionsWithoutPeers };
// It has no asynchronous form.
const synchronousAlone = 'toArray';

/** The longest time that the event loop does not turn while a call is awaited, in nanoseconds. */
async function longestHold({ awaited }: Call): Promise<number> {
  const { longestMs } = await holdsOf(async () => closeResult(await awaited()));
  return longestMs * 1e6;
}

/**
 * What each public function costs where it has next to nothing to compute, at three dimensions and one row: called
 * synchronously and awaited. `longest hold` is how long the event loop stands still while the call is awaited, at
 * each requested dimension, with as many rows as the largest count.
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
