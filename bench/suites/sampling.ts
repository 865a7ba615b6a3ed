import { bytesOf, type Real } from '../../lib/dtype.ts';
import { Matrix, MultivariateNormal } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

const included = 'factor included';

/** Draws of a normal into memory that is there, with the factor kept, or made from the covariance each time. */
export const sampling: Suite = {
  name: 'sampling',
  problems: ({ dimensions, counts, dtypes }, inputs) =>
    casesOf(['factor kept', included], dtypes).flatMap(({ name, dtype }) =>
      counts.flatMap((count) =>
        dimensions.map(
          (n): Problem => ({
            suite: 'sampling',
            case: name,
            dtype,
            dimension: n,
            count,
            work: {
              flops: count * n * (n + 1) + (name === included ? n ** 3 / 3 : 0),
              bytes: bytesOf(dtype) * ((n * (n + 1)) / 2 + (name === included ? n * n : 0) + count * n),
              normals: count * n,
            },
            inputs: () => inputs.of(['mean', 'covariance'], n, dtype),
            tolerance: 4 * roundingTolerance(n, dtype),
          }),
        ),
      ),
    ),
  layOut: (problem, device) => {
    const [n, count] = [problem.dimension!, problem.count!];
    const dtype = problem.dtype!;
    const { mean, covariance } = problem.inputs();
    const options = { device, dtype, mean, covariance: Matrix.from(covariance!, { columns: n }) };
    const out = device.matrix(count, n, { dtype });
    const draw = (normal: MultivariateNormal) => partsOf(normal.sampleSync(count, { seed: 42, out }).timings!);
    const result = () => out.data as Real;
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
