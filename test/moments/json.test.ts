// Moments as JSON: what is written can be read, for any counts.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Moments } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('Counts beyond 2^53 are read as they were written.', async () => {
  const moments = new Moments(1);
  moments.addSync([[1], [2]], { frequencies: [2 ** 53 - 1, 2 ** 53 - 1] });
  const json = JSON.parse(JSON.stringify(moments));
  const read = Moments.fromJSON(json);
  assert.is(read.count, 2 ** 54 - 2);
  assert.equal(read.toJSON(), moments.toJSON());
  for (const count of [1.5, -1, '2', null])
    await throwsCode('ERR_MALFORMED_MOMENTS', 'count', () => Moments.fromJSON({ ...json, count }));
});

test('Memory is taken only for sums that are in the JSON.', async () => {
  const n = 100_000; // n^2 numbers are more than memory holds
  const zeros = new Array(n).fill(0);
  const sums = { covariumMoments: 1, dimension: n, count: 0, dropped: 0, weight: 0, squaredWeight: 0, fourth: 0 };
  const json = { ...sums, mean: zeros, meanRest: zeros, third: zeros, second: new Array(n).fill([0]) };
  await throwsCode('ERR_MALFORMED_MOMENTS', 'second[1] is not an array of 2 numbers', () => Moments.fromJSON(json));
  // An array of holes takes no memory itself; V8 ends the process where such an array is copied.
  const holes = new Array(4e8);
  const sparse = { ...json, dimension: holes.length, mean: holes, meanRest: holes, third: holes, second: holes };
  await throwsCode('ERR_MALFORMED_MOMENTS', 'mean[0] is not a finite number', () => Moments.fromJSON(sparse));
});

test.run();
