import type { Problem } from '../contender.ts';
import type { Suite } from '../suite.ts';
import { sampling } from './sampling.ts';

const suffix = ', subnormal entries';

/**
 * The cases of `sampling` with the covariance of a Gaussian process, whose last entries are subnormal, and with 0 in
 * place of these.
 */
export const subnormal: Suite = {
  name: 'subnormal',
  isOnRequest: true,
  problems: (sizes, inputs) =>
    sampling.problems(sizes, inputs).flatMap((problem) =>
      ['', suffix].map((which): Problem => {
        const name = which === '' ? 'process without subnormal entries' : 'process';
        const { dimension, dtype } = problem;
        const of = () => inputs.of(['mean', name], dimension!, dtype!);
        return {
          ...problem,
          suite: 'subnormal',
          case: problem.case + which,
          inputs: () => ({ mean: of().mean!, covariance: of()[name]! }),
        };
      }),
    ),
  layOut: (problem, device) => sampling.layOut({ ...problem, case: baseCase(problem.case) }, device),
};

/** The same case without subnormal entries. */
export function baseCase(name: string): string {
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}
