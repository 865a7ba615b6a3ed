// Moments of rows, compared with numpy.cov and scikit-learn's Ledoit-Wolf; and pieces in any order give the whole.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AddSyncOptions, type Device, Matrix, Moments, openDevice, Vector } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { cases } from '../harness/moment-cases.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

/** Asserts that a covariance is as expected, entries measured by the standard deviations of their coordinates. */
function nearCovariance(actual: readonly number[][], expected: readonly number[][], tolerance: number, what = '') {
  for (const [i, row] of expected.entries())
    for (const [j, value] of row.entries()) {
      const error = Math.abs(actual[i]![j]! - value) / Math.sqrt(expected[i]![i]! * expected[j]![j]! || 1);
      assert.ok(error <= tolerance, `${what} (${i}, ${j}): ${actual[i]![j]} for ${value}`);
    }
}

function near(actual: number, expected: number, tolerance: number, what = ''): void {
  const error = Math.abs(actual - expected) / Math.max(Math.abs(expected), Number.MIN_VALUE);
  assert.ok(actual === expected || error <= tolerance, `${what} (${actual}) for (${expected})`);
}

/** Rows of halves and quarters, so that an offset of 10^8 moves them exactly; the columns depend on each other. */
function rowsOf(count: number, n: number, seed: number): number[][] {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 16) / 4096 - 8;
  };
  return Array.from({ length: count }, () => {
    const common = next();
    return Array.from({ length: n }, (_, j) => common + (j + 1) * next());
  });
}

function momentsOf(rows: readonly (readonly number[])[], n: number, options: AddSyncOptions = {}, device?: Device) {
  const moments = new Moments(n, { device });
  moments.addSync(rows as number[][], options);
  return moments;
}

/** Two passes over all rows at once. */
function naiveCovariance(rows: readonly (readonly number[])[]): number[][] {
  const n = rows[0]!.length;
  const mean = Array.from({ length: n }, (_, j) => rows.reduce((sum, row) => sum + row[j]!, 0) / rows.length);
  return mean.map((a, i) =>
    mean.map((b, j) => rows.reduce((sum, row) => sum + (row[i]! - a) * (row[j]! - b), 0) / (rows.length - 1)),
  );
}

onEveryDevice('moments equal those of NumPy and scikit-learn.', async (device) => {
  assert.ok(cases.length > 10);
  for (const { name, rows, ddof, weights, frequencies, fixedMean: mean, ...expected } of cases) {
    const moments = new Moments(rows[0]!.length, { device });
    await moments.add(rows, { weights, frequencies });
    moments.mean.toArray().forEach((value, j) => {
      const room = 1e-14 * Math.sqrt(expected.covariance[j]![j]!) + 2e-16 * Math.abs(value);
      assert.ok(Math.abs(value - expected.mean[j]!) <= room, `${name}: mean (${value}) for (${expected.mean[j]})`);
    });
    nearCovariance(moments.covariance({ ddof, mean }).toArray(), expected.covariance, 1e-14, name);
    const share = moments.ledoitWolf({ mean });
    assert.ok(Math.abs(share - expected.ledoitWolf) <= 1e-14, `${name}: share (${share}) for (${expected.ledoitWolf})`);
    assert.equal(moments.toJSON(), momentsOf(rows, rows[0]!.length, { weights, frequencies }, device).toJSON());
    assert.is(
      moments.count,
      frequencies?.filter((_, row) => weights?.[row] !== 0).reduce((a, b) => a + b) ?? rowsThatCount(rows, weights),
    );
  }
});

const rowsThatCount = (rows: number[][], weights: number[] = []) => rows.length - weights.filter((w) => w === 0).length;

onEveryDevice('rows of many blocks, in float32 and float64, have the covariance of two passes.', async (device) => {
  for (const [count, n] of [
    [70_000, 1],
    [50_000, 3],
    [1500, 120],
  ] as const) {
    const rows = rowsOf(count, n, 5);
    const expected = naiveCovariance(rows.slice(0, count));
    const moments = new Moments(n, { device });
    await moments.add(Matrix.from(rows, { dtype: 'float32' }));
    nearCovariance(moments.covariance().toArray(), expected, 1e-12, `${n}`);
    using onDevice = device.matrix(count, n);
    onDevice.data.set(rows.flat());
    const others = new Moments(n, { device });
    others.addSync(onDevice);
    assert.equal(others.toJSON(), moments.toJSON(), 'both ways give the same bits');
  }
});

