import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { identity, normals } from '../harness/some-normals.ts';
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

test.run();
