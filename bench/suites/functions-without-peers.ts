// The public functions that are not compared with another library: what their calls cost, and how long they hold the
// event loop.
import type { Real } from '../../lib/dtype.ts';
import {
  crossEntropy,
  crossEntropySync,
  hellinger,
  hellingerSync,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  MultivariateStudentTBatch,
  nearestPositiveDefinite,
  nearestPositiveDefiniteSync,
  renyiDivergence,
  renyiDivergenceSync,
  type SummaryOf,
} from '../../lib/index.ts';
import {
  conditionOf,
  degreesOfFreedom,
  half,
  imageOf,
  ofNormals,
  ofOptions,
  ofRows,
  type PublicFunction,
  type Result,
  rest,
  type Setting,
  square,
} from './public-function.ts';

const precisionOf = ({ device, dtype, n, inputs }: Setting) => ({
  ...{ device, dtype, mean: inputs.mean },
  precision: square(inputs.covariance, n),
});
const regressed = ({ n, inputs }: Setting) => ({
  given: rest(n),
  rows: square(inputs.rows.slice(0, (inputs.rows.length / n) * rest(n).length), rest(n).length),
});

/** {@link ofOptions} that take rows, at least `leastRows`. */
const ofRowOptions = <Options>(leastRows: (n: number) => number, ...how: Parameters<typeof ofOptions<Options>>) => ({
  ...ofOptions(...how),
  leastRows,
});

const one = (): number => 1;

const ways: Readonly<Record<string, PublicFunction>> = {
  fromPrecision: ofOptions(
    precisionOf,
    (options) => MultivariateNormal.fromPrecisionSync(options),
    (options) => MultivariateNormal.fromPrecision(options),
  ),
  fromCorrelation: ofOptions(
    ({ device, dtype, n, inputs }) => ({
      ...{ device, dtype, mean: inputs.mean },
      correlation: square(inputs.covariance, n),
      standardDeviations: inputs.mean,
    }),
    (options) => MultivariateNormal.fromCorrelationSync(options),
    (options) => MultivariateNormal.fromCorrelation(options),
  ),
  fromCholesky: ofOptions(
    ({ device, dtype, inputs, normal }) => ({ device, dtype, mean: inputs.mean, factor: normal.factorSync() }),
    (options) => MultivariateNormal.fromCholeskySync(options),
    (options) => MultivariateNormal.fromCholesky(options),
  ),
  fromDiagonal: ofOptions(
    ({ device, dtype, inputs }) => ({ device, dtype, mean: inputs.mean, variances: inputs.mean }),
    (options) => MultivariateNormal.fromDiagonalSync(options),
    (options) => MultivariateNormal.fromDiagonal(options),
  ),
  fromEigen: ofOptions(
    ({ device, dtype, n, inputs }) => ({
      ...{ device, dtype, mean: inputs.mean },
      ...square(inputs.covariance, n).eighSync({ device }),
    }),
    (options) => MultivariateNormal.fromEigenSync(options),
    (options) => MultivariateNormal.fromEigen(options),
  ),
  fromLowRank: ofOptions(
    ({ device, dtype, n, inputs }) => ({
      ...{ device, dtype, mean: inputs.mean, diagonal: inputs.mean },
      factor: square(inputs.a.subarray(0, n * Math.ceil(n / 10)), Math.ceil(n / 10)),
    }),
    (options) => MultivariateNormal.fromLowRankSync(options),
    (options) => MultivariateNormal.fromLowRank(options),
  ),
  fromJSON: ofOptions(
    ({ device, normal }) => ({ device, json: normal.toJSON() }),
    ({ device, json }) => MultivariateNormal.fromJSONSync(json, { device }),
    ({ device, json }) => MultivariateNormal.fromJSON(json, { device }),
  ),
  fromMoments: ofRowOptions(
    (n) => 2 * n,
    ({ device, dtype, n, inputs }) => {
      const moments = new Moments(n, { device });
      moments.addSync(square(inputs.rows, n));
      return { device, dtype, moments };
    },
    (options) => MultivariateNormal.fromMomentsSync(options),
    (options) => MultivariateNormal.fromMoments(options),
  ),
};

