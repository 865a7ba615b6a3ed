import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type BatchOptions,
  type CovariumError,
  type Device,
  Matrix,
  MultivariateNormal,
  MultivariateNormalBatch,
  type RealDtype,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { hasBatchBits } from '../harness/batch-bits.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { hasSameBytes, scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const makings: readonly ((options: BatchOptions) => MultivariateNormalBatch | Promise<MultivariateNormalBatch>)[] = [
  MultivariateNormalBatch.fromCovariance,
  MultivariateNormalBatch.fromCovarianceSync,
];

const n = 3;
const means = [
  [0, 0, 0],
  [1, -2, 30],
  [-5, 5, 0.5],
  [2, 2, 2],
];
const size = means.length;
/** Symmetric and positive definite, different for each index. */
const covariances = means.map((_, b) => {
  const below = scattered(n * n, b + 1);
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => (i === j ? 1 + i + b : below[Math.max(i, j) * n + Math.min(i, j)]! / 3)),
  );
});
const identity = [[1, 0], [0, 1]]; // biome-ignore format: a matrix
const indefinite = covariances.map((covariance, b) => (b === 2 ? [[1, 0, 0], [0, 1, 2], [0, 2, 1]] : covariance)); // biome-ignore format: a matrix
const rows = [means[1]!, [0.5, 0, 1], means[2]!, [9, -9, 9], means[3]!];

const withBatch = async (
  options: BatchOptions,
  check: (batch: MultivariateNormalBatch) => void | Promise<void>,
): Promise<void> => {
  for (const making of makings) {
    using batch = await making(options);
    await check(batch);
  }
};

const array = (dtype: RealDtype, length: number) =>
  dtype === 'float32' ? new Float32Array(length) : new Float64Array(length);

const single = (device: Device, dtype: RealDtype, b: number) =>
  MultivariateNormal.fromCovarianceSync({ device, dtype, mean: means[b]!, covariance: covariances[b]! });

onEveryType('a batch has the draws and densities of its normals alone, to the bit.', async (device, dtype) => {
  const run = { seed: 7, stream: 2 ** 53 - 2, firstRow: 11 };
  await withBatch({ device, dtype, means, covariances }, async (batch) => {
    assert.equal([batch.size, batch.dimension, batch.dtype, batch.device === device], [size, n, dtype, true]);
    const draws = await batch.sample(50, run);
    const alsoDraws = batch.sampleSync(50, run);
    using densities = await batch.logPdf(rows);
    assert.equal([draws.length, alsoDraws.length, densities.rows, densities.columns], [size, size, size, rows.length]);
    for (const [b, matrix] of draws.entries()) {
      using normal = single(device, dtype, b);
      using alone = normal.sampleSync(50, { ...run, stream: BigInt(run.stream) + BigInt(b) });
      assert.equal([matrix.rows, matrix.columns, matrix.dtype], [50, n, dtype]);
      hasBatchBits(device.kind, matrix.data, alone.data, `draws of (${b})`, n);
      hasBatchBits(device.kind, alsoDraws[b]!.data, alone.data, `synchronous draws of (${b})`, n);
      const wanted = normal.logPdfSync(rows).data as Float32Array;
      hasBatchBits(device.kind, densities.row(b), wanted, `densities of (${b})`, n);
      assert.equal(batch.at(b).mean.toArray(), normal.mean.toArray());
      assert.is(batch.at(b), batch.at(b));
      assert.is(batch.at(b).logDeterminant, normal.logDeterminant);
      assert.equal(batch.at(b).covarianceSync().toArray(), normal.covarianceSync().toArray());
    }
    // Every form of rows; a vector is one column.
    for (const input of [Matrix.from(rows, { dtype: 'float64' }), Float64Array.from(rows.flat())])
      assert.equal(batch.logPdfSync(input).data, densities.data);
    for (const input of [rows[1]!, Vector.from(rows[1]!)]) {
      const column = batch.logPdfSync(input);
      assert.equal([column.rows, column.columns], [size, 1]);
      for (let b = 0; b < size; b++) assert.is(column.get(b, 0), densities.get(b, 1));
    }
    assert.equal([batch.logPdfSync(Matrix.from([], { columns: n })).columns, batch.sampleSync(0).length], [0, size]);
    // The normal whose mean the row is.
    for (const [row, wanted] of [
      [0, 1],
      [2, 2],
      [4, 3],
    ] as const) {
      const scores = Array.from({ length: size }, (_, b) => densities.get(b, row));
      assert.is(scores.indexOf(Math.max(...scores)), wanted);
    }
  });
});

