import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { klDivergence, Matrix, MultivariateNormal, openDevice, wasserstein } from '../../lib/index.ts';
import { cdf } from '../../lib/probability/standard-normal.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { answers, conditionals, eps, identity, normals, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice('what questions can not be asked is refused.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
  for (const coordinates of [[3], [-1], [0.5], [Number.NaN]]) {
    await throwsCode('ERR_OUT_OF_RANGE', `${coordinates[0]}`, () => normal.marginal(coordinates));
    await throwsCode('ERR_OUT_OF_RANGE', `${coordinates[0]}`, () =>
      normal.conditional({ given: coordinates, values: [0] }),
    );
  }
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => normal.marginal([1, 0, 1]));
  await throwsCode('ERR_INVALID_ARGUMENT', '(7)', () => normal.marginal(7 as unknown as number[]));
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () =>
    normal.conditional({ given: ['1'] as unknown as number[], values: [0] }),
  );
  await throwsCode('ERR_SHAPE', '(2)', () => normal.conditional({ given: [1], values: [0, 0] }));
  await throwsCode('ERR_SHAPE', '(2)', () => normal.conditionalMeans({ given: [1], rows: [[0, 0]] }));
  const missing = await throwsCode('ERR_NOT_FINITE', 'NaN', () =>
    normal.conditional({ given: [1, 2], values: [0, Number.NaN] }),
  );
  assert.equal([missing.row, missing.column], [0, 1]);
  const gap = await throwsCode('ERR_NOT_FINITE', 'NaN', () =>
    normal.conditionalMeans({ given: [1], rows: [[0], [Number.NaN]] }),
  );
  assert.equal([gap.row, gap.column], [1, 0]);
  await throwsCode('ERR_SHAPE', '(2)', () => normal.affine({ matrix: [[1, 0]] }));
  await throwsCode('ERR_SHAPE', '(2)', () => normal.affine({ matrix: identity(3), offset: [1, 2] }));
  await throwsCode('ERR_NOT_FINITE', '(1, 0)', () =>
    normal.affine({
      matrix: [
        [1, 0, 0],
        [Number.NaN, 1, 0],
      ],
    }),
  );
  const flat = [
    [1, 0, 1],
    [0, 1, 1],
    [1, 1, 2],
  ];
  const dependent = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(2)', () => normal.affine({ matrix: flat }));
  assert.is(dependent.pivot, 2);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(3)', () => normal.affine({ matrix: [...identity(3), [1, 1, 1]] }));
  for (const noise of [
    [
      [1, 2],
      [2, 1],
    ],
    [
      [-1, 0],
      [0, 1],
    ],
    [
      [0, 1],
      [1, 1],
    ],
  ])
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'Noise', () =>
      normal.affine({ matrix: identity(3).slice(1), noise }),
    );
  await throwsCode('ERR_NOT_SYMMETRIC', '2', () =>
    normal.affine({
      matrix: [
        [1, 0, 0],
        [0, 1, 0],
      ],
      noise: [
        [1, 2],
        [0, 9],
      ],
    }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', 'Offset', () =>
    normal.affine({ matrix: identity(3), offset: 3 as unknown as number[] }),
  );
  for (const p of [0, 1, -1, 2, Number.NaN]) {
    await throwsCode('ERR_OUT_OF_RANGE', `${p}`, () => normal.quantile([[0.5, 0.5, p]]));
    await throwsCode('ERR_OUT_OF_RANGE', `${p}`, () => normal.ellipsoid({ probability: p }));
  }
  await throwsCode('ERR_NOT_FINITE', 'NaN', () => normal.scoreInput([[0, Number.NaN, 0]]));
  await throwsCode('ERR_UNKNOWN_OPTION', 'value', () => normal.conditional({ given: [0], value: [0] } as never));
  normal.close();
  for (const ask of [
    () => normal.marginal([0]),
    () => normal.conditional({ given: [0], values: [0] }),
    () => normal.conditionalMeans({ given: [0], rows: [[0]] }),
    () => normal.affine({ matrix: identity(3) }),
    () => normal.scoreInput([0, 0, 0]),
    () => normal.quantile([0.5, 0.5, 0.5]),
    () => normal.ellipsoid({ probability: 0.5 }),
  ])
    await throwsCode('ERR_CLOSED', '3', ask);
});

