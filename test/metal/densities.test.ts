// The kernels of log densities with any shape of threadgroups, launched by themselves and compared with plain float64
// loops.
import { test } from 'uvu';
import { loadAddon } from '../../lib/addon/native.ts';
import { launch } from '../harness/launch.ts';
import { guarded, hasSameBytes, isNear, lowerFactor, scattered, whitenedSquare } from '../harness/naive.ts';
import { onSoftMetal } from './on-metal.ts';

const eps = 2 ** -24;

const kernelOf = (n: number): string => (n < 13 ? 'densities' : 'densities_by_columns');

onSoftMetal('Densities are right and have the same bits for any threadgroups, of rows of each model or of all.', () => {
  const device = loadAddon().addon!.openDevice('metal', { threads: 1 });
  for (const n of [1, 2, 3, 5, 8, 12, 13, 16, 17, 31, 33, 64])
    for (const [models, rows, shared] of [
      [1, 1, 0],
      [1, 130, 0],
      [3, 45, 0],
      [3, 45, 1],
    ] as const)
      for (const inverse of [0, 1]) {
        const factors = new Float32Array(models * n * n);
        for (let b = 0; b < models; b++) factors.set(lowerFactor(n, 3 * n + b, Number.NaN), b * n * n);
        const means = Float32Array.from(scattered(models * n, n));
        const constants = Float32Array.from(scattered(models, 9));
        const values = Float32Array.from(scattered((shared === 0 ? models : 1) * rows * n, 4), (value) => 3 * value);
        let first: Float32Array | undefined;
        for (const [lanes, perGroup] of [
          [1, 1],
          [7, 64],
          [32, 40],
          [64, 64],
          [64, 512],
        ] as const) {
          const out = guarded(new Float32Array(models * rows));
          const params = Uint32Array.of(models, rows, n, shared, inverse, perGroup);
          const groups = models * Math.ceil(rows / perGroup) + (lanes % 3);
          const operands = [factors, means, values, constants, out.view, params];
          launch(device, kernelOf(n), operands, [groups * lanes, 1, 1], [lanes, 1, 1]);
          out.isIntact(kernelOf(n));
          const what = `${models} x ${rows} x ${n}, inverse ${inverse}, ${lanes} lanes, ${perGroup} a group`;
          first ??= Float32Array.from(out.view);
          hasSameBytes(out.view, first, what);
        }
        for (let b = 0; b < models; b++)
          for (let r = 0; r < rows; r++) {
            const row = values.subarray(((shared === 0 ? b * rows : 0) + r) * n);
            const d = Float64Array.from({ length: n }, (_, j) => row[j]! - means[b * n + j]!);
            const expected = whitenedSquare(factors.subarray(b * n * n, (b + 1) * n * n), d, inverse === 1);
            // The factor is well conditioned: n roundings of each of n entries, with room for its condition.
            const sum = { value: constants[b]! - expected / 2, size: Math.abs(constants[b]!) + expected };
            isNear(first![b * rows + r]!, sum, 8 * (n + 2), eps, `row ${r} of model ${b}, n = ${n}`);
          }
      }
  device.close();
});

onSoftMetal('Densities of a group without rows, and of too many columns, write nothing.', () => {
  const device = loadAddon().addon!.openDevice('metal', { threads: 1 });
  for (const [n, perGroup, kernel] of [
    [2, 0, 'densities'],
    [13, 64, 'densities'],
    [20, 0, 'densities_by_columns'],
    [12, 64, 'densities_by_columns'],
    [65, 64, 'densities_by_columns'],
  ] as const) {
    const out = guarded(new Float32Array(3).fill(17));
    const factor = Float32Array.from(lowerFactor(n, 1));
    const params = Uint32Array.of(1, 3, n, 0, 0, perGroup);
    const operands = [factor, new Float32Array(n), new Float32Array(3 * n), new Float32Array(1), out.view, params];
    launch(device, kernel, operands, [64, 1, 1], [32, 1, 1]);
    hasSameBytes(out.view, new Float32Array(3).fill(17), `${kernel}, n = ${n}`);
    out.isIntact(kernel);
  }
  device.close();
});

test.run();
