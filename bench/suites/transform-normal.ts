import { bytesOf, type Real } from '../../lib/dtype.ts';
import { Matrix, MultivariateNormal, type Vector } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** Where the factor is made, by case; only a Mac has the last two. */
const places = { 'one draw': 'auto', 'one draw, factor by the GPU': 'gpu', 'one draw, factor by MPS': 'mps' } as const;

/** mean + L z with the factor L of a covariance, which is made for each draw: the talk's TransformNorm. */
export const transformNormal: Suite = {
  name: 'transform-normal',
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(Object.keys(places), dtypes).flatMap(({ name, dtype }) =>
      dimensions.map(
        (n): Problem => ({
          suite: 'transform-normal',
          case: name,
          isOptional: name !== 'one draw',
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
    const factor = places[problem.case as keyof typeof places];
    if (factor !== 'auto' && device.kind !== 'metal') return undefined;
    const { mean, covariance, z } = problem.inputs();
    const normal = {
      device,
      mean,
      dtype: problem.dtype!,
      covariance: Matrix.from(covariance!, { columns: z!.length }),
      factor,
    };
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
