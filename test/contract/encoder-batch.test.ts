// The commands for a batch of models, compared with those for one model. The results of single models are computed in
// one commit, since a commit takes longer than most of these commands.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';
import { hasBatchBits } from '../harness/batch-bits.ts';
import { type Bench, onEveryBackend } from '../harness/every-backend.ts';
import { counterOf, guarded, hasSameBytes, lowerFactor, scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const orders = [1, 2, 3, 5, 8, 16, 17, 31, 32, 33, 64, 65, 100];
// Fewer large models, because they take long.
const sizesOf = (n: number) => (n > 32 ? [0, 1, 9] : n > 8 ? [1, 16, 17] : [0, 1, 15, 16, 17, 37]);
const tolerance = 1e-6;

const covariances = new Map<string, Float64Array>();

/** The covariance of model b: units differ by 10^(b mod 5), and half of them are nearly singular. */
function covarianceOf(n: number, b: number): Float64Array {
  const made = covariances.get(`${n} ${b}`);
  if (made !== undefined) return made;
  const factor = lowerFactor(n, 7 * n + b);
  if (b % 2 === 1) factor[n * n - 1] = 1e-2;
  const covariance = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k <= j; k++) sum += factor[i * n + k]! * factor[j * n + k]!;
      covariance[i * n + j] = sum * 10 ** (b % 5);
      covariance[j * n + i] = covariance[i * n + j]!;
    }
  covariances.set(`${n} ${b}`, covariance);
  return covariance;
}

function covariancesOf({ zeros }: Bench, n: number, size: number): Real {
  const all = zeros(size * n * n);
  for (let b = 0; b < size; b++) all.set(covarianceOf(n, b), b * n * n);
  return all;
}

const part = (values: Real, b: number, length: number) => values.subarray(b * length, (b + 1) * length);

const isAlike = ({ backend }: Bench, n: number, actual: Real, expected: Real, what: string) =>
  hasBatchBits(backend.kind, actual, expected, what, n);

function factorsOf(bench: Bench, n: number, size: number): Real {
  const out = guarded(covariancesOf(bench, n, size));
  bench.run((encoder) => encoder.choleskyBatch(out.view, n, tolerance));
  out.isIntact(`factors of ${size} of ${n}`);
  return out.view;
}

onEveryBackend('the factors of a batch have the bits of each factor alone.', (bench) => {
  for (const n of orders)
    for (const size of [...sizesOf(n), ...(n < 4 ? [1000] : [])]) {
      const alone = covariancesOf(bench, n, size);
      bench.run((encoder) => {
        for (let b = 0; b < size; b++) encoder.cholesky(part(alone, b, n * n), n, 'auto');
      });
      hasSameBytes(factorsOf(bench, n, size), alone, `${size} of ${n}`);
    }
});

onEveryBackend('the draws of a batch have the bits of each model alone, in its own stream.', (bench) => {
  for (const n of orders)
    for (const size of sizesOf(n)) {
      const factors = factorsOf(bench, n, size);
      for (const [rows, first] of [
        [1, 0],
        [2, 3],
        [5, 2 ** 34 + 1],
        [n < 9 ? 150 : 20, 6],
      ] as const) {
        // The stream passes 2^32 within the batch.
        const stream = 2 ** 32 - 9;
        const means = bench.real(scattered(size * n, n));
        const out = guarded(bench.zeros(size * rows * n));
        bench.run((encoder) => encoder.sampleBatch(factors, means, out.view, n, counterOf(2 ** 40 + 5, stream, first)));
        out.isIntact(`draws of ${size} of ${n}`);
        const alone = bench.zeros(size * rows * n);
        bench.run((encoder) => {
          for (let b = 0; b < size; b++) {
            const [factor, mean] = [part(factors, b, n * n), part(means, b, n)];
            const counter = counterOf(2 ** 40 + 5, stream + b, first);
            encoder.sample(factor, mean, part(alone, b, rows * n), false, counter);
          }
        });
        for (let b = 0; b < size; b++) {
          const [together, apart] = [part(out.view, b, rows * n), part(alone, b, rows * n)];
          isAlike(bench, n, together, apart, `${rows} draws of (${b}) of ${size} of ${n}`);
        }
      }
    }
});

onEveryBackend('the log densities of a batch have the bits of each model alone, at its rows or all.', (bench) => {
  for (const n of orders)
    for (const size of sizesOf(n)) {
      const factors = factorsOf(bench, n, size);
      for (const count of [0, 1, 3, 40]) {
        const means = bench.real(scattered(size * n, n));
        const constants = scattered(size, 3).map((value) => 100 * value);
        const shared = bench.real(scattered(count * n, 5));
        const own = bench.real(scattered(size * count * n, 6));
        for (const rows of [shared, own]) {
          const out = guarded(bench.zeros(size * count));
          bench.run((encoder) => encoder.logDensityBatch(factors, means, rows, out.view, n, constants));
          out.isIntact(`densities of ${size} of ${n}`);
          const alone = bench.zeros(size * count);
          bench.run((encoder) => {
            for (let b = 0; b < size; b++) {
              const mine = rows === shared ? shared : part(own, b, count * n);
              const [factor, mean] = [part(factors, b, n * n), part(means, b, n)];
              encoder.logDensity(factor, mean, mine, part(alone, b, count), false, constants[b]!);
            }
          });
          for (let b = 0; b < size; b++) {
            const [together, apart] = [part(out.view, b, count), part(alone, b, count)];
            isAlike(bench, n, together, apart, `${count} densities of (${b}) of ${size} of ${n}`);
          }
        }
      }
    }
});

