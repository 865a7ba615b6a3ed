import { Matrix, MultivariateNormal, type Vector } from '../../lib/index.ts';
import { partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** mean + L z with a factor L that is kept: the talk's TransformNormChol. */
export const transformNormalFactored: Suite = {
  name: 'transform-normal-factored',
  problems: ({ dimensions }, inputs) =>
    dimensions.map((n) => ({
      suite: 'transform-normal-factored',
      case: 'one draw',
      dimension: n,
      count: null,
      work: { flops: n * (n + 1), bytes: 2 * n * (n + 1), normals: 0 },
      inputs: () => inputs.of(['mean', 'factor', 'z'], n),
      tolerance: roundingTolerance(n),
    })),
  layOut: (problem, device) => {
    const { mean, factor, z } = problem.inputs();
    const n = z!.length;
    const normal = MultivariateNormal.fromCholeskySync({ device, mean, factor: Matrix.from(factor!, { columns: n }) });
    const input = device.vector(n);
    input.data.set(z!);
    let last: Vector | undefined;
    return {
      run: () => {
        last?.close();
        last = normal.transformSync(input);
        return partsOf(last.timings!);
      },
      result: () => last!.data as Float32Array,
      close: () => {
        last?.close();
        input.close();
        normal.close();
      },
    };
  },
};
