// sample_tiles, the triangular product by tiles, compared with plain float64 loops, whichever group makes a tile.
import { test } from 'uvu';
import type { Backend } from '../../lib/backend.ts';
import { openGpuBackend } from '../harness/gpu-backend.ts';
import { launch } from '../harness/launch.ts';
import { dotOf, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';
import fc from '../harness/properties.ts';
import { onSoftMetal } from './on-metal.ts';

const [side, lanes] = [128, 256];

/** What the kernel makes of rows of scattered normals; NaN stands over the diagonal, where nothing is read. */
function tilesOf(rows: number, n: number) {
  const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
  const [mean, z] = [Float32Array.from(scattered(n, 9)), Float32Array.from(scattered(rows * n, 4))];
  const groups = Math.ceil(rows / side) * Math.ceil(n / side);
  return {
    groups,
    drawn(device: Backend, inQuads: number, atOnce: number, beyond = 0): Float32Array {
      const out = new Float32Array(rows * n).fill(Number.NaN);
      const params = Uint32Array.of(rows, n, inQuads, atOnce);
      launch(device, 'sample_tiles', [factor, mean, z, out, params], [(groups + beyond) * lanes, 1, 1], [lanes, 1, 1]);
      return out;
    },
    isRight(out: Float32Array): void {
      out.forEach((value, at) => {
        const [r, i] = [Math.floor(at / n), at % n];
        const sum = dotOf(i + 1, factor, i * n, z, r * n, mean[i]!);
        isNear(value, sum, n + 2, 2 ** -24, () => `(${r}, ${i}) of ${rows} x ${n}`);
      });
    },
  };
}

onSoftMetal('sample_tiles makes every tile once, in any order, and reads nothing above the diagonal.', async () => {
  const device = openGpuBackend('metal');
  for (const [rows, n] of [
    [1, 1],
    [130, 63],
    [129, 200],
    [300, 129],
    [1100, 132],
    [257, 300],
  ] as const) {
    const { groups, drawn, isRight } = tilesOf(rows, n);
    const first = drawn(device, 0, 0, 2);
    isRight(first);
    // The number of groups that run at once: one, half of them, all but one, or all.
    for (const atOnce of [1, Math.ceil(groups / 2), Math.max(groups - 1, 1), groups])
      hasSameBytes(drawn(device, 0, atOnce), first, `${rows} x ${n}, ${atOnce} at once`);
    if (n % 4 === 0) hasSameBytes(drawn(device, 1, 0), first, `${rows} x ${n} in quads`);
  }
  device.close();
});

onSoftMetal('sample_tiles is right for any numbers of rows and columns.', async () => {
  const device = openGpuBackend('metal');
  const shape = fc.tuple(fc.integer({ min: 9, max: 300 }), fc.integer({ min: 1, max: 400 }), fc.nat(20));
  fc.assert(
    fc.property(shape, ([rows, n, atOnce]) => {
      const { drawn, isRight } = tilesOf(rows, n);
      isRight(drawn(device, Number(n % 4 === 0), atOnce));
    }),
    { numRuns: 12 },
  );
  device.close();
});

test.run();
