import { bytesOf, type Real } from '../../lib/dtype.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** c = a b, all n x n and in the device's memory: the talk's MatrixMultiplication. */
export const matrixProduct: Suite = {
  name: 'matrix-product',
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(['square'], dtypes).flatMap(({ name, dtype }) =>
      dimensions.map((n) => ({
        suite: 'matrix-product',
        case: name,
        dtype,
        dimension: n,
        count: null,
        work: { flops: 2 * n ** 3, bytes: 3 * bytesOf(dtype) * n * n, normals: 0 },
        inputs: () => inputs.of(['a', 'b'], n, dtype),
        tolerance: roundingTolerance(n, dtype),
      })),
    ),
  layOut: (problem, device) => {
    const n = problem.dimension!;
    const dtype = problem.dtype!;
    const { a: left, b: right } = problem.inputs();
    const [a, b, c] = [device.matrix(n, n, { dtype }), device.matrix(n, n, { dtype }), device.matrix(n, n, { dtype })];
    a.data.set(left!);
    b.data.set(right!);
    return {
      run: () => partsOf(device.commandBuffer().product(a, b, c).commitSync()),
      result: () => c.data as Real,
      close: () => {
        for (const each of [a, b, c]) each.close();
      },
    };
  },
};
