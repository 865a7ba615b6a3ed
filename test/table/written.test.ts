// CSV as other tools write it by default: written/README.md says what is in the files.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTable, type TableOptions } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = fileURLToPath(new URL('written/', import.meta.url));
const rows = [
  [1.5, -2],
  [1e-7, 123456789.125],
  [0.1, 1e22],
];
const quiet: TableOptions = { warn: () => {} };
const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
assert.is(files.length, 15);

for (const file of files)
  test(`${file} is read, or refused by what it is.`, async () => {
    const path = folder + file;
    const others = { ...quiet, columns: ['a', 'b'] };
    if (file.includes('holes')) {
      const { rows: kept, dropped } = await readTable(path, { ...others, missing: 'drop' });
      assert.equal([kept.toArray(), dropped], [[[2.5, 3.5]], 1]);
      const refused = await throwsCode('ERR_MALFORMED_CSV', '--missing drop', () => readTable(path, others));
      assert.is(refused.line, 2);
    } else if (file === 'r-write-csv2.csv')
      await throwsCode('ERR_MALFORMED_CSV', 'with a point, not a comma', () => readTable(path, quiet));
    else {
      assert.equal((await readTable(path, others)).rows.toArray(), rows);
      if (file.includes('named')) {
        await throwsCode('ERR_MALFORMED_CSV', '--columns', () => readTable(path, quiet));
        return;
      }
      const warnings: string[] = [];
      const all = await readTable(path, { warn: (sentence) => warnings.push(sentence) });
      const first = file === 'pandas.csv' ? 0 : 1;
      const hasIndex = /^(r-|pandas)/.test(file);
      assert.equal(all.names, hasIndex ? ['', 'a', 'b'] : ['a', 'b']);
      assert.equal(all.rows.toArray(), hasIndex ? rows.map((row, i) => [first + i, ...row]) : rows);
      assert.is(
        warnings.some((sentence) => /First column .* has no name/.test(sentence)),
        hasIndex,
      );
    }
  });

test('The same is said of a file from a stream.', async () => {
  const stream = async function* () {
    yield readFileSync(`${folder}r-write-table.csv`);
  };
  assert.equal((await readTable(stream(), { ...quiet, columns: ['b'] })).rows.toArray(), [
    [-2],
    [123456789.125],
    [1e22],
  ]);
});

test.run();
