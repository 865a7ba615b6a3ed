// Methods of singular normals: coordinates without variance, coordinates that determine each other, points off the
// support.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, klDivergence, MultivariateNormal, type RealDtype, wassersteinSync } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { type Answer, answers, answersAs, diagonalOf } from '../harness/same-normal.ts';
import { identity, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

function singular(device: Device, dtype: RealDtype, mean: number[], rows: number[][]): MultivariateNormal {
  const covariance = rows.map((a) => rows.map((b) => a.reduce((sum, x, k) => sum + x * b[k]!, 0)));
  return MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance, singular: 'pivoted' });
}

function moments(normal: MultivariateNormal): { mean: ArrayLike<number>; covariance: ArrayLike<number> } {
  return { mean: normal.mean.data, covariance: normal.covarianceSync().data };
}

// Coordinate 1 does not vary; coordinate 3 is the sum of 0 and 2, except for its mean.
const mean = [1, 2, 3, 5];

const root = [
  [2, 0],
  [0, 0],
  [1, 1],
  [3, 1],
];

onEveryDevice('coordinates of a singular normal that vary freely have a regular marginal.', (device) => {
  for (const dtype of realDtypes(device)) {
    const whole = singular(device, dtype, mean, root);
    const part = moments(whole.marginalSync([3, 0]));
    near(part.mean, [5, 1], () => 0, 'mean');
    near(part.covariance, [10, 6, 6, 4], () => 1e-6, 'covariance');
    const image = moments(
      whole.affineSync({
        matrix: [
          [1, 0, 0, 1],
          [0, 5, 1, 0],
        ],
      }),
    );
    near(image.covariance, [26, 6, 6, 2], () => 1e-5, 'image');
  }
});

onEveryDevice('a coordinate of zero variance can be given with its own value, and has no effect.', async (device) => {
  for (const dtype of realDtypes(device)) {
    const whole = singular(device, dtype, mean.slice(0, 3), root.slice(0, 3));
    const alone = moments(whole.conditionalSync({ given: [1], values: [2] }));
    near(alone.mean, [1, 3], () => 0, 'mean');
    near(alone.covariance, [4, 2, 2, 2], () => 1e-6, 'covariance');
    const both = moments(whole.conditionalSync({ given: [1, 0], values: [2, 3] }));
    near(both.mean, [4], () => 1e-6, 'mean');
    near(both.covariance, [1], () => 1e-6, 'covariance');
    for (const value of [2.001, 0, -2]) {
      const values = [value, 3];
      const error = await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => whole.conditionalSync({ given: [1, 0], values }));
      assert.equal([error.row, error.column], [0, 0]);
    }
    const rows = [
      [2, 3],
      [2, 1],
      [2, -1],
    ];
    const means = whole.conditionalMeansSync({ given: [1, 0], rows });
    near(means.data, [4, 3, 2], () => 1e-6, 'means');
    rows[1]![0] = 7;
    const error = await throwsCode('ERR_OUT_OF_RANGE', '(7)', () =>
      whole.conditionalMeansSync({ given: [1, 0], rows }),
    );
    assert.equal([error.row, error.column], [1, 0]);
  }
});

onEveryDevice('given coordinates that determine each other must agree, and count once.', async (device) => {
  for (const dtype of realDtypes(device)) {
    // 0.1 is rounded in float32, and 0.1 + 0.2 in float64.
    const tenths = [
      [0.1, 0, 0],
      [0.2, 0.7, 0],
      [0.1 + 0.2, 0.7, 0],
      [0.3, 0.3, 0.3],
    ];
    const whole = singular(device, dtype, [0, 0, 0, 1], tenths);
    const values = [0.1, 0.9, 1];
    const rest = moments(whole.conditionalSync({ given: [0, 1, 2], values }));
    near(rest.mean, [1.6], () => 1e-5, 'mean');
    near(rest.covariance, [0.09], () => 1e-6, 'covariance');
    for (const wrong of [
      [0.1, 0.9, 1.001],
      [0.1001, 0.9, 1],
    ])
      await throwsCode('ERR_OUT_OF_RANGE', `${wrong[2]}`, () =>
        whole.conditionalSync({ given: [0, 1, 2], values: wrong }),
      );
  }
});

