import { bytesOf, type Real } from '../../lib/dtype.ts';
import { casesOf, partsOf, type Suite } from '../suite.ts';

/** The normal stream alone, into memory of the device: as many numbers as a sample of the same sizes takes. */
export const normals: Suite = {
  name: 'normals',
  problems: ({ dimensions, counts, dtypes }) =>
    casesOf(['fill'], dtypes).flatMap(({ name, dtype }) =>
      counts.flatMap((count) =>
        dimensions.map((n) => ({
          suite: 'normals',
          case: name,
          dtype,
          dimension: n,
          count,
          work: { flops: 0, bytes: bytesOf(dtype) * count * n, normals: count * n },
          inputs: () => ({}),
          tolerance: 0,
        })),
      ),
    ),
  layOut: ({ dimension, count, dtype }, device) => {
    const out = device.matrix(count!, dimension!, { dtype: dtype! });
    return {
      run: () => partsOf(device.commandBuffer().fillNormal(out, { seed: 42 }).commitSync()),
      result: () => out.data as Real,
      close: () => out.close(),
    };
  },
};
