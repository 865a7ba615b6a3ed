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

function densityParams(rows: number, columns: number, inverse: boolean, logAtMean: number): Uint32Array {
  const params = Uint32Array.of(rows, columns, Number(inverse), 0);
  new Float32Array(params.buffer)[3] = logAtMean;
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
        const operands = [values, out.view, densityParams(rows, columns, false, -7.25)];
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

/** |w|^2 in float64 with factor w = d, or w = factor d. */
function square(factor: Float32Array, d: Float64Array, inverse: boolean): number {
  const n = d.length;
  const w = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < (inverse ? i + 1 : i); j++) w[i]! += factor[i * n + j]! * (inverse ? d[j]! : -w[j]!);
    if (!inverse) w[i] = (w[i]! + d[i]!) / factor[i * n + i]!;
  }
  return w.reduce((sum, value) => sum + value * value, 0);
}

onCpu('log_density_rows whitens a row in one thread, and reads nothing above the diagonal.', (device) => {
  for (const n of [1, 2, 3, 8, 31, 64]) {
    const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
    const mean = Float32Array.from(scattered(n, 3));
    for (const rows of [0, 1, 45]) {
      const values = Float32Array.from(scattered(rows * n, 4), (value) => 3 * value);
      for (const inverse of [false, true]) {
        const expected = Float64Array.from({ length: rows }, (_, r) =>
          square(
            factor,
            Float64Array.from(mean, (value, j) => values[r * n + j]! - value),
            inverse,
          ),
        );
        for (const group of groupSizes) {
          const out = guarded(new Float32Array(rows));
          const operands = [factor, mean, values, out.view, densityParams(rows, n, inverse, 2.5)];
          launch(device, 'log_density_rows', operands, [rows + (group % 3), 1, 1], [group, 1, 1]);
          out.view.forEach((value, r) => {
            // The factor is well conditioned: n roundings of each of n entries, with room for its condition.
            const sum = { value: 2.5 - expected[r]! / 2, size: 2.5 + expected[r]! };
            isNear(value, sum, 8 * (n + 2), eps, `row ${r} of ${rows} x ${n}${inverse ? ', inverse' : ''}`);
          });
          out.isIntact('log_density_rows');
        }
      }
    }
  }
});

onCpu('log_density_rows writes nothing for more columns than it has room for.', (device) => {
  const n = 65;
  const factor = Float32Array.from(lowerFactor(n, 1));
  const out = guarded(new Float32Array(3).fill(17));
  const operands = [factor, new Float32Array(n), new Float32Array(3 * n), out.view, densityParams(3, n, false, 0)];
  launch(device, 'log_density_rows', operands, [3, 1, 1], [1, 1, 1]);
  hasSameBytes(out.view, new Float32Array(3).fill(17), 'out');
  out.isIntact('log_density_rows');
});

test.run();