onEveryDevice(
  'coordinates that the given ones determine make the conditional singular, and it has no divergence.',
  async (device) => {
    for (const dtype of realDtypes(device)) {
      using whole = singular(device, dtype, mean, root);
      using part = await whole.marginal([3, 0, 1]);
      assert.is(part.rank, 2);
      near(moments(part).covariance, [10, 6, 0, 6, 4, 0, 0, 0, 0], () => 1e-6, 'marginal');
      using line = await whole.conditional({ given: [0], values: [3] });
      assert.is(line.rank, 1);
      near(moments(line).mean, [2, 4, 8], () => 1e-6, 'mean of a line');
      near(moments(line).covariance, [0, 0, 0, 0, 1, 1, 0, 1, 1], () => 1e-6, 'line');
      // The density of a line: coordinates 2 and 3 move together, by sqrt(2) for a step of each.
      const [on, off] = line.logPdfSync([
        [2, 5, 9],
        [2, 5, 8],
      ]).data;
      near([on!], [-0.5 - Math.log(2 * Math.PI * 2) / 2], () => 1e-6, 'density');
      assert.is(off, Number.NEGATIVE_INFINITY);
      using point = await whole.conditional({ given: [0, 2], values: [3, 3] });
      assert.is(point.rank, 0);
      near(point.sampleSync(2, { seed: 1 }).data, [2, 7, 2, 7], () => 1e-5, 'point');
      using other = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(4) });
      for (const [p, q] of [
        [whole, other],
        [other, whole],
      ] as const)
        await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(2)', () => klDivergence(p, q));
    }
  },
);

onEveryDevice('an image may be singular if that is requested, or if its normal is singular.', async (device) => {
  const rows = [
    [1, 0],
    [0, 1],
    [1, 1],
  ];
  using regular = MultivariateNormal.fromCovarianceSync({
    device,
    mean: [1, 2],
    covariance: [
      [2, 1],
      [1, 2],
    ],
  });
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(2)', () => regular.affine({ matrix: rows }));
  await throwsCode('ERR_INVALID_ARGUMENT', 'pivoted', () =>
    regular.affine({ matrix: rows, singular: 'pivoted' as never }),
  );
  using image = await regular.affine({ matrix: rows, singular: true });
  assert.is(image.rank, 2);
  near(moments(image).covariance, [2, 1, 3, 1, 2, 3, 3, 3, 6], () => 1e-5, 'covariance');
  near(moments(image).mean, [1, 2, 3], () => 0, 'mean');
  using again = await image.affine({ matrix: identity(3) });
  assert.is(again.rank, 2);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(2)', () => image.affine({ matrix: identity(3), singular: false }));
});

onEveryDevice('singular normals have a Wasserstein distance, and an ellipsoid in their support.', async (device) => {
  const dtype = realDtypes(device).at(-1)!;
  const standard = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: identity(2) });
  const wide = singular(device, dtype, [0, 0], [[2], [0]]);
  const slanted = singular(device, dtype, [0, 0], [[0.6], [0.8]]);
  const point = singular(device, dtype, [3, 4], [[], []]);
  // (2 - 1)^2 + 1; |a|^2 + |b|^2 - 2 |a' b|; |m|^2 + 2; |m|^2 + 4.
  for (const [p, q, square] of [
    [wide, standard, 2],
    [wide, slanted, 5 - 2.4],
    [point, standard, 27],
    [point, wide, 29],
    [point, singular(device, dtype, [3, 0], [[], []]), 16],
    [wide, wide, 0],
  ] as const) {
    near([wassersteinSync(p, q)], [Math.sqrt(square)], () => (dtype === 'float32' ? 1e-7 : 1e-14), `${square}`);
    near([wassersteinSync(q, p)], [Math.sqrt(square)], () => (dtype === 'float32' ? 1e-7 : 1e-14), `${square}`);
  }
  await throwsCode('ERR_SHAPE', '(0)', () => point.ellipsoidSync({ probability: 0.95 }));
  const { axes, radius } = slanted.ellipsoidSync({ probability: 0.95 });
  near([radius], [1.959963984540054], () => 1e-14, 'one degree of freedom');
  near(axes.data, [0.6 * radius, 0.8 * radius], () => 1e-7, 'axis');
});

onEveryType('a singular normal has its rank, its pseudo-determinant and its support.', async (device, dtype) => {
  const tolerance = dtype === 'float32' ? 1e-4 : 1e-11;
  for (const { covariance, rank, ...answer } of answers.singular as (Answer & { rank: number })[]) {
    const n = covariance.length;
    for (const singular of ['pivoted', 'eigen'] as const) {
      using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
      assert.is(normal.rank, rank);
      answersAs(normal, answer, tolerance);
      const root = normal.factorSync();
      assert.equal([root.rows, root.columns], [n, rank]);
      const scale = covariance.map((row, i) => Math.sqrt(row[i]!));
      const product = normal.covarianceSync();
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++)
          assert.ok(Math.abs(product.get(i, j) - covariance[i]![j]!) <= tolerance * scale[i]! * scale[j]!);
      // Each draw is on the support; a point that is a hundredth of a deviation away in one variable is not.
      const draws = normal.sampleSync(300, { seed: 3 });
      assert.ok(normal.logPdfSync(draws).toArray().every(Number.isFinite));
      for (let i = 0; i < n; i++) {
        const off = answer.x.map((value, k) => (k === i ? value + 0.01 * scale[i]! : value));
        assert.equal(normal.logPdfSync(off).toArray(), [Number.NEGATIVE_INFINITY], `${singular}, variable ${i}`);
        assert.equal(normal.mahalanobisSync(off).toArray(), [Number.POSITIVE_INFINITY]);
        assert.equal(normal.pdfSync(off).toArray(), [0]);
      }
      near(draws.row(7), normal.sampleSync(1, { seed: 3, firstRow: 7 }).data, tolerance);
      near(normal.sampleSync(2, { seed: 3 }).data, draws.data.slice(0, 2 * n), tolerance);
      // One normal less for each missing dimension.
      const z = Array.from(scattered(rank, 9));
      near(
        normal.mahalanobisSync(normal.transformSync(z)).toArray(),
        [Math.sqrt(z.reduce((sum, value) => sum + value * value, 0))],
        10 * tolerance,
      );
    }
  }
});

