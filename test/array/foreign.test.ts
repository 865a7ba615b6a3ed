import { bool, dateDay, dictionary, tableFromArrays, tableFromIPC, tableToIPC, timestamp } from '@uwdata/flechette';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  Matrix,
  type MatrixInput,
  MultivariateNormal,
  openDevice,
  readTable,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const device = openDevice('reference');
const rows = [
  [1, 4],
  [2, 5],
  [3, 7],
];

// An array as in ndarray, stdlib and numpy-ts: only these properties are read.
const strided = { data: Float64Array.of(0, 1, 2, 3, 4, 5, 7), shape: [3, 2], strides: [1, 3], offset: 1 };
const ndarray = { data: [1, 4, 0, 2, 5, 0, 3, 7, 0], shape: [3, 2], stride: [3, 1] };
// Arquero's table, with the methods that are called.
const arquero = {
  columnNames: () => ['a', 'b'],
  array: (name: string) => (name === 'a' ? [1, 2, 3] : Float64Array.of(4, 5, 7)),
};

const inputs: readonly MatrixInput[] = [
  { a: [1, 2, 3], b: [4, 5, 7] },
  { a: Float64Array.of(1, 2, 3), b: Uint8Array.of(4, 5, 7) },
  [
    { a: 1, b: 4 },
    { a: 2, b: 5 },
    { b: 7, a: 3 },
  ],
  strided,
  ndarray,
  arquero,
  tableFromArrays({ a: [1, 2, 3], b: [4, 5, 7] }),
  tableFromArrays({ a: Int16Array.of(1, 2, 3), b: Float64Array.of(4, 5, 7) }),
  tableFromIPC(tableToIPC(tableFromArrays({ a: [1, 2, 3], b: [4, 5, 7] }), {})!),
  Matrix.from(rows),
  Matrix.from(rows).toJSON(),
];

test('Tables and arrays of other libraries, columns by name and rows by name are accepted as rows.', () => {
  const wanted = MultivariateNormal.fitSync({ device, rows, dtype: 'float64', shrinkage: 0.1 });
  for (const [at, input] of inputs.entries()) {
    assert.equal(Matrix.from(input).toArray(), rows, `${at}`);
    const normal = MultivariateNormal.fitSync({ device, rows: input, dtype: 'float64', shrinkage: 0.1 });
    near(normal.covarianceSync().data, wanted.covarianceSync().data, 1e-14, `${at}`);
  }
});

test('Their numbers are not rounded on the way, and their type is followed.', () => {
  const tenth = { a: Float64Array.of(0.1, 0.2), b: [0.3, 0.4] };
  assert.equal(Matrix.from(tenth).column(0), tenth.a);
  const float32 = Matrix.from({ a: Float32Array.of(0.1) });
  assert.is(float32.dtype, 'float32');
  const normal = MultivariateNormal.fromDiagonalSync({
    device,
    mean: { data: Float64Array.of(0.1, 9, 0.2), shape: [2], strides: [2] },
    variances: [1, 1],
  });
  assert.equal(normal.mean.data, Float64Array.of(0.1, 0.2));
  assert.is(MultivariateNormal.fitSync({ device, rows: arquero, shrinkage: 0.1 }).dtype, 'float64');
  assert.is(MultivariateNormal.fitSync({ device, rows: inputs[0]!, shrinkage: 0.1 }).dtype, 'float32');
});

test('One dimension is a vector, and one row.', () => {
  const array = { data: Float32Array.of(1, 2, 3), shape: [3] };
  assert.equal(Vector.from(array).toArray(), [1, 2, 3]);
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 1, 1] });
  assert.is(normal.logPdfSync(array).length, 1);
  assert.is(normal.transformSync(array).data.length, 3);
});

test('Dense data are wrapped, and not copied.', () => {
  const data = Float32Array.of(1, 2, 3, 4);
  const matrix = Matrix.from({ data, shape: [2, 2] });
  data[0] = 8;
  assert.is(matrix.get(0, 0), 8);
});