/** Runs `check` on a batch that one command makes, and on one with jitter, whose normals are made one by one. */
const withEither = async (
  device: Device,
  dtype: RealDtype,
  check: (batch: MultivariateNormalBatch) => void | Promise<void>,
): Promise<void> => {
  for (const jitter of [false, 1e-3])
    await withBatch({ device, dtype, means, covariances, jitter }, (batch) => check(batch));
};

onEveryType(
  'a volume has the draws of all normals, and each normal gives densities of its own rows.',
  async (device, dtype) => {
    const run = { seed: 7, stream: 2n ** 33n - 2n, firstRow: 5 };
    await withEither(device, dtype, async (batch) => {
      for (const count of [1, 6, 300]) {
        const drawn = batch.sampleSync(count, run);
        const volume = await batch.sampleVolume(count, run);
        assert.equal([volume.size, volume.dtype], [[n, count, size], dtype]);
        const wanted = Matrix.from(
          drawn.flatMap((matrix) => matrix.toArray()),
          { dtype },
        ).data as Float32Array;
        hasBatchBits(device.kind, volume.data, wanted, `volume of ${count}`, n);
        hasBatchBits(device.kind, batch.sampleVolumeSync(count, run).data, wanted, 'synchronous volume', n);
        const out = Volume.from(new Float64Array(size * count * n), { width: n, height: count, depth: size, dtype });
        assert.is(batch.sampleVolumeSync(count, { ...run, out }), out);
        hasBatchBits(device.kind, out.data, wanted, 'volume into out', n);
        const plain = array(dtype, size * count * n);
        await batch.sampleVolume(count, { ...run, out: plain });
        hasBatchBits(device.kind, plain, wanted, 'volume into an array', n);
        const own = await batch.logPdfEach(volume);
        const alsoOwn = batch.logPdfEachSync(volume);
        assert.equal([own.rows, own.columns, own.dtype], [size, count, dtype]);
        hasSameBytes(alsoOwn.data as Float32Array, own.data as Float32Array, 'synchronous densities');
        for (let b = 0; b < size; b++) {
          const scores = batch.at(b).logPdfSync(drawn[b]!).data as Float32Array;
          hasBatchBits(device.kind, own.row(b), scores, `densities of (${b})`, n);
        }
      }
      const scores = batch.logPdfEachSync(means);
      assert.equal([scores.rows, scores.columns], [size, 1]);
      for (let b = 0; b < size; b++) assert.is(scores.get(b, 0), batch.logPdfSync(means[b]!).get(b, 0));
      const cube = { width: n, height: 2, depth: size };
      const unfit = Volume.from(new Float32Array(2 * n * (size + 1)), { ...cube, depth: size + 1 });
      for (const [code, shown, work] of [
        ['ERR_OUT_OF_RANGE', '(0)', () => batch.sampleVolumeSync(0)],
        ['ERR_OUT_OF_RANGE', '(0.5)', () => batch.sampleVolumeSync(0.5)],
        ['ERR_SHAPE', `(${n} x 2 x ${size + 1})`, () => batch.sampleVolumeSync(2, { out: unfit })],
        ['ERR_SHAPE', '', () => batch.sampleVolumeSync(2, { out: array(dtype, 3) })],
        ['ERR_INVALID_ARGUMENT', '', () => batch.sampleVolumeSync(2, { out: new Int32Array(9) as unknown as Volume })],
        ['ERR_UNKNOWN_OPTION', 'signal', () => batch.sampleVolumeSync(2, { signal: undefined } as object)],
        ['ERR_SHAPE', `(${size - 1})`, () => batch.logPdfEachSync(means.slice(1))],
        ['ERR_SHAPE', '(2)', () => batch.logPdfEachSync(means.map((mean) => mean.slice(1)))],
        ['ERR_SHAPE', `(${n} x 2 x ${size + 1})`, () => batch.logPdfEachSync(unfit)],
        ['ERR_NOT_FINITE', 'NaN', () => batch.logPdfEachSync([...means.slice(1), [0, Number.NaN, 0]])],
        ['ERR_INVALID_ARGUMENT', 'undefined', () => batch.logPdfEachSync(undefined as never)],
      ] as const)
        await throwsCode(code, shown, work);
      await throwsCode('ERR_ABORTED', 'enough', () =>
        batch.sampleVolume(1, { signal: AbortSignal.abort(new Error('enough')) }),
      );
    });
  },
);

