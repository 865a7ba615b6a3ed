import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lineOf } from '../../lib/cli/progress.ts';

test('The progress line fits a terminal of 40 columns or more, for any number of rows.', () => {
  for (const total of [10, 1e6, Number.MAX_SAFE_INTEGER])
    for (const columns of [40, 60, 80, 100, 200]) {
      const { format, barsize } = lineOf(total, columns);
      const line = format
        .replace('{bar}', '#'.repeat(barsize))
        .replace('{percentage}', '100')
        .replace('{value}', `${total}`)
        .replace('{total}', `${total}`)
        .replace('{eta_formatted}', '00h00m');
      assert.ok(line.length <= columns, `${line.length} of ${columns}`);
      assert.ok(barsize >= 10);
    }
  assert.match(lineOf(1e6, 80).format, /rows/);
  assert.not.match(lineOf(1e6, 40).format, /rows/);
});

test.run();
