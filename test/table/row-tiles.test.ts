import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { CovariumError } from '../../lib/covarium-error.ts';
import { type Missing, type Real, type RealDtype, zerosOf } from '../../lib/dtype.ts';
import { CompleteRows } from '../../lib/table/complete-rows.ts';
import { nativeTiles, plainTiles, RowTiles, type TileWriter } from '../../lib/table/row-tiles.ts';
import { throwsCode } from '../harness/throws-code.ts';

const native = nativeTiles(0);
const writers: [string, TileWriter][] = [['TypeScript', plainTiles]];
if (native === undefined) console.log('skipped  rows by the addon: there is no addon');
else writers.push(['the addon', native]);

const columns = 11;
const total = 1000;
const numberAt = (row: number, column: number) => Math.fround(Math.sin(row * columns + column));

interface Holes {
  readonly missing?: readonly number[];
  readonly infinite?: readonly number[];
}

/** The rows of tiles of a few hundred numbers; rows of `missing` have a NaN, and those of `infinite` an infinity. */
async function rowsBy(writer: TileWriter, dtype: RealDtype, policy: Missing, holes: Holes = {}): Promise<Real> {
  const complete = new CompleteRows('a file', columns, undefined, policy);
  const tiles = new RowTiles(columns, dtype, complete, undefined, { ...writer, numbers: 300 });
  const out = zerosOf(dtype, total * columns) as Real;
  tiles.begin(out);
  try {
    for (let row = 0; row < total; row += tiles.rows) {
      const taken = Math.min(tiles.rows, total - row);
      for (let column = 0; column < columns; column++)
        for (let i = 0; i < taken; i++) tiles.column(column)[i] = numberAt(row + i, column);
      for (const hole of holes.missing ?? [])
        if (hole >= row && hole < row + taken) tiles.column(3)[hole - row] = Number.NaN;
      for (const hole of holes.infinite ?? [])
        if (hole >= row && hole < row + taken) tiles.column(4)[hole - row] = -Infinity;
      await tiles.write(taken);
    }
  } catch (error) {
    await tiles.fail(error);
  }
  const kept = await tiles.end();
  assert.is(complete.dropped, total - kept / columns);
  return out.subarray(0, kept);
}

for (const [name, writer] of writers) {
  test(`${name}: columns become rows, and rows with a missing value are left out.`, async () => {
    for (const dtype of ['float32', 'float64'] as const)
      for (const missing of [[], [0], [26, 27, 28, 500, 999], Array.from({ length: total }, (_, i) => i)]) {
        const kept = Array.from({ length: total }, (_, i) => i).filter((row) => !missing.includes(row));
        const rows = await rowsBy(writer, dtype, 'drop', { missing });
        assert.equal(
          Array.from(rows),
          kept.flatMap((row) => Array.from({ length: columns }, (_, column) => numberAt(row, column))),
        );
      }
  });

  test(`${name}: of several rows that are not finite, the first is reported.`, async () => {
    const refused = async (policy: Missing, holes: Holes) => {
      const error = await throwsCode('ERR_NOT_FINITE', () => rowsBy(writer, 'float64', policy, holes));
      return [error.row, error.column];
    };
    assert.equal(await refused('error', { missing: [40, 900], infinite: [70] }), [40, 3]);
    assert.equal(await refused('drop', { missing: [40, 900], infinite: [70, 71, 999] }), [70, 4]);
    assert.equal(await refused('drop', { infinite: [999] }), [999, 4]);
  });

  test(`${name}: a fault of a later tile does not hide that of one before it.`, async () => {
    const complete = new CompleteRows('a file', 1, undefined, 'error');
    const tiles = new RowTiles(1, 'float64', complete, undefined, { ...writer, numbers: 16 });
    tiles.begin(new Float64Array(32));
    const later = new Error('later');
    tiles.column(0)[5] = Number.NaN;
    const error: unknown = await tiles
      .write(16)
      .then(() => tiles.fail(later))
      .catch((reason: unknown) => reason);
    const known = error instanceof CovariumError ? error : await tiles.fail(error).catch((reason: unknown) => reason);
    assert.is((known as CovariumError).row, 5);
    const sound = new RowTiles(1, 'float64', complete, undefined, writer);
    sound.begin(new Float64Array(4));
    assert.is(await sound.fail(later).catch((reason: unknown) => reason), later);
  });
}

test('A few numbers are written before the call returns, because starting a thread would take longer.', () => {
  const out = new Float64Array(4);
  void nativeTiles()?.interleave([Float64Array.of(1, 2), Float64Array.of(3, 4)], 2, out, 0);
  assert.equal([...out], nativeTiles() === undefined ? [0, 0, 0, 0] : [1, 3, 2, 4]);
});

test('The addon refuses columns and rows that do not fit together.', async () => {
  const { addon } = loadAddon();
  if (addon === undefined) return;
  const [a, b] = [Float64Array.of(1, 2), Float64Array.of(3, 4)];
  const call =
    (...[list, rows, out, at]: Parameters<typeof addon.interleave>) =>
    () =>
      addon.interleave(list, rows, out, at);
  await throwsCode('ERR_SHAPE', call([a, b], 3, new Float64Array(6), 0));
  await throwsCode('ERR_SHAPE', call([a, b], 2, new Float64Array(3), 0));
  await throwsCode('ERR_SHAPE', call([a, b], 2, new Float64Array(5), 2));
  for (const at of [-1, 5, Number.NaN, Infinity])
    await throwsCode('ERR_SHAPE', call([a, b], 2, new Float64Array(4), at));
  await throwsCode('ERR_SHAPE', call([], 1, new Float64Array(4), 0));
  await throwsCode('ERR_SHAPE', call([a], 0, new Float64Array(4), 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call([a, Float32Array.of(1, 2)], 2, new Float64Array(4), 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call('ab' as never, 2, new Float64Array(4), 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call([a], 2, new Int32Array(4) as never, 0));
  const out = new Float64Array(5);
  assert.is(await addon.interleave([a, b], 2, out, 1), true);
  assert.equal(Array.from(out), [0, 1, 3, 2, 4]);
});

test.run();
