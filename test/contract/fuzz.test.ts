// Hostile calls of the functions that compute: numbers, shapes and options that nobody should pass.
import { test } from 'uvu';
import {
  CovariumError,
  type Device,
  Matrix,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  Vector,
  type Volume,
} from '../../lib/index.ts';
import { type Call, Choice, endAlike } from '../harness/hostile-calls.ts';

const normalOf = (device: Device, choice: Choice) => {
  const n = 1 + choice.below(4);
  const dtype = choice.of('float32', 'float64');
  const identity = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 2 : 0.5)));
  return { n, normal: MultivariateNormal.fromCovarianceSync({ device, covariance: identity, dtype }) };
};

// Whether such a covariance is positive definite depends on rounding, which differs between devices.
function refuseNearlySingular(factor: Matrix, covariance: Matrix): void {
  for (let i = 0; i < factor.rows; i++)
    if (factor.at(i, i) ** 2 < 1e-12 * covariance.at(i, i))
      throw new CovariumError('ERR_NOT_POSITIVE_DEFINITE', `Pivot (${i}) is within rounding of 0.`);
}

const families: { readonly [family: string]: Call } = {
  'a normal of a covariance': async (device, choice) => {
    const n = 1 + choice.below(4);
    const covariance = choice.covariance(n) as number[][];
    const dtype = choice.of('float32', 'float64', 'float64', choice.odd()) as 'float32';
    const mean = choice.below(3) === 0 ? undefined : (choice.rows(n, 1) as number[]);
    using normal = await MultivariateNormal.fromCovariance({ device, covariance, dtype, mean });
    return normal.covarianceSync().data;
  },
  'a sample': async (device, choice) => {
    const { normal } = normalOf(device, choice);
    const count = choice.of<unknown>(0, 1, 2, 7, choice.odd(), choice.of(-1, 0.5, Number.NaN, 2 ** 60)) as number;
    const options = choice.options(['seed', 'stream', 'firstRow', 'empirical', 'means', 'out']) ?? {};
    // Without a seed draws are random.
    const isRandom =
      Object.getPrototypeOf(options) === Object.prototype && (options as { seed?: unknown }).seed === undefined;
    if (isRandom) Object.assign(options, { seed: 3 });
    return (await normal.sample(count, options)).data;
  },
  'a density, a distance or a score': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    const rows = choice.rows(n) as number[][];
    const ask = choice.of('logPdf', 'mahalanobis', 'scoreInput', 'transform', 'pdf');
    return ((await normal[ask](rows)) as Matrix).data;
  },
  'a part of a normal': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    const coordinates = choice.of<unknown>([0], [n - 1], [0, 0], [n], [], [-1], choice.odd()) as number[];
    using part = await normal.marginal(coordinates);
    return part.covarianceSync().data;
  },
  'a normal made another way': async (device, choice) => {
    const n = 1 + choice.below(3);
    const square = choice.covariance(n) as number[][];
    const positive = Array.from({ length: n }, () => choice.of(0.5, 1, 3, 1, 2, choice.number()));
    const common = { device, dtype: 'float64' } as const;
    const make = choice.of(
      () => MultivariateNormal.fromCholesky({ ...common, factor: square }),
      () => MultivariateNormal.fromPrecision({ ...common, precision: square }),
      () => MultivariateNormal.fromDiagonal({ ...common, variances: positive }),
      () => MultivariateNormal.fromCorrelation({ ...common, correlation: square, standardDeviations: positive }),
      () =>
        MultivariateNormal.fromLowRank({
          ...common,
          factor: choice.rows(1 + choice.below(2), n) as [],
          diagonal: positive,
        }),
      () =>
        MultivariateNormal.fromDiagonal({ ...common, ...(choice.options(['variances', 'mean']) as { variances: [] }) }),
    );
    using normal = await make();
    return (await normal[choice.of('covariance', 'covariance', 'correlation', 'standardDeviations')]()).data;
  },
  'a Student-t': async (device, choice) => {
    const n = 1 + choice.below(3);
    const scale = choice.covariance(n) as number[][];
    const degreesOfFreedom = choice.of(1, 3, 0.3, 30, choice.number());
    using student = await MultivariateStudentT.fromScale({ device, scale, degreesOfFreedom, dtype: 'float64' });
    const rows = choice.rows(n) as number[][];
    const ask = choice.of('logPdf', 'mahalanobis', 'scoreInput', 'sample', 'scale');
    if (ask === 'scale') return (await student.scale()).data;
    if (ask === 'sample') return (await student.sample(choice.of(3, 3, choice.number()), { seed: 4 })).data;
    return ((await student[ask](rows)) as Matrix).data;
  },
  'a part, an image or a quantile of a normal': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    const rows = choice.rows(n) as number[][];
    const ask = choice.of<() => Promise<Matrix | Vector>>(
      async () =>
        (
          await normal.conditional({ given: choice.of([0], [n - 1], []), values: choice.rows(1, 1) as [] } as never)
        ).covariance(),
      async () => (await normal.affine({ matrix: rows, offset: choice.of(undefined, [1]) } as never)).covariance(),
      () => normal.quantile(choice.rows(1, 2) as number[][]),
      () => normal.cdf(rows, choice.options(['seed', 'absoluteError']) as object),
      () => normal.transform(rows),
    );
    return (await ask()).data;
  },
  'a summary, or means of columns': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    if (choice.below(2) === 0) return (await Matrix.from(choice.rows(n) as number[][]).columnMeans()).data;
    const count = choice.of(2, 9, choice.number());
    return (await normal.summarize(count, { seed: 2, ...choice.options(['firstRow', 'quantiles']) } as object)).mean
      .data;
  },
  'a fit': async (device, choice) => {
    const n = 1 + choice.below(3);
    const rows = choice.rows(n, n + 2 + choice.below(5)) as number[][];
    const options = choice.options(['ddof', 'mean', 'weights', 'frequencies', 'shrinkage', 'missing']) ?? {};
    const given = choice.below(2) === 0 ? options : {};
    const moments = new Moments(n);
    const isOfMoments = choice.below(3) === 0;
    if (isOfMoments) moments.addSync(rows);
    using normal = isOfMoments
      ? await MultivariateNormal.fromMoments({ device, moments, dtype: 'float64', ...given })
      : await MultivariateNormal.fit({ device, rows, dtype: 'float64', ...given });
    const covariance = await normal.covariance();
    refuseNearlySingular(await normal.factor(), covariance);
    return covariance.data;
  },
  'a batch or a mixture': async (device, choice) => {
    const n = 1 + choice.below(3);
    const covariances = [choice.covariance(n), choice.covariance(n)] as number[][][];
    const means = choice.of(undefined, choice.rows(n, 2)) as [];
    const weights = choice.of([1, 2], [0.5, 0.5], choice.odd(), [choice.number(), 1]) as number[];
    if (choice.below(2) === 0) {
      using batch = await MultivariateNormalBatch.fromCovariance({ device, covariances, means, dtype: 'float64' });
      const count = choice.of(2, choice.number());
      const ask = choice.of<() => Promise<Matrix | Volume>>(
        () => batch.logPdfEach(choice.rows(n, 2) as number[][]),
        () => batch.sampleVolume(count, { seed: 1 }),
      );
      if (choice.below(2) === 0) return (await ask()).data;
      return (await batch.sample(count, { seed: 1 })).flatMap(({ data }) => [...data]);
    }
    const common = {
      device,
      covariances,
      means: means ?? [new Array(n).fill(0), new Array(n).fill(1)],
      dtype: 'float64',
    };
    using mixture = await MultivariateNormalMixture.fromCovariance({ ...common, weights } as never);
    const rows = choice.rows(n) as number[][];
    if (choice.below(4) === 0) return (await mixture.responsibilities(rows)).data as Float64Array;
    if (choice.below(2) === 0) return (await mixture.logPdf(rows)).data as Float64Array;
    return (await mixture.sample(choice.of(4, choice.number()), { seed: 1 })).data as Float64Array;
  },
  commands: async (device, choice) => {
    const memory = Float32Array.from({ length: 24 }, () => choice.tame());
    const operand = () => {
      const length = choice.below(7);
      const values = choice.below(2) === 0 ? memory.subarray(choice.below(12)) : Float32Array.from(memory);
      if (choice.below(2) === 0) return Vector.from(values.subarray(0, length));
      const columns = 1 + choice.below(3);
      return Matrix.from(values.subarray(0, columns * choice.below(4)), { columns });
    };
    const [a, b, c] = [operand() as Matrix, operand() as Matrix, operand() as Matrix];
    const commands = device.commandBuffer();
    const command = choice.of(
      () => commands.sum(a, b, c),
      () => commands.copy(a, b),
      () => commands.product(a, b, c, choice.options(['transposeA', 'alpha', 'beta'])),
      () => commands.addRow(a, b, choice.number()),
      () => commands.requireFinite(a),
      () => commands.squaredNorms(a, b as unknown as Vector),
      () => commands.cholesky(a),
      () => commands.fillNormal(a, choice.options(['seed', 'stream', 'first'])),
      () => commands.meanAndCovariance(a, b, c),
    );
    command();
    if (choice.below(8) === 0) structuredClone(null, { transfer: [memory.buffer] });
    if (choice.below(2) === 0) commands.commitSync();
    else await commands.commit();
    return memory.length === 0 ? [] : memory;
  },
};

endAlike(200, families, (seed) => new Choice(seed));

test.run();