test('A diagonal of a million draws and weighs rows; what takes its square is refused before it is had.', async () => {
  using device = openDevice('reference');
  const dimension = 1e6;
  using normal = await MultivariateNormal.fromDiagonal({ device, variances: 1, dimension });
  assert.ok(Math.abs(normal.logPdfSync(new Float64Array(dimension)).get(0) + 918938.533) < 1);
  const row = new Float64Array(dimension).fill(1);
  for (const ask of [
    () => normal.marginal([0]),
    () => normal.conditional({ given: [0], values: [0] }),
    () => normal.conditionalMeans({ given: [0], rows: [[0]] }),
    () => normal.affine({ matrix: row }),
    () => normal.ellipsoid({ probability: 0.5 }),
    () => normal.cdf(row),
    () => normal.boxProbability({ lower: row }),
    () => normal.factor(),
    () => normal.covariance(),
    () => klDivergence(normal, normal),
    () => wasserstein(normal, normal),
  ])
    await throwsCode('ERR_OUT_OF_MEMORY', '000000000000', ask);
  const ofDimension = (dimension: number) => () => MultivariateNormal.fromDiagonal({ device, variances: 1, dimension });
  await throwsCode('ERR_OUT_OF_MEMORY', '8000000000000000', ofDimension(1e15));
  await throwsCode('ERR_TOO_LARGE', '2^53', ofDimension(2 ** 53 - 1));
});

onEveryDevice('A x + b + e has the mean and covariance worked by hand.', async (device) => {
  const covariance = [
    [2, 0.5],
    [0.5, 1],
  ];
  using normal = MultivariateNormal.fromCovarianceSync({ device, mean: [1, -1], covariance });
  // [1 2] and [3 -1]: variances 2 + 2 + 4 = 8 and 18 - 3 + 1 = 16, covariance 6 - 0.5 + 3 - 2 = 6.5.
  const matrix = [
    [1, 2],
    [3, -1],
  ];
  using image = await normal.affine({ matrix, offset: [10, 0] });
  near(image.mean.data, [9, 4], () => 1e-6, 'mean');
  near(image.covarianceSync().data, [8, 6.5, 6.5, 16], () => 1e-5, 'covariance');
  using sum = normal.affineSync({ matrix: [1, 2] as never });
  near([sum.dimension, sum.mean.get(0), sum.covarianceSync().get(0, 0)], [1, -1, 8], () => 1e-5, 'one row');
  using noisy = normal.affineSync({
    matrix,
    noise: [
      [1, 0.5],
      [0.5, 2],
    ],
  });
  near(noisy.covarianceSync().data, [9, 7, 7, 18], () => 1e-5, 'noise');
  // A state beside what is measured of it: noise of the second alone, and more rows than columns.
  using joint = await normal.affine({
    matrix: [
      [1, 0],
      [0, 1],
      [1, 1],
    ],
    noise: [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0.25],
    ],
  });
  near(joint.covarianceSync().data, [2, 0.5, 2.5, 0.5, 1, 1.5, 2.5, 1.5, 4.25], () => 1e-5, 'joint');
  using same = normal.affineSync({ matrix: identity(2) });
  assert.equal(
    [same.mean.toArray(), same.factorSync().toArray()],
    [normal.mean.toArray(), normal.factorSync().toArray()],
  );
});

