import { setImmediate } from 'node:timers/promises';
import type { Problem } from '../contender.ts';
import { casesOf, type Suite } from '../suite.ts';
import { type Call, closeResult, type FunctionInputs, publicFunctions, rowsOf, settingOf } from './public-functions.ts';

// One call is too short for the clock.
const repeats = 20;
const small = 3;

/** The longest time that the event loop does not turn while a call is awaited, in nanoseconds. */
async function longestHold({ awaited }: Call): Promise<number> {
  let isRunning = true;
  let longest = 0;
  const watching = (async () => {
    for (let last = performance.now(); isRunning; ) {
      await setImmediate();
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
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
 * dimension asked for.
 */
export const calls: Suite = {
  name: 'calls',
  isOnRequest: true,
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(
      Object.keys(publicFunctions).flatMap((name) => [name, `${name}: awaited`, `${name}: longest hold`]),
      dtypes,
    ).flatMap(({ name, dtype }) => {
      const [of, how] = name.split(': ') as [string, string | undefined];
      const { most = Number.POSITIVE_INFINITY } = publicFunctions[of]!;
      const sizes = how === 'longest hold' ? dimensions.filter((n) => n <= most) : [small];
      return sizes.map((n): Problem => {
        const count = rowsOf(publicFunctions[of]!, n, 1);
        return {
          suite: 'calls',
          case: name,
          dtype,
          dimension: n,
          count,
          work: { flops: 0, bytes: 0, normals: 0 },
          inputs: () => inputs.ofFunctions(n, count ?? 1, dtype),
          tolerance: null,
        };
      });
    }),
  layOut: (problem, device) => {
    const { setting, close } = settingOf(
      device,
      problem.dtype!,
      problem.dimension!,
      problem.inputs() as FunctionInputs,
    );
    const [of, how] = problem.case.split(': ') as [string, string | undefined];
    const call = publicFunctions[of]!.of(setting);
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
