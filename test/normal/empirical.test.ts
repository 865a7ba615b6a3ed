// Samples whose own mean and covariance are exactly those of the normal.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Matrix, MultivariateNormal, type RealDtype } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Answers {
  readonly mean: readonly number[];
  readonly covariance: readonly (readonly number[])[];
  readonly worst: readonly { count: number; mean: number; covariance: number }[];
}
const { mean, covariance, worst }: Answers = JSON.parse(
  readFileSync(new URL('../answers/mvrnorm.json', import.meta.url), 'utf8'),
);

onEveryDevice("a sample's own moments are the normal's, no worse than those of MASS's mvrnorm.", async (device) => {
  for (const dtype of device.dtypes as RealDtype[]) {
    using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance, dtype });
    for (const { count, ...theirs } of worst) {
      using draws = await normal.sample(count, { seed: 1, empirical: true });
      const ours = errors(draws, mean, covariance);
      // Rounding to float32 costs 2^-25 of a mean of 600 standard deviations.
      const allowed = dtype === 'float32' ? 600 * 2 ** -24 : 2e-13;
      assert.ok(ours.mean <= Math.max(theirs.mean, allowed), `${count} rows: mean ${ours.mean}, MASS ${theirs.mean}`);
      assert.ok(
        ours.covariance <= Math.max(theirs.covariance, dtype === 'float32' ? 600 * 2 ** -23 : 1e-12),
        `${count} rows: covariance ${ours.covariance}, MASS ${theirs.covariance}`,
      );
      assert.equal([draws.rows, draws.columns, draws.dtype], [count, 3, dtype]);
      assert.ok(draws.timings!.wallMs >= 0);
    }
  }
});

onEveryDevice('moments are exact for random normals: 1e-6 in float32, 1e-12 in float64.', async (device) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 40 }),
      fc.nat(),
      async (n, more, seed) => {
        const { mean, factor } = randomNormal(n, seed);
        for (const dtype of device.dtypes as RealDtype[]) {
          using normal = MultivariateNormal.fromCholeskySync({ device, mean, factor, dtype });
          const found = errors(
            normal.sampleSync(n + more, { seed, empirical: true }),
            normal.mean.toArray(),
            rounded(normal),
          );
          const allowed = dtype === 'float32' ? 1e-6 : 1e-12;
          assert.ok(Math.max(found.mean, found.covariance) <= allowed, `${found.mean}, ${found.covariance}`);
        }
      },
    ),
    { numRuns: 25 },
  );
});

onEveryDevice('moments are exact for a normal from a precision, and for a nearly singular one.', async (device) => {
  using precise = await MultivariateNormal.fromPrecision({
    device,
    mean: [0, 5],
    precision: [
      [2, -1],
      [-1, 1],
    ],
  });
  const found = errors(
    precise.sampleSync(10, { seed: 1, empirical: true }),
    [0, 5],
    [
      [1, 1],
      [1, 2],
    ],
  );
  assert.ok(Math.max(found.mean, found.covariance) <= 1e-6, `${found.mean}, ${found.covariance}`);
  if (!device.dtypes.includes('float64')) return;
  const hilbert = Array.from({ length: 8 }, (_, i) => Array.from({ length: 8 }, (_, j) => 1 / (i + j + 1)));
  using nearly = await MultivariateNormal.fromCovariance({ device, covariance: hilbert, dtype: 'float64' });
  const left = errors(await nearly.sample(20, { seed: 3, empirical: true }), Array(8).fill(0), hilbert);
  assert.ok(Math.max(left.mean, left.covariance) <= 1e-12, `${left.mean}, ${left.covariance}`);
});

onEveryDevice(
  'moments are exact for diagonal, low-rank and singular normals, however many normals a draw takes.',
  async (device) => {
    const outer = [3, -1, 2].map((a, i) => [3, -1, 2].map((b, j) => a * b + (i === j ? 0.5 : 0)));
    const singular = [
      [2, 1, 3],
      [1, 2, 3],
      [3, 3, 6],
    ];
    using diagonal = await MultivariateNormal.fromDiagonal({ device, variances: [4, 9, 0.25] });
    using lowRank = await MultivariateNormal.fromLowRank({ device, factor: [[3], [-1], [2]], diagonal: 0.5 });
    using flat = await MultivariateNormal.fromCovariance({ device, covariance: singular, singular: 'eigen' });
    for (const [normal, wanted] of [
      [
        diagonal,
        [
          [4, 0, 0],
          [0, 9, 0],
          [0, 0, 0.25],
        ],
      ],
      [lowRank, outer],
      [flat, singular],
    ] as const) {
      const found = errors(normal.sampleSync(12, { seed: 5, empirical: true }), [0, 0, 0], wanted);
      assert.ok(Math.max(found.mean, found.covariance) <= 2e-6, `${found.mean}, ${found.covariance}`);
    }
    // A draw of the last takes two normals.
    await throwsCode('ERR_OUT_OF_RANGE', '(4) rows', () => lowRank.sample(3, { empirical: true }));
    assert.is((await flat.sample(3, { empirical: true })).rows, 3);
  },
);