onEveryDevice('the score is -covariance^-1 (x - mean), and the slope of the log density.', async (device) => {
  // covariance^-1 = [[1, -0.5], [-0.5, 2]] / 1.75.
  for (const way of ['covariance', 'precision'] as const) {
    const mean = [1, -1];
    const normal =
      way === 'covariance'
        ? MultivariateNormal.fromCovarianceSync({
            device,
            mean,
            covariance: [
              [2, 0.5],
              [0.5, 1],
            ],
          })
        : MultivariateNormal.fromPrecisionSync({
            device,
            mean,
            precision: [
              [1 / 1.75, -0.5 / 1.75],
              [-0.5 / 1.75, 2 / 1.75],
            ],
          });
    const rows = [
      [1, -1],
      [2, -1],
      [1, 1],
      [0, -2],
    ];
    const wanted = [0, 0, -1, 0.5, 1, -4, 0.5, 1.5].map((value) => value / 1.75);
    near((await normal.scoreInput(rows)).data, wanted, () => 1e-5, way);
    near(normal.scoreInputSync(rows[2]!).data, wanted.slice(4, 6), () => 1e-5, way);
    normal.close();
  }
  const dtype = realDtypes(device).at(-1)!;
  const { mean, factor } = conditionals[1]!;
  using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean, factor });
  const h = dtype === 'float64' ? 1e-5 : 1e-2;
  const x = mean.map((value, i) => value + Math.cos(i));
  const score = normal.scoreInputSync(x).data;
  for (const [i] of x.entries()) {
    const moved = [h, -h].map((step) => x.map((value, j) => (i === j ? value + step : value)));
    const [up, down] = normal.logPdfSync(moved).toArray() as [number, number];
    near([(up - down) / (2 * h)], [score[i]!], () => (dtype === 'float64' ? 1e-9 : 1e-3), 'slope');
  }
  assert.is(normal.scoreInputSync(Matrix.from([], { columns: mean.length })).rows, 0);
});

onEveryDevice('densities, distances, entropies and gradients are those of 60 digits.', async (device) => {
  for (const dtype of realDtypes(device))
    for (const { name, mean, factor, rows, logDeterminant, entropy, mahalanobis, logPdf, score } of answers.densities) {
      using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean, factor });
      const what = `${name}, ${dtype}`;
      // A triangular solve is exact to a few roundings, however ill-conditioned the factor; what a type makes of the
      // factor's and the rows' numbers is of no other size.
      const tolerance = 32 * eps(dtype);
      near([normal.logDeterminant, normal.entropy], [logDeterminant, entropy], () => tolerance * factor.length, what);
      near((await normal.mahalanobis(rows)).data, mahalanobis, (i) => tolerance * mahalanobis[i], `${what}: distance`);
      near(
        (await normal.logPdf(rows)).data,
        logPdf,
        (i) => tolerance * (1 + Math.abs(logPdf[i])),
        `${what}: log density`,
      );
      near(
        (await normal.pdf(rows)).data,
        logPdf.map(Math.exp),
        (i) => 2 * tolerance * pdfSize(logPdf[i]),
        `${what}: density`,
      );
      // Each entry in the unit of its coordinate.
      const spread = factor.map((row: number[]) => Math.hypot(...row));
      const sizes = score.map((row: number[]) => Math.hypot(...row.map((value, j) => value * spread[j]!)));
      const n = mean.length;
      const allowed = (at: number) => (tolerance * sizes[Math.floor(at / n)]!) / spread[at % n]!;
      near((await normal.scoreInput(rows)).data, score.flat(), allowed, `${what}: gradient`);
    }
});

onEveryDevice("quantiles are mean + L z, z the standard normal's.", async (device) => {
  // The standard normal's quantiles at 0.975 and 0.025, 0.5 and 0.84134474606854293 (1).
  using normal = MultivariateNormal.fromCholeskySync({
    device,
    mean: [1, -1],
    factor: [
      [2, 0],
      [1, 3],
    ],
  });
  const rows = [
    [0.5, 0.5],
    [0.975, 0.5],
    [0.84134474606854293, 0.02500000000000002],
  ];
  const z = 1.9599639845400545;
  near((await normal.quantile(rows)).data, [1, -1, 1 + 2 * z, -1 + z, 3, 0 - 3 * z], () => 2e-6, 'by hand');
  near(normal.quantileSync(rows[1]!).data, [1 + 2 * z, -1 + z], () => 2e-6, 'one row');
  // Quantiles of the probabilities of normals are what transform makes of these.
  const standard = Array.from({ length: 20 }, (_, i) => [Math.sin(i) * 3, Math.cos(i * 7) * 2]);
  const made = normal.quantileSync(standard.map((row) => row.map(cdf)));
  near(made.data, normal.transformSync(standard).data, () => 1e-5, 'transform');
});

