import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { identity, normals } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice(
  'A marginal of coordinates that do not exist or occur twice, or of a closed normal, is refused.',
  async (device) => {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
    for (const coordinates of [[3], [-1], [0.5], [Number.NaN]])
      await throwsCode('ERR_OUT_OF_RANGE', `${coordinates[0]}`, () => normal.marginal(coordinates));
    await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => normal.marginal([1, 0, 1]));
    await throwsCode('ERR_INVALID_ARGUMENT', '(7)', () => normal.marginal(7 as unknown as number[]));
    normal.close();
    await throwsCode('ERR_CLOSED', '3', () => normal.marginal([0]));
  },
);

test('A marginal is the image by rows of the identity; an image of an image is the image by the product.', () => {
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
