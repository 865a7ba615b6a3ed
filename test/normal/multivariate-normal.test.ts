import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, type Matrix, MultivariateNormal, openDevice, type RealDtype, Vector } from '../../lib/index.ts';
import { kindsHere, onEveryDevice } from '../harness/every-device.ts';
import { externalBuffers } from '../harness/external-buffers.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const byHand = answers('normal-by-hand.json');
const scipy = answers('scipy-multivariate-normal.json');
const ln2pi = Math.log(2 * Math.PI);

onEveryDevice('factor, covariance, determinant and entropy equal those computed by hand.', async (device) => {
  for (const dtype of device.dtypes as RealDtype[])
    for (const { covariance, factor, determinant } of [byHand.cholesky2, byHand.cholesky3]) {
      using normal = await MultivariateNormal.fromCovariance({ device, covariance, dtype });
      const tolerance = dtype === 'float32' ? 1e-4 : 1e-12;
      const n = covariance.length;
      near(normal.factorSync().toArray().flat(), factor.flat(), tolerance);
      near((await normal.covariance()).toArray().flat(), covariance.flat(), tolerance);
      near([normal.logDeterminant], [Math.log(determinant)], tolerance);
      near([normal.entropy], [(n * (1 + ln2pi) + Math.log(determinant)) / 2], tolerance);
      assert.equal([normal.dimension, normal.dtype, normal.device], [n, dtype, device]);
    }
});

onEveryDevice('A covariance that its type does not hold is refused, but its factor is available.', async (device) => {
  using normal = MultivariateNormal.fromCholeskySync({
    device,
    factor: [
      [1, 0],
      [1e25, 1],
    ],
  });
  await throwsCode('ERR_OUT_OF_RANGE', 'Variance (1) of the covariance is too large for (float32)', () =>
    normal.covariance(),
  );
  await throwsCode('ERR_OUT_OF_RANGE', "`dtype: 'float64'`", () => normal.covarianceSync());
  near(normal.factorSync().toArray().flat(), [1, 0, Math.fround(1e25), 1], 0);
});

onEveryDevice("densities equal those of SciPy's example.", async (device) => {
  using normal = await MultivariateNormal.fromCovariance({
    device,
    mean: [scipy.mean],
    covariance: [[scipy.covariance]],
  });
  const densities = await normal.logPdf(scipy.x.map((x: number) => [x]));
  near(Array.from(densities.data, Math.exp), scipy.pdf, 1e-6);
  near((await normal.pdf(scipy.x.map((x: number) => [x]))).toArray(), scipy.pdf, 1e-6);
  if (!device.dtypes.includes('float64')) return;
  using exact = MultivariateNormal.fromCovarianceSync({
    device,
    mean: [scipy.mean],
    covariance: [[scipy.covariance]],
    dtype: 'float64',
  });
  near(Array.from(exact.logPdfSync(Float64Array.from(scipy.x)).data, Math.exp), scipy.pdf, 5e-9);
  near(exact.pdfSync(Float64Array.from(scipy.x)).toArray(), scipy.pdf, 5e-9);
});

onEveryDevice('Mahalanobis distances equal those of a solve by hand.', async (device) => {
  // covariance^-1 = [[1, -0.5], [-0.5, 2]] / 1.75 for [[2, 0.5], [0.5, 1]].
  const options = {
    device,
    mean: [1, -1],
    covariance: [
      [2, 0.5],
      [0.5, 1],
    ],
  };
  using normal = await MultivariateNormal.fromCovariance(options);
  const rows = [
    [1, -1],
    [2, -1],
    [1, 2],
    [0, 1],
  ];
  const squares = [0, 1, 18, 11].map((value) => value / 1.75);
  near((await normal.mahalanobis(rows)).toArray(), squares.map(Math.sqrt), 1e-6);
  near(normal.mahalanobisSync(rows[2]!).toArray(), [Math.sqrt(squares[2]!)], 1e-6);
  assert.ok(Object.is(normal.mahalanobisSync(rows[0]!).data[0], 0), 'the mean is 0 away, and not -0');
  await throwsCode('ERR_NOT_FINITE', 'NaN', () => normal.mahalanobis([[Number.NaN, 0]]));
  normal.close();
  await throwsCode('ERR_CLOSED', '2', () => normal.mahalanobis(rows));
});