test('Pieces in any order, merged in any tree, have the moments of the whole.', () => {
  const pieces = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 });
  const setting = fc.record({
    pieces,
    order: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
    n: fc.integer({ min: 1, max: 5 }),
    seed: fc.integer(),
    offset: fc.constantFrom(0, 1e8, -3e5),
    weighted: fc.boolean(),
  });
  fc.assert(
    fc.property(setting, ({ pieces, order, n, seed, offset, weighted }) => {
      const count = pieces.reduce((a, b) => a + b);
      if (count < 2) return;
      const rows = rowsOf(count, n, seed).map((row) => row.map((value) => value + offset));
      const weights = rows.map((_, row) => (weighted ? (row % 4) / 2 + 0.25 : 1));
      const whole = momentsOf(rows, n, { weights });
      let first = 0;
      const parts = pieces.map((length) => {
        const part = momentsOf(rows.slice(first, first + length), n, { weights: weights.slice(first, first + length) });
        first += length;
        return part;
      });
      for (const at of order) {
        if (parts.length === 1) break;
        const [taken] = parts.splice(at % parts.length, 1);
        parts[at % parts.length]!.merge(taken!);
      }
      const [merged] = parts;
      for (const part of parts.slice(1)) merged!.merge(part);
      assert.is(merged!.count, count);
      near(merged!.weightSum, whole.weightSum, 1e-15);
      near(merged!.squaredWeightSum, whole.squaredWeightSum, 1e-15);
      const covariance = whole.covariance().toArray();
      nearCovariance(merged!.covariance().toArray(), covariance, 1e-13);
      near(merged!.ledoitWolf(), whole.ledoitWolf(), 1e-10);
      // A mean near 0 of larger numbers is exact relative to those numbers.
      whole.mean.toArray().forEach((value, j) => {
        const error = Math.abs(merged!.mean.get(j) - value);
        const allowed = 3e-16 * Math.abs(value) + 1e-15 * Math.sqrt(covariance[j]![j]!);
        assert.ok(error <= allowed, `mean ${j}: ${merged!.mean.get(j)} for ${value}`);
      });
    }),
  );
});

test('An offset of 10^8 costs no digits, over many blocks.', () => {
  const rows = rowsOf(3000, 4, 11);
  const near0 = new Moments(4);
  const far = new Moments(4);
  for (let from = 0; from < 3000; from += 100) {
    near0.addSync(rows.slice(from, from + 100));
    far.addSync(rows.slice(from, from + 100).map((row) => row.map((value, j) => value + (j - 1.5) * 2e8)));
  }
  nearCovariance(far.covariance().toArray(), near0.covariance().toArray(), 1e-13);
  near(far.ledoitWolf(), near0.ledoitWolf(), 1e-11);
  nearCovariance(near0.covariance().toArray(), naiveCovariance(rows), 1e-13);
});

test('A frequency stands for repeated rows, a weight of 0 for no row, and scaling all weights changes nothing.', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(counts, fc.integer(), fc.constantFrom(0.001, 3, 1e6), (frequencies, seed, scale) => {
      const rows = rowsOf(frequencies.length, 3, seed);
      const repeated = rows.flatMap((row, at) => Array.from({ length: frequencies[at]! }, () => row));
      if (repeated.length < 2) return;
      const counted = momentsOf(rows, 3, { frequencies });
      const listed = momentsOf(repeated, 3);
      assert.equal([counted.count, counted.weightSum], [listed.count, listed.weightSum]);
      nearCovariance(counted.covariance().toArray(), listed.covariance().toArray(), 1e-13);
      if (frequencies.filter((times) => times > 0).length > 2) near(counted.ledoitWolf(), listed.ledoitWolf(), 1e-10);
      const present = frequencies.map((times) => (times > 0 ? 1 : 0));
      const kept = rows.filter((_, at) => present[at]);
      assert.equal(momentsOf(rows, 3, { weights: present }).toJSON(), momentsOf(kept, 3).toJSON());
      const weights = frequencies.map((times) => times * scale);
      const plain = momentsOf(rows, 3, { weights: frequencies });
      const scaled = momentsOf(rows, 3, { weights });
      if (kept.length > 1)
        nearCovariance(scaled.covariance().toArray(), plain.covariance().toArray(), 1e-13, 'scaled weights');
    }),
  );
});

