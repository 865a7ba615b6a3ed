// Every message names the argument as the caller wrote it. Each row is a bad call: its code, the name in the message,
// and the call.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CommandBuffer,
  correlationOf,
  Device,
  Distribution,
  type ErrorCode,
  f32,
  Kernel,
  klDivergence,
  klDivergenceSync,
  Matrix,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateStudentT,
  nearestPositiveDefinite,
  nearestPositiveDefiniteSync,
  u8,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const bad = (value: unknown) => value as never;
const one = [
  [1, 0],
  [0, 1],
];
const withNaN = [
  [1, Number.NaN],
  [Number.NaN, 1],
];
const indefinite = [
  [1, 2],
  [2, 1],
];
const skew = [
  [1, 0],
  [0.5, 1],
];
const normalOf = (device: Device, covariance = one) => MultivariateNormal.fromCovarianceSync({ device, covariance });
const moments = () => {
  const some = new Moments(2);
  some.addSync([[1, 2], [3, 5], [4, 1]]); // biome-ignore format: rows
  return some;
};
const Made = <T>(Class: T) => Class as unknown as new (...all: unknown[]) => unknown;

type Row = readonly [ErrorCode, name: string, call: (device: Device) => unknown];

const wrong = 'ERR_INVALID_ARGUMENT';
const tables: { readonly [family: string]: readonly Row[] } = {
  'arrays of the host': [
    ['ERR_SHAPE', '`values` is flat', () => Matrix.from(bad([1, 2, 3]))],
    ['ERR_SHAPE', '`values` has (0) rows', () => Matrix.from([])],
    ['ERR_SHAPE', '`values` row (0) has (0) entries', () => Matrix.from([[]])],
    ['ERR_SHAPE', '`values` row (1)', () => Matrix.from([[1], [1, 2]])],
    ['ERR_SHAPE', '`rows` is (3)', () => Matrix.from([[1, 2]], { rows: 3 })],
    [wrong, '`values` entry (0, 0) is (1n)', () => Matrix.from(bad([[1n]]))],
    [wrong, '`values` column (a)', () => Matrix.from(bad({ a: [1, 'x'] }))],
    [wrong, '`values` is (BigInt64Array of 2)', () => Matrix.from(bad(new BigInt64Array(2)))],
    [wrong, '`dtype` is', () => Matrix.from({ data: [1], shape: [1, 1] }, { dtype: bad('f32') })],
    [wrong, '`values.dtype` is', () => Matrix.from(bad({ dtype: 'f32', shape: [1, 1], data: [1] }))],
    [wrong, '`values` is missing', () => Vector.from(bad(undefined))],
    [wrong, '`values` is (Promise). Await it.', () => Vector.from(bad(Promise.resolve()))],
    [wrong, '`values` entry (1)', () => Vector.from(bad([1, '2']))],
    ['ERR_SHAPE', '`values` of shape', () => Vector.from(bad(Matrix.from(one)))],
    [wrong, '`values` is (3)', () => Volume.from(bad(3), { width: 1 })],
  ],
  'arguments of distributions': [
    ['ERR_SHAPE', '`covariance` has (0) rows', (device) => normalOf(device, [])],
    ['ERR_SHAPE', '`rows` has (0) rows', (device) => MultivariateNormal.fit({ device, rows: [] })],
    [wrong, '`covariance` is (BigInt64Array', (device) => normalOf(device, bad(new BigInt64Array(4)))],
    ['ERR_UNSUPPORTED_DTYPE', '`dtype` is (int32)', (device) => of(device, { covariance: one, dtype: bad('int32') })],
    [
      'ERR_SHAPE',
      '`mean` has (3) entries, but `covariance`',
      (device) => of(device, { covariance: one, mean: [1, 2, 3] }),
    ],
    ['ERR_NOT_FINITE', '`covariance` entry (0, 1)', (device) => of(device, { covariance: withNaN, jitter: true })],
    ['ERR_NOT_POSITIVE_DEFINITE', '`correlation` is not', (device) => correlated(device, indefinite, [1, 2])],
    [
      'ERR_NOT_SYMMETRIC',
      '`correlation` is not symmetric: entry (1, 0) is (0.5)',
      (device) => correlated(device, skew, [1, 2]),
    ],
    ['ERR_NOT_FINITE', '`standardDeviations` entry (1) is', (device) => correlated(device, one, [1, Number.NaN])],
    ['ERR_OUT_OF_RANGE', '`standardDeviations` entry (0) is (1e+200)', (device) => correlated(device, one, [1e200, 1])],
    ['ERR_NOT_FINITE', '`values` entry (1) is', (device) => eigen(device, [1, Number.NaN])],
    ['ERR_OUT_OF_RANGE', '`values`', (device) => eigen(device, [1e300, 1])],
    ['ERR_OUT_OF_RANGE', '`variances`', (device) => diagonal(device, { variances: [1e300], dtype: 'float32' })],
    ['ERR_SHAPE', '`variances` has (0)', (device) => diagonal(device, { variances: [] })],
    [
      'ERR_SHAPE',
      '`mean` has (1) entries, but `variances`',
      (device) => diagonal(device, { mean: [1], variances: [1, 2] }),
    ],
    ['ERR_OUT_OF_MEMORY', '`dimension`', (device) => diagonal(device, { variances: 1, dimension: 1e14 })],
    ['ERR_NOT_FINITE', '`z` entry (0, 1)', (device) => normalOf(device).transform([1, Number.NaN])],
    ['ERR_NOT_FINITE', '`z` entry (0, 1)', (device) => transformed(device, one, [1, Number.NaN])],
    ['ERR_NOT_FINITE', '`covariance` entry (0, 1)', (device) => transformed(device, withNaN, [1, 2])],
    ['ERR_NOT_FINITE', '`rows` entry (0, 1)', (device) => normalOf(device).scoreInput([1, Number.NaN])],
    ['ERR_NOT_FINITE', '`means` entry (0, 1)', (device) => normalOf(device).sample(1, { means: [[1, Number.NaN]] })],
    [wrong, '`rows` is missing', (device) => normalOf(device).conditionalMeans(bad({ given: [0] }))],
    ['ERR_NOT_FINITE', '`noise` entry (0, 1)', (device) => normalOf(device).affine({ matrix: one, noise: withNaN })],
    [wrong, '`out` is (array of 0)', (device) => normalOf(device).sample(2, { out: bad([]) })],
    ['ERR_OUT_OF_RANGE', '`count` is', (device) => normalOf(device).sample(1e20)],
    ['ERR_TOO_LARGE', '`count` is', (device) => normalOf(device).sampleSync(2 ** 53 - 1)],
    ['ERR_OUT_OF_MEMORY', '`count`', (device) => normalOf(device).sampleSync(1e13)],
    ['ERR_MALFORMED_MODEL', '`json` is', (device) => MultivariateNormal.fromJSON(undefined, { device })],
    ['ERR_MALFORMED_MODEL', '`json` is', (device) => MultivariateStudentT.fromJSON(undefined, { device })],
    ['ERR_NOT_FINITE', '`means[1]` entry (0)', (device) => batch(device, { means: [[0, 0], withNaN[1]] })],
    ['ERR_SHAPE', '`means` has (1) rows', (device) => batch(device, { means: [[0, 0]] })],
    ['ERR_NOT_FINITE', '`covariances[1]` entry (0, 1)', (device) => batch(device, { covariances: [one, withNaN] })],
    ['ERR_NOT_FINITE', '`rows` entry (1, 0)', (device) => groups(device, [[1], [Number.NaN], [2]])],
  ],
  'functions of normals and of rows': [
    ['ERR_SHAPE', '`q` has', (device) => klDivergence(normalOf(device), normalOf(device, [[1]]))],
    [wrong, '`p` is', (device) => klDivergenceSync(bad(3), normalOf(device))],
    [wrong, '`dtype` is', () => nearestPositiveDefiniteSync(one, { dtype: bad('int32') })],
    [wrong, '`correlation` is (1)', () => nearestPositiveDefinite(one, { correlation: bad(1) })],
    ['ERR_SHAPE', '`matrix` has (3) entries', () => nearestPositiveDefiniteSync(new Float64Array(3))],
    ['ERR_SHAPE', '`covariance` has (3) entries', () => correlationOf(new Float64Array(3))],
    [wrong, '`rows` is missing', () => moments().addSync(bad(undefined))],
    ['ERR_SHAPE', '`rows` row (1)', () => moments().addSync([[1, 2], [3]])],
    [wrong, '`weights` entry (0)', () => moments().addSync([[1, 2]], { weights: bad([1n]) })],
    [wrong, '`mean` is (3)', () => moments().covariance({ mean: bad(3) })],
    [wrong, '`other` is missing', () => moments().merge(bad(undefined))],
    ['ERR_OUT_OF_MEMORY', '`dimension`', () => new Moments(1e10)],
    ['ERR_MALFORMED_MOMENTS', '`json` is', () => Moments.fromJSON(undefined)],
  ],
  kernels: [
    [wrong, '`source` is missing', (device) => device.kernel(bad(undefined))],
    [wrong, '`source` is (3)', (device) => device.library(bad(3))],
    [wrong, '`name` is (3)', (device) => device.kernel('', { name: bad(3) })],
    [wrong, '`includes` is (3)', (device) => device.kernel('', { includes: bad(3) })],
    [wrong, "`type` is ('f32')", (device) => device.reduce(bad('f32'), (a, b) => a + b, 0)],
    [wrong, '`type` is', (device) => device.scan(u8, (a, b) => a + b, 0)],
    [wrong, '`combine` is (3)', (device) => device.reduce(f32, bad(3), 0)],
    [wrong, '`identity` is missing', (device) => device.scan(f32, (a, b) => a + b, bad(undefined))],
    [wrong, '`name` is (3)', (device) => device.reduce(f32, (a, b) => a + b, 0, { name: bad(3) })],
    [wrong, '`from` is (3)', (device) => device.reduce(f32, (a, b) => a + b, 0, { from: bad(3) })],
    [wrong, '`types[0]` is (3)', (device) => device.vectorize([bad(3)], f32, (x) => x)],
    [wrong, '`result` is missing', (device) => device.vectorize([f32], bad(undefined), (x) => x)],
    [wrong, '`text` is (3)', (device) => device.vectorize([f32], f32, bad(3))],
    [wrong, '`descriptor` is (3)', (device) => device.compute(bad(3), () => {})],
    [wrong, '`text` is missing', (device) => device.elementwise('x', bad(undefined))],
    [wrong, '`reduce` is missing', (device) => device.reduction(bad({ from: 'x', identity: 0 }))],
    [wrong, '`values[0]` is (1n)', async (device) => (await device.scan(f32, (a, b) => a + b, 0)).run(bad([1n]))],
    [wrong, '`size` is not', (device) => device.volume(bad(undefined))],
    ['ERR_OUT_OF_MEMORY', '`length`', (device) => device.vector(1e14)],
  ],
  'classes that have no constructor': [
    [wrong, 'openDevice', () => new (Made(Device))()],
    [wrong, 'commandBuffer', () => new (Made(CommandBuffer))()],
    [wrong, 'device.kernel', () => new (Made(Kernel))()],
    [wrong, 'MultivariateNormal.from', () => new (Made(Distribution))()],
  ],
};