onEveryDevice(
  'the factor multiplies from the left, shown by an asymmetric one with garbage above its diagonal.',
  async (device) => {
    const { factor, z, product, covariance } = byHand.lopsided;
    for (const garbage of [0, 0.2, Number.NaN, Number.POSITIVE_INFINITY]) {
      const given = [[factor[0][0], garbage], factor[1]];
      using normal = await MultivariateNormal.fromCholesky({ device, mean: [1, -1], factor: given });
      near(
        (await normal.transform(z)).toArray().flat(),
        product.flatMap(([x, y]: number[]) => [x! + 1, y! - 1]),
        1e-5,
      );
      near(normal.covarianceSync().toArray().flat(), covariance.flat(), 1e-4);
      const draws = normal.sampleSync(200_000, { seed: 11 });
      const { mean, spread } = moments(draws);
      near(mean, [1, -1], [5 * Math.sqrt(0.04 / 2e5), 5 * Math.sqrt(400.04 / 2e5)]);
      near(spread, covariance.flat(), [0.001, 0.05, 0.05, 7]);
      near(normal.factorSync().toArray().flat(), [0.2, 0, 0.2, 20], 1e-5);
    }
  },
);

onEveryDevice('a precision gives the normal of its inverse.', async (device) => {
  const { precision, covariance } = byHand.precision2;
  using normal = await MultivariateNormal.fromPrecision({ device, mean: [3, 4], precision });
  using same = MultivariateNormal.fromCovarianceSync({ device, mean: [3, 4], covariance });
  near((await normal.covariance()).toArray().flat(), covariance.flat(), 1e-6);
  near(normal.factorSync().toArray().flat(), same.factorSync().toArray().flat(), 1e-6);
  near([normal.entropy, normal.logDeterminant], [same.entropy, same.logDeterminant], 1e-6);
  const rows = [
    [0, 0],
    [3, 4],
    [5, -7.5],
  ];
  near((await normal.logPdf(rows)).toArray(), same.logPdfSync(rows).toArray(), 1e-4);
  // The log density of transform(z) follows from z by the standard normal, with any factor.
  const z = [
    [1, 0],
    [0.5, -2],
  ];
  near((await normal.logPdf(await normal.transform(z))).toArray(), logDensities(z, normal), 1e-5);
  const { mean, spread } = moments(normal.sampleSync(200_000, { seed: 5 }));
  near(mean, [3, 4], 0.01);
  near(spread, covariance.flat(), 0.02);
});

onEveryDevice('a fit has the mean and covariance of its rows.', async (device) => {
  const { rows, mean, covarianceDdof1, covarianceDdof0 } = byHand.fit;
  using unbiased = await MultivariateNormal.fit({ device, rows });
  near(unbiased.mean.toArray(), mean, 1e-6);
  near(unbiased.covarianceSync().toArray().flat(), covarianceDdof1.flat(), 1e-5);
  using likeliest = MultivariateNormal.fitSync({ device, rows, ddof: 0 });
  near(likeliest.covarianceSync().toArray().flat(), covarianceDdof0.flat(), 1e-5);
});

