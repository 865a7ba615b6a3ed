import { bytesOf, type Real } from '../../lib/dtype.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** y = a z, a n x n and all in the device's memory: the talk's MatrixVectorMultiplication. */
export const matrixVector: Suite = {
  name: 'matrix-vector',
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(['square'], dtypes).flatMap(({ name, dtype }) =>
      dimensions.map((n) => ({
        suite: 'matrix-vector',
        case: name,
        dtype,
        dimension: n,
        count: null,
        work: { flops: 2 * n * n, bytes: bytesOf(dtype) * n * n, normals: 0 },
        inputs: () => inputs.of(['a', 'z'], n, dtype),
        tolerance: roundingTolerance(n, dtype),
      })),
    ),
  layOut: (problem, device) => {
    const n = problem.dimension!;
    const dtype = problem.dtype!;
    const { a: matrix, z: vector } = problem.inputs();
    const [a, z, y] = [device.matrix(n, n, { dtype }), device.matrix(1, n, { dtype }), device.matrix(1, n, { dtype })];
    a.data.set(matrix!);
    z.data.set(vector!);
    return {
      // A row times a' is a times a column.
      run: () => partsOf(device.commandBuffer().product(z, a, y, { transposeB: true }).commitSync()),
      result: () => y.data as Real,
      close: () => {
        for (const each of [a, z, y]) each.close();
      },
    };
  },
};
