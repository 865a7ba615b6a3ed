// A short round of changed files in every run; CONTRIBUTING.md has the command for a long one. Nothing native runs here.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { mutateFiles } from '../harness/mutate-files.ts';

for (const format of ['arrow', 'arrows', 'parquet'] as const)
  test(`Changed ${format} files are refused, or give their numbers: in bounded time and memory.`, async () => {
    const { findings, read, refused } = await mutateFiles(format, 200, 1);
    assert.equal(findings, []);
    assert.is(read + refused, 200);
    assert.ok(read > 20 && refused > 20, `(${read}) are read, (${refused}) are refused`);
  });

test.run();