test('Strides are obeyed, and so is the type that a strided array over a plain one states.', () => {
  for (const dtype of ['array', 'generic', 'float64']) {
    const turned = { dtype, data: [1, 2, 3, 4], shape: [2, 2], stride: [1, 2], offset: 0 };
    assert.equal(
      Matrix.from(turned).toArray(),
      [
        [1, 3],
        [2, 4],
      ],
      dtype,
    );
    const every = { dtype, data: [1, 2, 3, 4], shape: [2], strides: [2], offset: 1 };
    assert.equal(Vector.from(every).toArray(), [2, 4], dtype);
  }
});

test('A strided array of numbers that float32 does not hold is refused unless float32 is requested.', async () => {
  const large = { data: [1, 1e300], shape: [1, 2], strides: [1, 1] };
  await throwsCode('ERR_OUT_OF_RANGE', '`values` entry (0, 1) is (1e+300)', () => Matrix.from(large));
  await throwsCode('ERR_OUT_OF_RANGE', '(1e+300)', () => Vector.from({ data: [1e300], shape: [1] }));
  await throwsCode('ERR_OUT_OF_RANGE', '(1e+300)', () => Volume.from({ data: [1e300], shape: [1, 1, 1] }));
  assert.equal(Matrix.from(large, { dtype: 'float64' }).toArray(), [[1, 1e300]]);
  assert.is(Matrix.from(large, { dtype: 'float32' }).get(0, 1), Number.POSITIVE_INFINITY);
});

test('A null in a table is a missing number.', async () => {
  const rows = [1, null, 3, 4].map((a, i) => ({ a, b: i * i }));
  for (const input of [rows, tableFromArrays({ a: [1, null, 3, 4], b: [0, 1, 4, 9] })]) {
    assert.equal([...Matrix.from(input).column(0)], [1, Number.NaN, 3, 4]);
    const normal = MultivariateNormal.fitSync({ device, rows: input, missing: 'drop' });
    near(normal.mean.data, [8 / 3, 13 / 3], 1e-6);
    await throwsCode('ERR_NOT_FINITE', '(NaN)', () => MultivariateNormal.fit({ device, rows: input }));
  }
});

test('Two columns of Arrow with the same name are refused, and none is lost.', async () => {
  const table = tableFromArrays({ a: [1, 2], b: [3, 5] });
  const { fields } = table.schema;
  const twice = { schema: { fields: [...fields, fields[0]!] }, getChild: (name: 'a') => table.getChild(name) };
  await throwsCode('ERR_INVALID_ARGUMENT', '`values` has two columns that are named (a)', () => Matrix.from(twice));
  await throwsCode('ERR_INVALID_ARGUMENT', '`rows` has two columns', () =>
    MultivariateNormal.fit({ device, rows: twice }),
  );
});

test('Times of Arrow are refused by the name of the column, whatever numbers stand for them.', async () => {
  const day = { a: [1, 2], day: [new Date(0), new Date(864e5)] };
  for (const type of [dateDay(), timestamp(), dictionary(dateDay())])
    await throwsCode('ERR_INVALID_ARGUMENT', '`values` column (day) has type (', () =>
      Matrix.from(tableFromArrays(day, { types: { day: type } })),
    );
  assert.equal(Matrix.from(tableFromArrays(day).select(['a'])).toArray(), [[1], [2]]);
});

test('Booleans of Arrow are 0 and 1, as in files, and other booleans are refused.', async () => {
  const columns = { a: [true, false, true], b: [true, null, false] };
  for (const type of [bool, () => dictionary(bool())]) {
    const table = tableFromArrays(columns, { types: { a: type(), b: type() } });
    const { rows: read } = await readTable(tableToIPC(table, {})!, { columns: ['a'] });
    assert.equal(read.toArray(), [[1], [0], [1]]);
    assert.equal(Matrix.from(table.select(['a'])).toArray(), read.toArray());
    assert.equal([...Matrix.from(table).column(1)], [1, Number.NaN, 0]);
  }
  await throwsCode('ERR_INVALID_ARGUMENT', '`values` column (a) has (true) in row (0)', () =>
    Matrix.from(columns as never),
  );
});

// Columns as in apache-arrow: an array of the stored numbers, and their entries.
const arrowTable = (array: ArrayLike<unknown>, entries: readonly unknown[], name = 'x') => ({
  schema: { fields: [{ name }] },
  getChild: () => ({ length: entries.length, nullCount: 0, toArray: () => array, get: (row: number) => entries[row] }),
});