onEveryDevice(
  'the sample is the ordinary sample of its seed, moved a little, and the same every time.',
  async (device) => {
    using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance });
    const count = 20_000;
    const which = { seed: 42, stream: 7 };
    const exact = await normal.sample(count, { ...which, empirical: true });
    assert.equal(normal.sampleSync(count, { ...which, empirical: true }).data, exact.data);
    const usual = normal.sampleSync(count, which);
    assert.equal((await normal.sample(count, { ...which, empirical: false })).data, usual.data);
    assert.equal(normal.sampleSync(count, { ...which, empirical: undefined }).data, usual.data);
    for (let row = 0; row < count; row++)
      for (let j = 0; j < 3; j++) {
        const moved = Math.abs(exact.get(row, j) - usual.get(row, j)) / Math.sqrt(covariance[j]![j]!);
        assert.ok(moved < 0.1, `row ${row} has moved by ${moved} standard deviations`);
      }
    const out = device.matrix(count, 3);
    assert.is(await normal.sample(count, { ...which, empirical: true, out }), out);
    assert.equal(out.data, exact.data);
    const array = new Float32Array(3 * count);
    assert.is(normal.sampleSync(count, { ...which, empirical: true, out: array }).data, array);
    assert.equal(array, exact.data);
    assert.is.not(
      normal.sampleSync(4, { empirical: true }).get(0, 0),
      normal.sampleSync(4, { empirical: true }).get(0, 0),
    );
  },
);

onEveryDevice(
  'too few rows, a part of a sample and unknown options are refused; an abort frees all memory.',
  async (device) => {
    using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance });
    const before = device.memory().liveBytes;
    for (const count of [0, 3]) {
      await throwsCode('ERR_OUT_OF_RANGE', `(${count})`, () => normal.sample(count, { empirical: true }));
      await throwsCode('ERR_OUT_OF_RANGE', '(4) rows', () => normal.sampleSync(count, { empirical: true }));
    }
    await throwsCode('ERR_OUT_OF_RANGE', '(1.5)', () => normal.sample(1.5, { empirical: true }));
    await throwsCode('ERR_INVALID_ARGUMENT', '(10)', () => normal.sample(10, { empirical: true, firstRow: 10 }));
    const both = { empirical: true, means: Array.from({ length: 10 }, () => mean) };
    for (const sampled of [() => normal.sample(10, both), () => normal.sampleSync(10, both)])
      await throwsCode('ERR_INVALID_ARGUMENT', '`means` does not go with `empirical`', sampled);
    await throwsCode('ERR_INVALID_ARGUMENT', 'yes', () =>
      // @ts-expect-error It is true or false.
      normal.sample(10, { empirical: 'yes' }),
    );
    await throwsCode('ERR_UNKNOWN_OPTION', '(empirical)', () =>
      // @ts-expect-error Blocks are parts.
      normal.blocks(10, { empirical: true }),
    );
    await throwsCode('ERR_UNKNOWN_OPTION', '(seeds)', () =>
      // @ts-expect-error No such option.
      normal.sample(10, { empirical: true, seeds: 1 }),
    );
    const { signal } = new AbortController();
    // @ts-expect-error A synchronous call cannot be stopped.
    await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () => normal.sampleSync(10, { empirical: true, signal }));
    const means = new Float32Array(10 * normal.dimension);
    // @ts-expect-error A synchronous call cannot be stopped.
    await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () => normal.sampleSync(10, { means, signal }));
    await throwsCode('ERR_SHAPE', '(10)', () => normal.sample(10, { empirical: true, out: new Float32Array(12) }));
    const reason = new Error('enough');
    await throwsCode('ERR_ABORTED', '(enough)', () =>
      normal.sample(10, { empirical: true, signal: AbortSignal.abort(reason) }),
    );
    const controller = new AbortController();
    const long = normal.sample(2_000_000, { empirical: true, signal: controller.signal });
    controller.abort(reason);
    await throwsCode('ERR_ABORTED', '(enough)', () => long);
    assert.is(device.memory().liveBytes, before);
    normal.close();
    await throwsCode('ERR_CLOSED', '3', () => normal.sample(10, { empirical: true }));
  },
);

// Relative to the standard deviations: of the sample's mean, and of its covariance with the divisor count - 1.
function errors(
  { data, rows, columns: n }: Matrix,
  mean: readonly number[],
  covariance: readonly (readonly number[])[],
): { mean: number; covariance: number } {
  // Sums deviations from the requested mean, so that large numbers cost no digits.
  const off = mean.map((centre, j) => {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += data[row * n + j]! - centre;
    return sum / rows;
  });
  const sd = covariance.map((row, j) => Math.sqrt(row[j]!));
  let worst = 0;
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let row = 0; row < rows; row++)
        sum += (data[row * n + i]! - mean[i]! - off[i]!) * (data[row * n + j]! - mean[j]! - off[j]!);
      worst = Math.max(worst, Math.abs(sum / (rows - 1) - covariance[i]![j]!) / (sd[i]! * sd[j]!));
    }
  return { mean: Math.max(...off.map((error, j) => Math.abs(error) / sd[j]!)), covariance: worst };
}

// The covariance of the stored factor, in float64.
function rounded(normal: MultivariateNormal): number[][] {
  const factor = normal.factorSync().toArray();
  return factor.map((a) => factor.map((b) => a.reduce((sum, x, k) => sum + x * b[k]!, 0)));
}

// A mean, and a lower factor of numbers between -1 and 1 with a diagonal between 1/2 and 3/2.
function randomNormal(n: number, seed: number): { mean: number[]; factor: number[][] } {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const mean = Array.from({ length: n }, next);
  const factor = mean.map((_, i) => mean.map((_, j) => (j > i ? 0 : j === i ? 1 + next() / 2 : next())));
  return { mean, factor };
}

test.run();
