import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import { fromNative } from '../../lib/covarium-error.ts';
import {
  CovariumError,
  Device,
  type ErrorCode,
  type ErrorFields,
  Matrix,
  MultivariateNormal,
  openDevice,
} from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

type Refusal = [code: ErrorCode, value: string, work: (device: Device) => unknown, fields?: ErrorFields];

const covariance = [
  [2, 0.5],
  [0.5, 1],
];
const anything = (value: unknown) => value as never;

const making: Refusal[] = [
  ['ERR_INVALID_ARGUMENT', '(undefined)', () => MultivariateNormal.fromCovariance(anything({ covariance }))],
  ['ERR_INVALID_ARGUMENT', "('cpu')", () => MultivariateNormal.fromCovariance(anything({ device: 'cpu', covariance }))],
  ['ERR_UNKNOWN_OPTION', '(cov)', (device) => MultivariateNormal.fromCovariance(anything({ device, cov: covariance }))],
  ['ERR_INVALID_ARGUMENT', '(undefined)', (device) => MultivariateNormal.fromCovariance(anything({ device }))],
  ['ERR_INVALID_ARGUMENT', '(undefined)', () => MultivariateNormal.fromCovariance(anything(undefined))],
  ['ERR_SHAPE', '(3)', (device) => MultivariateNormal.fromCovariance({ device, mean: [0, 0, 0], covariance })],
  ['ERR_SHAPE', '(0)', (device) => MultivariateNormal.fromCovariance({ device, mean: [], covariance })],
  ['ERR_SHAPE', '(1)', (device) => MultivariateNormal.fromCovariance({ device, covariance: [[1, 2]] })],
  ['ERR_SHAPE', '(5)', (device) => MultivariateNormal.fromCovariance({ device, covariance: new Float32Array(5) })],
  [
    'ERR_SHAPE',
    '`covariance` row (1)',
    (device) => MultivariateNormal.fromCovariance({ device, covariance: [[1, 0], [0]] }),
  ],
  [
    'ERR_NOT_FINITE',
    '`mean` entry (1) is (NaN), not a finite number',
    (device) => MultivariateNormal.fromCovariance({ device, mean: [0, Number.NaN], covariance }),
    { row: 0, column: 1 },
  ],
  [
    'ERR_NOT_FINITE',
    'NaN',
    (device) =>
      MultivariateNormal.fromCovariance({
        device,
        covariance: [
          [1, Number.NaN],
          [0, 1],
        ],
      }),
    { row: 0, column: 1 },
  ],
  [
    'ERR_OUT_OF_RANGE',
    '(1e+39)',
    (device) =>
      MultivariateNormal.fromCovariance({
        device,
        covariance: [
          [1, 0],
          [0, 1e39],
        ],
      }),
    { row: 1, column: 1 },
  ],
  [
    'ERR_NOT_SYMMETRIC',
    '0.25',
    (device) =>
      MultivariateNormal.fromCovariance({
        device,
        covariance: [
          [1, 0.5],
          [0.25, 1],
        ],
      }),
    { row: 1, column: 0 },
  ],
  [
    'ERR_NOT_SYMMETRIC',
    '0.25',
    (device) =>
      MultivariateNormal.fromPrecision({
        device,
        precision: [
          [1, 0.5],
          [0.25, 1],
        ],
      }),
    { row: 1, column: 0 },
  ],
  [
    'ERR_NOT_POSITIVE_DEFINITE',
    '(1)',
    (device) =>
      MultivariateNormal.fromCovariance({
        device,
        covariance: [
          [1, 2],
          [2, 1],
        ],
      }),
    { pivot: 1 },
  ],
  [
    'ERR_NOT_POSITIVE_DEFINITE',
    '(0)',
    (device) =>
      MultivariateNormal.fromPrecision({
        device,
        precision: [
          [1, 2],
          [2, 1],
        ],
      }),
    { pivot: 0 },
  ],
  [
    'ERR_NOT_POSITIVE_DEFINITE',
    '(150)',
    (device) => MultivariateNormal.fromCovariance({ device, covariance: identityBut(200, 150, -1) }),
    { pivot: 150 },
  ],
  [
    'ERR_NOT_POSITIVE_DEFINITE',
    '(-1)',
    (device) =>
      MultivariateNormal.fromCholesky({
        device,
        factor: [
          [1, 0],
          [0, -1],
        ],
      }),
    { pivot: 1 },
  ],
  [
    'ERR_NOT_FINITE',
    '(1, 1)',
    (device) =>
      MultivariateNormal.fromCholesky({
        device,
        factor: [
          [1, 0],
          [0, Number.NaN],
        ],
      }),
    { row: 1, column: 1 },
  ],
  [
    'ERR_NOT_FINITE',
    '1, 0',
    (device) =>
      MultivariateNormal.fromCholesky({
        device,
        factor: [
          [1, 0],
          [Number.NaN, 1],
        ],
      }),
    { row: 1, column: 0 },
  ],
  [
    'ERR_OUT_OF_RANGE',
    '(-1)',
    (device) => MultivariateNormal.fromCovariance({ device, covariance, symmetryTolerance: -1 }),
  ],
  [
    'ERR_INVALID_ARGUMENT',
    "('float16')",
    (device) => MultivariateNormal.fromCovariance({ device, covariance, dtype: anything('float16') }),
  ],
  [
    'ERR_UNSUPPORTED_DTYPE',
    '(int32)',
    (device) => MultivariateNormal.fromCovariance({ device, covariance, dtype: anything('int32') }),
  ],
  [
    'ERR_SHAPE',
    '(2) rows',
    (device) =>
      MultivariateNormal.fit({
        device,
        rows: [
          [1, 2],
          [3, 4],
        ],
      }),
  ],
  [
    'ERR_NOT_FINITE',
    '2, 0',
    (device) => MultivariateNormal.fit({ device, rows: [[1], [2], [Number.NaN]] }),
    { row: 2, column: 0 },
  ],
  [
    'ERR_NOT_POSITIVE_DEFINITE',
    '(1)',
    (device) =>
      MultivariateNormal.fit({
        device,
        rows: [
          [1, 7],
          [2, 7],
          [3, 7],
          [5, 7],
        ],
      }),
    { pivot: 1 },
  ],
  ['ERR_OUT_OF_RANGE', '(3)', (device) => MultivariateNormal.fit({ device, rows: [[1], [2], [3]], ddof: 3 })],
];

