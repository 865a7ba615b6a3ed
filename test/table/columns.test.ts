import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { type Real, type RealDtype, zerosOf } from '../../lib/dtype.ts';
import { ColumnGroup, chosenColumns, columnNames, plainDeinterleave, repeatedNames } from '../../lib/table/columns.ts';
import { runToEnd } from '../../lib/work.ts';
import { throwsCode } from '../harness/throws-code.ts';

const names = (count: number) => Array.from({ length: count }, (_, i) => `column ${i}`);

test('Names that occur more than once are found, and refused where names must be unique.', async () => {
  assert.equal([...runToEnd(repeatedNames(['b', 'a', 'b', 'c', 'a', 'b']))], ['b', 'a']);
  assert.equal([...runToEnd(repeatedNames(names(5)))], []);
  const head = { columns: 3, dtype: 'float64', rows: undefined } as const;
  assert.equal(runToEnd(columnNames({ ...head, names: undefined })), ['x1', 'x2', 'x3']);
  await throwsCode('ERR_INVALID_ARGUMENT', '(a) occurs twice; pass other `names`', () =>
    runToEnd(columnNames({ ...head, names: ['a', 'b', 'a'] })),
  );
  const choose = (wanted: string[]) => runToEnd(chosenColumns('a file', ['a', 'b', 'c', 'b'], 4, wanted));
  assert.equal(choose(['c', 'a']), [2, 0]);
  await throwsCode('ERR_INVALID_ARGUMENT', '`columns` has (d), which file (a file) does not have', () =>
    choose(['a', 'd']),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '`columns` has (a) twice', () => choose(['a', 'c', 'a']));
  await throwsCode('ERR_INVALID_ARGUMENT', '`columns` has (b), which file (a file) has twice', () => choose(['b']));
});

test('Sixteen times as many names do not take two hundred times as long.', () => {
  const head = { dtype: 'float64', rows: undefined } as const;
  const shortest = (count: number, rounds: number) => {
    const all = names(count);
    const times = Array.from({ length: rounds }, () => {
      const before = process.cpuUsage();
      runToEnd(columnNames({ ...head, columns: count, names: all }));
      runToEnd(chosenColumns('a file', all, count, all));
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...times);
  };
  shortest(2000, 5);
  const ratio = shortest(32_000, 3) / shortest(2000, 5);
  assert.ok(ratio < 200, `(${ratio}) times as long`);
});

const { addon } = loadAddon();

function realsBy(dtype: RealDtype, length: number, value: (index: number) => number): Real {
  const values = zerosOf(dtype, length) as Real;
  for (let i = 0; i < length; i++) values[i] = value(i);
  return values;
}

for (const [name, deinterleave] of Object.entries({ TypeScript: plainDeinterleave, addon: addon?.deinterleave }))
  test(`${name}: rows that come in pieces become columns.`, () => {
    if (deinterleave === undefined) return console.log('There is no addon: the addon is left out.');
    for (const dtype of ['float32', 'float64'] as const)
      for (const columns of [1, 3, 8, 65]) {
        const rows = 1100;
        const values = realsBy(dtype, rows * columns, (i) => (i % 7 === 0 ? -0 : i / 3));
        const group = new ColumnGroup(columns, dtype, 1000, deinterleave);
        for (let row = 0; row < 1000; )
          row += group.take(values.subarray(row * columns, (row + 9 + (row % 600)) * columns), 0);
        assert.is(group.rows, 1000);
        assert.ok(group.isFull);
        assert.is(group.take(values, 1000), 0);
        for (let column = 0; column < columns; column++)
          assert.equal(
            group.column(column),
            realsBy(dtype, 1000, (row) => values[row * columns + column]!),
          );
        group.clear();
        assert.is(group.take(values, rows - 1), 1);
        assert.equal(group.column(columns - 1), values.slice(-1));
      }
  });

test('The addon refuses rows that have no room as columns.', async () => {
  if (addon === undefined) return console.log('There is no addon: the addon is left out.');
  const values = Float64Array.of(1, 2, 3, 4, 5, 6);
  const call =
    (...[rows, columns, out, stride, at]: Parameters<typeof addon.deinterleave>) =>
    async () =>
      addon.deinterleave(rows, columns, out, stride, at);
  const out = new Float64Array(8);
  await throwsCode('ERR_SHAPE', call(values, 4, out, 2, 0));
  await throwsCode('ERR_SHAPE', call(values, 2, out, 5, 0));
  await throwsCode('ERR_SHAPE', call(values, 2, out, 2, 0));
  for (const at of [-1, 2, 5, Number.NaN, Infinity]) await throwsCode('ERR_SHAPE', call(values, 2, out, 4, at));
  await throwsCode('ERR_SHAPE', call(values, 2 ** 52, out, 2 ** 52, 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call(values, 2, new Float32Array(8), 4, 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call([1, 2] as never, 2, out, 4, 0));
  assert.equal(out, new Float64Array(8));
  addon.deinterleave(values, 2, out, 4, 1);
  assert.equal(Array.from(out), [0, 1, 3, 5, 0, 2, 4, 6]);
});

test.run();
