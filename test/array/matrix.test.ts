import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listDevices, Matrix, Moments, MultivariateNormal, openDevice, Vector } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { externalBuffers } from '../harness/external-buffers.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('A typed array of the requested type is wrapped, not copied.', () => {
  const values = new Float64Array([1, 2, 3, 4, 5, 6]);
  const matrix = Matrix.from(values, { columns: 2 });
  assert.equal([matrix.rows, matrix.columns, matrix.dtype], [3, 2, 'float64']);
  assert.is(matrix.data, values);
  values[5] = 7;
  assert.equal(matrix.toArray(), [
    [1, 2],
    [3, 4],
    [5, 7],
  ]);
});

test('A number of rows is enough to find the columns of a typed array.', () => {
  assert.is(Matrix.from(new Float32Array(6), { rows: 2 }).columns, 3);
});

test('An array of arrays is copied, as float32 by default.', () => {
  const rows = [
    [0.1, 2],
    [3, 4],
  ];
  const matrix = Matrix.from(rows);
  rows[0]![0] = 9;
  assert.is(matrix.get(0, 0), Math.fround(0.1));
  assert.is(Matrix.from(rows, { dtype: 'float64' }).get(1, 1), 4);
  assert.equal(Matrix.from([new Float64Array([1, 2]), [3, 4]]).toArray(), [
    [1, 2],
    [3, 4],
  ]);
});

test('Rows of several types get a type that holds all their numbers.', async () => {
  const whole = Matrix.from([Uint8Array.of(2), Int32Array.of(300)]);
  assert.equal([whole.dtype, whole.toArray()], ['int32', [[2], [300]]]);
  assert.is(Matrix.from([Uint8Array.of(2), Uint32Array.of(4e9)]).get(1, 0), 4e9);
  for (const rows of [
    [[1.5], Uint8Array.of(2)],
    [Uint8Array.of(2), [1.5]],
    [Int32Array.of(2), Float32Array.of(1.5)],
  ]) {
    const matrix = Matrix.from(rows);
    assert.equal([matrix.dtype, matrix.toArray().flat().sort()], ['float32', [1.5, 2]]);
  }
  assert.is(Matrix.from([Int32Array.of(-1), Uint32Array.of(7)]).dtype, 'int32');
  await throwsCode('ERR_OUT_OF_RANGE', '`values` entry (1, 0) is (4000000000), which int32 does not hold', () =>
    Matrix.from([Int32Array.of(-1), Uint32Array.of(4e9)]),
  );
});

test('Another type is converted into a copy.', () => {
  const values = new Float64Array([0.1, 2]);
  const matrix = Matrix.from(values, { columns: 1, dtype: 'float32' });
  assert.ok(matrix.data instanceof Float32Array);
  assert.is(matrix.get(0, 0), Math.fround(0.1));
});

test('A matrix made from a matrix is a copy.', () => {
  const first = Matrix.from([[1, 2]]);
  const second = Matrix.from(first);
  first.data[0] = 5;
  assert.equal(second.toArray(), [[1, 2]]);
});

test('Memory that may move or is shared is copied.', () => {
  const resizable = new (ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer)(8, { maxByteLength: 16 });
  const values = new Float32Array(resizable);
  assert.is.not(Matrix.from(values, { columns: 2 }).data, values);
  const shared = new Float32Array(new SharedArrayBuffer(8));
  assert.is.not(Matrix.from(shared, { columns: 2 }).data, shared);
});

test('A matrix may have no rows if its columns are known.', () => {
  const matrix = Matrix.from([], { columns: 3 });
  assert.equal([matrix.rows, matrix.columns, matrix.toArray()], [0, 3, []]);
  assert.is(Matrix.from(new Float32Array(0), { columns: 3 }).rows, 0);
});

test('Rows are live views.', () => {
  const matrix = Matrix.from([
    [1, 2],
    [3, 4],
  ]);
  matrix.row(1)[0] = 8;
  assert.is(matrix.get(1, 0), 8);
});