onEveryDevice('the factor of a Hilbert matrix is right in float64.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const n = 6;
  const covariance = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => 1 / (i + j + 1)));
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance, dtype: 'float64' });
  // M.-D. Choi, "Tricks or treats with the Hilbert matrix", 1983: L_ij = sqrt(2j - 1) (i - 1)!^2 / ((i - j)! (i + j -
  // 1)!).
  const factorial = (k: number): number => (k < 2 ? 1 : k * factorial(k - 1));
  const entry = (i: number, j: number) =>
    j > i ? 0 : (Math.sqrt(2 * j - 1) * factorial(i - 1) ** 2) / (factorial(i - j) * factorial(i + j - 1));
  near(
    normal.factorSync().toArray().flat(),
    covariance.flatMap((row, i) => row.map((_, j) => entry(i + 1, j + 1))),
    1e-11,
  );
});

onEveryDevice('the same seed gives the same bytes, as a whole or in parts, now or later.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({
    device,
    mean: [1, 2, 3],
    covariance: byHand.cholesky3.covariance,
  });
  const whole = normal.sampleSync(1000, { seed: 42, stream: 3 }).data;
  assert.equal((await normal.sample(1000, { seed: 42n, stream: 3n })).data, whole);
  assert.equal(normal.sampleSync(10, { seed: 42, stream: 3, firstRow: 990 }).data, whole.slice(2970));
  const blocks: number[] = [];
  for await (const block of normal.blocks(600, { seed: 42, stream: 3, firstRow: 400, rowsPerBlock: 77 })) {
    assert.is(block.rows, blocks.length < 539 * 3 ? 77 : 61);
    blocks.push(...block.data);
  }
  assert.equal(blocks, Array.from(whole.slice(1200)));
  assert.is.not(normal.sampleSync(1, { seed: 43 }).get(0, 0), normal.sampleSync(1, { seed: 42 }).get(0, 0));
  assert.is.not(normal.sampleSync(1).get(0, 0), normal.sampleSync(1).get(0, 0));
  const far = normal.sampleSync(1, { seed: 2n ** 64n - 1n, firstRow: 2n ** 60n });
  assert.ok(far.data.every(Number.isFinite));
});

onEveryDevice('draws go into the array or matrix that is given.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: byHand.cholesky2.covariance });
  const expected = normal.sampleSync(50, { seed: 1 }).data;
  const matrix = device.matrix(50, 2);
  assert.is(await normal.sample(50, { seed: 1, out: matrix }), matrix);
  assert.equal(matrix.data, expected);
  assert.ok(matrix.timings!.wallMs >= 0);
  const larger = new Float32Array(200).fill(7);
  const result = normal.sampleSync(50, { seed: 1, out: larger.subarray(60, 160) });
  assert.is(result.data.buffer, larger.buffer);
  assert.equal(larger.slice(60, 160), expected);
  assert.ok(larger.subarray(0, 60).every((value) => value === 7) && larger.subarray(160).every((value) => value === 7));
});

onEveryDevice('an array in flight cannot leave for another thread.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: byHand.cholesky2.covariance });
  const out = new Float32Array(100);
  const sampled = normal.sample(50, { seed: 1, out });
  try {
    // Node 20 copies a buffer that can't be transferred; later versions refuse.
    structuredClone(out.buffer, { transfer: [out.buffer] });
  } catch (error) {
    assert.is((error as DOMException).name, 'DataCloneError');
  }
  assert.is(out.length, 100);
  await sampled;
  assert.equal(out, normal.sampleSync(50, { seed: 1 }).data);
});

onEveryDevice('every method accepts zero rows.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: byHand.cholesky2.covariance });
  assert.is(normal.sampleSync(0, { seed: 1 }).rows, 0);
  assert.is((await normal.sample(0)).rows, 0);
  assert.is((await normal.logPdf(new Float32Array(0))).length, 0);
  assert.is((await normal.transform([] as number[][])).rows, 0);
  for await (const block of normal.blocks(0)) assert.unreachable(`a block of ${block.rows} rows`);
});

