// Rows that are too few for a covariance.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Moments } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('One row, or one effective row, is not enough for a covariance, whatever the default of `ddof`.', async () => {
  const one = new Moments(2);
  await one.add([[1, 2]]);
  await throwsCode('ERR_SHAPE', '`rows` has (1) observation, and one row is not enough', () => one.covariance());
  await throwsCode('ERR_OUT_OF_RANGE', '`ddof` is (1), but there are (1)', () => one.covariance({ ddof: 1 }));
  assert.equal(one.covariance({ mean: [0, 1] }).toArray(), [
    [1, 1],
    [1, 1],
  ]);
  const weighted = new Moments(1);
  await weighted.add([[1], [3]], { weights: [1, 1e-200] });
  await throwsCode('ERR_OUT_OF_RANGE', 'weights of (2) observations make them (1)', () => weighted.covariance());
});

test.run();