const sampling: [
  code: ErrorCode,
  value: string,
  work: (normal: MultivariateNormal) => unknown,
  fields?: ErrorFields,
][] = [
  ['ERR_OUT_OF_RANGE', '(-1)', (normal) => normal.sample(-1)],
  ['ERR_OUT_OF_RANGE', '(2.5)', (normal) => normal.sampleSync(2.5)],
  ['ERR_OUT_OF_RANGE', '(NaN)', (normal) => normal.sample(Number.NaN)],
  ['ERR_INVALID_ARGUMENT', "('3')", (normal) => normal.sampleSync(anything('3'))],
  ['ERR_INVALID_ARGUMENT', '(undefined)', (normal) => normal.sample(anything(undefined))],
  ['ERR_TOO_LARGE', '(9007199254740991)', (normal) => normal.sample(2 ** 53 - 1)],
  ['ERR_OUT_OF_MEMORY', '(8000000000000000 bytes)', (normal) => normal.sampleSync(1e15)],
  ['ERR_OUT_OF_RANGE', '`seed` is (-1)', (normal) => normal.sampleSync(1, { seed: -1 })],
  ['ERR_OUT_OF_RANGE', '`seed` is (18446744073709551616)', (normal) => normal.sample(1, { seed: 2n ** 64n })],
  ['ERR_OUT_OF_RANGE', '`stream` is (0.5)', (normal) => normal.sample(1, { stream: 0.5 })],
  ['ERR_OUT_OF_RANGE', '`firstRow` is (-1)', (normal) => normal.sample(1, { firstRow: -1 })],
  ['ERR_OUT_OF_RANGE', '(9223372036854775807)', (normal) => normal.sample(2, { firstRow: 2n ** 63n - 1n })],
  ['ERR_UNKNOWN_OPTION', 'means, empirical)', (normal) => normal.sample(1, anything({ sed: 1 }))],
  ['ERR_UNKNOWN_OPTION', 'means, empirical)', (normal) => normal.sampleSync(1, anything({ sed: 1, means: [[0, 0]] }))],
  ['ERR_UNKNOWN_OPTION', 'means, empirical)', (normal) => normal.sampleSync(3, anything({ sed: 1, empirical: true }))],
  ['ERR_UNKNOWN_OPTION', '(signal)', (normal) => normal.sampleSync(1, anything({ signal: undefined }))],
  ['ERR_INVALID_ARGUMENT', '(null)', (normal) => normal.sampleSync(1, anything(null))],
  ['ERR_INVALID_ARGUMENT', "('now')", (normal) => normal.sample(1, { signal: anything('now') })],
  ['ERR_SHAPE', 'Float32Array of 3', (normal) => normal.sample(2, { out: new Float32Array(3) })],
  [
    'ERR_SHAPE',
    '(3)',
    (normal) =>
      normal.sample(2, {
        out: Matrix.from([
          [1, 2, 3],
          [4, 5, 6],
        ]),
      }),
  ],
  ['ERR_SHAPE', '(2)', (normal) => normal.sample(2, { out: Matrix.from([[1, 2]]) })],
  ['ERR_INVALID_ARGUMENT', 'Float64Array of 4', (normal) => normal.sample(2, { out: new Float64Array(4) })],
  [
    'ERR_INVALID_ARGUMENT',
    '`out` is (array of 4). Pass a Matrix or a typed array of',
    (normal) => normal.sampleSync(2, { out: anything([1, 2, 3, 4]) }),
  ],
  ['ERR_INVALID_ARGUMENT', 'resizable or shared', (normal) => normal.sample(2, { out: resizable(4) })],
  [
    'ERR_INVALID_ARGUMENT',
    'resizable or shared',
    (normal) => normal.sample(2, { out: new Float32Array(new SharedArrayBuffer(16)) }),
  ],
  ['ERR_CLOSED', 'detached', (normal) => normal.sample(2, { out: detached(4) })],
  ['ERR_CLOSED', 'closed', (normal) => normal.sample(2, { out: closed(normal.device) })],
  ['ERR_OUT_OF_RANGE', '(0)', (normal) => normal.blocks(2, { rowsPerBlock: 0 })],
  ['ERR_OUT_OF_MEMORY', 'by `rowsPerBlock`', (normal) => normal.blocks(1e14, { rowsPerBlock: 1e13 }).next()],
  ['ERR_OUT_OF_RANGE', '(-2)', (normal) => normal.blocks(-2)],
  ['ERR_UNKNOWN_OPTION', '(out)', (normal) => normal.blocks(2, anything({ out: new Float32Array(4) }))],
  ['ERR_SHAPE', '(3)', (normal) => normal.transform([1, 2, 3])],
  ['ERR_SHAPE', '(4)', (normal) => normal.transformSync(new Float32Array(4))],
  ['ERR_SHAPE', '(3)', (normal) => normal.logPdf([[1, 2, 3]])],
  ['ERR_SHAPE', '(3)', (normal) => normal.logPdfSync(new Float32Array(3))],
  [
    'ERR_NOT_FINITE',
    '1, 0',
    (normal) =>
      normal.logPdf([
        [1, 2],
        [Number.NaN, 3],
      ]),
    { row: 1, column: 0 },
  ],
  [
    'ERR_NOT_FINITE',
    'Infinity',
    (normal) => normal.transformSync([1, Number.POSITIVE_INFINITY]),
    { row: 0, column: 1 },
  ],
  ['ERR_INVALID_ARGUMENT', "('two')", (normal) => normal.transform(anything('two'))],
  ['ERR_INVALID_ARGUMENT', '`rows` entry (0, 1)', (normal) => normal.logPdf(anything([[1, '2']]))],
];