onEveryDevice('half-axes have the lengths of 60 digits, are orthogonal, and make the covariance.', async (device) => {
  for (const { name, factor, lengths } of answers.ellipsoids) {
    const dtype = realDtypes(device).at(-1)!;
    if (dtype === 'float32' && (name === 'wide' || name === 'Hilbert')) continue;
    using normal = MultivariateNormal.fromCholeskySync({ device, dtype, factor });
    const { axes, radius, centre, probability } = await normal.ellipsoid({ probability: 0.9 });
    const n = factor.length;
    assert.equal([axes.rows, axes.columns, axes.dtype, probability], [n, n, 'float64', 0.9]);
    assert.equal(centre.toArray(), normal.mean.toArray());
    const axis = (k: number) => Array.from({ length: n }, (_, i) => axes.get(i, k) / radius);
    const found = lengths.map((_: number, k: number) => Math.hypot(...axis(k)));
    // Small ones beside large ones, too: each to a relative error.
    const tolerance = dtype === 'float32' ? 1e-6 : name === 'Hilbert' ? 1e-12 : 1e-14;
    near(found, lengths, (k) => tolerance * lengths[k], name);
    for (let k = 0; k < n; k++)
      for (let l = 0; l < k; l++) {
        const product = axis(k).reduce((sum, x, i) => sum + x * axis(l)[i]!, 0);
        assert.ok(Math.abs(product) <= 1e-14 * found[k]! * found[l]!, `${name}: ${k}, ${l}`);
      }
    const covariance = normal.covarianceSync().toArray();
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let k = 0; k < n; k++) sum += axis(k)[i]! * axis(k)[j]!;
        const size = Math.sqrt(covariance[i]![i]! * covariance[j]![j]!);
        assert.ok(Math.abs(sum - covariance[i]![j]!) <= 64 * eps(dtype) * size, `${name}: (${i}, ${j})`);
      }
  }
});

onEveryDevice('an ellipsoid holds its share of the draws.', (device) => {
  const { mean, factor } = conditionals[1]!;
  using normal = MultivariateNormal.fromCholeskySync({ device, mean, factor });
  const distances = normal.mahalanobisSync(normal.sampleSync(100_000, { seed: 4 })).data;
  for (const probability of [0.05, 0.5, 0.95]) {
    const { radius } = normal.ellipsoidSync({ probability });
    const share = distances.filter((distance) => distance <= radius).length / distances.length;
    assert.ok(Math.abs(share - probability) < 5 * Math.sqrt((probability * (1 - probability)) / 1e5), `${share}`);
  }
});

test('A marginal is the image by rows of the identity; an image of an image that by the product.', () => {
  using device = openDevice('reference');
  fc.assert(
    fc.property(normals, ({ mean, factor, given, scales }) => {
      using whole = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
      const n = mean.length;
      using part = whole.marginalSync(given);
      using image = whole.affineSync({ matrix: given.map((i) => identity(n)[i]!) });
      const size = (at: number) => 1e-12 * scales[given[Math.floor(at / given.length)]!]! * n;
      assert.equal(image.mean.toArray(), part.mean.toArray());
      near(image.factorSync().data, part.factorSync().data, size, 'rows of the identity');
      const a = identity(n).map((row, i) => row.map((x, j) => x + (j < i ? 0.5 : 0)));
      const twice = a.map((row) => row.map((_, j) => row.reduce((sum, x, k) => sum + x * a[k]![j]!, 0)));
      using once = whole.affineSync({ matrix: a });
      using again = once.affineSync({ matrix: a, offset: mean });
      using both = whole.affineSync({ matrix: twice, offset: mean });
      const largest = Math.max(...scales) * n ** 3;
      near(again.factorSync().data, both.factorSync().data, () => 1e-12 * largest, 'image of an image');
      near(again.mean.data, both.mean.data, () => 1e-13 * largest, 'mean of an image');
    }),
    { numRuns: 200, seed: 13 },
  );
});

// What an error of the logarithm makes of a density.
const pdfSize = (logarithm: number) => (1 + Math.abs(logarithm)) * Math.exp(logarithm);

test.run();