test('Rows with a NaN are refused or dropped; a refused call adds nothing.', async () => {
  const rows = rowsOf(30_000, 3, 2);
  rows[25_000]![1] = Number.NaN;
  rows[29_999]!.fill(Number.NaN);
  const moments = momentsOf(rows.slice(0, 10), 3);
  const before = moments.toJSON();
  const { row, column } = await throwsCode('ERR_NOT_FINITE', '(NaN), not a finite number. Pass `missing`', () =>
    moments.add(rows),
  );
  assert.equal([row, column], [25_000, 1]);
  await throwsCode('ERR_NOT_FINITE', 'NaN', () => moments.addSync(rows, { frequencies: rows.map(() => 0) }));
  assert.equal(moments.toJSON(), before);
  moments.addSync(rows, { missing: 'drop' });
  assert.equal([moments.count, moments.dropped], [30_008, 2]);
  const kept = rows.filter((row) => !row.includes(Number.NaN));
  nearCovariance(moments.covariance().toArray(), naiveCovariance([...rows.slice(0, 10), ...kept]), 1e-12);
  rows[3]![2] = Number.NEGATIVE_INFINITY;
  rows[3]![0] = Number.NaN;
  await throwsCode('ERR_NOT_FINITE', '(3, 2) is (-Infinity), not a finite number', () =>
    moments.addSync(rows, { missing: 'drop' }),
  );
  const nothing = momentsOf([[Number.NaN]], 1, { missing: 'drop' });
  assert.equal([nothing.count, nothing.dropped], [0, 1]);
  nothing.merge(nothing);
  assert.is(nothing.dropped, 2);
});

test('Rows may be arrays, typed arrays, a Matrix or a Vector; one row has moments.', () => {
  const expected = momentsOf([[1, 2]], 2).toJSON();
  assert.equal([expected.count, expected.mean, expected.second, expected.fourth], [1, [1, 2], [[0], [0, 0]], 0]);
  for (const rows of [[1, 2], Float32Array.of(1, 2), Int32Array.of(1, 2), Vector.from([1, 2]), Matrix.from([[1, 2]])]) {
    const moments = new Moments(2);
    moments.addSync(rows);
    assert.equal(moments.toJSON(), expected);
    moments.addSync([]);
    moments.addSync(new Float64Array(0));
    assert.equal(moments.toJSON(), expected);
  }
  assert.equal(
    momentsOf([[3, 4]], 2)
      .covariance({ ddof: 0 })
      .toArray()
      .flat(),
    [0, 0, 0, 0],
  );
  assert.equal(
    momentsOf([[3, 4]], 2)
      .covariance({ mean: [2, 2] })
      .toArray(),
    [
      [1, 2],
      [2, 4],
    ],
  );
  using device = openDevice('reference');
  using other = openDevice('reference');
  using matrix = other.matrix(1, 2);
  matrix.data.set([1, 2]);
  const moments = new Moments(2, { device });
  moments.addSync(matrix);
  assert.equal(moments.toJSON(), expected, 'the memory of any device is read');
});

test('Moments are read back from JSON to the bit, and can take more rows.', () => {
  const moments = momentsOf(
    rowsOf(20, 3, 9).map((row) => row.map((value) => value / 3 + 1e8)),
    3,
  );
  const text = JSON.stringify(moments);
  const read = Moments.fromJSON(JSON.parse(text));
  assert.equal(read.toJSON(), moments.toJSON());
  assert.is(JSON.stringify(read), text);
  for (const each of [read, moments]) each.addSync(rowsOf(7, 3, 1));
  assert.equal(read.toJSON(), moments.toJSON());
  assert.is(
    JSON.stringify(Moments.fromJSON(JSON.parse(JSON.stringify(new Moments(2))))),
    JSON.stringify(new Moments(2)),
  );
});

