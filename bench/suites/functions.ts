import type { Problem } from '../contender.ts';
import { casesOf, roundingTolerance, type Suite } from '../suite.ts';
import { closeResult, type FunctionInputs, numbersOf, publicFunctions, rowsOf, settingOf } from './public-functions.ts';

/**
 * Every public function of a distribution, synchronously, at each dimension; those that take rows take as many as the
 * largest count.
 */
export const functions: Suite = {
  name: 'functions',
  isOnRequest: true,
  problems: ({ dimensions, counts, dtypes }, inputs) =>
    casesOf(Object.keys(publicFunctions), dtypes).flatMap(({ name, dtype }) => {
      const { most = Number.POSITIVE_INFINITY } = publicFunctions[name]!;
      return dimensions
        .filter((n) => n <= most)
        .map((n): Problem => {
          const count = rowsOf(publicFunctions[name]!, n, counts.at(-1)!);
          return {
            suite: 'functions',
            case: name,
            dtype,
            dimension: n,
            count,
            work: { flops: 0, bytes: 0, normals: 0 },
            inputs: () => inputs.ofFunctions(n, count ?? 1, dtype),
            // The cdf of three coordinates or more is an estimate.
            tolerance: name === 'cdf' ? 1e-4 : 1000 * roundingTolerance(n, dtype),
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
    const { sync } = publicFunctions[problem.case]!.of(setting);
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