onEveryType('a call reads its rows before it returns, and ends even if its batch is closed.', async (device, dtype) => {
  const batch = MultivariateNormalBatch.fromCovarianceSync({ device, dtype, means, covariances });
  const one = [[0, 0, 0]];
  const pending: Promise<Matrix>[] = [];
  const wanted: Float32Array[] = [];
  for (const x of [1, 2, 3]) {
    one[0]![0] = x;
    pending.push(batch.logPdf(one), batch.logPdfEach(means.map((mean) => [x, ...mean.slice(1)])));
    wanted.push(single(device, dtype, 1).logPdfSync([[x, 0, 0]]).data as Float32Array);
  }
  const given = Matrix.from(rows, { dtype });
  const last = batch.logPdf(given);
  given.close();
  batch.close();
  for (const [at, values] of wanted.entries())
    hasBatchBits(device.kind, (await pending[2 * at]!).row(1), values, `call (${at})`);
  assert.is((await pending[5]!).rows, size);
  assert.is((await last).columns, rows.length);
});

onEveryDevice('a volume that is refused holds no memory.', async (device) => {
  using batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances, jitter: 1e-3 });
  const before = device.memory().liveBytes;
  const last = 2n ** 64n - 1n;
  // Enough rows that they would lie in device memory.
  for (const options of [{ stream: last }, { firstRow: last }, { seed: -1 }]) {
    await throwsCode('ERR_OUT_OF_RANGE', '2^64', () => batch.sampleVolume(100_000, options));
    await throwsCode('ERR_OUT_OF_RANGE', '2^64', () => batch.sampleVolumeSync(100_000, options));
    assert.is(device.memory().liveBytes, before);
  }
});

onEveryType('a variance with fewer digits is refused in every form.', async (device, dtype) => {
  const variance = dtype === 'float64' ? 1e-310 : 1e-40;
  for (const own of new Set(['float64', dtype] as const))
    for (const given of [
      [[[1]], [[variance]]],
      Volume.from([1, variance], { width: 1, height: 1, depth: 2, dtype: own }),
    ])
      await throwsCode('ERR_OUT_OF_RANGE', 'Normal (1) of the batch: `covariances[1]` entry (0, 0)', () =>
        MultivariateNormalBatch.fromCovariance({ device, dtype, covariances: given }),
      );
});

