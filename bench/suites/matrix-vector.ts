import { partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** y = a z, a n x n and all in the device's memory: the talk's MatrixVectorMultiplication. */
export const matrixVector: Suite = {
  name: 'matrix-vector',
  problems: ({ dimensions }, inputs) =>
    dimensions.map((n) => ({
      suite: 'matrix-vector',
      case: 'square',
      dimension: n,
      count: null,
      work: { flops: 2 * n * n, bytes: 4 * n * n, normals: 0 },
      inputs: () => inputs.of(['a', 'z'], n),
      tolerance: roundingTolerance(n),
    })),
  layOut: (problem, device) => {
    const n = problem.dimension!;
    const { a: matrix, z: vector } = problem.inputs();
    const [a, z, y] = [device.matrix(n, n), device.matrix(1, n), device.matrix(1, n)];
    a.data.set(matrix!);
    z.data.set(vector!);
    return {
      // A row times a' is a times a column.
      run: () => partsOf(device.commandBuffer().product(z, a, y, { transposeB: true }).commitSync()),
      result: () => y.data as Float32Array,
      close: () => {
        for (const each of [a, z, y]) each.close();
      },
    };
  },
};
