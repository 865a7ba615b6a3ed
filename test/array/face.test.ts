import { inspect, isDeepStrictEqual } from 'node:util';
import { receiveMessageOnPort } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as covarium from '../../lib/index.ts';
import { Matrix, Moments, MultivariateNormal, openDevice, Vector, Volume } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const hard = [
  Number.NaN,
  -0,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  0.1,
  5e-324,
  1.7976931348623157e308,
  0,
];

test('JSON has every bit, and `from` reads it.', () => {
  for (const dtype of ['float32', 'float64'] as const) {
    const matrix = Matrix.from([hard, hard.map((value) => value / 3)], { dtype });
    const read = Matrix.from(JSON.parse(JSON.stringify(matrix)) as ReturnType<typeof matrix.toJSON>);
    assert.equal([read.rows, read.columns, read.dtype], [2, 8, dtype]);
    assert.ok(read.data.every((value, at) => Object.is(value, matrix.data[at])));
    const vector = Vector.from(hard, { dtype });
    const again = Vector.from(JSON.parse(JSON.stringify(vector)) as ReturnType<typeof vector.toJSON>);
    assert.ok(again.data.every((value, at) => Object.is(value, vector.data[at])));
    const volume = Volume.from(hard, { width: 2, height: 1, depth: 4, dtype });
    const third = Volume.from(JSON.parse(JSON.stringify(volume)) as ReturnType<typeof volume.toJSON>);
    assert.equal([third.size, third.dtype], [volume.size, dtype]);
    assert.ok(third.data.every((value, at) => Object.is(value, volume.data[at])));
  }
  assert.is(
    JSON.stringify(Matrix.from(Uint8Array.of(1, 2), { columns: 2 })),
    '{"dtype":"uint8","shape":[1,2],"data":[1,2]}',
  );
});

test('JSON that is not an array is refused with the entry.', async () => {
  const json = (data: unknown) => ({ dtype: 'float32', shape: [1, 2], data }) as never;
  await throwsCode('ERR_INVALID_ARGUMENT', "`values.data[1]` is ('two')", () => Matrix.from(json([1, 'two'])));
  await throwsCode('ERR_INVALID_ARGUMENT', '`values.data[0]` is (null)', () => Matrix.from(json([null, 1])));
  await throwsCode('ERR_SHAPE', '(1) numbers', () => Matrix.from(json([1])));
  await throwsCode('ERR_INVALID_ARGUMENT', "('float16')", () =>
    Matrix.from({ dtype: 'float16', shape: [1, 1], data: [1] } as never),
  );
});

test('JSON is refused if its type does not hold the numbers, or if they do not fill its shape.', async () => {
  const json = (dtype: string, data: unknown[], shape: unknown = [1, data.length]) => ({ dtype, shape, data }) as never;
  const cases = [
    ['uint8', 300],
    ['uint8', 'NaN'],
    ['int32', 1.5],
    ['uint32', -1],
    ['float32', 1e300],
  ] as const;
  for (const [dtype, entry] of cases)
    await throwsCode('ERR_OUT_OF_RANGE', `\`values.data[1]\` is (${entry}), which ${dtype} does not hold`, () =>
      Matrix.from(json(dtype, [1, entry])),
    );
  await throwsCode('ERR_SHAPE', '(3) numbers', () => Matrix.from(json('float32', [1, 2, 3], [1, 2])));
  await throwsCode('ERR_SHAPE', '(5)', () => Vector.from(json('float32', [1, 2], [5])));
  await throwsCode('ERR_SHAPE', '(null)', () => Vector.from(json('float32', [1, 2], null)));
  await throwsCode('ERR_SHAPE', 'not a vector', () => Vector.from(json('float32', [1, 2], [1, 2])));
  // Rounding is allowed, because people write such files by hand.
  assert.equal(Vector.from(json('float32', [0.1], [1])).data, Float32Array.of(0.1));
});

