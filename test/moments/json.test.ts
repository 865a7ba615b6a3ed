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

test.run();