onEveryDevice('an impossible normal is refused, and the device goes on.', async (device) => {
  const before = device.memory().liveBytes;
  for (const [code, value, work, fields = {}] of making) {
    const error = await throwsCode(code, value, () => work(device));
    for (const [name, expected] of Object.entries(fields))
      assert.is(error[name as keyof ErrorFields], expected, error.message);
    assert.is(device.memory().liveBytes, before, error.message);
  }
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  assert.ok(normal.sampleSync(3, { seed: 1 }).data.every(Number.isFinite));
});

onEveryDevice('a bad call of a normal is refused, and the device goes on.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance });
  const expected = normal.sampleSync(3, { seed: 1 }).toArray();
  for (const [code, value, work, fields = {}] of sampling) {
    const error = await throwsCode(code, value, () => work(normal));
    for (const [name, place] of Object.entries(fields))
      assert.is(error[name as keyof ErrorFields], place, error.message);
    assert.equal(normal.sampleSync(3, { seed: 1 }).toArray(), expected);
  }
});

onEveryDevice('memory of another device is refused.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance });
  using other = openDevice('reference');
  const foreign = other.matrix(2, 2);
  await throwsCode('ERR_FOREIGN_BUFFER', other.name, () => normal.sample(2, { out: foreign }));
  await throwsCode('ERR_FOREIGN_BUFFER', other.name, () => normal.logPdf(foreign));
  await throwsCode('ERR_FOREIGN_BUFFER', other.name, () => normal.transform(other.vector(2)));
  await throwsCode('ERR_FOREIGN_BUFFER', other.name, () =>
    MultivariateNormal.fromCovariance({ device, covariance: foreign }),
  );
  other.close();
  await throwsCode('ERR_CLOSED', other.name, () => normal.logPdf(foreign));
  normal.sampleSync(1);
});

