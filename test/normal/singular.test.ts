// What singular normals are asked: coordinates of no variance, ones that determine each other, points off the support.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, klDivergence, MultivariateNormal, type RealDtype, wassersteinSync } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { identity, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

function singular(device: Device, dtype: RealDtype, mean: number[], rows: number[][]): MultivariateNormal {
  const covariance = rows.map((a) => rows.map((b) => a.reduce((sum, x, k) => sum + x * b[k]!, 0)));
  return MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance, singular: 'pivoted' });
}

function moments(normal: MultivariateNormal): { mean: ArrayLike<number>; covariance: ArrayLike<number> } {
  return { mean: normal.mean.data, covariance: normal.covarianceSync().data };
}

// Coordinate 1 does not vary, coordinate 3 is the sum of 0 and 2, but for its mean.
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

onEveryDevice('a coordinate of zero variance can be given, with its own value, and says nothing.', async (device) => {
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

onEveryDevice('what given coordinates determine is singular, and has no divergence.', async (device) => {
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
});

onEveryDevice('an image may be singular where that is asked for, or its normal is.', async (device) => {
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

test.run();