onEveryType('each normal of a batch of any size equals the same normal alone.', (device, dtype) => {
  for (const [order, count] of [
    [1, 1000],
    [2, 17],
    [8, 16],
    [17, 15],
    [33, 3],
  ] as const) {
    const squares = new Float64Array(count * order * order);
    for (let b = 0; b < count; b++)
      for (let i = 0; i < order; i++)
        for (let j = 0; j < order; j++)
          squares[(b * order + i) * order + j] = i === j ? 2 + i + (b % 5) : 1 / (1 + Math.abs(i - j) + (b % 3));
    const volume = Volume.from(squares, { width: order, height: order, depth: count, dtype });
    using batch = MultivariateNormalBatch.fromCovarianceSync({ device, dtype, covariances: volume });
    for (const b of new Set([0, 1, count >> 1, count - 1].filter((at) => at < count))) {
      const covariance = volume.data.slice(b * order * order, (b + 1) * order * order);
      using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance });
      const [factor, wanted] = [batch.at(b).factorSync().data, normal.factorSync().data];
      hasSameBytes(factor as Float32Array, wanted as Float32Array, `factor (${b}) of ${count} of ${order}`);
    }
  }
});

test('a constructor is refused, with the call that makes a batch.', async () => {
  const Batch = MultivariateNormalBatch as unknown as new (given: unknown) => unknown;
  await throwsCode('ERR_INVALID_ARGUMENT', 'fromCovariance', () => new Batch({}));
});

onEveryDevice('steps of float32 that are large beside a deviation are refused as for one normal.', async (device) => {
  if (!device.dtypes.includes('float64')) return;
  const far = { device, means: [[0], [1e9]], covariances: [[[1]], [[1]]] };
  for (const making of makings)
    await throwsCode('ERR_OUT_OF_RANGE', 'Normal (1) of the batch: `means[1][0]`', () => making(far));
  MultivariateNormalBatch.fromCovarianceSync({ ...far, dtype: 'float64' }).close();
});

onEveryType('means and covariances come in every form, and zeros are the default mean.', async (device, dtype) => {
  const cube = { width: n, height: n, depth: size };
  const flat = covariances.flat(2);
  using wanted = MultivariateNormalBatch.fromCovarianceSync({ device, dtype, means, covariances });
  const draws = wanted.sampleSync(5, { seed: 1 }).map(({ data }) => data);
  for (const options of [
    { means: Matrix.from(means, { dtype }), covariances: covariances.map((each) => Matrix.from(each, { dtype })) },
    { means: Float64Array.from(means.flat()), covariances: covariances.map((each) => Float64Array.from(each.flat())) },
    { means, covariances: Volume.from(Float64Array.from(flat), cube) },
    { means, covariances: Volume.from(flat, { ...cube, dtype }) },
  ])
    await withBatch({ device, dtype, ...options }, (batch) => {
      // A volume of float32 has rounded what becomes float32 anyway.
      assert.equal(
        batch.sampleSync(5, { seed: 1 }).map(({ data }) => data),
        draws,
      );
    });
  await withBatch({ device, dtype, covariances: [[[4]], Float32Array.of(9)] }, (batch) => {
    assert.equal([batch.size, batch.dimension, batch.at(1).mean.toArray()], [2, 1, [0]]);
    assert.equal(batch.at(1).factorSync().toArray(), [[3]]);
  });
});

onEveryDevice(
  'without a seed, one seed is chosen for the whole batch; options of a normal hold for each.',
  async (device) => {
    using same = MultivariateNormalBatch.fromCovarianceSync({ device, covariances: [[[1]], [[1]]] });
    const [first, second] = same.sampleSync(4);
    assert.not.equal(first!.data, second!.data, 'another stream');
    const singular = [[1, 1], [1, 1]]; // biome-ignore format: a matrix
    await withBatch(
      {
        device,
        covariances: [
          singular,
          [
            [1, 0],
            [0, 1],
          ],
        ],
        singular: 'pivoted',
      },
      (batch) => {
        assert.equal([batch.at(0).rank, batch.at(1).rank], [1, 2]);
        assert.is(batch.sampleSync(3)[0]!.columns, 2);
      },
    );
  },
);

