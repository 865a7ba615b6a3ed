// Every asynchronous call that may take long accepts a signal, which stops it and leaves nothing behind.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bhattacharyya,
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
  MultivariateStudentTBatch,
  nearestPositiveDefinite,
  openDevice,
  renyiDivergence,
  wasserstein,
} from '../../lib/index.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Asked {
  readonly signal: AbortSignal;
}
type Calls = Readonly<Record<string, (options: Asked) => Promise<unknown>>>;

const covariance = [
  [2, 0.5],
  [0.5, 1],
];
const rows = Array.from({ length: 12 }, (_, i) => [Math.sin(3 * i), Math.cos(i * i)]);
const labels = rows.map((_, i) => i % 2);

/** Each call that takes a signal, on objects that `close` closes. */
function callsOf(device: Device): { readonly calls: Calls; close(): void } {
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const student = MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom: 5, scale: covariance });
  const batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances: [covariance, covariance] });
  const students = MultivariateStudentTBatch.fromScaleSync({
    ...{ device, degreesOfFreedom: 5 },
    scales: [covariance, covariance],
  });
  const parts = { weights: [1, 1], means: [[0, 0], [3, 3]], covariances: [covariance, covariance] }; // biome-ignore format: a row each
  const mixture = MultivariateNormalMixture.fromCovarianceSync({ device, ...parts });
  const moments = new Moments(2);
  moments.addSync(rows);
  const matrix = Matrix.from(covariance);
  const table = Matrix.from(rows);
  const given = { given: [1], values: [0.5] };
  const image = { matrix: [[1, 2]] };
  const two = rows.slice(0, 2);
  const vectors = [[1, 0], [0, 1]]; // biome-ignore format: a row each
  const z = [1, -1];
  const ofOne = (one: typeof normal | typeof student, name: string): Calls => ({
    [`${name}.logPdf`]: (o) => one.logPdf(rows, o),
    [`${name}.pdf`]: (o) => one.pdf(rows, o),
    [`${name}.mahalanobis`]: (o) => one.mahalanobis(rows, o),
    [`${name}.scoreInput`]: (o) => one.scoreInput(rows, o),
    [`${name}.quantile`]: (o) => one.quantile([[0.1, 0.9]], o),
    [`${name}.standardDeviations`]: (o) => one.standardDeviations(o),
    [`${name}.variances`]: (o) => one.variances(o),
    [`${name}.correlation`]: (o) => one.correlation(o),
    [`${name}.covariance`]: (o) => one.covariance(o),
    [`${name}.factor`]: (o) => one.factor(o),
    [`${name}.marginal`]: (o) => one.marginal([0], o),
    [`${name}.conditional`]: (o) => one.conditional({ ...given, ...o }),
    [`${name}.conditionalMeans`]: (o) => one.conditionalMeans({ given: [1], rows: [[0.5], [1]], ...o }),
    [`${name}.affine`]: (o) => one.affine({ ...image, ...o }),
    [`${name}.summarize`]: (o) => one.summarize(100, { quantiles: [0.5], ...o }),
    [`${name}.ellipsoid`]: (o) => one.ellipsoid({ probability: 0.9, ...o }),
  });
  const calls: Calls = {
    fromCovariance: (o) => MultivariateNormal.fromCovariance({ device, covariance, ...o }),
    singular: (o) => MultivariateNormal.fromCovariance({ device, covariance, singular: 'eigen', ...o }),
    fromCholesky: (o) => MultivariateNormal.fromCholesky({ device, factor: vectors, ...o }),
    fromPrecision: (o) => MultivariateNormal.fromPrecision({ device, precision: covariance, ...o }),
    fromDiagonal: (o) => MultivariateNormal.fromDiagonal({ device, variances: [1, 2], ...o }),
    fromEigen: (o) => MultivariateNormal.fromEigen({ device, values: [2, 1], vectors, ...o }),
    fromLowRank: (o) => MultivariateNormal.fromLowRank({ device, factor: [[1], [2]], diagonal: [1, 1], ...o }),
    fromCorrelation: (o) =>
      MultivariateNormal.fromCorrelation({ device, correlation: vectors, standardDeviations: [1, 2], ...o }),
    fit: (o) => MultivariateNormal.fit({ device, rows, ...o }),
    'fit, weights': (o) => MultivariateNormal.fit({ device, rows, weights: rows.map(() => 1), ...o }),
    fromMoments: (o) => MultivariateNormal.fromMoments({ device, moments, ...o }),
    fromJSON: (o) => MultivariateNormal.fromJSON(normal.toJSON(), { device, ...o }),
    'transform, static': (o) => MultivariateNormal.transform({ device, covariance, z, ...o }),
    transform: (o) => normal.transform(z, o),
    ...ofOne(normal, 'normal'),
    ...ofOne(student, 'student'),
    'student.scale': (o) => student.scale(o),
    'Student-t fromScale': (o) =>
      MultivariateStudentT.fromScale({ device, degreesOfFreedom: 5, scale: covariance, ...o }),
    'batch fromCovariance': (o) => MultivariateNormalBatch.fromCovariance({ device, covariances: [covariance], ...o }),
    'batch with jitter': (o) =>
      MultivariateNormalBatch.fromCovariance({ device, covariances: [covariance], jitter: true, ...o }),
    'batch fit': (o) => MultivariateNormalBatch.fit({ device, rows, labels, ...o }),
    'batch.logPdf': (o) => batch.logPdf(rows, o),
    'batch.logPdfEach': (o) => batch.logPdfEach(two, o),
    'students fromScale': (o) =>
      MultivariateStudentTBatch.fromScale({ device, degreesOfFreedom: 5, scales: [covariance], ...o }),
    'students.logPdf': (o) => students.logPdf(rows, o),
    'students.logPdfEach': (o) => students.logPdfEach(two, o),
    'mixture fromCovariance': (o) => MultivariateNormalMixture.fromCovariance({ device, ...parts, ...o }),
    'mixture fit': (o) => MultivariateNormalMixture.fit({ device, rows, components: 2, ...o }),
    'mixture.logPdf': (o) => mixture.logPdf(rows, o),
    'mixture.responsibilities': (o) => mixture.responsibilities(rows, o),
    klDivergence: (o) => klDivergence(normal, normal, o),
    crossEntropy: (o) => crossEntropy(normal, normal, o),
    renyiDivergence: (o) => renyiDivergence(normal, normal, 0.5, o),
    bhattacharyya: (o) => bhattacharyya(normal, normal, o),
    hellinger: (o) => hellinger(normal, normal, o),
    wasserstein: (o) => wasserstein(normal, normal, o),
    nearestPositiveDefinite: (o) => nearestPositiveDefinite(covariance, { device, ...o }),
    eigh: (o) => matrix.eigh({ device, ...o }),
    svd: (o) => matrix.svd({ device, ...o }),
    qr: (o) => matrix.qr({ device, ...o }),
    solve: (o) => matrix.solve(matrix, { device, ...o }),
    lstsq: (o) => matrix.lstsq(matrix, { device, ...o }),
    inverse: (o) => matrix.inverse({ device, ...o }),
    det: (o) => matrix.det({ device, ...o }),
    slogdet: (o) => matrix.slogdet({ device, ...o }),
    multiply: (o) => matrix.multiply(matrix, { device, ...o }),
    transpose: (o) => matrix.transpose({ device, ...o }),
    'Matrix.covariance': (o) => table.covariance({ device, ...o }),
    columnMeans: (o) => table.columnMeans(o),
    columnQuantiles: (o) => table.columnQuantiles([0.5], o),
  };
  const close = () => {
    for (const each of [normal, student, batch, students, mixture]) each.close();
  };
  return { calls, close };
}

