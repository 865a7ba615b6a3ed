import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, openDevice, Vector } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const square = () =>
  Matrix.from([
    [4, 2],
    [2, 3],
  ]);

onEveryDevice('one commit holds a pipeline, and gives its timings.', async (device) => {
  const factor = square();
  const product = Matrix.from(new Float32Array(4), { columns: 2 });
  const timings = await device
    .commandBuffer()
    .requireFinite(factor)
    .requireSymmetric(factor, 1e-6)
    .cholesky(factor)
    .product(factor, factor, product, { transposeB: true })
    .commit();
  close(factor.toArray().flat(), [2, 0, 1, Math.SQRT2]);
  close(product.toArray().flat(), [4, 2, 2, 3]);
  for (const time of [timings.encodeMs, timings.deviceMs, timings.wallMs]) assert.ok(time >= 0, String(time));
});

onEveryDevice('a synchronous commit has run when it returns.', (device) => {
  const left = Matrix.from([[1, 2, 3]]);
  const right = Matrix.from([[1], [10], [100]]);
  const out = device.matrix(1, 1);
  const timings = device.commandBuffer().product(left, right, out, { alpha: 2 }).commitSync();
  assert.is(out.get(0, 0), 642);
  assert.ok(timings.wallMs >= 0);
  device.commandBuffer().product(left, right, out, { alpha: 1, beta: -1 }).commitSync();
  assert.is(out.get(0, 0), 321 - 642);
});