test('Moments of any rows can be read back.', () => {
  const value = fc.oneof(
    fc.constantFrom(0, 1, 1e8, 0.1, 100000000.00000001, 1e8 + 2 ** -26, -1e-90),
    fc.double({ noNaN: true, min: -1e60, max: 1e60 }),
  );
  const row = fc.tuple(value, value);
  fc.assert(
    fc.property(fc.array(row), fc.array(row), (some, others) => {
      const moments = momentsOf(some, 2);
      moments.merge(momentsOf(others, 2, { weights: others.map((_, at) => at / 7) }));
      assert.equal(Moments.fromJSON(JSON.parse(JSON.stringify(moments))).count, moments.count);
    }),
    { numRuns: 500 },
  );
});

test('JSON that was changed is refused, with the path of the field.', async () => {
  const json = JSON.stringify(momentsOf(rowsOf(20, 3, 9), 3));
  const changed = (path: string, value: unknown) => {
    const fields = JSON.parse(json);
    const steps = path.split('.');
    const last = steps.pop()!;
    const holder = steps.reduce((at, name) => at[name], fields);
    if (value === undefined) delete holder[last];
    else holder[last] = value;
    return fields;
  };
  const named = (path: string) => path.replace(/\.(\d+)/g, '[$1]');
  const paths = Object.keys(JSON.parse(json)).concat('mean.0', 'meanRest.2', 'second.1', 'second.2.1', 'third.1');
  for (const path of paths)
    for (const value of [null, 'a', {}, [], true, ...(path === 'second.1' ? [] : [undefined])])
      await throwsCode('ERR_MALFORMED_MOMENTS', `${named(path)} is`, () => Moments.fromJSON(changed(path, value)));
  for (const [path, value] of [
    ['covariumMoments', 2],
    ['dimension', 0],
    ['dimension', 2.5],
    ['count', -1],
    ['count', 0.5],
    ['weight', 0],
    ['squaredWeight', 1],
    ['squaredWeight', 500],
    ['meanRest.0', 1e-3],
    ['second.1.1', -1],
    ['second.2.0', 1e9],
    ['second.2.2', 1e12],
    ['third.0', 1e12],
    ['fourth', 1],
    ['fourth', -1],
  ] as const) {
    const error = await throwsCode('ERR_MALFORMED_MOMENTS', '', () => Moments.fromJSON(changed(path, value)));
    assert.match(error.message, /^Moments are malformed: [\w[\]]+ is (no|longer|version)/);
  }
  await throwsCode('ERR_MALFORMED_MOMENTS', 'mean is not an array of 2', () =>
    Moments.fromJSON(changed('dimension', 2)),
  );
  for (const value of [null, 3, [], 'x', undefined])
    await throwsCode('ERR_MALFORMED_MOMENTS', 'not an object', () => Moments.fromJSON(value));
});

test('Shrinkage moves the covariance towards the multiple of the identity that has the same trace.', () => {
  const moments = momentsOf(rowsOf(6, 8, 4), 8);
  const plain = moments.covariance().toArray();
  const mean = plain.reduce((sum, row, i) => sum + row[i]!, 0) / 8;
  for (const share of [0, 0.25, 1, moments.ledoitWolf()]) {
    const expected = plain.map((row, i) => row.map((value, j) => (1 - share) * value + (i === j ? share * mean : 0)));
    nearCovariance(moments.covariance({ shrinkage: share }).toArray(), expected, 1e-14);
  }
  assert.equal(
    moments.covariance({ shrinkage: 'ledoit-wolf' }).data,
    moments.covariance({ shrinkage: moments.ledoitWolf() }).data,
  );
  assert.equal(moments.covariance({ shrinkage: 'none' }).data, moments.covariance().data);
});