test('Bad shapes and entries are refused with their place.', async () => {
  await throwsCode('ERR_SHAPE', '`values` row (1) has (1) entries', () => Matrix.from([[1, 2], [3]]));
  await throwsCode('ERR_SHAPE', '(5)', () => Matrix.from(new Float32Array(5), { columns: 2 }));
  await throwsCode('ERR_SHAPE', 'do not fill (3) rows of (2)', () =>
    Matrix.from(new Float32Array(5), { rows: 3, columns: 2 }),
  );
  await throwsCode('ERR_SHAPE', 'Float32Array of 4', () => Matrix.from(new Float32Array(4)));
  await throwsCode('ERR_SHAPE', '`values` has (0) rows', () => Matrix.from([]));
  await throwsCode('ERR_SHAPE', '(0)', () => Matrix.from([[]]));
  await throwsCode('ERR_OUT_OF_RANGE', '(0)', () => Matrix.from(new Float32Array(4), { columns: 0 }));
  await throwsCode('ERR_OUT_OF_RANGE', '(1.5)', () => Matrix.from(new Float32Array(4), { columns: 1.5 }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`values` entry (1, 0)', () =>
    Matrix.from([[1], ['2' as unknown as number]]),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '`values` row (1)', () => Matrix.from([[1], 2 as unknown as number[]]));
  await throwsCode('ERR_INVALID_ARGUMENT', "('float16')", () => Matrix.from([[1]], { dtype: 'float16' as 'float32' }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(null)', () => Matrix.from(null as unknown as number[][]));
  await throwsCode('ERR_UNKNOWN_OPTION', '(cols)', () => Matrix.from([[1]], { cols: 1 } as object));
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => Matrix.from([[1]]).get(2, 0));
});

test('A closed matrix refuses its numbers, and may be closed again.', async () => {
  const matrix = Matrix.from([[1]]);
  matrix.close();
  matrix.close();
  assert.ok(matrix.closed);
  await throwsCode('ERR_CLOSED', '(1', () => matrix.data);
  await throwsCode('ERR_CLOSED', '(1', () => matrix.toArray());
});

test('A detached array is refused.', async () => {
  const values = new Float32Array(4);
  const matrix = Matrix.from(values, { columns: 2 });
  structuredClone(values.buffer, { transfer: [values.buffer] });
  await throwsCode('ERR_CLOSED', 'detached', () => matrix.data);
  await throwsCode('ERR_CLOSED', 'detached', () => Matrix.from(values, { columns: 2 }));
  assert.is(matrix.closed, true);
  assert.is(inspect(matrix), 'Matrix 2 x 2 float32 (closed)');
  assert.is(Matrix.from([], { columns: 2 }).closed, false);
  matrix.close();
});

// The types of ES2023 do not have it; Node 20 does.
type Resizable = { resize(bytes: number): void };

test('An array that is beyond its resized memory is refused.', async () => {
  for (const bytes of [16, 0]) {
    const memory = Reflect.construct(ArrayBuffer, [32, { maxByteLength: 64 }]) as ArrayBuffer & Resizable;
    const values = new Float64Array(memory, 0, 4);
    memory.resize(bytes);
    await throwsCode('ERR_CLOSED', `(${bytes})`, () => Matrix.from(values, { columns: 2 }));
    await throwsCode('ERR_CLOSED', `(${bytes})`, () => new Moments(2).add(values));
    assert.is(Matrix.from(new Float64Array(memory, 0, 0), { columns: 2 }).rows, 0);
  }
});

onEveryDevice('a matrix of the device has zeros, and releases its memory when closed.', (device) => {
  const before = device.memory().liveBytes;
  const matrix = device.matrix(700, 500);
  assert.ok(matrix.data.every((value) => value === 0));
  if (externalBuffers || device.kind === 'reference') assert.ok(device.memory().liveBytes >= before + 700 * 500 * 4);
  matrix.data.fill(3);
  matrix.close();
  assert.is(device.memory().liveBytes, before);
  // Memory that is used again must be zeroed again.
  using again = device.matrix(700, 500, { dtype: 'float32' });
  assert.ok(again.data.every((value) => value === 0));
});

onEveryDevice('a matrix of a closed device is closed with it.', async (device) => {
  const matrix = device.matrix(2, 2);
  device.close();
  assert.ok(matrix.closed);
  await throwsCode('ERR_CLOSED', device.name, () => matrix.data);
  matrix.close();
});

test('Results of a device are closed with it, whatever their size.', async () => {
  for (const { kind, available } of listDevices()) {
    if (!available) continue;
    const device = openDevice(kind);
    const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 2] });
    const results = {
      'a few draws': normal.sampleSync(3),
      '100,000 draws': normal.sampleSync(100_000),
      'a million draws': await normal.sample(1_000_000),
      densities: normal.logPdfSync([[1, 2]]),
      probabilities: normal.cdfSync([[1, 2]]),
      mean: normal.mean,
      covariance: normal.covarianceSync(),
      axes: normal.ellipsoidSync({ probability: 0.5 }).axes,
      product: Matrix.from([[1]]).multiplySync(Matrix.from([[2]]), { device }),
      zeros: device.matrix(1, 1),
    };
    const own = Matrix.from([[1]]);
    device.close();
    for (const [name, result] of Object.entries(results)) {
      assert.ok(result.closed, `${kind}: ${name}`);
      const error = await throwsCode('ERR_CLOSED', 'before it is', () => result.data);
      assert.match(error.message, /toArray/, name);
      result.close();
    }
    assert.is(own.get(0, 0), 1);
  }
});

test('A finite number that float32 does not hold is refused unless float32 is requested.', async () => {
  const refused = (shown: string, make: () => unknown) => throwsCode('ERR_OUT_OF_RANGE', shown, make);
  await refused('entry (1, 0) is (1e+300)', () => Matrix.from([[1], [1e300]]));
  await refused('entry (1, 1) is (-1e+39)', () => Matrix.from({ a: [1, 2], b: [3, -1e39] }));
  await refused('entry (1) is (1e+39)', () => Vector.from([1, 1e39]));
  assert.is(Matrix.from([[1e300]], { dtype: 'float64' }).get(0, 0), 1e300);
  assert.is(Matrix.from([[1e300]], { dtype: 'float32' }).get(0, 0), Number.POSITIVE_INFINITY);
  assert.is(Matrix.from([[Number.NEGATIVE_INFINITY, Number.NaN]]).get(0, 0), Number.NEGATIVE_INFINITY);
  assert.is(Matrix.from([Float32Array.of(1), Float64Array.of(1e300)]).dtype, 'float64');
});

test.run();