onEveryDevice('every product transposes as requested.', (device) => {
  const a = Matrix.from([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  const out = Matrix.from(new Float32Array(9), { columns: 3 });
  device.commandBuffer().product(a, a, out, { transposeA: true }).commitSync();
  assert.equal(out.toArray().flat(), [17, 22, 27, 22, 29, 36, 27, 36, 45]);
  const small = Matrix.from(new Float32Array(4), { columns: 2 });
  device.commandBuffer().product(a, a, small, { transposeB: true }).commitSync();
  assert.equal(small.toArray().flat(), [14, 32, 32, 77]);
});

onEveryDevice('elementwise and triangular commands give the right results.', (device) => {
  const factor = Matrix.from([
    [2, Number.NaN],
    [1, 4],
  ]);
  const rows = Matrix.from([
    [1, 1],
    [2, 0],
  ]);
  const copy = Matrix.from(new Float32Array(4), { columns: 2 });
  const norms = Vector.from([0, 0]);
  const commands = device.commandBuffer().copy(rows, copy).triangularProduct(factor, copy).sum(copy, rows, copy);
  commands
    .addRow(copy, Vector.from([10, 20]), -1)
    .scaleColumns(copy, Vector.from([-2, 0.5]))
    .squaredNorms(rows, norms)
    .commitSync();
  assert.equal(copy.toArray().flat(), [-2 * (2 + 1 - 10), (5 + 1 - 20) / 2, -2 * (4 + 2 - 10), (2 - 20) / 2]);
  assert.equal(norms.toArray(), [2, 4]);
  const solved = Matrix.from(rows);
  device.commandBuffer().triangularSolve(factor, solved).triangularProduct(factor, solved).commitSync();
  close(solved.toArray().flat(), rows.toArray().flat());
  const other = Matrix.from(rows);
  device
    .commandBuffer()
    .triangularSolve(factor, other, { transposed: true })
    .triangularProduct(factor, other, { transposed: true })
    .commitSync();
  close(other.toArray().flat(), rows.toArray().flat());
  device.commandBuffer().zeroUpper(factor).antitranspose(factor).commitSync();
  assert.equal(factor.toArray().flat(), [4, 0, 1, 2]);
});

onEveryDevice('a Cholesky solve applies the inverse of the covariance.', async (device) => {
  const [factor, rows] = [
    square(),
    Matrix.from([
      [8, 8],
      [0, 8],
    ]),
  ];
  const one = Vector.from([8, 0]);
  const { factor: place } = device.commandBuffer().cholesky(factor).choleskySolve(factor, rows).commitSync();
  assert.ok(place === 'cpu' || place === 'gpu', String(place));
  close(rows.toArray().flat(), [1, 2, -2, 4]);
  assert.is((await device.commandBuffer().choleskySolve(factor, one).commit()).factor, undefined);
  close(one.toArray(), [3, -2]);
  const none = Matrix.from([], { columns: 2 });
  device.commandBuffer().choleskySolve(factor, none).commitSync();
});

onEveryDevice('a factor is made where it is requested, or refused.', async (device) => {
  const [factor, expected] = [square(), [2, 0, 1, Math.SQRT2]];
  assert.is(device.commandBuffer().cholesky(factor, { factor: 'cpu' }).commitSync().factor, 'cpu');
  close(factor.toArray().flat(), expected);
  const other = square();
  const onGpu = () => device.commandBuffer().cholesky(other, { factor: 'gpu' }).commitSync().factor;
  if (device.kind === 'metal' || device.kind === 'cuda') {
    assert.is(onGpu(), 'gpu');
    close(other.toArray().flat(), expected);
  } else await throwsCode('ERR_UNSUPPORTED', "(factor: 'gpu')", onGpu);
  for (const [unknown, shown] of [
    ['tpu', "('tpu')"],
    ['GPU', "('GPU')"],
    [null, '(null)'],
    [1, '(1)'],
  ] as const)
    await throwsCode('ERR_INVALID_ARGUMENT', shown, () =>
      device.commandBuffer().cholesky(square(), { factor: unknown as 'gpu' }),
    );
  await throwsCode('ERR_UNKNOWN_OPTION', '(where)', () =>
    device.commandBuffer().cholesky(square(), { where: 'cpu' } as object),
  );
});

onEveryDevice('normals are those at their place in the stream.', (device) => {
  const whole = device.vector(100);
  const part = device.vector(30);
  device
    .commandBuffer()
    .fillNormal(whole, { seed: 7, stream: 1 })
    .fillNormal(part, { seed: 7, stream: 1, first: 41 })
    .commitSync();
  assert.equal(part.data, whole.data.slice(41, 71));
});

onEveryDevice('moments are those of the rows.', (device) => {
  const rows = Matrix.from([
    [1, 2],
    [3, 2],
    [5, 8],
  ]);
  const [mean, covariance] = [device.vector(2), device.matrix(2, 2)];
  device.commandBuffer().meanAndCovariance(rows, mean, covariance, { ddof: 0 }).commitSync();
  close(mean.toArray(), [3, 4]);
  close(covariance.toArray().flat(), [8 / 3, 4, 4, 8]);
});

onEveryDevice('a kernel is launched over matrices, vectors and the bytes of its params.', async (device) => {
  const rows = square();
  const run = () => {
    const params = Uint32Array.of(2, 2);
    return device.commandBuffer().launch('zero_upper', [rows, params], [2, 2, 1], [1, 1, 1]).commitSync();
  };
  // The reference device has no kernels, and says so.
  if (device.kind === 'reference') await throwsCode('ERR_UNSUPPORTED', 'zero_upper', run);
  else run();
  assert.equal(rows.toArray().flat(), device.kind === 'reference' ? [4, 2, 2, 3] : [4, 0, 2, 3]);
  const shared = new Float32Array(new SharedArrayBuffer(16));
  await throwsCode('ERR_INVALID_ARGUMENT', 'shared', () =>
    device.commandBuffer().launch('zero_upper', [shared], [1], [1]),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', () => device.commandBuffer().launch('zero_upper', [rows], [-1], [1]));
});

onEveryDevice('a command that fails rejects its commit, and the device goes on.', async (device) => {
  const indefinite = Matrix.from([
    [1, 0, 0],
    [0, 1, 2],
    [0, 2, 1],
  ]);
  const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '2', () =>
    device.commandBuffer().cholesky(indefinite).commit(),
  );
  assert.is(error.pivot, 2);
  const bad = Matrix.from([
    [1, 2, 3],
    [4, Number.NEGATIVE_INFINITY, 6],
  ]);
  const place = await throwsCode('ERR_NOT_FINITE', '1, 1', () =>
    device.commandBuffer().requireFinite(bad).commitSync(),
  );
  assert.equal([place.row, place.column], [1, 1]);
  const lopsided = Matrix.from([
    [1, 0.5],
    [0.6, 1],
  ]);
  const pair = await throwsCode('ERR_NOT_SYMMETRIC', '0.6', () =>
    device.commandBuffer().requireSymmetric(lopsided, 0.01).commit(),
  );
  assert.equal([pair.row, pair.column], [1, 0]);
  const good = square();
  await device.commandBuffer().cholesky(good).commit();
  close(good.toArray().flat(), [2, 0, 1, Math.SQRT2]);
});

onEveryDevice('a command buffer is committed once.', async (device) => {
  const commands = device.commandBuffer().zeroUpper(square());
  const committed = commands.commit();
  await throwsCode('ERR_CLOSED', 'committed', () => commands.commit());
  await throwsCode('ERR_CLOSED', 'committed already; make another by device.commandBuffer()', () =>
    commands.commitSync(),
  );
  await throwsCode('ERR_CLOSED', 'committed', () => commands.zeroUpper(square()));
  await committed;
});

onEveryDevice('commits run in order.', async (device) => {
  const total = Matrix.from([[1]]);
  const two = Matrix.from([[2]]);
  const commits = Array.from({ length: 20 }, () => device.commandBuffer().sum(total, two, total).commit());
  device.commandBuffer().sum(total, total, total).commitSync();
  assert.is(total.get(0, 0), 82);
  await Promise.all(commits);
});

onEveryDevice('an aborted signal stops a commit before or while it runs.', async (device) => {
  const out = device.matrix(2000, 1000);
  const reason = new Error('enough');
  const early = device
    .commandBuffer()
    .fillNormal(out)
    .commit({ signal: AbortSignal.abort(reason) });
  assert.is((await throwsCode('ERR_ABORTED', '(enough)', () => early)).cause, reason);
  assert.ok(
    out.data.every((value) => value === 0),
    'nothing was computed',
  );
  const controller = new AbortController();
  const commands = device.commandBuffer();
  for (let repeat = 0; repeat < 200; repeat++) commands.fillNormal(out, { seed: repeat });
  const running = commands.commit({ signal: controller.signal });
  controller.abort(reason);
  assert.is((await throwsCode('ERR_ABORTED', '(enough)', () => running)).cause, reason);
  await device.commandBuffer().fillNormal(out).commit();
});

onEveryDevice('a matrix may be closed while it is in flight.', async (device) => {
  const before = device.memory().liveBytes;
  const out = device.matrix(1000, 1000);
  const committed = device.commandBuffer().fillNormal(out).commit();
  out.close();
  await committed;
  assert.is(device.memory().liveBytes, before);
});

onEveryDevice('wrong operands are refused when they are recorded.', async (device) => {
  const commands = device.commandBuffer();
  const one = square();
  const wide = Matrix.from([[1, 2, 3]]);
  await throwsCode('ERR_SHAPE', '(1) rows and (3) columns', () => commands.cholesky(wide));
  await throwsCode('ERR_SHAPE', '`b` has (1) rows, but `a` has (3) columns.', () => commands.product(wide, wide, wide));
  await throwsCode('ERR_SHAPE', '`rows` has (3) columns', () => commands.triangularSolve(square(), wide));
  await throwsCode('ERR_SHAPE', '`rows` has (3) columns', () => commands.choleskySolve(square(), wide));
  await throwsCode('ERR_SHAPE', '(1) rows and (3) columns', () => commands.choleskySolve(wide, wide));
  await throwsCode('ERR_INVALID_ARGUMENT', 'overlaps', () => commands.choleskySolve(one, one));
  await throwsCode('ERR_SHAPE', '`mean` has (3) entries', () =>
    commands.sample(square(), Vector.from([1, 2, 3]), square()),
  );
  await throwsCode('ERR_SHAPE', '`out` has (2) entries', () => commands.squaredNorms(wide, Vector.from([1, 2])));
  await throwsCode('ERR_INVALID_ARGUMENT', '(float64)', () =>
    commands.sum(wide, Matrix.from(new Float64Array(3), { rows: 1 }), wide),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '(array of 1)', () => commands.zeroUpper([[1]] as unknown as Matrix));
  await throwsCode('ERR_INVALID_ARGUMENT', '(undefined)', () => commands.copy(one, undefined as unknown as Matrix));
  await throwsCode('ERR_INVALID_ARGUMENT', '(null)', () => commands.product(null as unknown as Matrix, one, one));
  await throwsCode('ERR_INVALID_ARGUMENT', 'overlaps', () => commands.product(one, one, one));
  await throwsCode('ERR_OUT_OF_RANGE', '`scale` is (NaN), not a finite number', () =>
    commands.addRow(one, one.rows === 2 ? Vector.from([1, 2]) : wide, Number.NaN),
  );
  // In the float32 of an Apple GPU, and of the CPU, it would be infinite.
  await throwsCode('ERR_OUT_OF_RANGE', '`scale` is (1e+39), which float32 does not hold', () =>
    commands.addRow(one, Vector.from(new Float32Array(one.columns)), 1e39),
  );
  for (const name of ['alpha', 'beta'])
    await throwsCode('ERR_OUT_OF_RANGE', `\`${name}\` is (-1e+300), which float32 does not hold`, () =>
      commands.product(one, one, square(), { [name]: -1e300 }),
    );
  await throwsCode('ERR_OUT_OF_RANGE', '`constant` is (1e+39)', () =>
    commands.logDensity(one, Vector.from([1, 2]), square(), Vector.from([1, 2]), { constant: 1e39 }),
  );
  await throwsCode('ERR_SHAPE', '`row` has (3) entries', () => commands.scaleColumns(square(), Vector.from([1, 2, 3])));
  await throwsCode('ERR_INVALID_ARGUMENT', 'overlaps', () =>
    commands.scaleColumns(one, one.rows === 1 ? one : Vector.from(one.row(0))),
  );
  const memory = new Float32Array(6);
  const [rows, spread] = [Matrix.from(memory.subarray(0, 4), { columns: 2 }), square()];
  for (const [mean, covariance, shown] of [
    [Vector.from(memory.subarray(2, 4)), spread, '`mean` (Float32Array of 2) overlaps `rows`'],
    [
      Vector.from(memory.subarray(4)),
      Matrix.from(memory.subarray(2), { columns: 2 }),
      '`covariance` (Float32Array of 4)',
    ],
    [Vector.from(spread.data.subarray(1, 3) as Float32Array), spread, 'overlaps `mean`'],
  ] as const)
    await throwsCode('ERR_INVALID_ARGUMENT', shown, () => commands.meanAndCovariance(rows, mean, covariance));
  await throwsCode('ERR_OUT_OF_RANGE', '`tolerance` is (-1), not a finite number of at least 0', () =>
    commands.requireSymmetric(one, -1),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', '(gamma)', () => commands.product(one, one, square(), { gamma: 1 } as object));
  await throwsCode('ERR_UNSUPPORTED_DTYPE', '(int32)', () =>
    commands.copy(device.vector(2, { dtype: 'int32' }), device.vector(2, { dtype: 'int32' })),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', () => commands.fillNormal(one, { seed: -1 }));
  const closed = device.matrix(2, 2);
  closed.close();
  await throwsCode('ERR_CLOSED', 'closed', () => commands.zeroUpper(closed));
  using other = openDevice('reference');
  await throwsCode('ERR_FOREIGN_BUFFER', other.name, () => commands.zeroUpper(other.matrix(2, 2)));
  commands.zeroUpper(one).commitSync();
  assert.equal(one.toArray().flat(), [4, 0, 2, 3]);
});

function close(actual: readonly number[], expected: readonly number[]): void {
  assert.is(actual.length, expected.length);
  actual.forEach((value, index) => {
    assert.ok(Math.abs(value - expected[index]!) <= 1e-5, `[${index}] ${value}, not ${expected[index]}`);
  });
}

test.run();
