// multiply_lower, the product of few rows with a lower factor: compared with plain float64 loops, and tested on each
// device around the number of rows from which the metal device uses other code.
import { test } from 'uvu';
import type { Backend } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { onEveryBackend } from '../harness/every-backend.ts';
import { groupSizes, launch, onCpu } from '../harness/launch.ts';
import { counterOf, dotOf, guarded, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';

function isProduct(actual: Real, factor: Real, mean: Real, rows: Real, eps = 2 ** -24): void {
  const n = mean.length;
  actual.forEach((value, at) => {
    const [r, i] = [Math.floor(at / n), at % n];
    const sum = dotOf(i + 1, factor, i * n, rows, r * n, mean[i]!);
    isNear(value, sum, n + 2, eps, () => `(${r}, ${i}) of ${n} columns`);
  });
}

function multiplyLower(
  device: Backend,
  [factor, mean, rows]: readonly Float32Array[],
  lanes: number,
  addsMean: boolean,
  beyond = 0,
): Float32Array {
  const n = Math.sqrt(factor!.length);
  const count = rows!.length / n;
  const out = guarded(new Float32Array(rows!.length).fill(Number.NaN));
  const operands = [factor!, mean!, rows!, out.view, Uint32Array.of(count, n, Number(addsMean))];
  launch(device, 'multiply_lower', operands, [(n * Math.ceil(count / 4) + beyond) * lanes, 1, 1], [lanes, 1, 1]);
  out.isIntact('multiply_lower');
  return out.view as Float32Array;
}

onCpu('multiply_lower multiplies rows, with any threadgroup, and reads nothing above the diagonal.', (device) => {
  for (const n of [1, 2, 3, 31, 33, 70]) {
    const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
    const mean = Float32Array.from(scattered(n, 9));
    for (const count of [0, 1, 2, 3, 4, 5, 8, 9]) {
      const rows = Float32Array.from(scattered(count * n, 4));
      for (const lanes of groupSizes)
        isProduct(multiplyLower(device, [factor, mean, rows], lanes, true, lanes % 3), factor, mean, rows);
    }
  }
});

onCpu('multiply_lower does not read a mean that it does not add.', (device) => {
  const n = 40;
  const [factor, rows] = [Float32Array.from(lowerFactor(n, 1)), Float32Array.from(scattered(3 * n, 4))];
  const none = new Float32Array(n).fill(Number.NaN);
  isProduct(multiplyLower(device, [factor, none, rows], 64, false), factor, new Float32Array(n), rows);
});

onCpu('A row from multiply_lower has the same bits alone and among others.', (device) => {
  const n = 50;
  const [factor, mean] = [Float32Array.from(lowerFactor(n, 1)), Float32Array.from(scattered(n, 9))];
  const rows = Float32Array.from(scattered(7 * n, 4));
  const together = multiplyLower(device, [factor, mean, rows], 64, true);
  for (let r = 0; r < 7; r++) {
    const [begin, end] = [r * n, (r + 1) * n];
    const alone = multiplyLower(device, [factor, mean, rows.slice(begin, end)], 64, true);
    hasSameBytes(alone, together.slice(begin, end), `row ${r}`);
  }
});

onEveryBackend(
  'rows up to and beyond the number that metal treats as few are sampled and multiplied right.',
  (bench) => {
    const n = 100;
    const [factor, mean] = [bench.real(lowerFactor(n, n, Number.NaN)), bench.real(scattered(n, 9))];
    for (const count of [1, 3, 4, 8, 9]) {
      const [z, sampled, product] = [0, 0, 0].map(() => bench.zeros(count * n));
      bench.run((encoder) => {
        encoder.fillNormal(z!, counterOf(7, 3, 5));
        encoder.copy(z!, product!);
        encoder.triangularProduct(factor, product!, n, false);
        encoder.sample(factor, mean, sampled!, false, counterOf(7, 3, 5));
      });
      isProduct(sampled!, factor, mean, z!, bench.eps);
      isProduct(product!, factor, bench.zeros(n), z!, bench.eps);
    }
  },
);

test.run();
