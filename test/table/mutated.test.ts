// Files from strangers: a short round of test/harness/mutated-tables.ts, which has the long one.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readMutated } from '../harness/mutated-tables.ts';

for (const format of ['csv', 'npy'] as const)
  test(`Mutated ${format} files are read or refused, by both readers alike, and nothing else happens.`, async () => {
    const { read } = await readMutated(format, 500, 7);
    assert.ok(read > 3 && read < 480, `${read} of 500 are read`);
  });

test.run();
