import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rankTolerance } from '../../lib/decomposition/semidefinite-root.ts';

test('The limit below which a number counts as zero is a few roundings, and grows with the dimension.', () => {
  assert.equal([rankTolerance(1, 'float64'), rankTolerance(100, 'float32')], [2 ** -49, 100 * 2 ** -23]);
});

test.run();
