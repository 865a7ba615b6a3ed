// Kernels that a Metal device uses and the cpu device replaces by other code, run by the launcher and compared with
// plain float64 loops. test/contract/launcher.test.ts tests the launcher itself, test/native/kernels-sample.test.ts
// the fused sampler, test/native/kernels-batch.test.ts batches.
import { test } from 'uvu';
import { groupSizes, launch, onCpu } from '../harness/launch.ts';
import { dot, guarded, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';

const eps = 2 ** -24;

onCpu('copy_lower copies a triangle, puts zeros above it, and reads nothing there.', (device) => {
  for (const n of [1, 2, 7, 33, 130]) {
    const from = Float32Array.from(lowerFactor(n, n, Number.NaN));
    const expected = from.map((value, at) => (at % n > Math.floor(at / n) ? 0 : value));
    for (const group of [...groupSizes.map((size) => [size, 1, 1]), [8, 8, 1], [1, 1000, 1]]) {
      for (const beyond of [0, 3]) {
        const out = guarded(new Float32Array(n * n).fill(Number.NaN));
        launch(device, 'copy_lower', [from, out.view, Uint32Array.of(n, n)], [n + beyond, n + beyond, 1], group);
        hasSameBytes(out.view, expected, `copy_lower of ${n}`);
        out.isIntact('copy_lower');
      }
    }
  }
});

function densityParams(rows: number, columns: number, logAtMean: number): Uint32Array {
  const params = Uint32Array.of(rows, columns, 0);
  new Float32Array(params.buffer)[2] = logAtMean;
  return params;
}

onCpu('log_density reduces with any number of lanes, one included.', (device) => {
  for (const [rows, columns] of [
    [0, 3],
    [1, 1],
    [1, 5000],
    [7, 31],
    [100, 65],
  ] as const) {
    const values = Float32Array.from(scattered(rows * columns, 5));
    for (const lanes of [...groupSizes, 3, 96, 1023]) {
      for (const beyond of [0, 2]) {
        const out = guarded(new Float32Array(rows));
        const operands = [values, out.view, densityParams(rows, columns, -7.25)];
        launch(device, 'log_density', operands, [(rows + beyond) * lanes, 1, 1], [lanes, 1, 1]);
        out.view.forEach((value, r) => {
          const at = (k: number) => values[r * columns + k]!;
          const sum = dot(columns, at, (k) => -0.5 * at(k), -7.25);
          isNear(value, sum, columns + 12, eps, `row ${r} of ${rows} x ${columns} by ${lanes} lanes`);
        });
        out.isIntact('log_density');
      }
    }
  }
});

test.run();