onEveryType(
  'offsets that are tiny beside the deviations count as rounding, not as another support.',
  (device, dtype) => {
    const covariance = [
      [1, 1],
      [1, 1],
    ];
    const mean = [1e6, 0];
    using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance, singular: 'pivoted' });
    assert.ok(
      normal
        .logPdfSync(normal.sampleSync(200, { seed: 2 }))
        .toArray()
        .every(Number.isFinite),
    );
    assert.equal(normal.logPdfSync([1e6 + 1, 3]).toArray(), [Number.NEGATIVE_INFINITY]);
  },
);

onEveryType(
  'variables that do not vary equal their means; a covariance of zeros gives a point.',
  async (device, dtype) => {
    for (const singular of ['pivoted', 'eigen'] as const) {
      const covariance = diagonalOf([0, 4]);
      using flat = await MultivariateNormal.fromCovariance({ device, dtype, mean: [3, 0], covariance, singular });
      assert.is(flat.rank, 1);
      assert.ok(
        flat
          .sampleSync(4)
          .toArray()
          .every(([x]) => x === 3),
      );
      assert.equal(flat.logPdfSync([3.01, 0]).toArray(), [Number.NEGATIVE_INFINITY]);
      near(flat.logPdfSync([3, 0]).toArray(), [-Math.log(8 * Math.PI) / 2], 1e-6);
      const nothing = diagonalOf([0, 0]);
      using point = await MultivariateNormal.fromCovariance({
        device,
        dtype,
        mean: [3, 4],
        covariance: nothing,
        singular,
      });
      assert.equal([point.rank, point.logDeterminant, point.entropy], [0, 0, 0]);
      assert.equal(point.sampleSync(2).toArray(), [
        [3, 4],
        [3, 4],
      ]);
      assert.equal(point.factorSync().toArray(), [[0], [0]]);
      assert.equal(
        point
          .logPdfSync([
            [3, 4],
            [3, 5],
          ])
          .toArray(),
        [0, Number.NEGATIVE_INFINITY],
      );
    }
  },
);

onEveryType('a clearly indefinite covariance is refused in every way.', async (device, dtype) => {
  const of = (covariance: number[][], singular: 'error' | 'pivoted' | 'eigen') => () =>
    MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
  for (const covariance of [
    [
      [1, 2],
      [2, 1],
    ],
    [
      [1, 1, 1],
      [1, 1, -1],
      [1, -1, 1],
    ],
    [
      [0, 1],
      [1, 1],
    ],
    diagonalOf([1, -0.01]),
  ]) {
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'not positive definite', of(covariance, 'error'));
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'not positive semidefinite', of(covariance, 'pivoted'));
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'not positive semidefinite', of(covariance, 'eigen'));
  }
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'pivot (1)', of([[1, 2], [2, 1]], 'pivoted')); // biome-ignore format: a matrix
  await throwsCode('ERR_NOT_SYMMETRIC', '(1, 0)', of([[1, 2], [0, 1]], 'eigen')); // biome-ignore format: a matrix
  await throwsCode('ERR_NOT_FINITE', '(0, 0)', of([[Number.NaN]], 'pivoted'));
  await throwsCode('ERR_INVALID_ARGUMENT', "('maybe')", of([[1]], 'maybe' as 'error'));
});

onEveryType(
  'draws from a random singular covariance, rounded to the type, stay on its support.',
  async (device, dtype) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(1000),
        async (n, most, seed) => {
          const rank = Math.min(n - 1, most);
          const a = scattered(n * rank, seed);
          const covariance = Array.from({ length: n }, (_, i) =>
            Array.from({ length: n }, (_, j) => {
              let sum = 0;
              for (let k = 0; k < rank; k++) sum += a[i * rank + k]! * a[j * rank + k]!;
              return sum;
            }),
          );
          for (const singular of ['pivoted', 'eigen'] as const) {
            using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
            assert.ok(normal.rank <= rank + (dtype === 'float32' ? 1 : 0), `rank (${normal.rank}) of (${rank})`);
            const densities = normal.logPdfSync(normal.sampleSync(20, { seed }));
            assert.ok(densities.toArray().every(Number.isFinite), `${singular}, ${n}, ${rank}, ${seed}`);
          }
        },
      ),
      { numRuns: 25 },
    );
  },
);

test.run();
