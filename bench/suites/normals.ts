import { partsOf, type Suite } from '../suite.ts';

/** The normal stream alone, into memory of the device: as many numbers as a sample of the same sizes takes. */
export const normals: Suite = {
  name: 'normals',
  problems: ({ dimensions, counts }) =>
    counts.flatMap((count) =>
      dimensions.map((n) => ({
        suite: 'normals',
        case: 'fill',
        dimension: n,
        count,
        work: { flops: 0, bytes: 4 * count * n, normals: count * n },
        inputs: () => ({}),
        tolerance: 0,
      })),
    ),
  layOut: ({ dimension, count }, device) => {
    const out = device.matrix(count!, dimension!);
    return {
      run: () => partsOf(device.commandBuffer().fillNormal(out, { seed: 42 }).commitSync()),
      result: () => out.data as Float32Array,
      close: () => out.close(),
    };
  },
};
