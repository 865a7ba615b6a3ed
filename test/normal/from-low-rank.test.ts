import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import { answers, answersAs } from '../harness/same-normal.ts';

onEveryType('low rank plus a diagonal has the densities of 60 digits.', async (device, dtype, tolerance) => {
  for (const { factor, diagonal, ...answer } of answers.lowRank) {
    using normal = await MultivariateNormal.fromLowRank({ device, dtype, factor, diagonal });
    answersAs(normal, answer, dtype === 'float32' ? 2e-3 : 1e-11);
    const n = diagonal.length;
    const covariance = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) =>
        factor[i].reduce((sum: number, f: number, k: number) => sum + f * factor[j][k], i === j ? diagonal[i] : 0),
      ),
    );
    near(normal.covarianceSync().toArray().flat(), covariance.flat(), tolerance);
    const draws = normal.sampleSync(100_000, { seed: 8 });
    for (let i = 0; i < n; i++)
      for (let j = 0; j <= i; j++) {
        let sum = 0;
        for (let r = 0; r < draws.rows; r++) sum += draws.data[r * n + i]! * draws.data[r * n + j]!;
        const spread = Math.sqrt(covariance[i]![i]! * covariance[j]![j]!);
        assert.ok(Math.abs(sum / draws.rows - covariance[i]![j]!) < 0.025 * spread, `covariance (${i}, ${j})`);
      }
    // A row that was transformed is as far as its z is long, and any rows can be drawn alone.
    const z = Array.from(scattered(n, 4));
    near(
      normal.mahalanobisSync(normal.transformSync(z)).toArray(),
      [Math.sqrt(z.reduce((sum, value) => sum + value * value, 0))],
      dtype === 'float32' ? 1e-3 : 1e-11,
    );
    near(normal.sampleSync(2, { seed: 8, firstRow: 500 }).data, draws.data.slice(500 * n, 502 * n), 10 * tolerance);
  }
  using one = MultivariateNormal.fromLowRankSync({ device, dtype, factor: [[1], [2]], diagonal: 3 });
  near(one.covarianceSync().data, [4, 2, 2, 7], tolerance);
  near(one.factorSync().data, [2, 0, 1, Math.sqrt(6)], tolerance);
});

test.run();
