import { casesOf, roundingTolerance, type Suite } from '../suite.ts';
import { functionsWithPeers } from './functions-with-peers.ts';
import { closeResult, functionProblem, numbersOf, settingOf } from './public-function.ts';

/**
 * Every public function of a distribution, synchronously, at each dimension; those that take rows take as many as the
 * largest count.
 */
export const functions: Suite = {
  name: 'functions',
  isOnRequest: true,
  problems: ({ dimensions, counts, dtypes }, inputs) =>
    casesOf(Object.keys(functionsWithPeers), dtypes).flatMap(({ name, dtype }) => {
      const called = functionsWithPeers[name]!;
      return dimensions
        .filter((n) => n <= (called.most ?? n))
        .map((n) => {
          // The cdf of three coordinates or more is an estimate.
          const tolerance = name === 'cdf' ? 1e-4 : 1000 * roundingTolerance(n, dtype);
          return functionProblem(
            { suite: 'functions', case: name, dtype, tolerance },
            called,
            n,
            counts.at(-1)!,
            inputs,
          );
        });
    }),
  layOut: (problem, device) => {
    const { setting, close } = settingOf(device, problem);
    const { sync } = functionsWithPeers[problem.case]!.of(setting);
    let last: ReturnType<typeof sync> = 0;
    return {
      run: () => {
        closeResult(last);
        last = sync();
        return undefined;
      },
      result: () => numbersOf(last),
      close: () => {
        closeResult(last);
        close();
      },
    };
  },
};