const asked = { seed: 42, quantiles: [0.05, 0.5] } as const;
const summaryParts = ({ mean, quantiles }: SummaryOf<typeof asked>): Result => ({ parts: [mean, quantiles] });

const ofOne: Readonly<Record<string, PublicFunction>> = {
  sample: ofRows(
    ({ normal }, rows) => normal.sampleSync(rows.rows, { seed: 42 }),
    ({ normal }, rows) => normal.sample(rows.rows, { seed: 42 }),
  ),
  'sample, empirical': ofRows(
    ({ normal }, rows) => normal.sampleSync(rows.rows, { seed: 42, empirical: true }),
    ({ normal }, rows) => normal.sample(rows.rows, { seed: 42, empirical: true }),
    (n) => n + 1,
  ),
  summarize: ofRows(
    ({ normal }, rows) => summaryParts(normal.summarizeSync(rows.rows, asked)),
    async ({ normal }, rows) => summaryParts(await normal.summarize(rows.rows, asked)),
  ),
  transform: ofRows(
    ({ normal }, rows) => normal.transformSync(rows),
    ({ normal }, rows) => normal.transform(rows),
  ),
  pdf: ofRows(
    ({ normal }, rows) => normal.pdfSync(rows),
    ({ normal }, rows) => normal.pdf(rows),
  ),
  boxProbability: ofNormals(
    ({ normal, inputs }) => normal.boxProbabilitySync({ upper: inputs.mean, ...roughly }).probability,
    async ({ normal, inputs }) => (await normal.boxProbability({ upper: inputs.mean, ...roughly })).probability,
  ),
  factor: ofNormals(
    ({ normal }) => normal.factorSync(),
    ({ normal }) => normal.factor(),
  ),
  variances: ofNormals(
    ({ normal }) => normal.variancesSync(),
    ({ normal }) => normal.variances(),
  ),
  correlation: ofNormals(
    ({ normal }) => normal.correlationSync(),
    ({ normal }) => normal.correlation(),
  ),
  conditionalMeans: ofRowOptions(
    one,
    (setting) => ({ normal: setting.normal, options: regressed(setting) }),
    ({ normal, options }) => normal.conditionalMeansSync(options),
    ({ normal, options }) => normal.conditionalMeans(options),
  ),
  renyiDivergence: ofNormals(
    ({ normal, otherNormal }) => renyiDivergenceSync(normal, otherNormal, 0.3),
    ({ normal, otherNormal }) => renyiDivergence(normal, otherNormal, 0.3),
  ),
  hellinger: ofNormals(
    ({ normal, otherNormal }) => hellingerSync(normal, otherNormal),
    ({ normal, otherNormal }) => hellinger(normal, otherNormal),
  ),
  crossEntropy: ofNormals(
    ({ normal, otherNormal }) => crossEntropySync(normal, otherNormal),
    ({ normal, otherNormal }) => crossEntropy(normal, otherNormal),
  ),
};

// The least number of points: with more, a probability of many dimensions takes seconds.
const roughly = { seed: 42, maxPoints: 1536 };

const ofMatrices: Readonly<Record<string, PublicFunction>> = {
  transpose: ofRows(
    ({ device }, rows) => rows.transposeSync({ device }),
    ({ device }, rows) => rows.transpose({ device }),
  ),
  columnMeans: ofRows(
    (_, rows) => rows.columnMeansSync(),
    (_, rows) => rows.columnMeans(),
  ),
  columnQuantiles: ofRows(
    (_, rows) => rows.columnQuantilesSync([0.05, 0.5]),
    (_, rows) => rows.columnQuantiles([0.05, 0.5]),
  ),
  nearestPositiveDefinite: ofOptions(
    ({ device, n, inputs }) => ({ device, matrix: square(inputs.a, n) }),
    ({ device, matrix }) => nearestPositiveDefiniteSync(matrix, { device }),
    ({ device, matrix }) => nearestPositiveDefinite(matrix, { device }),
  ),
};