onEveryDevice(
  'an invalid batch is refused, with the index of the normal, and leaves nothing behind.',
  async (device) => {
    using warm = MultivariateNormalBatch.fromCovarianceSync({ device, means, covariances });
    warm.close();
    const before = device.memory().liveBytes;
    const unfit = { device, means, covariances };
    for (const [code, value, options] of [
      ['ERR_NOT_POSITIVE_DEFINITE', 'Normal (2) of the batch: ', { ...unfit, covariances: indefinite }],
      ['ERR_NOT_SYMMETRIC', 'Normal (1) ', { device, covariances: [identity, [[1, 0.5], [0, 1]]] }], // biome-ignore format: a matrix
      ['ERR_NOT_FINITE', 'Normal (1) ', { device, covariances: [[[1]], [[Number.NaN]]] }],
      ['ERR_NOT_FINITE', 'Normal (3) ', { ...unfit, means: [...means.slice(1), [0, Number.POSITIVE_INFINITY, 0]] }],
      ['ERR_SHAPE', 'Normal (1) ', { device, covariances: [[[1]], identity] }],
      ['ERR_SHAPE', 'Normal (1) ', { device, covariances: [[[1]], new Float32Array(4)] }],
      ['ERR_SHAPE', 'Normal (0) ', { device, covariances: [[[1, 0]]] }],
      [
        'ERR_SHAPE',
        'Normal (0) ',
        {
          device,
          covariances: [
            [1, 0],
            [0, 1],
          ] as unknown as number[][][],
        },
      ],
      ['ERR_SHAPE', '(0)', { device, covariances: [] }],
      ['ERR_SHAPE', '(2) rows', { ...unfit, means: means.slice(2) }],
      ['ERR_SHAPE', '(2) columns', { ...unfit, means: means.map((mean) => mean.slice(1)) }],
      [
        'ERR_SHAPE',
        '(2 x 3 x 4)',
        { device, covariances: Volume.from(new Float32Array(24), { width: 2, height: 3, depth: 4 }) },
      ],
      [
        'ERR_INVALID_ARGUMENT',
        '`covariances` is (Float32Array of 4)',
        { device, covariances: new Float32Array(4) as unknown as Volume },
      ],
      [
        'ERR_INVALID_ARGUMENT',
        '`covariances` is (Matrix)',
        { device, covariances: Matrix.from([[1]]) as unknown as Volume },
      ],
      ['ERR_INVALID_ARGUMENT', 'Normal (0) ', { device, covariances: ['one'] as unknown as Volume }],
      ['ERR_INVALID_ARGUMENT', "('none')", { device: 'none' as unknown as Device, covariances }],
      ['ERR_UNSUPPORTED_DTYPE', '(int32)', { device, covariances, dtype: 'int32' }],
      ['ERR_UNKNOWN_OPTION', 'mean', { device, covariances, mean: [1] } as BatchOptions],
    ] as readonly (readonly [CovariumError['code'], string, BatchOptions])[]) {
      await throwsCode(code, value, () => MultivariateNormalBatch.fromCovariance(options));
      await throwsCode(code, value, () => MultivariateNormalBatch.fromCovarianceSync(options));
      assert.is(device.memory().liveBytes, before, `${code}: ${value}`);
    }
    const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'jitter', () =>
      MultivariateNormalBatch.fromCovariance({ device, covariances: indefinite }),
    );
    assert.equal([error.matrix, error.pivot], [2, 2]);
    assert.is((error.cause as CovariumError).code, error.code);
  },
);

