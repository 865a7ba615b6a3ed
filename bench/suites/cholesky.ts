import type { Problem } from '../contender.ts';
import { partsOf, roundingTolerance, type Suite } from '../suite.ts';

const byTheGpu = 'factor by the GPU';

/** The lower Cholesky factor of a covariance that is copied into place first, both in the device's memory. */
export const cholesky: Suite = {
  name: 'cholesky',
  problems: ({ dimensions }, inputs) =>
    ['factor', byTheGpu].flatMap((name) =>
      dimensions.map(
        (n): Problem => ({
          suite: 'cholesky',
          case: name,
          isOptional: name === byTheGpu,
          dimension: n,
          count: null,
          work: { flops: n ** 3 / 3, bytes: 12 * n * n, normals: 0 },
          inputs: () => inputs.of(['covariance'], n),
          tolerance: 4 * roundingTolerance(n),
        }),
      ),
    ),
  layOut: (problem, device) => {
    const factor = problem.case === byTheGpu ? 'gpu' : 'auto';
    if (factor === 'gpu' && device.kind !== 'metal') return undefined;
    const n = problem.dimension!;
    const { covariance: given } = problem.inputs();
    const [covariance, a] = [device.matrix(n, n), device.matrix(n, n)];
    covariance.data.set(given!);
    return {
      run: () => partsOf(device.commandBuffer().copy(covariance, a).cholesky(a, { factor }).commitSync()),
      result: () => a.data as Float32Array,
      close: () => {
        covariance.close();
        a.close();
      },
    };
  },
};
