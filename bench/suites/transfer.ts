import type { Problem } from '../contender.ts';
import type { Suite } from '../suite.ts';

/** n x n numbers from the host's memory into the device's, and back. */
export const transfer: Suite = {
  name: 'transfer',
  problems: ({ dimensions }, inputs) =>
    ['upload', 'download'].flatMap((name) =>
      dimensions.map(
        (n): Problem => ({
          suite: 'transfer',
          case: name,
          dtype: null,
          dimension: n,
          count: null,
          // Read and written.
          work: { flops: 0, bytes: 8 * n * n, normals: 0 },
          inputs: () => inputs.of(['a'], n, 'float32'),
          tolerance: 0,
        }),
      ),
    ),
  layOut: (problem, device) => {
    const n = problem.dimension!;
    const there = device.matrix(n, n);
    const { a: host } = problem.inputs();
    if (problem.case === 'upload')
      return {
        run: () => {
          there.data.set(host!);
          return undefined;
        },
        result: () => there.data as Float32Array,
        close: () => there.close(),
      };
    there.data.set(host!);
    const here = new Float32Array(n * n);
    return {
      run: () => {
        const start = performance.now();
        here.set(there.data);
        return { encode: 0, device: 0, readBack: (performance.now() - start) * 1e6 };
      },
      result: () => here,
      close: () => there.close(),
    };
  },
};
