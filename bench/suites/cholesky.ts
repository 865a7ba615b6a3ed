import { bytesOf, type Real } from '../../lib/dtype.ts';
import type { Problem } from '../contender.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** Where the factor is made, by case; only a Mac has the last two. */
const places = { factor: 'auto', 'factor by the GPU': 'gpu', 'factor by MPS': 'mps' } as const;

/** The lower Cholesky factor of a covariance that is copied into place first, both in the device's memory. */
export const cholesky: Suite = {
  name: 'cholesky',
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(Object.keys(places), dtypes).flatMap(({ name, dtype }) =>
      dimensions.map(
        (n): Problem => ({
          suite: 'cholesky',
          case: name,
          isOptional: name !== 'factor',
          dtype,
          dimension: n,
          count: null,
          work: { flops: n ** 3 / 3, bytes: 3 * bytesOf(dtype) * n * n, normals: 0 },
          inputs: () => inputs.of(['covariance'], n, dtype),
          tolerance: 4 * roundingTolerance(n, dtype),
        }),
      ),
    ),
  layOut: (problem, device) => {
    const factor = places[problem.case as keyof typeof places];
    if (factor !== 'auto' && device.kind !== 'metal') return undefined;
    const n = problem.dimension!;
    const dtype = problem.dtype!;
    const { covariance: given } = problem.inputs();
    const [covariance, a] = [device.matrix(n, n, { dtype }), device.matrix(n, n, { dtype })];
    covariance.data.set(given!);
    return {
      run: () => partsOf(device.commandBuffer().copy(covariance, a).cholesky(a, { factor }).commitSync()),
      result: () => a.data as Real,
      close: () => {
        covariance.close();
        a.close();
      },
    };
  },
};