test('console.log shows the shape, the type and the numbers at the corners.', () => {
  const large = Matrix.from(
    Float64Array.from({ length: 800 }, (_, at) => at),
    { columns: 8 },
  );
  assert.is(
    inspect(large),
    [
      'Matrix 100 x 8 float64 [',
      '  [  0,   1,   2, ...,   5,   6,   7],',
      '  [  8,   9,  10, ...,  13,  14,  15],',
      '  [ 16,  17,  18, ...,  21,  22,  23],',
      '  ...',
      '  [776, 777, 778, ..., 781, 782, 783],',
      '  [784, 785, 786, ..., 789, 790, 791],',
      '  [792, 793, 794, ..., 797, 798, 799],',
      ']',
    ].join('\n'),
  );
  assert.is(inspect(Vector.from([1, 0.1])), 'Vector 2 float32 [1, 0.1]');
  assert.is(inspect(Matrix.from([], { columns: 2 })), 'Matrix 0 x 2 float32 []');
  assert.match(inspect(Volume.from([1, 2], { width: 1, depth: 2 })), /^Volume 2 x 1 x 1 float32 \[/);
  large.close();
  assert.is(inspect(large), 'Matrix 100 x 8 float64 (closed)');
});

test('console.log describes a distribution and a device, without the error about cloning.', () => {
  const device = openDevice('reference');
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 1] });
  const fields = "dimension: 2, dtype: 'float32', logDeterminant: 0";
  const wide = { breakLength: 200 };
  assert.is(inspect(normal, wide), `MultivariateNormal { device: 'reference', ${fields} }`);
  assert.match(inspect(device), /^Device \{\s+kind: 'reference',/);
  assert.is(inspect(device).includes('cloned'), false);
  assert.is(inspect(new Moments(2)), 'Moments { dimension: 2 }');
  device.close();
  assert.is(inspect(normal, wide), `MultivariateNormal { device: 'reference', ${fields}, closed: true }`);
  // Only the fields that an error has.
  assert.is(
    inspect(new covarium.CovariumError('ERR_SHAPE', 'No.', { pivot: 1 }))
      .split('\n')
      .at(-2),
    '  pivot: 1',
  );
  assert.not.match(inspect(new covarium.CovariumError('ERR_SHAPE', 'No.')), /undefined/);
});

test('structuredClone and postMessage refuse objects that they cannot copy, and the error says what to send.', () => {
  const device = openDevice('reference');
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1] });
  const channel = new MessageChannel();
  const [options, scales] = [{ device, covariances: [[[1]]] }, [[[1]]]];
  const things = [
    new Moments(1),
    normal,
    device,
    device.commandBuffer(),
    covarium.MultivariateNormalBatch.fromCovarianceSync(options),
    covarium.MultivariateNormalMixture.fromCovarianceSync({ ...options, weights: [1] }),
    covarium.MultivariateStudentTBatch.fromScaleSync({ device, scales, degreesOfFreedom: 3 }),
  ];
  for (const thing of things) {
    const { name } = thing.constructor;
    assert.throws(() => structuredClone(thing), new RegExp(`${name}.*can't be cloned`), name);
    assert.throws(() => structuredClone({ deep: [thing] }), /can't be cloned/, name);
    assert.throws(() => channel.port1.postMessage(thing), /can't be cloned/, name);
  }
  channel.port1.close();
});