test('Invalid calls of moments are refused.', async () => {
  const moments = momentsOf(rowsOf(5, 2, 4), 2);
  const before = moments.toJSON();
  const rows = [[1, 2]];
  for (const dimension of [0, 1.5, -1])
    await throwsCode('ERR_OUT_OF_RANGE', `(${dimension})`, () => new Moments(dimension));
  await throwsCode('ERR_OUT_OF_MEMORY', '1000000000000', () => new Moments(1e12));
  await throwsCode('ERR_UNKNOWN_OPTION', '(ddof)', () => new Moments(2, { ddof: 1 } as never));
  await throwsCode('ERR_INVALID_ARGUMENT', "('cpu')", () => new Moments(2, { device: 'cpu' as never }));
  await throwsCode('ERR_UNKNOWN_OPTION', '(weight)', () => moments.add(rows, { weight: [1] } as never));
  await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () => moments.addSync(rows, { signal: undefined } as never));
  await throwsCode('ERR_INVALID_ARGUMENT', "('skip')", () => moments.addSync(rows, { missing: 'skip' as never }));
  await throwsCode('ERR_SHAPE', '(3) columns', () => moments.addSync([[1, 2, 3]]));
  await throwsCode('ERR_SHAPE', '(3) columns', () => moments.addSync([1, 2, 3]));
  await throwsCode('ERR_INVALID_ARGUMENT', '', () => moments.addSync('1,2' as never));
  await throwsCode('ERR_SHAPE', '`weights` has (2) entries', () => moments.addSync(rows, { weights: [1, 2] }));
  for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    await throwsCode('ERR_OUT_OF_RANGE', `\`weights[0]\` is (${weight})`, () =>
      moments.add(rows, { weights: [weight] }),
    );
  await throwsCode('ERR_OUT_OF_RANGE', '(0.5), not a whole', () => moments.addSync(rows, { frequencies: [0.5] }));
  await throwsCode('ERR_OUT_OF_RANGE', 'column (0), whose', () => moments.addSync(Float64Array.of(1e200, 1, 0, 0)));
  await throwsCode('ERR_OUT_OF_RANGE', '`weights` are too', () => moments.addSync(rows, { weights: [1e200] }));
  await throwsCode('ERR_OUT_OF_RANGE', '', () => moments.merge(momentsOf([[1e160, 1]], 2)));
  await throwsCode('ERR_SHAPE', '`other` has dimension (3), but these moments have (2)', () =>
    moments.merge(new Moments(3)),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '(Object)', () => moments.merge(moments.toJSON() as never));
  await throwsCode('ERR_ABORTED', '', () => moments.add(rows, { signal: AbortSignal.abort() }));
  await throwsCode('ERR_SHAPE', '(0) observations', () => new Moments(2).covariance());
  await throwsCode('ERR_SHAPE', '(0) observations', () => new Moments(2).mean);
  await throwsCode('ERR_SHAPE', '(0) observations', () => momentsOf(rows, 2, { weights: [0] }).ledoitWolf());
  for (const size of [1e-155, 1e-160, 1e-230, 1e-300, 1e-322]) {
    const tiny = momentsOf(
      [
        [size, 2 * size],
        [3 * size, size],
        [2 * size, 2 * size],
      ],
      2,
    );
    await throwsCode('ERR_OUT_OF_RANGE', "too small for `shrinkage: 'ledoit-wolf'`", () => tiny.ledoitWolf());
    await throwsCode('ERR_OUT_OF_RANGE', 'too small', () => tiny.covariance({ shrinkage: 'ledoit-wolf' }));
    assert.equal(Moments.fromJSON(JSON.parse(JSON.stringify(tiny))).toJSON(), tiny.toJSON());
  }
  await throwsCode('ERR_OUT_OF_RANGE', '`ddof` is (1), but there are (1)', () =>
    momentsOf(rows, 2).covariance({ ddof: 1 }),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', () => moments.covariance({ ddof: -1 }));
  await throwsCode('ERR_OUT_OF_RANGE', '(1.5)', () => moments.covariance({ shrinkage: 1.5 }));
  await throwsCode('ERR_INVALID_ARGUMENT', "('oas')", () => moments.covariance({ shrinkage: 'oas' as never }));
  await throwsCode('ERR_SHAPE', '(1) entries', () => moments.covariance({ mean: [1] }));
  await throwsCode('ERR_NOT_FINITE', '(1) is (NaN), not a finite number', () =>
    moments.covariance({ mean: [1, Number.NaN] }),
  );
  const device = openDevice('reference');
  const there = new Moments(2, { device });
  device.close();
  await throwsCode('ERR_CLOSED', '', () => there.addSync(rows));
  assert.equal(moments.toJSON(), before, 'none of it added anything');
});