test('Columns of Arrow are read by their entries if their arrays hold other numbers.', async () => {
  // Half precision as bits, of which those of 0 are 0 too; decimals of 128 bits in four words.
  const halves = arrowTable(Uint16Array.of(0, 0x3e00, 0xc200), [0, 1.5, -3]);
  assert.equal(Matrix.from(halves).toArray(), [[0], [1.5], [-3]]);
  assert.equal(Matrix.from(arrowTable(Uint16Array.of(7, 8), [7, 8])).toArray(), [[7], [8]]);
  assert.equal(Matrix.from(arrowTable(Float64Array.of(Number.NaN, 2), [Number.NaN, 2])).toArray(), [[Number.NaN], [2]]);
  assert.equal(Matrix.from(arrowTable(new Float64Array(0), [])).rows, 0);
  const words = [Uint32Array.of(150, 0, 0, 0), Uint32Array.of(250, 0, 0, 0)];
  for (const [array, entries] of [
    [Uint32Array.of(150, 0, 0, 0, 250, 0, 0, 0), words],
    [Uint32Array.of(150, 250), words.map((word) => word.subarray(0, 1))],
  ] as const)
    await throwsCode('ERR_INVALID_ARGUMENT', '`values` column (x) has (Uint32Array of', () =>
      Matrix.from(arrowTable(array, entries)),
    );
  // Times of 64 bits.
  await throwsCode('ERR_INVALID_ARGUMENT', '(1n)', () => Matrix.from(arrowTable(BigInt64Array.of(1n), [1])));
});

test('Input that is not a table is refused with the place of the mistake.', async () => {
  const says = (code: 'ERR_SHAPE' | 'ERR_INVALID_ARGUMENT', shown: string, input: unknown) =>
    throwsCode(code, shown, () => Matrix.from(input as MatrixInput));
  await says('ERR_SHAPE', '`values` column (b) has (1) entries', { a: [1, 2], b: [1] });
  await says('ERR_INVALID_ARGUMENT', "`values` column (b) has ('x') in row (1)", { a: [1, 2], b: [3, 'x'] });
  await throwsCode('ERR_INVALID_ARGUMENT', '`values` column (a) has (null) in row (0)', () =>
    Matrix.from({ a: [null, 1] }, { dtype: 'int32' }),
  );
  await says('ERR_INVALID_ARGUMENT', '`values` column (a) has (1n) in row (0)', { a: BigInt64Array.of(1n) });
  const bytes = new DataView(new ArrayBuffer(8));
  for (const column of [bytes, new Set([1]), 'x', 1, null])
    await says('ERR_INVALID_ARGUMENT', '`values` column (b) is (', { a: [1], b: column });
  await throwsCode('ERR_INVALID_ARGUMENT', '`rows` column (a) is (1)', () =>
    MultivariateNormal.fit({ device, rows: { a: 1, b: 2 } as never }),
  );
  await says('ERR_INVALID_ARGUMENT', '`values` is (Object). Pass what its toArray() returns', { toArray: () => rows });
  await says('ERR_INVALID_ARGUMENT', '`values` is (Object). Pass rows', {});
  await says('ERR_SHAPE', '`values` row (1) does not have the keys of the first row (a)', [{ a: 1 }, { b: 2 }]);
  await says('ERR_SHAPE', '`values` row (1)', [{ a: 1 }, [2]]);
  await says('ERR_SHAPE', 'reaches beyond its data', { data: [1, 2, 3], shape: [2, 2] });
  await says('ERR_SHAPE', 'reaches beyond its data', { data: [1, 2, 3, 4], shape: [2, 2], strides: [-2, 1] });
  await says('ERR_SHAPE', '(2, 1, 1)', { data: [1, 2], shape: [2, 1, 1] });
  await says('ERR_SHAPE', '(1.5, 2)', { data: [1, 2, 3], shape: [1.5, 2] });
  await says('ERR_INVALID_ARGUMENT', "('2')", { data: [1, '2'], shape: [1, 2] });
  await throwsCode('ERR_SHAPE', '`values` is (3 x 2)', () => Matrix.from(strided, { columns: 3 }));
  await throwsCode('ERR_SHAPE', '(3, 2)', () => Vector.from(strided));
});

test.run();
