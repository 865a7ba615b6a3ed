import { bytesOf, type Real } from '../../lib/dtype.ts';
import { Matrix, MultivariateNormal, type Vector } from '../../lib/index.ts';
import { casesOf, partsOf, roundingTolerance, type Suite } from '../suite.ts';

/** mean + L z with a factor L that is kept: the talk's TransformNormChol. */
export const transformNormalFactored: Suite = {
  name: 'transform-normal-factored',
  problems: ({ dimensions, dtypes }, inputs) =>
    casesOf(['one draw'], dtypes).flatMap(({ name, dtype }) =>
      dimensions.map((n) => ({
        suite: 'transform-normal-factored',
        case: name,
        dtype,
        dimension: n,
        count: null,
        work: { flops: n * (n + 1), bytes: (bytesOf(dtype) / 2) * n * (n + 1), normals: 0 },
        inputs: () => inputs.of(['mean', 'factor', 'z'], n, dtype),
        tolerance: roundingTolerance(n, dtype),
      })),
    ),
  layOut: (problem, device) => {
    const dtype = problem.dtype!;
    const { mean, factor, z } = problem.inputs();
    const n = z!.length;
    const normal = MultivariateNormal.fromCholeskySync({
      device,
      dtype,
      mean,
      factor: Matrix.from(factor!, { columns: n }),
    });
    const input = device.vector(n, { dtype });
    input.data.set(z!);
    let last: Vector | undefined;
    return {
      run: () => {
        last?.close();
        last = normal.transformSync(input);
        return partsOf(last.timings!);
      },
      result: () => last!.data as Real,
      close: () => {
        last?.close();
        input.close();
        normal.close();
      },
    };
  },
};