test("Ledoit and Wolf's share does not depend on the scale of the data, and survives merging and JSON.", () => {
  const rows = Array.from({ length: 60 }, (_, r) => [Math.sin(r), 4 * Math.cos(r + 1), Math.sin(r * r) + 2]);
  const whole = momentsOf(rows, 3);
  assert.ok(whole.ledoitWolf() > 0.01 && whole.ledoitWolf() < 0.5, `(${whole.ledoitWolf()})`);
  const pull = [0.5, 0.25, -1];
  for (const exponent of [-509, -490, -470, -330, -265, -201, -199, 0, 199, 201, 255, 330, 490]) {
    const scaled = rows.map((row) => row.map((value) => value * 2 ** exponent));
    const mean = pull.map((value) => value * 2 ** exponent);
    const weights = rows.map((_, r) => 1 + (r % 3));
    const at = momentsOf(scaled, 3);
    near(at.ledoitWolf(), whole.ledoitWolf(), 1e-12, `2^${exponent}`);
    near(at.ledoitWolf({ mean }), whole.ledoitWolf({ mean: pull }), 1e-12, `about a mean, 2^${exponent}`);
    const weighted = momentsOf(rows, 3, { weights });
    near(momentsOf(scaled, 3, { weights }).ledoitWolf(), weighted.ledoitWolf(), 1e-12, `weighted, 2^${exponent}`);
    // A part whose rows are all equal has no unit.
    const parts = [scaled.slice(0, 20), scaled.slice(20, 21), scaled.slice(21)].map((part) => momentsOf(part, 3));
    const joined = new Moments(3);
    for (const part of parts) joined.merge(Moments.fromJSON(JSON.parse(JSON.stringify(part))));
    near(joined.ledoitWolf(), whole.ledoitWolf(), 1e-12, `joined, 2^${exponent}`);
    near(joined.ledoitWolf({ mean }), whole.ledoitWolf({ mean: pull }), 1e-12, `joined, about a mean, 2^${exponent}`);
  }
  // Beside data of a larger scale, the smaller data are negligible.
  const beside = momentsOf(rows, 3);
  beside.merge(
    momentsOf(
      Array.from({ length: 60 }, () => [1e-81, 2e-81, 1e-82]),
      3,
    ),
  );
  const zeros = momentsOf(rows, 3);
  zeros.merge(
    momentsOf(
      Array.from({ length: 60 }, () => [0, 0, 0]),
      3,
    ),
  );
  near(beside.ledoitWolf(), zeros.ledoitWolf(), 1e-14);
});

test('An abort stops the work, and adds nothing.', async () => {
  const moments = new Moments(200);
  const controller = new AbortController();
  const adding = moments.add(new Float32Array(200 * 4000), { signal: controller.signal });
  setImmediate(() => controller.abort());
  await throwsCode('ERR_ABORTED', '', () => adding);
  assert.is(moments.count, 0);
});

test('Rows that are transferred while they are copied are refused.', async () => {
  const moments = new Moments(4);
  const rows = new Float64Array(1_600_000);
  const adding = moments.add(rows, { missing: 'drop' });
  setImmediate(() => structuredClone(rows.buffer, { transfer: [rows.buffer] }));
  await throwsCode('ERR_CLOSED', '`rows` was closed or transferred', () => adding);
  assert.is(moments.count, 0);
});

test.run();
