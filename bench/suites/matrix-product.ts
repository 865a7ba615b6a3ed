import { partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** c = a b, all n x n and in the device's memory: the talk's MatrixMultiplication. */
export const matrixProduct: Suite = {
  name: 'matrix-product',
  problems: ({ dimensions }, inputs) =>
    dimensions.map((n) => ({
      suite: 'matrix-product',
      case: 'square',
      dimension: n,
      count: null,
      work: { flops: 2 * n ** 3, bytes: 12 * n * n, normals: 0 },
      inputs: () => inputs.of(['a', 'b'], n),
      tolerance: roundingTolerance(n),
    })),
  layOut: (problem, device) => {
    const n = problem.dimension!;
    const { a: left, b: right } = problem.inputs();
    const [a, b, c] = [device.matrix(n, n), device.matrix(n, n), device.matrix(n, n)];
    a.data.set(left!);
    b.data.set(right!);
    return {
      run: () => partsOf(device.commandBuffer().product(a, b, c).commitSync()),
      result: () => c.data as Float32Array,
      close: () => {
        for (const each of [a, b, c]) each.close();
      },
    };
  },
};