const of = (device: Device, options: object) => MultivariateNormal.fromCovariance({ device, ...options } as never);
const diagonal = (device: Device, options: object) => MultivariateNormal.fromDiagonal({ device, ...options } as never);
const correlated = (device: Device, correlation: number[][], standardDeviations: number[]) =>
  MultivariateNormal.fromCorrelation({ device, correlation, standardDeviations });
const eigen = (device: Device, values: number[]) =>
  MultivariateNormal.fromEigen({ device, values, vectors: one, dtype: 'float32' });
const transformed = (device: Device, covariance: number[][], z: number[]) =>
  MultivariateNormal.transform({ device, covariance, z });
const batch = (device: Device, options: object) =>
  MultivariateNormalBatch.fromCovariance({ device, covariances: [one, one], ...options } as never);
const groups = (device: Device, rows: number[][]) => MultivariateNormalBatch.fit({ device, rows, labels: [0, 0, 0] });

for (const [family, rows] of Object.entries(tables))
  onEveryDevice(`${family}: a message names the argument as the caller wrote it.`, async (device) => {
    for (const [code, name, call] of rows) await throwsCode(code, name, () => call(device));
  });

onEveryDevice(
  'linear algebra: a message names the matrix or b, in asynchronous and synchronous calls.',
  async (device) => {
    const [nan, good] = [Matrix.from(withNaN), Matrix.from(one)];
    const b = Vector.from([1, Number.NaN]);
    for (const name of ['eigh', 'svd', 'qr', 'det', 'slogdet', 'inverse', 'covariance'] as const) {
      await throwsCode('ERR_NOT_FINITE', '`matrix` entry (0, 1)', () => nan[name]({ device }));
      await throwsCode('ERR_NOT_FINITE', '`matrix` entry (0, 1)', () => nan[`${name}Sync`]({ device }));
    }
    for (const name of ['solve', 'lstsq'] as const) {
      await throwsCode('ERR_NOT_FINITE', '`matrix` entry (0, 1)', () => nan[name](Vector.from([1, 2]), { device }));
      await throwsCode('ERR_NOT_FINITE', '`b` entry (1', () => good[name](b, { device }));
      await throwsCode('ERR_NOT_FINITE', '`b` entry (1', () => good[`${name}Sync`](b, { device }));
    }
    await throwsCode('ERR_SINGULAR', '`matrix` is singular', () => Matrix.from([[0]]).inverse({ device }));
    await throwsCode(wrong, '`b` is (array of 1)', () => good.multiply(bad([[1]]), { device }));
    // The error is about `b`, not about the missing device.
    await throwsCode(wrong, '`b` is (array of 1)', () => good.multiplySync(bad([[1]])));
  },
);

