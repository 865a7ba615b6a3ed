import { casesOf, roundingTolerance, type Suite } from '../suite.ts';
import { functionsWithPeers } from './functions-with-peers.ts';
import { closeResult, functionProblem, numbersOf, type PublicFunction, settingOf } from './public-function.ts';

// Where a function takes another way if a covariance is ill-conditioned. float32 does not hold its digits.
const harsh = ', harsh';
const dependingOnCondition = [
  ...['make', 'make, pivoted', 'make, eigen', 'marginal', 'conditional', 'affine', 'ellipsoid'],
  ...['klDivergence', 'bhattacharyya', 'wasserstein'],
];
const cases: Readonly<Record<string, PublicFunction>> = {
  ...functionsWithPeers,
  ...Object.fromEntries(dependingOnCondition.map((name) => [name + harsh, functionsWithPeers[name]!])),
};

/**
 * Every public function of a distribution, synchronously, at each dimension; those that take rows take as many as the
 * largest count. Some also at a covariance of a smooth process, whose condition number is 10^8.
 */
export const functions: Suite = {
  name: 'functions',
  isOnRequest: true,
  problems: ({ dimensions, counts, dtypes }, inputs) =>
    casesOf(Object.keys(cases), dtypes).flatMap(({ name, dtype }) => {
      const called = cases[name]!;
      const isHarsh = name.endsWith(harsh);
      if (isHarsh && dtype === 'float32') return [];
      return dimensions
        .filter((n) => n <= (called.most ?? n))
        .map((n) => {
          // The cdf of three coordinates or more is an estimate. A harsh covariance costs NumPy half of its digits.
          const tolerance = name === 'cdf' ? 1e-4 : isHarsh ? 1e-6 : 1000 * roundingTolerance(n, dtype);
          return functionProblem(
            { suite: 'functions', case: name, dtype, tolerance },
            called,
            n,
            counts.at(-1)!,
            inputs,
            isHarsh,
          );
        });
    }),
  layOut: (problem, device) => {
    const { setting, close } = settingOf(device, problem);
    const { sync } = cases[problem.case]!.of(setting);
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
