import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lowRankRoot } from '../../lib/decomposition/low-rank-root.ts';
import { runToEnd } from '../../lib/work.ts';
import { scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';

test('A low-rank root is a root of the covariance.', () => {
  for (const [n, k] of [
    [1, 1],
    [2, 1],
    [5, 2],
    [7, 7],
    [4, 6],
  ] as const) {
    const factor = Float64Array.from(scattered(n * k, 3));
    const deviations = Float64Array.from({ length: n }, (_, i) => 0.5 + i);
    const root = runToEnd(lowRankRoot(factor, deviations));
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) {
        let [made, wanted] = [0, i === j ? deviations[i]! ** 2 : 0];
        for (let at = 0; at < n; at++) made += root[i * n + at]! * root[j * n + at]!;
        for (let at = 0; at < k; at++) wanted += factor[i * k + at]! * factor[j * k + at]!;
        near([made], [wanted], 1e-14);
      }
      assert.ok(root[i * (n + 1)]! > 0);
      for (let j = i + 1; j < n; j++) assert.is(root[i * n + j], 0);
    }
  }
});

test('It keeps the digits of a diagonal that is as small as rounding beside the factor.', () => {
  for (const s of [1e-3, 1e-8, 1e-20, 1e-150]) {
    const [first, zero, across, second] = runToEnd(lowRankRoot(Float64Array.of(1, 1), Float64Array.of(s, s)));
    near([first!, zero!, across!], [Math.hypot(1, s), 0, 1 / Math.hypot(1, s)], 1e-15);
    near([second! / s], [Math.sqrt((2 + s * s) / (1 + s * s))], 1e-15);
  }
});

test.run();
