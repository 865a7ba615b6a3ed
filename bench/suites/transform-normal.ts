import { bytesOf, type Real } from '../../lib/dtype.ts';
import { Matrix, MultivariateNormal, type Vector } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

const byTheGpu = 'one draw, factor by the GPU';

/** mean + L z with the factor L of a covariance, which is made for each draw: the talk's TransformNorm. */
export const transformNormal: Suite = {
  name: 'transform-normal',
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(['one draw', byTheGpu], dtypes).flatMap(({ name, dtype }) =>
      dimensions.map(
        (n): Problem => ({
          suite: 'transform-normal',
          case: name,
          isOptional: name === byTheGpu,
          dtype,
          dimension: n,
          count: null,
          work: { flops: n ** 3 / 3 + n * (n + 1), bytes: bytesOf(dtype) * n * n, normals: 0 },
          inputs: () => inputs.of(['mean', 'covariance', 'z'], n, dtype),
          tolerance: 4 * roundingTolerance(n, dtype),
        }),
      ),
    ),
  layOut: (problem, device) => {
    const isByTheGpu = problem.case === byTheGpu;
    if (isByTheGpu && device.kind !== 'metal') return undefined;
    const { mean, covariance, z } = problem.inputs();
    const normal = {
      device,
      mean,
      dtype: problem.dtype!,
      covariance: Matrix.from(covariance!, { columns: z!.length }),
      factor: isByTheGpu ? 'gpu' : 'auto',
    } as const;
    const input = device.vector(z!.length, { dtype: problem.dtype! });
    input.data.set(z!);
    let last: Vector | undefined;
    return {
      run: () => {
        last?.close();
        last = MultivariateNormal.transformSync({ ...normal, z: input });
        return partsOf(last.timings!);
      },
      result: () => last!.data as Real,
      close: () => {
        last?.close();
        input.close();
      },
    };
  },
};