onEveryDevice(
  'a refused call leaves nothing behind; a batch is closed by its close() or with its device.',
  async (device) => {
    using batch = await MultivariateNormalBatch.fromCovariance({ device, means, covariances });
    const before = device.memory().liveBytes;
    const last = 2n ** 64n - 1n;
    for (const matrix of batch.sampleSync(2, { seed: 1, stream: last - BigInt(size - 1) })) matrix.close();
    for (const [code, value, count, options] of [
      ['ERR_OUT_OF_RANGE', `\`stream\` is (${last - 2n})`, 2, { stream: last - 2n }],
      ['ERR_OUT_OF_RANGE', '(-1)', 2, { stream: -1 }],
      ['ERR_OUT_OF_RANGE', '(0.5)', 2, { seed: 0.5 }],
      ['ERR_OUT_OF_RANGE', '(-2)', -2, {}],
      ['ERR_OUT_OF_RANGE', '2^64', 2, { firstRow: last }],
      ['ERR_INVALID_ARGUMENT', 'first', 2, { stream: 'first' as unknown as number }],
      ['ERR_UNKNOWN_OPTION', 'out', 2, { out: [] } as object],
    ] as const) {
      await throwsCode(code, value, () => batch.sample(count, options));
      await throwsCode(code, value, () => batch.sampleSync(count, options));
    }
    await throwsCode('ERR_UNKNOWN_OPTION', 'signal', () => batch.sampleSync(1, { signal: undefined } as object));
    await throwsCode('ERR_ABORTED', 'enough', () =>
      batch.sample(9, { signal: AbortSignal.abort(new Error('enough')) }),
    );
    await throwsCode('ERR_SHAPE', '(2)', () => batch.logPdf([[1, 2]]));
    await throwsCode('ERR_SHAPE', '(2)', () => batch.logPdfSync([[1, 2]]));
    await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => batch.logPdf([rows[0]!, [Number.NaN, 0, 0]]));
    await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => batch.logPdfSync([rows[0]!, [Number.NaN, 0, 0]]));
    for (const index of [-1, size, 0.5]) await throwsCode('ERR_OUT_OF_RANGE', `(${index})`, () => batch.at(index));
    assert.is(device.memory().liveBytes, before);
    const normal = batch.at(1);
    batch.close();
    batch.close();
    assert.ok(batch.closed && normal.closed);
    assert.is(device.memory().liveBytes, 0);
    for (const call of [
      () => batch.sample(1),
      () => batch.sampleSync(1),
      () => batch.logPdf(rows),
      () => batch.logPdfSync(rows),
      () => batch.at(0),
    ])
      await throwsCode('ERR_CLOSED', `(${size})`, call);
    const other = await MultivariateNormalBatch.fromCovariance({ device, covariances });
    device.close();
    assert.ok(other.closed);
    await throwsCode('ERR_CLOSED', '', () => other.sample(1));
    other.close();
  },
);

onEveryDevice(
  'large draws lie in device memory, and writing into the arguments afterwards changes nothing.',
  async (device) => {
    const square = Float32Array.from([4, 1, 1, 9]);
    const centres = Float32Array.from([1, 2, 3, 4]);
    const options = { device, means: centres, covariances: [square, square], jitter: true };
    using wanted = MultivariateNormalBatch.fromCovarianceSync(options);
    const pending = MultivariateNormalBatch.fromCovariance(options);
    square.fill(1);
    centres.fill(0);
    using batch = await pending;
    const before = device.memory().liveBytes;
    const draws = await batch.sample(200_000, { seed: 3 });
    using densities = await batch.logPdf(draws[0]!);
    assert.is(densities.columns, 200_000);
    for (const [b, matrix] of draws.entries()) {
      using same = wanted.at(b).sampleSync(200_000, { seed: 3, stream: b });
      hasBatchBits(device.kind, matrix.data, same.data, `draws of (${b})`, n);
      matrix.close();
    }
    densities.close();
    assert.is(device.memory().liveBytes, before);
  },
);

onEveryDevice('a batch may have more matrices than a JavaScript call may have arguments.', (device) => {
  const many = Array.from({ length: 200_000 }, (_, b) => [[1 + (b % 7)]]);
  using batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances: many });
  assert.is(batch.at(6).covarianceSync().data[0], batch.at(many.length - 4).covarianceSync().data[0]);
});

test.run();
