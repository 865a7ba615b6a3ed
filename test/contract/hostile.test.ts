// Hostile values for the public functions: proxies, getters that act in mid-call, sparse arrays, memory that is shared,
// resizable, detached or overlapping, names that pollute prototypes. An error that a value itself throws is passed
// on.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bhattacharyya,
  CovariumError,
  crossEntropy,
  type Device,
  hellinger,
  klDivergence,
  Matrix,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  nearestPositiveDefinite,
  openDevice,
  readTable,
  renyiDivergence,
  Vector,
  Volume,
  wasserstein,
} from '../../lib/index.ts';
import { type Call, endAlike, OwnError } from '../harness/hostile-calls.ts';
import { Hostile } from '../harness/hostile-values.ts';

const bad = (value: unknown) => value as never;

const two = [
  [2, 0.5],
  [0.5, 1],
];
const normalOf = (device: Device) =>
  MultivariateNormal.fromCovarianceSync({ device, covariance: two, dtype: 'float64' });
const numbersOf = (result: unknown): ArrayLike<unknown> => {
  if (typeof result === 'number') return [result];
  if (result instanceof Matrix || result instanceof Vector) return result.data;
  return [];
};

/** Some calls have their own device, which a getter may close. */
const withOwn =
  (call: Call<Hostile>): Call<Hostile> =>
  async (device, choice) => {
    if (choice.below(8) > 0) return call(device, choice);
    using own = openDevice(device.kind as 'cpu');
    choice.device = own;
    return [...Array.from(await call(own, choice))];
  };

