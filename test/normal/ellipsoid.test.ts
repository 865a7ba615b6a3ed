import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { answers, conditionals, eps, identity, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice(
  'half-axes have the lengths of 60-digit answers, are orthogonal, and give the covariance.',
  async (device) => {
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
      // Each has a small relative error, even small ones beside large ones.
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
  },
);

onEveryDevice('half-axes scale with the covariance, even if the variances overflow or underflow.', (device) => {
  const dtype = realDtypes(device).at(-1)!;
  for (const scale of dtype === 'float64' ? [1, 1e-170, 1e170] : [1, 1e-19, 1e18]) {
    // A mild factor, a graded one, and one with a long row beside its diagonal.
    for (const [factor, lengths] of [
      [
        [
          [1, 0],
          [1, 1],
        ],
        [(1 + Math.sqrt(5)) / 2, (Math.sqrt(5) - 1) / 2],
      ],
      [
        [
          [1, 0],
          [0, 1e-6],
        ],
        [1, 1e-6],
      ],
      [
        [
          [1, 0],
          [1e6, 1],
        ],
        [1e6 + 1e-6, 1e-6],
      ],
    ] as const) {
      // biome-ignore format: short
      const scaled = factor.map((row) => row.map((x) => x * scale));
      using normal = MultivariateNormal.fromCholeskySync({ device, dtype, factor: scaled });
      const { axes, radius } = normal.ellipsoidSync({ probability: 0.5 });
      const found = [0, 1].map((k) => Math.hypot(axes.get(0, k), axes.get(1, k)) / radius / scale);
      near(found, lengths, (k) => (dtype === 'float32' ? 1e-6 : 2e-12) * lengths[k]!, `${scale}: ${factor}`);
    }
  }
});

onEveryDevice('half-axes of coordinates with very different units do not mix.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const covariance = [
    [1e200, 0.5, 0],
    [0.5, 1e-200, 0],
    [0, 0, 1],
  ];
  using normal = MultivariateNormal.fromCovarianceSync({ device, dtype: 'float64', covariance });
  const { axes, radius } = normal.ellipsoidSync({ probability: 0.5 });
  const own = [axes.get(0, 0) / 1e100, axes.get(2, 1), axes.get(1, 2) / Math.sqrt(0.75) / 1e-100];
  near(own.map((entry) => entry / radius), [1, 1, 1], 1e-14); // biome-ignore format: short
});

onEveryDevice('many half-axes of a covariance that is not mild keep their digits.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const n = 80;
  const correlation = 0.99;
  const deviation = (j: number) => (j === 0 ? 1 : Math.sqrt(1 - correlation ** 2));
  const factor = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => (j > i ? 0 : correlation ** (i - j) * deviation(j))),
  );
  using normal = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', factor });
  const { axes, radius } = normal.ellipsoidSync({ probability: 0.5 });
  const lengths = Matrix.from(factor, { dtype: 'float64' }).svdSync({ device }).s.toArray();
  assert.ok((lengths[0]! / lengths.at(-1)!) ** 2 > 10_000, 'mild');
  const products = axes.transposeSync().multiplySync(axes).toArray();
  for (let k = 0; k < n; k++)
    for (let l = 0; l <= k; l++) {
      const unit = radius ** 2 * lengths[k]! * lengths[l]!;
      assert.ok(
        Math.abs(products[k]![l]! / unit - (k === l ? 1 : 0)) < 3e-14,
        `${k}, ${l}: ${products[k]![l]! / unit}`,
      );
    }
});

onEveryDevice('many half-axes have the lengths of 60-digit answers, however much they differ.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const { factor, lengths } = answers.ellipsoids.find(({ name }: { name: string }) => name === 'Hilbert')!;
  const [blocks, m] = [13, factor.length];
  // A block that is halved each time has its shortest axis far below the longest one.
  for (const ratio of [0.9, 0.5]) {
    const blockDiagonal = Array.from({ length: blocks * m }, (_, i) => {
      const [block, row] = [Math.floor(i / m), i % m];
      const entries = new Array<number>(blocks * m).fill(0);
      for (let j = 0; j < m; j++) entries[block * m + j] = factor[row]![j]! * ratio ** block;
      return entries;
    });
    using normal = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', factor: blockDiagonal });
    const { axes, radius } = normal.ellipsoidSync({ probability: 0.5 });
    const found = axes.transposeSync().multiplySync(axes).toArray();
    const wanted = Array.from({ length: blocks }, (_, block) =>
      lengths.map((length: number) => length * ratio ** block),
    ).flat();
    wanted.sort((a, b) => b - a);
    near(
      found.map((row, k) => Math.sqrt(row[k]!) / radius),
      wanted,
      (k) => 1e-11 * wanted[k]!,
      `${ratio}`,
    );
  }
});

onEveryDevice('many half-axes of a singular normal give its covariance.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const [n, rank] = [90, 70];
  const numbers = Float64Array.from({ length: n * rank }, (_, at) => Math.sin(at ** 1.5));
  const root = Matrix.from(numbers, { rows: n, columns: rank });
  const covariance = root.multiplySync(root.transposeSync({ device }), { device });
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance, singular: 'pivoted' });
  const { axes, radius } = normal.ellipsoidSync({ probability: 0.5 });
  assert.equal([axes.rows, axes.columns], [n, rank]);
  const products = axes.multiplySync(axes.transposeSync()).data;
  near(
    products,
    covariance.data.map((entry) => entry * radius ** 2),
    1e-10,
  );
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

onEveryDevice(
  'A probability that is not between 0 and 1 has no ellipsoid; nor has a closed normal.',
  async (device) => {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
    for (const probability of [0, 1, -1, 2, Number.NaN])
      await throwsCode('ERR_OUT_OF_RANGE', `${probability}`, () => normal.ellipsoid({ probability }));
    normal.close();
    await throwsCode('ERR_CLOSED', '3', () => normal.ellipsoid({ probability: 0.5 }));
  },
);

test.run();