const ofStudents: Readonly<Record<string, PublicFunction>> = {
  'Student-t make': ofOptions(
    ({ device, dtype, n, inputs }) => ({
      ...{ device, dtype, degreesOfFreedom, location: inputs.mean },
      scale: square(inputs.covariance, n),
    }),
    (options) => MultivariateStudentT.fromScaleSync(options),
    (options) => MultivariateStudentT.fromScale(options),
  ),
  'Student-t summarize': ofRows(
    ({ student }, rows) => summaryParts(student.summarizeSync(rows.rows, asked)),
    async ({ student }, rows) => summaryParts(await student.summarize(rows.rows, asked)),
  ),
  'Student-t covariance': ofNormals(
    ({ student }) => student.covarianceSync(),
    ({ student }) => student.covariance(),
  ),
  'Student-t scoreInput': ofRows(
    ({ student }, rows) => student.scoreInputSync(rows),
    ({ student }, rows) => student.scoreInput(rows),
  ),
  'Student-t conditional': ofOptions(
    conditionOf,
    (condition, { student }) => student.conditionalSync(condition),
    (condition, { student }) => student.conditional(condition),
  ),
  'Student-t affine': ofOptions(
    imageOf,
    (image, { student }) => student.affineSync(image),
    (image, { student }) => student.affine(image),
  ),
  'Student-t marginal': ofOptions(
    ({ n }) => half(n),
    (coordinates, { student }) => student.marginalSync(coordinates),
    (coordinates, { student }) => student.marginal(coordinates),
  ),
  'Student-t cdf': {
    ...ofRows(
      ({ student }, rows) => student.cdfSync(rows),
      ({ student }, rows) => student.cdf(rows),
    ),
    // Three coordinates are integrated, which takes milliseconds per row.
    most: 3,
    mostRows: 100,
  },
  'Student-t quantile': {
    leastRows: () => 1,
    ...ofOptions(
      ({ student, n, inputs }) => ({ student, probabilities: square(inputs.probabilities, n) }),
      ({ student, probabilities }) => student.quantileSync(probabilities),
      ({ student, probabilities }) => student.quantile(probabilities),
    ),
  },
  'Student-t ellipsoid': ofNormals(
    ({ student }) => student.ellipsoidSync({ probability: 0.95 }),
    ({ student }) => student.ellipsoid({ probability: 0.95 }),
  ),
};

const batchOptions = ({ device, dtype, n, inputs }: Setting) => ({
  ...{ device, dtype, means: square(twice(inputs.mean), n) },
  covariances: [square(inputs.covariance, n), square(inputs.other, n)],
});
const twice = (values: Real): Real => {
  const both =
    values instanceof Float32Array ? new Float32Array(2 * values.length) : new Float64Array(2 * values.length);
  both.set(values);
  both.set(values, values.length);
  return both;
};
const batchOf = (setting: Setting) => ({
  batch: MultivariateNormalBatch.fromCovarianceSync(batchOptions(setting)),
  rows: square(setting.inputs.rows, setting.n),
});
const studentBatchOptions = (setting: Setting) => {
  const { means, covariances, ...rest } = batchOptions(setting);
  return { ...rest, degreesOfFreedom, locations: means, scales: covariances };
};
const studentBatchOf = (setting: Setting) => ({
  batch: MultivariateStudentTBatch.fromScaleSync(studentBatchOptions(setting)),
  rows: square(setting.inputs.rows, setting.n),
});
const groupsOf = ({ device, dtype, n, inputs }: Setting) => {
  const rows = square(inputs.rows, n);
  return { device, dtype, rows, labels: Int32Array.from({ length: rows.rows }, (_, i) => i % 2) };
};
const componentsOf = ({ device, dtype, n, inputs }: Setting) => ({
  ...{ device, dtype, components: 2, seed: 1, maxIterations: 2, regularization: 0.1 },
  rows: square(inputs.rows, n),
});
const mixtureOf = (setting: Setting) => ({
  mixture: MultivariateNormalMixture.fromCovarianceSync({ ...batchOptions(setting), weights: [1, 2] }),
  rows: square(setting.inputs.rows, setting.n),
});
const enough = (n: number): number => 4 * n + 2;