onEveryDevice('large results lie in device memory, which closing them releases.', async (device) => {
  const before = device.memory().liveBytes;
  const normal = await MultivariateNormal.fromCovariance({ device, covariance: byHand.cholesky2.covariance });
  const draws = await normal.sample(300_000, { seed: 1 });
  const densities = await normal.logPdf(draws);
  if (externalBuffers || device.kind === 'reference') assert.ok(device.memory().liveBytes >= before + 3 * 1_200_000);
  assert.is(densities.length, 300_000);
  const { wallMs } = draws.timings!;
  assert.ok(wallMs >= 0 && densities.timings!.deviceMs >= 0);
  draws.close();
  densities.close();
  normal.close();
  assert.is(device.memory().liveBytes, before);
});

onEveryDevice('leaving the blocks early frees them.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: byHand.cholesky2.covariance });
  const before = device.memory().liveBytes;
  let last: Matrix | undefined;
  for await (const block of normal.blocks(10_000_000, { seed: 1, rowsPerBlock: 200_000 })) {
    last?.closed || assert.ok(last === undefined, 'the block before is closed');
    if (last !== undefined) break;
    last = block;
  }
  assert.is(device.memory().liveBytes, before);
});

onEveryDevice('a signal stops samples and blocks, and frees them.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: byHand.cholesky2.covariance });
  const before = device.memory().liveBytes;
  const reason = new Error('enough');
  await throwsCode('ERR_ABORTED', '(enough)', () => normal.sample(10, { signal: AbortSignal.abort(reason) }));
  await throwsCode('ERR_ABORTED', '(enough)', () => normal.blocks(10, { signal: AbortSignal.abort(reason) }));
  const sampling = new AbortController();
  const long = normal.sample(50_000_000, { seed: 1, signal: sampling.signal });
  sampling.abort(reason);
  assert.is((await throwsCode('ERR_ABORTED', '(enough)', () => long)).cause, reason);
  const controller = new AbortController();
  await throwsCode('ERR_ABORTED', '(enough)', async () => {
    for await (const block of normal.blocks(100_000_000, { seed: 1, signal: controller.signal }))
      controller.abort(block.rows > 0 ? reason : undefined);
  });
  assert.is(device.memory().liveBytes, before);
  normal.sampleSync(1);
});

onEveryDevice('log densities equal the formula, for random covariances.', async (device) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.integer(), async (n, seed) => {
      const { covariance, mean, rows } = randomNormal(n, seed);
      using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance });
      const expected = rows.map((row) => logDensity(row, mean, covariance));
      near((await normal.logPdf(rows)).toArray(), expected, 1e-2);
      if (!device.dtypes.includes('float64')) return;
      using exact = await MultivariateNormal.fromCovariance({ device, mean, covariance, dtype: 'float64' });
      near(exact.logPdfSync(rows).toArray(), expected, 1e-9);
    }),
    { numRuns: 25 },
  );
});

onEveryDevice('transform and logPdf undo each other at awkward dimensions.', (device) => {
  for (const n of [1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129]) {
    const { covariance, mean } = randomNormal(n, n);
    using normal = MultivariateNormal.fromCovarianceSync({ device, mean, covariance });
    const z = Array.from({ length: 5 }, (_, row) => Array.from({ length: n }, (_, i) => Math.cos(row * 3 + i)));
    near(normal.logPdfSync(normal.transformSync(z)).toArray(), logDensities(z, normal), 2e-3 * n);
  }
});

onEveryDevice('a vector is transformed into a vector.', async (device) => {
  using normal = await MultivariateNormal.fromCholesky({ device, factor: byHand.lopsided.factor });
  for (const z of [[3, -2], new Float64Array([3, -2]), Vector.from([3, -2])]) {
    const y = await normal.transform(z);
    assert.instance(y, Vector);
    near(y.toArray(), byHand.lopsided.product[2], 1e-5);
  }
  near((await normal.logPdf([0, 0])).toArray(), [-ln2pi - Math.log(4)], 1e-5);
});