onEveryDevice('a closed normal, or one of a closed device, refuses every call.', async (device) => {
  const first = await MultivariateNormal.fromCovariance({ device, covariance });
  const second = await MultivariateNormal.fromCovariance({ device, covariance });
  const calls: ((normal: MultivariateNormal) => unknown)[] = [
    (normal) => normal.sample(1),
    (normal) => normal.sampleSync(1),
    (normal) => normal.blocks(1),
    (normal) => normal.transform([1, 2]),
    (normal) => normal.logPdf([1, 2]),
    (normal) => normal.covariance(),
    (normal) => normal.factorSync(),
    (normal) => normal.mean,
  ];
  first.close();
  first.close();
  assert.ok(first.closed && !second.closed);
  for (const call of calls) await throwsCode('ERR_CLOSED', '(2)', () => call(first));
  second.sampleSync(1);
  device.close();
  assert.ok(second.closed);
  for (const call of calls) await throwsCode('ERR_CLOSED', device.name, () => call(second));
  second.close();
});

onEveryDevice('work in flight settles when its device closes.', async (device) => {
  const normal = await MultivariateNormal.fromCovariance({ device, covariance });
  const sampled = normal.sample(5_000_000, { seed: 1 });
  device.close();
  const outcome = await sampled.catch((error: unknown) => error);
  assert.ok(outcome instanceof CovariumError || outcome instanceof Matrix, String(outcome));
});

test('float64 is refused on a device without it.', async () => {
  const backend = {
    kind: 'metal',
    name: 'A GPU',
    threads: 1,
    dtypes: ['float32'],
    close: () => {},
  } as unknown as Backend;
  using device = new Device(backend);
  await throwsCode('ERR_UNSUPPORTED_DTYPE', '(float64)', () =>
    MultivariateNormal.fromCovariance({ device, covariance, dtype: 'float64' }),
  );
});

test("An addon's error becomes a CovariumError with its fields; anything else is a defect.", () => {
  const native = Object.assign(new Error('Pivot (3) is not positive.'), {
    code: 'ERR_NOT_POSITIVE_DEFINITE',
    pivot: 3,
  });
  const error = fromNative(native);
  assert.instance(error, CovariumError);
  assert.equal(
    [error.code, error.pivot, error.message, error.name],
    ['ERR_NOT_POSITIVE_DEFINITE', 3, 'Pivot (3) is not positive.', 'CovariumError'],
  );
  assert.is(fromNative(error), error);
  assert.is(fromNative(new RangeError('Array buffer allocation failed')).code, 'ERR_OUT_OF_MEMORY');
  const defect = new TypeError('x is not a function');
  assert.equal([fromNative(defect).code, fromNative(defect).cause], ['ERR_INTERNAL', defect]);
  assert.is(fromNative('text').code, 'ERR_INTERNAL');
});

function identityBut(n: number, index: number, entry: number): Matrix {
  const matrix = Matrix.from(new Float32Array(n * n), { columns: n });
  for (let i = 0; i < n; i++) matrix.row(i)[i] = i === index ? entry : 1;
  return matrix;
}

function resizable(length: number): Float32Array {
  const Resizable = ArrayBuffer as unknown as new (length: number, options: object) => ArrayBuffer;
  return new Float32Array(new Resizable(length * 4, { maxByteLength: length * 8 }));
}

function detached(length: number): Float32Array {
  const values = new Float32Array(length);
  structuredClone(values.buffer, { transfer: [values.buffer] });
  return values;
}

function closed(device: Device): Matrix {
  const matrix = device.matrix(2, 2);
  matrix.close();
  return matrix;
}

test.run();
