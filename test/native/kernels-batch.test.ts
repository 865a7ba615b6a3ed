// The kernels of a batch, each with several threadgroups and too large a grid, compared with the kernels of one
// model.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import { launch, onCpu } from '../harness/launch.ts';
import { counterOf, guarded, hasSameBytes, lowerFactor, scattered } from '../harness/naive.ts';

const sizes = [1, 2, 7];

/** Factors of `size` models, with NaN above their diagonals. */
function factorsOf(n: number, size: number): Float32Array {
  const all = new Float32Array(size * n * n);
  for (let b = 0; b < size; b++) all.set(lowerFactor(n, 3 * n + b, Number.NaN), b * n * n);
  return all;
}

const part = (values: Float32Array, b: number, length: number) => values.subarray(b * length, (b + 1) * length);

function sampleRows(device: Backend, factor: Float32Array, mean: Float32Array, counter: Uint32Array, count: number) {
  const out = new Float32Array(count * mean.length);
  const params = Uint32Array.of(...counter, count, mean.length, 8, 0);
  launch(device, 'sample_rows', [factor, mean, out, params], [Math.ceil(count / 8) * 32, 1, 1], [32, 1, 1]);
  return out;
}

onCpu('sample_batch gives the bits of sample_rows, model by model, in consecutive streams.', (device) => {
  for (const n of [1, 2, 5, 31, 32, 33, 64])
    for (const size of sizes)
      for (const [rows, rowsPerGroup, first] of [
        [1, 1, 0],
        [5, 2, 3],
        [9, 30, 2 ** 34 + 1],
      ] as const) {
        const [factors, means] = [factorsOf(n, size), Float32Array.from(scattered(size * n, n))];
        // The stream passes 2^32 within the batch.
        const stream = 2 ** 32 - 2;
        const expected = new Float32Array(size * rows * n);
        for (let b = 0; b < size; b++) {
          const counter = counterOf(11, stream + b, first);
          expected.set(sampleRows(device, part(factors, b, n * n), part(means, b, n), counter, rows), b * rows * n);
        }
        const params = Uint32Array.of(...counterOf(11, stream, first), size, rows, n, rowsPerGroup);
        const groups = size * Math.ceil(rows / rowsPerGroup);
        for (const lanes of [1, 31, 33, 128]) {
          const out = guarded(new Float32Array(expected.length).fill(Number.NaN));
          launch(
            device,
            'sample_batch',
            [factors, means, out.view, params],
            [(groups + 2) * lanes, 1, 1],
            [lanes, 1, 1],
          );
          hasSameBytes(out.view, expected, `${rows} draws of ${size} of ${n} by ${lanes} lanes`);
          out.isIntact('sample_batch');
        }
      }
});

onCpu('sample_batch draws nothing for a group without rows.', (device) => {
  const out = new Float32Array(4).fill(17);
  const params = Uint32Array.of(...counterOf(1, 2, 3), 2, 1, 2, 0);
  launch(device, 'sample_batch', [factorsOf(2, 2), new Float32Array(4), out, params], [64, 1, 1], [32, 1, 1]);
  hasSameBytes(out, new Float32Array(4).fill(17), 'out');
});

/** factor factor' of each model, in an order of operations of float32 that is the same for entry (i, j) and (j, i). */
function covariancesOf(n: number, size: number): Float32Array {
  const factors = factorsOf(n, size);
  const all = new Float32Array(size * n * n);
  for (let b = 0; b < size; b++)
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        const at = b * n * n;
        let sum = 0;
        for (let k = 0; k <= Math.min(i, j); k++) sum += factors[at + i * n + k]! * factors[at + j * n + k]!;
        all[at + i * n + j] = sum;
      }
  return all;
}

onCpu(
  "cholesky_batch gives the bits of the cpu device's factor, and does not change a matrix that it refuses.",
  (device) => {
    for (const n of [1, 2, 5, 31, 32])
      for (const size of sizes)
        for (const bad of [0, 1, size]) {
          const before = covariancesOf(n, size);
          // One is not positive definite, and one after it is not finite or not symmetric.
          if (bad < size) before[bad * n * n + n * n - 1] = -1;
          if (bad + 1 < size) before[(bad + 1) * n * n + n - 1] = n % 2 === 0 ? Number.NaN : 1e9;
          const isBad = (b: number) => b === bad || (b === bad + 1 && !(n === 1));
          const expected = before.slice();
          for (let b = 0; b < size; b++) {
            if (isBad(b)) continue;
            const encoder = device.encoder();
            encoder.cholesky(part(expected, b, n * n), n, 'auto');
            encoder.commitSync();
          }
          for (const abreast of [1, Math.max(1, Math.floor(32 / n))])
            for (const lanes of [1, 31, 32, 33, 200]) {
              const out = guarded(before.slice());
              const failed = new Uint32Array(size).fill(9);
              const params = Uint32Array.of(size, n, abreast, 0);
              new Float32Array(params.buffer)[3] = 1e-6;
              const groups = Math.ceil(size / abreast) + 1;
              launch(device, 'cholesky_batch', [out.view, failed, params], [groups * lanes, 1, 1], [lanes, 1, 1]);
              const what = `${size} of ${n}, ${abreast} in a group of ${lanes}`;
              hasSameBytes(out.view, expected, what);
              out.isIntact('cholesky_batch');
              assert.equal(
                [...failed],
                Array.from({ length: size }, (_, b) => Number(isBad(b))),
                what,
              );
              const [first, kept] = [new Uint32Array(1).fill(9), new Float32Array(n * n).fill(17)];
              launch(
                device,
                'keep_first_failed',
                [out.view, failed, first, kept, params],
                [2 * lanes, 1, 1],
                [lanes, 1, 1],
              );
              assert.is(first[0], bad, what);
              hasSameBytes(kept, bad < size ? part(before, bad, n * n) : new Float32Array(n * n).fill(17), what);
            }
        }
  },
);

test.run();