// Two models each.
const ofBatches: Readonly<Record<string, PublicFunction>> = {
  'batch make': ofOptions(
    batchOptions,
    (options) => MultivariateNormalBatch.fromCovarianceSync(options),
    (options) => MultivariateNormalBatch.fromCovariance(options),
  ),
  'batch sample': ofRowOptions(
    one,
    batchOf,
    ({ batch, rows }) => ({ parts: batch.sampleSync(rows.rows, { seed: 42 }) }),
    async ({ batch, rows }) => ({ parts: await batch.sample(rows.rows, { seed: 42 }) }),
  ),
  'batch logPdf': ofRowOptions(
    one,
    batchOf,
    ({ batch, rows }) => batch.logPdfSync(rows),
    ({ batch, rows }) => batch.logPdf(rows),
  ),
  'batch sampleVolume': ofRowOptions(
    one,
    batchOf,
    ({ batch, rows }) => batch.sampleVolumeSync(rows.rows, { seed: 42 }),
    ({ batch, rows }) => batch.sampleVolume(rows.rows, { seed: 42 }),
  ),
  'batch logPdfEach': ofOptions(
    (setting) => ({ ...batchOf(setting), points: batchOptions(setting).means }),
    ({ batch, points }) => batch.logPdfEachSync(points),
    ({ batch, points }) => batch.logPdfEach(points),
  ),
  'batch fit': ofRowOptions(
    enough,
    groupsOf,
    (options) => MultivariateNormalBatch.fitSync(options),
    (options) => MultivariateNormalBatch.fit(options),
  ),
  'mixture fit': ofRowOptions(
    enough,
    componentsOf,
    (options) => MultivariateNormalMixture.fitSync(options),
    (options) => MultivariateNormalMixture.fit(options),
  ),
  'mixture sample': ofRowOptions(
    one,
    mixtureOf,
    ({ mixture, rows }) => mixture.sampleSync(rows.rows, { seed: 42 }),
    ({ mixture, rows }) => mixture.sample(rows.rows, { seed: 42 }),
  ),
  'mixture logPdf': ofRowOptions(
    one,
    mixtureOf,
    ({ mixture, rows }) => mixture.logPdfSync(rows),
    ({ mixture, rows }) => mixture.logPdf(rows),
  ),
  'mixture responsibilities': ofRowOptions(
    one,
    mixtureOf,
    ({ mixture, rows }) => mixture.responsibilitiesSync(rows),
    ({ mixture, rows }) => mixture.responsibilities(rows),
  ),
  'Student-t batch make': ofOptions(
    studentBatchOptions,
    (options) => MultivariateStudentTBatch.fromScaleSync(options),
    (options) => MultivariateStudentTBatch.fromScale(options),
  ),
  'Student-t batch sampleVolume': ofRowOptions(
    one,
    studentBatchOf,
    ({ batch, rows }) => batch.sampleVolumeSync(rows.rows, { seed: 42 }),
    ({ batch, rows }) => batch.sampleVolume(rows.rows, { seed: 42 }),
  ),
  'Student-t batch logPdf': ofRowOptions(
    one,
    studentBatchOf,
    ({ batch, rows }) => batch.logPdfSync(rows),
    ({ batch, rows }) => batch.logPdf(rows),
  ),
};

/** By the name of the case. */
export const functionsWithoutPeers: Readonly<Record<string, PublicFunction>> = {
  ...ways,
  ...ofOne,
  ...ofMatrices,
  ...ofStudents,
  ...ofBatches,
};
