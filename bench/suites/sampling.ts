import { Matrix, MultivariateNormal } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { partsOf, roundingTolerance, type Suite } from '../suite.ts';

const included = 'factor included';

/** Draws of a normal into memory that is there, with the factor kept, or made from the covariance each time. */
export const sampling: Suite = {
  name: 'sampling',
  problems: ({ dimensions, counts }, inputs) =>
    ['factor kept', included].flatMap((name) =>
      counts.flatMap((count) =>
        dimensions.map(
          (n): Problem => ({
            suite: 'sampling',
            case: name,
            dimension: n,
            count,
            work: {
              flops: count * n * (n + 1) + (name === included ? n ** 3 / 3 : 0),
              bytes: 2 * n * (n + 1) + (name === included ? 4 * n * n : 0) + 4 * count * n,
              normals: count * n,
            },
            inputs: () => inputs.of(['mean', 'covariance'], n),
            tolerance: 4 * roundingTolerance(n),
          }),
        ),
      ),
    ),
  layOut: (problem, device) => {
    const [n, count] = [problem.dimension!, problem.count!];
    const { mean, covariance } = problem.inputs();
    const options = { device, mean, covariance: Matrix.from(covariance!, { columns: n }) };
    const out = device.matrix(count, n);
    const draw = (normal: MultivariateNormal) => partsOf(normal.sampleSync(count, { seed: 42, out }).timings!);
    const result = () => out.data as Float32Array;
    if (problem.case === included) {
      const run = () => {
        using fresh = MultivariateNormal.fromCovarianceSync(options);
        const factor = partsOf(fresh.timings);
        const { encode, device } = draw(fresh);
        return { encode: factor.encode + encode, device: factor.device + device, readBack: 0 };
      };
      return { run, result, close: () => out.close() };
    }
    const kept = MultivariateNormal.fromCovarianceSync(options);
    return {
      run: () => draw(kept),
      result,
      close: () => {
        kept.close();
        out.close();
      },
    };
  },
};