test('Every device draws what the reference device draws, up to rounding.', async () => {
  using reference = openDevice('reference');
  for (const kind of kindsHere) {
    if (kind === 'reference') continue;
    using device = openDevice(kind);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.nat(), async (n, seed) => {
        const { covariance, mean, rows } = randomNormal(n, seed);
        for (const dtype of device.dtypes as RealDtype[]) {
          const tolerance = dtype === 'float32' ? 1e-4 * n : 1e-11 * n;
          const [here, there] = await Promise.all(
            [device, reference].map((each) => draw(each, { mean, covariance, dtype }, rows, seed)),
          );
          for (const index of [0, 1]) near(here![index]!, there![index]!, tolerance);
          near(here![2]!, there![2]!, 10 * tolerance);
        }
      }),
      { numRuns: 15 },
    );
  }
});

async function draw(
  device: Device,
  options: { mean: number[]; covariance: number[][]; dtype: RealDtype },
  rows: number[][],
  seed: number,
): Promise<number[][]> {
  using normal = await MultivariateNormal.fromCovariance({ device, ...options });
  using draws = await normal.sample(33, { seed, firstRow: seed });
  return [Array.from(draws.data), normal.transformSync(rows).toArray().flat(), normal.logPdfSync(rows).toArray()];
}

// Mean, rows and a covariance A A' + I of numbers between -1 and 1.
function randomNormal(n: number, seed: number): { mean: number[]; covariance: number[][]; rows: number[][] } {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const random = (length: number) => Array.from({ length }, next);
  const a = Array.from({ length: n }, () => random(n));
  const covariance = a.map((x, i) =>
    a.map((y, j) => x.reduce((sum, value, k) => sum + value * y[k]!, i === j ? 1 : 0)),
  );
  return { mean: random(n), covariance, rows: Array.from({ length: 4 }, () => random(n)) };
}

// Gaussian elimination of (covariance | row - mean): the product of pivots is the determinant, the rest the squared
// distance.
function logDensity(row: readonly number[], mean: readonly number[], covariance: readonly number[][]): number {
  const n = mean.length;
  const rows = covariance.map((entries, i) => [...entries, row[i]! - mean[i]!]);
  let sum = n * ln2pi;
  for (let k = 0; k < n; k++) {
    const pivot = rows[k]!;
    sum += Math.log(pivot[k]!) + pivot[n]! ** 2 / pivot[k]!;
    for (let i = k + 1; i < n; i++) {
      const ratio = rows[i]![k]! / pivot[k]!;
      for (let j = k; j <= n; j++) rows[i]![j]! -= ratio * pivot[j]!;
    }
  }
  return -sum / 2;
}

// The log density of mean + L z, from z and the determinant.
function logDensities(z: readonly number[][], normal: MultivariateNormal): number[] {
  return z.map((row) => -(row.length * ln2pi + normal.logDeterminant + row.reduce((sum, x) => sum + x * x, 0)) / 2);
}

function moments(draws: Matrix): { mean: number[]; spread: number[] } {
  const { data, rows, columns } = draws;
  const mean = Array<number>(columns).fill(0);
  const spread = Array<number>(columns ** 2).fill(0);
  for (let at = 0; at < data.length; at++) mean[at % columns]! += data[at]! / rows;
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < columns; i++)
      for (let j = 0; j < columns; j++)
        spread[i * columns + j]! +=
          ((data[row * columns + i]! - mean[i]!) * (data[row * columns + j]! - mean[j]!)) / rows;
  return { mean, spread };
}

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number | readonly number[]): void {
  assert.is(actual.length, expected.length);
  for (let index = 0; index < actual.length; index++) {
    const allowed = typeof tolerance === 'number' ? tolerance : tolerance[index]!;
    const [value, wanted] = [actual[index]!, expected[index]!];
    assert.ok(Math.abs(value - wanted) <= allowed, `[${index}] is ${value}, not ${wanted} within ${allowed}`);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are data of several shapes, each known to its test.
function answers(name: string): any {
  return JSON.parse(readFileSync(new URL(`../answers/${name}`, import.meta.url), 'utf8'));
}

test.run();
