import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logSumExp } from '../../lib/normal/mixture.ts';
import { AliasTable } from '../../lib/probability/alias-table.ts';

test('an alias table gives each index its probability, exactly over a fine grid.', () => {
  for (const weights of [[1], [0.5, 0.5], [0.1, 0.2, 0.7], [0.01, 0.01, 0.01, 0.97], [0.3, 0.05, 0.15, 0.25, 0.25]]) {
    const table = new AliasTable(Float64Array.from(weights));
    const steps = 100_000;
    const counts = weights.map(() => 0);
    for (let i = 0; i < steps; i++) counts[table.at((i + 0.5) / steps)]!++;
    for (const [k, weight] of weights.entries())
      assert.ok(
        Math.abs(counts[k]! / steps - weight) <= (2 * weights.length) / steps,
        `${k} of (${weights}): ${counts[k]}`,
      );
    assert.ok(table.at(0) >= 0 && table.at(1) < weights.length);
  }
});

test('the logarithm of a sum of exponentials neither overflows nor underflows.', () => {
  assert.is(logSumExp([Math.log(1), Math.log(3)], 0, 1), Math.log(4));
  assert.is(logSumExp([1000, 1000], 0, 1), 1000 + Math.log(2));
  assert.is(logSumExp([-2000, -5000], 0, 1), -2000);
  assert.is(logSumExp([1, -3, 1, -3], 1, 2), -3 + Math.log(2));
  assert.is(logSumExp([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY], 0, 1), Number.NEGATIVE_INFINITY);
});

test.run();