const families: { readonly [family: string]: Call<Hostile> } = {
  'arrays of the host': async (_, choice) => {
    const n = 1 + choice.below(3);
    const shape = choice.options(['rows', 'columns', 'dtype'], () =>
      choice.of<unknown>(n, 1, 'float64', choice.value()),
    );
    const make = choice.of<() => unknown>(
      () => Matrix.from(bad(choice.rows(n)), choice.below(2) === 0 ? {} : shape),
      () => Vector.from(bad(choice.numbers(n)), choice.below(2) === 0 ? {} : bad(choice.options(['dtype']))),
      () =>
        Volume.from(
          bad(choice.numbers(n)),
          bad(choice.options(['width', 'height', 'depth', 'dtype'], () => choice.of(1, n))),
        ),
      async () => Matrix.from(two).columnQuantiles(bad(choice.numbers(n)), bad(choice.options(['signal']))),
      () => Matrix.from(two).at(bad(choice.value()), bad(choice.value())),
      () => Matrix.from(two).column(bad(choice.value())).length,
      () => Matrix.from(JSON.parse(JSON.stringify(Matrix.from(bad(choice.rows(n)))))),
    );
    return numbersOf(await make());
  },
  'linear algebra': async (device, choice) => {
    const n = 1 + choice.below(3);
    const matrix = Matrix.from(bad(choice.below(2) === 0 ? choice.rows(n, n) : choice.covariance(n)), {
      dtype: 'float64',
    });
    const b = choice.of<unknown>(
      () => Vector.from(choice.tames(n), { dtype: 'float64' }),
      () => choice.rows(n, n),
      () => choice.numbers(n),
    );
    const right = bad((b as () => unknown)());
    const value = () => choice.of<unknown>(device, true, choice.value());
    const options = { device, ...choice.options(['onDevice', 'rcond', 'ddof', 'signal', 'device'], value) } as object;
    const ask = choice.of<() => Promise<unknown>>(
      () => matrix.eigh(options).then(({ values }) => Math.hypot(...values.data)),
      // The other singular values are exact only relative to the largest.
      () => matrix.svd(options).then(({ s }) => s.get(0)),
      () => matrix.qr(options).then(() => []),
      () => matrix.solve(right, options).then(() => []),
      () => matrix.lstsq(right, options).then(({ s }) => s.get(0)),
      () => matrix.inverse(options).then(() => []),
      () => matrix.det(options).then(() => []),
      () => matrix.slogdet(options).then(() => []),
      () => matrix.multiply(right, options),
      () => matrix.covariance(options),
      () => matrix.transpose(options),
      () => nearestPositiveDefinite(bad(choice.square(n)), options).then(() => []),
    );
    return numbersOf(await ask());
  },
  'a distribution of hostile values': withOwn(async (device, choice) => {
    const n = 1 + choice.below(3);
    const square = () => bad(choice.square(n));
    const numbers = () => bad(choice.below(2) === 0 ? choice.numbers(n) : choice.tames(n).map(Math.abs));
    const given = () => ({
      device,
      dtype: 'float64' as const,
      ...choice.options(['mean', 'jitter', 'singular', 'symmetryTolerance', 'factor', 'dtype', 'signal']),
    });
    const make = choice.of<() => Promise<MultivariateNormal | MultivariateStudentT>>(
      () => MultivariateNormal.fromCovariance({ ...given(), covariance: square() } as never),
      () => MultivariateNormal.fromCovariance({ device, covariance: square(), mean: numbers() }),
      () => MultivariateNormal.fromCovariance(bad(choice.options(['device', 'covariance', 'mean']))),
      () => MultivariateNormal.fromCholesky({ device, factor: square(), mean: numbers() }),
      () => MultivariateNormal.fromPrecision({ device, precision: square(), mean: numbers() }),
      () => MultivariateNormal.fromDiagonal({ device, variances: numbers(), mean: numbers() }),
      () => MultivariateNormal.fromEigen({ device, values: numbers(), vectors: square() }),
      () => MultivariateNormal.fromLowRank({ device, factor: bad(choice.rows(1, n)), diagonal: numbers() }),
      () => MultivariateNormal.fromCorrelation({ device, correlation: square(), standardDeviations: numbers() }),
      () => MultivariateNormal.fit({ device, rows: bad(choice.rows(n, n + 3)) }),
      () => MultivariateNormal.fit({ device, rows: bad(choice.rows(n, n + 3)), weights: bad(choice.numbers(n + 3)) }),
      () =>
        MultivariateNormal.fromJSON(bad({ covarium: 1, mean: choice.numbers(n), covariance: square() }), { device }),
      () => MultivariateNormal.fromJSON(bad(choice.value()), bad(choice.options(['device', 'dtype']))),
      () => MultivariateStudentT.fromScale({ device, degreesOfFreedom: bad(choice.value()), scale: square() }),
    );
    using made = await make();
    return [made.dimension];
  }),
  'questions to a normal': withOwn(async (device, choice) => {
    using normal = normalOf(device);
    const rows = bad(choice.rows(2));
    const memory = new Float64Array(16);
    const out = choice.of<unknown>(
      memory.subarray(choice.below(4)),
      memory.subarray(2, 8),
      Matrix.from(memory.subarray(4, 10), { columns: 2 }),
      choice.numbers(6),
      choice.rows(2, 3),
    );
    const means = choice.of<unknown>(
      Matrix.from(memory.subarray(choice.below(3), 6).subarray(0, 2), { columns: 2 }),
      choice.rows(2, 3),
    );
    const few = choice.options(['seed', 'stream', 'firstRow', 'signal', 'onDevice', 'rowsPerBlock']);
    const options = { seed: 3, ...few };
    const ask = choice.of<() => Promise<unknown>>(
      () => normal.logPdf(rows, choice.options(['signal'])),
      () => normal.mahalanobis(rows),
      () => normal.scoreInput(rows),
      () => normal.cdf(rows, { seed: 1, ...choice.options(['seed', 'absoluteError', 'signal']) } as object),
      () => normal.quantile(rows),
      () => normal.transform(bad(choice.numbers(2))),
      () => normal.sample(3, bad({ seed: 1, out })),
      () => normal.sample(3, bad({ seed: 1, means })),
      () => normal.sample(3, bad({ seed: 1, means, out })),
      () => normal.sample(bad(choice.value()), { seed: 1 }),
      () => normal.sample(3, options as object),
      async () => {
        for await (const block of normal.blocks(5, options as object)) return block.toArray().flat()[0];
        return [];
      },
      () => normal.marginal(bad(choice.numbers(1))).then((part) => part.covariance()),
      () =>
        normal
          .conditional({ given: bad(choice.numbers(1)), values: bad(choice.numbers(1)) })
          .then((part) => part.covariance()),
      () => normal.conditionalMeans({ given: [1], rows: bad(choice.rows(1, 2)) }),
      () => normal.affine({ matrix: rows, offset: bad(choice.numbers(2)) }).then((part) => part.covariance()),
      () => normal.boxProbability(bad({ lower: choice.numbers(2), upper: choice.numbers(2), seed: 1 })).then(() => []),
      () =>
        normal
          .ellipsoid(bad(choice.options(['probability'], () => choice.of<unknown>(0.9, choice.value()))))
          .then(() => []),
    );
    return [...Array.from(numbersOf(await ask()))];
  }),
  'a batch, a mixture, a Student-t or a divergence': withOwn(async (device, choice) => {
    const squares = bad(choice.of<unknown>([choice.square(2), two], [two, two], choice.rows(2, 2), choice.value()));
    const means = bad(choice.of<unknown>(undefined, choice.rows(2, 2)));
    const weights = bad(choice.of<unknown>([1, 2], choice.numbers(2)));
    const rows = bad(choice.rows(2));
    const student = () =>
      MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom: 4, scale: two, dtype: 'float64' });
    const other = () => bad(choice.of<unknown>(normalOf(device), normalOf(device), choice.value(), {}));
    const alpha = bad(choice.of<unknown>(0.5, 2, choice.value()));
    const ask = choice.of<() => Promise<unknown>>(
      () => MultivariateNormalBatch.fromCovariance({ device, covariances: squares, means }).then((b) => b.logPdf(rows)),
      () =>
        MultivariateNormalBatch.fit({ device, rows: bad(choice.rows(2, 6)), labels: bad(choice.numbers(6)) }).then(
          () => [],
        ),
      () =>
        MultivariateNormalMixture.fromCovariance({ device, covariances: squares, means, weights }).then((m) =>
          m.logPdf(rows),
        ),
      () =>
        MultivariateNormalMixture.fit({ device, rows: bad(choice.rows(2, 8)), components: 2, seed: 1 } as never).then(
          () => [],
        ),
      () => student().logPdf(rows),
      () => student().sample(3, bad({ seed: 1, locations: choice.rows(2, 3) })),
      () => klDivergence(other(), other()),
      () => crossEntropy(other(), other()),
      () => renyiDivergence(other(), other(), alpha),
      () => bhattacharyya(other(), other()),
      () => hellinger(other(), other()),
      () => wasserstein(other(), other()),
    );
    return [...Array.from(numbersOf(await ask()))];
  }),
  moments: async (device, choice) => {
    const moments = new Moments(2, bad(choice.below(3) === 0 ? choice.options(['device']) : { device }));
    await moments.add(two);
    const add = choice.of<() => unknown>(
      () => moments.add(bad(choice.rows(2)), bad(choice.options(['weights', 'frequencies', 'missing', 'signal']))),
      () => moments.addSync(bad(choice.rows(2, 3)), { weights: bad(choice.numbers(3)) }),
      () => moments.addSync(bad(choice.rows(2, 3)), { frequencies: bad(choice.numbers(3)) }),
      () => moments.merge(bad(choice.of<unknown>(moments, choice.value()))),
      () =>
        moments.merge(
          Moments.fromJSON(
            bad({ ...moments.toJSON(), [choice.of('count', 'mean', 'second', 'unit', '__proto__')]: choice.value() }),
          ),
        ),
      () => Moments.fromJSON(bad(choice.value())),
    );
    await add();
    return moments.covariance(bad(choice.of<unknown>({}, choice.options(['ddof', 'mean', 'shrinkage'])))).data;
  },
  'tables from memory': async (_, choice) => {
    const bytes = Buffer.from('a,b\n1,2\n3,4\n');
    const pieces = choice.of<() => AsyncGenerator<unknown>>(
      async function* () {
        for (const byte of bytes) yield Uint8Array.of(byte);
      },
      async function* () {
        yield bytes;
        throw choice.of<unknown>(new Error('cut'), null, undefined, 'cut', new OwnError('own'));
      },
      async function* () {
        yield bytes;
        yield choice.value();
      },
    );
    const source = choice.of<unknown>(
      pieces(),
      pieces(),
      bytes,
      new Uint8Array(new SharedArrayBuffer(8)),
      new Uint8Array(new SharedArrayBuffer(16), 3),
      { [Symbol.asyncIterator]: () => choice.value() },
      { [Symbol.asyncIterator]: () => ({ next: () => choice.value() }) },
      { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(choice.value()), return: () => choice.value() }) },
      choice.numbers(4),
      choice.value(),
    );
    const options = choice.options(
      ['format', 'columns', 'missing', 'member', 'header', 'delimiter', 'comment', 'signal'],
      () => choice.of<unknown>('csv', 'error', 'drop', ';', ['a'], choice.value()),
    );
    return (await readTable(bad(source), bad(choice.of<unknown>({}, { format: 'csv' }, options)))).rows.data;
  },
  commands: withOwn(async (device, choice) => {
    const operand = (): Matrix =>
      bad(
        choice.of<unknown>(
          Matrix.from(two),
          Vector.from([1, 2]),
          device.matrix(2, 2),
          choice.rows(2, 2),
          choice.value(),
        ),
      );
    const [a, b, c] = [operand(), operand(), operand()];
    const commands = device.commandBuffer();
    const command = choice.of<() => unknown>(
      () => commands.sum(a, b, c),
      () => commands.copy(a, b),
      () => commands.product(a, b, c, choice.options(['transposeA', 'transposeB', 'alpha', 'beta'])),
      () => commands.addRow(a, bad(b), bad(choice.value())),
      () => commands.requireFinite(a),
      () => commands.cholesky(a, choice.options(['factor', 'symmetryTolerance'])),
      () => commands.triangularSolve(a, b, choice.options(['transposed'])),
      () => commands.fillNormal(a, { seed: 1, ...choice.options(['seed', 'stream', 'first']) } as object),
      () => commands.meanAndCovariance(a, bad(b), c, bad(choice.value())),
    );
    command();
    await commands.commit(bad(choice.below(3) === 0 ? choice.options(['signal']) : undefined));
    return c instanceof Matrix ? [...c.data] : [];
  }),
};

endAlike(100, families, (seed) => new Hostile(seed));

test('An error that a getter or a proxy throws is passed on, and the device still works.', async () => {
  using device = openDevice('reference');
  const own = new OwnError('own');
  const covariance = [
    [1, 0],
    Object.defineProperty([0, 1], 1, {
      get: () => {
        throw own;
      },
    }),
  ];
  await MultivariateNormal.fromCovariance({ device, covariance }).then(
    () => assert.unreachable(),
    (error) => assert.is(error, own),
  );
  assert.is((await normalOf(device).sample(2)).rows, 2);
  assert.not.instance(own, CovariumError);
});

test.run();
