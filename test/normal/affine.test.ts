import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { identity } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice('A x + b + e has the mean and covariance computed by hand.', async (device) => {
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
  // A state and its measurement: only the measurement has noise, and the matrix has more rows than columns.
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

onEveryDevice(
  'Matrices, offsets and noise that do not fit, or do not give a regular normal, are refused.',
  async (device) => {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
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
    const dependent = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`matrix` has row (2)', () =>
      normal.affine({ matrix: flat }),
    );
    assert.is(dependent.pivot, 2);
    const constant = [[0, 0, 0], [0, 1, 0]]; // biome-ignore format: a matrix
    await throwsCode(
      'ERR_NOT_POSITIVE_DEFINITE',
      '`matrix` has row (0), which gives a coordinate that does not vary.',
      () => normal.affine({ matrix: constant }),
    );
    await throwsCode('ERR_OUT_OF_RANGE', "The result's covariance has a factor whose entry (0, 0)", () =>
      normal.affine({ matrix: [[1e300, 0, 0]] }),
    );
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
      await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`noise`', () =>
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
    await throwsCode('ERR_INVALID_ARGUMENT', '`offset`', () =>
      normal.affine({ matrix: identity(3), offset: 3 as unknown as number[] }),
    );
    normal.close();
    await throwsCode('ERR_CLOSED', '3', () => normal.affine({ matrix: identity(3) }));
  },
);

onEveryDevice('a combination that a singular normal holds constant has rank 0.', async (device) => {
  const covariance = [
    [5, 0, 5],
    [0, 5, 5],
    [5, 5, 10],
  ];
  using singular = MultivariateNormal.fromCovarianceSync({ device, covariance, singular: 'pivoted' });
  for (const size of [1, 1e-9, 1e9]) {
    const constant = [size, size, -size];
    using alone = await singular.affine({ matrix: [constant] });
    assert.is(alone.rank, 0);
    assert.equal(alone.covarianceSync().toArray(), [[0]]);
    using beside = singular.affineSync({ matrix: [constant, [1, 0, 0]] });
    assert.is(beside.rank, 1);
    assert.is(beside.covarianceSync().get(0, 0), 0);
  }
  using nearly = singular.affineSync({ matrix: [[1, 1, -1 + 2 ** -10]] });
  assert.is(nearly.rank, 1);
});

onEveryDevice(
  'A singular normal has densities in any unit, also where squares of its deviations vanish or overflow.',
  (device) => {
    if (!device.dtypes.includes('float64')) return;
    const covariance = [
      [1, 1],
      [1, 1],
    ];
    using singular = MultivariateNormal.fromCovarianceSync({
      device,
      dtype: 'float64',
      covariance,
      singular: 'pivoted',
    });
    const [x, off] = [
      [0.5, 0.5],
      [0.5, -0.5],
    ];
    for (const unit of [1e-170, 1e160]) {
      using scaled = singular.affineSync({
        matrix: [
          [unit, 0],
          [0, unit],
        ],
      });
      const rows = [x, off].map((row) => row.map((entry) => entry * unit));
      const expected = singular.logPdfSync(x).get(0) - Math.log(unit);
      near(scaled.logPdfSync(rows[0]!).data, [expected], () => 1e-12 * Math.abs(expected), `${unit}`);
      assert.is(scaled.logPdfSync(rows[1]!).get(0), Number.NEGATIVE_INFINITY);
      near(scaled.mahalanobisSync(rows[0]!).data, [0.5], () => 1e-12, `${unit}`);
    }
  },
);

test.run();
