import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chosenColumns, columnNames, repeatedNames } from '../../lib/table/columns.ts';
import { throwsCode } from '../harness/throws-code.ts';

const names = (count: number) => Array.from({ length: count }, (_, i) => `column ${i}`);

test('Names that occur more than once are found, and refused where columns need others.', async () => {
  assert.equal([...repeatedNames(['b', 'a', 'b', 'c', 'a', 'b'])], ['b', 'a']);
  assert.equal([...repeatedNames(names(5))], []);
  const head = { columns: 3, dtype: 'float64', rows: undefined } as const;
  assert.equal(columnNames({ ...head, names: undefined }), ['x1', 'x2', 'x3']);
  await throwsCode('ERR_INVALID_ARGUMENT', 'a', () => columnNames({ ...head, names: ['a', 'b', 'a'] }));
  const choose = (wanted: string[]) => chosenColumns('a file', ['a', 'b', 'c', 'b'], 4, wanted);
  assert.equal(choose(['c', 'a']), [2, 0]);
  await throwsCode('ERR_INVALID_ARGUMENT', 'Column (d) is not one of file (a file)', () => choose(['a', 'd']));
  await throwsCode('ERR_INVALID_ARGUMENT', 'Column (a) is requested twice', () => choose(['a', 'c', 'a']));
  await throwsCode('ERR_INVALID_ARGUMENT', 'has column (b) twice', () => choose(['b']));
});

test('Sixteen times as many names do not take two hundred times as long.', () => {
  const head = { dtype: 'float64', rows: undefined } as const;
  const shortest = (count: number, rounds: number) => {
    const all = names(count);
    const times = Array.from({ length: rounds }, () => {
      const before = process.cpuUsage();
      columnNames({ ...head, columns: count, names: all });
      chosenColumns('a file', all, count, all);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...times);
  };
  shortest(2000, 5);
  const ratio = shortest(32_000, 3) / shortest(2000, 5);
  assert.ok(ratio < 100, `(${ratio}) times as long`);
});

test.run();