// A result, or a plain object of several.
const closeAll = (result: unknown): void => {
  if (typeof result !== 'object' || result === null) return;
  if ('close' in result) (result as Matrix).close();
  else for (const part of Object.values(result)) closeAll(part);
};

onEveryDevice('a signal that has aborted stops every call, and leaves no memory behind.', async (device) => {
  const { calls, close } = callsOf(device);
  const live = device.memory().liveBytes;
  for (const [name, call] of Object.entries(calls)) {
    const error = await throwsCode('ERR_ABORTED', 'enough', () => call({ signal: AbortSignal.abort('enough') }));
    assert.is(error.cause, 'enough', name);
    const wrong = { signal: { aborted: false } } as unknown as Asked;
    await throwsCode('ERR_INVALID_ARGUMENT', 'Pass an AbortSignal', () => call(wrong));
    assert.is(device.memory().liveBytes, live, name);
    closeAll(await call({ signal: new AbortController().signal }));
    const unknown = await throwsCode('ERR_UNKNOWN_OPTION', '(sign)', () => call({ sign: 1 } as unknown as Asked));
    assert.match(unknown.message, /\bsignal\b/, 'the list of options has it');
  }
  close();
});

onEveryDevice('a synchronous twin does not take a signal.', async (device) => {
  const options = { device, signal: new AbortController().signal };
  await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () =>
    MultivariateNormal.fromCovarianceSync({ ...options, covariance } as never),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () => Matrix.from(covariance).eighSync(options as never));
});

if (noCpu === '')
  test('A signal that aborts later stops long work.', async () => {
    using device = openDevice('cpu');
    const n = 700;
    // Each column occurs twice, so the matrix is singular, and no factor is found before the eigenvalues.
    const place = (index: number) => index % (n / 2);
    const large = new Float64Array(n * n).map((_, at) =>
      Math.exp(-Math.abs(place(Math.floor(at / n)) - place(at % n)) / 5),
    );
    const square = Matrix.from(large, { columns: n });
    const calls: Calls = {
      singular: (o) => MultivariateNormal.fromCovariance({ device, covariance: square, singular: 'eigen', ...o }),
      nearest: (o) => nearestPositiveDefinite(large.map((entry, at) => entry * Math.sin(at)), { device, ...o }), // biome-ignore format: a row each
      columnQuantiles: (o) =>
        Matrix.from(new Float64Array(4e6).map(Math.sin), { columns: 2 }).columnQuantiles([0.5], o),
    };
    for (const [name, call] of Object.entries(calls)) {
      const controller = new AbortController();
      const begin = performance.now();
      const whole = call({ signal: controller.signal }).then(
        () => 'done',
        (error) => error.code,
      );
      setImmediate(() => controller.abort());
      assert.is(await whole, 'ERR_ABORTED', `${name} after ${performance.now() - begin} ms`);
    }
  });

test.run();