onEveryDevice('a command buffer names the operand, whatever is wrong with it.', async (device) => {
  const square = () => Matrix.from(one);
  const rowOf = () => Vector.from([1, 2]);
  // Valid arguments of each command.
  const commands = {
    fillNormal: { out: square },
    requireFinite: { a: square },
    requireSymmetric: { a: square },
    cholesky: { a: square },
    zeroUpper: { a: square },
    antitranspose: { a: square },
    copy: { from: square, to: square },
    sum: { a: square, b: square, out: square },
    addRow: { rows: square, row: rowOf },
    scaleColumns: { rows: square, row: rowOf },
    product: { a: square, b: square, c: square },
    triangularProduct: { factor: square, rows: square },
    triangularSolve: { factor: square, rows: square },
    choleskySolve: { factor: square, rows: square },
    squaredNorms: { rows: square, out: rowOf },
    sample: { factor: square, mean: rowOf, out: square },
    logDensity: { factor: square, mean: rowOf, rows: square, out: rowOf },
    meanAndCovariance: { rows: square, mean: rowOf, covariance: square },
  };
  const others = ['constructor', 'launch', 'commit', 'commitSync'];
  const recorded = Object.getOwnPropertyNames(CommandBuffer.prototype).filter((name) => !others.includes(name));
  assert.equal(Object.keys(commands).sort(), recorded.sort(), 'each command has its valid arguments above');
  const closed = square();
  closed.close();
  const wrongOnes: readonly [ErrorCode, unknown][] = [
    [wrong, undefined],
    [wrong, Promise.resolve(square())],
    ['ERR_CLOSED', closed],
  ];
  for (const [command, made] of Object.entries(commands))
    for (const [at, name] of Object.keys(made).entries())
      for (const [code, given] of wrongOnes) {
        const all: unknown[] = Object.values(made).map((make) => make());
        all[at] = given;
        const commandBuffer = device.commandBuffer() as unknown as Record<string, (...all: unknown[]) => unknown>;
        const { message } = await throwsCode(code, `\`${name}\``, () => commandBuffer[command]!(...all));
        assert.ok(message.startsWith(`\`${name}\``), message);
      }
  const commandBuffer = device.commandBuffer();
  await throwsCode('ERR_UNSUPPORTED_DTYPE', '`a`', () =>
    commandBuffer.cholesky(Matrix.from([[1]], { dtype: 'int32' })),
  );
  const other = Matrix.from(one, { dtype: 'float64' });
  await throwsCode(wrong, '`to` has type (float64), but `from`', () => commandBuffer.copy(square(), other));
  await throwsCode(wrong, '`transposeA` is', () =>
    commandBuffer.product(square(), square(), square(), { transposeA: bad('x') }),
  );
  await throwsCode(wrong, '`threadgroup` is (3)', () => commandBuffer.launch('add', [], [1], bad(3)));
  await throwsCode('ERR_OUT_OF_RANGE', '`first` is (-1)', () => commandBuffer.fillNormal(square(), { first: -1 }));
});

test.run();