onEveryBackend('the rows of a batch are scaled as those of each model alone, in its own stream.', (bench) => {
  for (const [n, size, rows] of [
    [1, 0, 1],
    [1, 1, 70],
    [3, 17, 1],
    [8, 5, 6],
    [40, 3, 2],
  ] as const)
    for (const nu of [0.5, 3, 1e5]) {
      const locations = scattered(size * n, 4);
      const out = guarded(bench.real(scattered(size * rows * n, 8)));
      const alone = out.view.slice();
      const stream = 2 ** 32 - 3;
      bench.run((encoder) => encoder.stretchBatch(out.view, locations, n, nu, counterOf(9, stream, 2 ** 33)));
      out.isIntact(`stretched rows of ${size} of ${n}`);
      bench.run((encoder) => {
        for (let b = 0; b < size; b++) {
          const location = locations.slice(b * n, (b + 1) * n);
          encoder.stretchRows(part(alone, b, rows * n), location, n, nu, counterOf(9, stream + b, 2 ** 33));
        }
      });
      hasSameBytes(out.view, alone, `${size} of ${n}, ${nu} degrees of freedom`);
    }
});

onEveryBackend('the first bad matrix of a batch is named, with its pivot, wherever it lies.', async (bench) => {
  for (const [n, size] of [
    [1, 33],
    [3, 40],
    [5, 13],
    [8, 20],
    [31, 5],
    [32, 17],
    [33, 9],
    [64, 3],
    [65, 3],
    [100, 5],
  ] as const)
    for (let bad = 0; bad < size; bad++) {
      const pivot = (5 * bad) % n;
      const a = covariancesOf(bench, n, size);
      a[bad * n * n + pivot * n + pivot] = -1;
      // A later one is bad in another way, and is not named.
      if (bad + 1 < size) a[(bad + 1) * n * n] = Number.NaN;
      const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () =>
        bench.run((encoder) => encoder.choleskyBatch(a, n, tolerance)),
      );
      assert.equal([error.matrix, error.pivot], [bad, pivot], `${n}: ${error.message}`);
    }
});

onEveryBackend('an entry that is not finite, or not its mirror, is named with its matrix.', async (bench) => {
  for (const [n, size] of [
    [2, 19],
    [8, 20],
    [31, 17],
    [40, 9],
  ] as const)
    for (let bad = 0; bad < size; bad += 3)
      for (const [code, value] of [
        ['ERR_NOT_FINITE', Number.NaN],
        ['ERR_NOT_FINITE', Number.POSITIVE_INFINITY],
        ['ERR_NOT_SYMMETRIC', 1e9],
      ] as const)
        for (const [row, column] of [
          [n - 1, 0],
          [0, n - 1],
        ] as const) {
          const a = covariancesOf(bench, n, size);
          a[bad * n * n + row * n + column] = value;
          const error = await throwsCode(code, () => bench.run((encoder) => encoder.choleskyBatch(a, n, tolerance)));
          const place = code === 'ERR_NOT_FINITE' ? [row, column] : [n - 1, 0];
          assert.equal([error.matrix, error.row, error.column], [bad, ...place], error.message);
        }
});

onEveryBackend(
  'the first bad matrix is named though a later command of the commit writes to the batch.',
  async (bench) => {
    for (const [n, size] of [
      [3, 40],
      [32, 5],
      [40, 5],
    ] as const) {
      const a = covariancesOf(bench, n, size);
      a[3 * n * n + 2 * n + 2] = -1;
      const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () =>
        bench.run((encoder) => {
          encoder.choleskyBatch(a, n, tolerance);
          encoder.fillNormal(a, counterOf(1, 2, 3));
        }),
      );
      assert.equal([error.matrix, error.pivot], [3, 2], error.message);
    }
  },
);

onEveryBackend('draws and densities of one commit see the factors that it makes.', (bench) => {
  for (const [n, size] of [
    [2, 1001],
    [31, 7],
    [33, 3],
  ] as const) {
    const [factors, apart] = [covariancesOf(bench, n, size), factorsOf(bench, n, size)];
    const means = bench.real(scattered(size * n, n));
    const constants = scattered(size, 3);
    const [draws, scores] = [bench.zeros(size * 2 * n), bench.zeros(size * 2)];
    const [drawsApart, scoresApart] = [bench.zeros(size * 2 * n), bench.zeros(size * 2)];
    bench.run((encoder) => {
      encoder.choleskyBatch(factors, n, tolerance);
      encoder.sampleBatch(factors, means, draws, n, counterOf(1, 2, 3));
      encoder.logDensityBatch(factors, means, draws, scores, n, constants);
    });
    bench.run((encoder) => encoder.sampleBatch(apart, means, drawsApart, n, counterOf(1, 2, 3)));
    bench.run((encoder) => encoder.logDensityBatch(apart, means, drawsApart, scoresApart, n, constants));
    hasSameBytes(factors, apart, `factors of ${size} of ${n}`);
    hasSameBytes(draws, drawsApart, `draws of ${size} of ${n}`);
    hasSameBytes(scores, scoresApart, `densities of ${size} of ${n}`);
  }
});

onEveryBackend('entries that cancel may differ by a rounding of their terms.', (bench) => {
  // The two differ much relative to each other, but little relative to the variances beside them.
  const n = 2;
  const one = [1, 1e-9, -1e-9, 1];
  const a = bench.real(Array.from({ length: 20 }, () => one).flat());
  const alone = bench.real(one);
  bench.run((encoder) => encoder.choleskyBatch(a, n, tolerance));
  bench.run((encoder) => encoder.cholesky(alone, n, 'auto'));
  for (let b = 0; b < 20; b++) hasSameBytes(part(a, b, n * n), alone, `factor of (${b})`);
});

test.run();
