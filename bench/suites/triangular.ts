import { bytesOf, type Real } from '../../lib/dtype.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** n rows x of n numbers, copied into place first: factor y = x, factor' y = x, and factor x for each. */
export const triangular: Suite = {
  name: 'triangular',
  isOnRequest: true,
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(['forward solve', 'backward solve', 'product'], dtypes).flatMap(({ name, dtype }) =>
      dimensions.map((n) => ({
        suite: 'triangular',
        case: name,
        dtype,
        dimension: n,
        count: null,
        work: { flops: n ** 3, bytes: 3 * bytesOf(dtype) * n * n, normals: 0 },
        inputs: () => inputs.of(['factor', 'a'], n, dtype),
        tolerance: 4 * roundingTolerance(n, dtype),
      })),
    ),
  layOut: (problem, device) => {
    const n = problem.dimension!;
    const dtype = problem.dtype!;
    const { factor: triangle, a } = problem.inputs();
    const square = () => device.matrix(n, n, { dtype });
    const [factor, given, rows] = [square(), square(), square()];
    factor.data.set(triangle!);
    given.data.set(a!);
    const transposed = problem.case === 'backward solve';
    return {
      run: () => {
        const commands = device.commandBuffer().copy(given, rows);
        if (problem.case === 'product') commands.triangularProduct(factor, rows);
        else commands.triangularSolve(factor, rows, { transposed });
        return partsOf(commands.commitSync());
      },
      result: () => rows.data as Real,
      close: () => {
        for (const each of [factor, given, rows]) each.close();
      },
    };
  },
};
