// Sums about a mean, far from 1: intermediate results neither overflow nor underflow if float64 holds the result.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Moments } from '../../lib/index.ts';

const rows = [
  [1, 2],
  [3, 5],
  [-1, 2],
  [0, 1.5],
];

for (const scale of [2 ** -500, 2 ** 500, 2 ** 505, 2 ** 508])
  test(`Rows of ${scale} in parts have the covariance and the shrinkage of rows near 1.`, () => {
    const [near, far] = [1, scale].map((size) => {
      const moments = new Moments(2);
      for (const row of rows) moments.addSync([row.map((x) => x * size)]);
      return moments;
    }) as [Moments, Moments];
    const expected = near.covariance().data;
    far.covariance().data.forEach((entry, i) => {
      assert.ok(Math.abs(entry / scale / scale - expected[i]!) < 1e-14, `${entry}`);
    });
    assert.ok(Math.abs(far.ledoitWolf() - near.ledoitWolf()) < 1e-13);
  });

test.run();
