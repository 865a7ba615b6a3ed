// Parts of columns that are empty.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dictionary, float64, tableFromArrays, tableToIPC } from '@uwdata/flechette';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTable } from '../../../lib/index.ts';
import { throwsCode } from '../../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-parts-'));
test.after(() => rmSync(folder, { recursive: true }));

// pandas writes a category column without values like this: its dictionary has no bytes.
test('A dictionary column whose values are all null has missing numbers.', async () => {
  const table = tableFromArrays(
    { x: [null, null, null], y: [1, 2, 3] },
    { types: { x: dictionary(float64()), y: float64() } },
  );
  for (const [format, ipc] of [
    ['arrow', 'file'],
    ['arrows', 'stream'],
  ] as const) {
    const bytes = tableToIPC(table, { format: ipc })!;
    const path = join(folder, `nulls.${format}`);
    writeFileSync(path, bytes);
    for (const source of [path, bytes]) {
      const { rows, dropped } = await readTable(source, { format, missing: 'drop' });
      assert.equal([rows.shape, dropped], [[0, 2], 3], format);
      assert.equal((await readTable(source, { format, columns: ['y'] })).rows.toArray(), [[1], [2], [3]]);
      await throwsCode('ERR_NOT_FINITE', '(x)', () => readTable(source, { format }));
    }
  }
});

test.run();