test('structuredClone and postMessage copy arrays, from which their classes restore them to the bit.', async () => {
  const size = { width: 3, height: 2 };
  const numbers = new Float64Array([-0, 1 / 3, Number.NaN, 5e-324, Number.POSITIVE_INFINITY, 6]);
  const { port1, port2 } = new MessageChannel();
  const cases = [
    [(clone: never) => Matrix.from(clone), Matrix.from(numbers.slice(), { columns: 3 })],
    [(clone: never) => Vector.from(clone), Vector.from(numbers.slice())],
    [(clone: never) => Volume.from(clone), Volume.from(numbers.slice(), size)],
  ] as const;
  for (const [from, array] of cases) {
    port1.postMessage({ array });
    const sent = receiveMessageOnPort(port2)!.message.array;
    for (const clone of [structuredClone(array), sent, { ...array }]) {
      assert.equal(Object.keys(clone), ['contents']);
      assert.ok(isDeepStrictEqual(from(clone as never), array), inspect(array));
    }
    array.close();
    await throwsCode('ERR_CLOSED', 'closed', () => structuredClone(array));
  }
  port1.close();
});

test('Arrays are equal if type, shape and numbers are, and no two distributions are.', async () => {
  const matrix = Matrix.from([[1, 2]]);
  assert.ok(isDeepStrictEqual(matrix, Matrix.from([[1, 2]])));
  const others = [Matrix.from([[1, 3]]), Matrix.from([[1], [2]]), Matrix.from([[1, 2]], { dtype: 'float64' })];
  for (const other of others) assert.not.ok(isDeepStrictEqual(matrix, other), inspect(other));
  assert.not.ok(isDeepStrictEqual(Vector.from([1]), Vector.from([2])));
  assert.not.ok(isDeepStrictEqual(Volume.from([1], { width: 1 }), Volume.from([2], { width: 1 })));
  const device = openDevice('reference');
  const [one, two] = [1, 2].map((variance) => MultivariateNormal.fromDiagonalSync({ device, variances: [variance] }));
  assert.not.ok(isDeepStrictEqual(one, two));
  assert.not.ok(isDeepStrictEqual(new Moments(2), new Moments(2)));
  assert.ok(isDeepStrictEqual(one, one));
});

test('Classes and their objects have the names of their exports.', () => {
  const device = openDevice('reference');
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1] });
  const names = [Matrix.from([[1]]), Vector.from([1]), new Moments(1), normal, device].map((thing) => [
    thing.constructor.name,
    Object.prototype.toString.call(thing),
  ]);
  const wanted = ['Matrix', 'Vector', 'Moments', 'MultivariateNormal', 'Device'];
  assert.equal(
    names,
    wanted.map((name) => [name, `[object ${name}]`]),
  );
});

test('Rows, columns and entries can be read.', async () => {
  const matrix = Matrix.from([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  assert.equal(
    [...matrix].map((row) => [...row]),
    matrix.toArray(),
  );
  const [first] = matrix;
  first![0] = 9;
  assert.is(matrix.get(0, 0), 9, 'a row is a live view');
  assert.equal(matrix.column(1), Float32Array.of(2, 4, 6));
  assert.equal([matrix.at(-1, -1), matrix.at(1, 0)], [6, 3]);
  assert.equal([matrix.shape, matrix.strides, matrix.offset], [[3, 2], [2, 1], 0]);
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => matrix.column(2));
  await throwsCode('ERR_OUT_OF_RANGE', '`row` is (-4)', () => matrix.at(-4, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '`column` is (-3)', () => matrix.at(0, -3));
  const vector = Vector.from([1, 2, 3]);
  assert.equal([[...vector], vector.at(-1), vector.shape], [[1, 2, 3], 3, [3]]);
  const volume = Volume.from([1, 2, 3, 4], { width: 2, height: 1, depth: 2 });
  assert.equal(
    [volume.toArray(), volume.shape],
    [
      [[[1, 2]], [[3, 4]]],
      [2, 1, 2],
    ],
  );
  matrix.close();
  await throwsCode('ERR_CLOSED', '(6', () => JSON.stringify(matrix));
});

test('Classes have the names under which they are exported.', () => {
  const classes = Object.entries<unknown>(covarium).filter(
    ([, value]) => typeof value === 'function' && value.prototype,
  );
  assert.ok(classes.length > 10);
  for (const [name, value] of classes) assert.is((value as { readonly name: string }).name, name);
});

test.run();
