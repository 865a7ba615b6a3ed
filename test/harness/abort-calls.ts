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
  readTable,
  renyiDivergence,
  wasserstein,
} from '../../lib/index.ts';

export interface Asked {
  readonly signal: AbortSignal;
}
export type Calls = Readonly<Record<string, (options: Asked) => Promise<unknown>>>;

const covariance = [
  [2, 0.5],
  [0.5, 1],
];
const rows = Array.from({ length: 12 }, (_, i) => [Math.sin(3 * i), Math.cos(i * i)]);
const labels = rows.map((_, i) => i % 2);

async function closeEach(blocks: AsyncIterable<Matrix>): Promise<void> {
  for await (const block of blocks) block.close();
}

/**
 * The calls that take a signal, on objects that `close` closes. Their names are those of the API, perhaps with a comma
 * and a variant. test/repo/signals.test.ts checks that none is missing.
 */
export function callsOf(device: Device): { readonly calls: Calls; close(): void } {
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
    [`${name}.sample`]: (o) => one.sample(3, { seed: 1, ...o }),
    [`${name}.blocks`]: (o) => closeEach(one.blocks(3, { seed: 1, ...o })),
    [`${name}.logPdf`]: (o) => one.logPdf(rows, o),
    [`${name}.pdf`]: (o) => one.pdf(rows, o),
    [`${name}.mahalanobis`]: (o) => one.mahalanobis(rows, o),
    [`${name}.scoreInput`]: (o) => one.scoreInput(rows, o),
    [`${name}.cdf`]: (o) => one.cdf(two, o),
    [`${name}.boxProbability`]: (o) => one.boxProbability({ upper: [2, 2], ...o }),
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
    'MultivariateNormal.fromCovariance': (o) => MultivariateNormal.fromCovariance({ device, covariance, ...o }),
    'MultivariateNormal.fromCovariance, singular': (o) =>
      MultivariateNormal.fromCovariance({ device, covariance, singular: 'eigen', ...o }),
    'MultivariateNormal.fromCholesky': (o) => MultivariateNormal.fromCholesky({ device, factor: vectors, ...o }),
    'MultivariateNormal.fromPrecision': (o) =>
      MultivariateNormal.fromPrecision({ device, precision: covariance, ...o }),
    'MultivariateNormal.fromDiagonal': (o) => MultivariateNormal.fromDiagonal({ device, variances: [1, 2], ...o }),
    'MultivariateNormal.fromEigen': (o) => MultivariateNormal.fromEigen({ device, values: [2, 1], vectors, ...o }),
    'MultivariateNormal.fromLowRank': (o) =>
      MultivariateNormal.fromLowRank({ device, factor: [[1], [2]], diagonal: [1, 1], ...o }),
    'MultivariateNormal.fromCorrelation': (o) =>
      MultivariateNormal.fromCorrelation({ device, correlation: vectors, standardDeviations: [1, 2], ...o }),
    'MultivariateNormal.fit': (o) => MultivariateNormal.fit({ device, rows, ...o }),
    'MultivariateNormal.fit, weights': (o) =>
      MultivariateNormal.fit({ device, rows, weights: rows.map(() => 1), ...o }),
    'MultivariateNormal.fromMoments': (o) => MultivariateNormal.fromMoments({ device, moments, ...o }),
    'MultivariateNormal.fromJSON': (o) => MultivariateNormal.fromJSON(normal.toJSON(), { device, ...o }),
    'MultivariateNormal.transform, static': (o) => MultivariateNormal.transform({ device, covariance, z, ...o }),
    'MultivariateNormal.transform': (o) => normal.transform(z, o),
    ...ofOne(normal, 'MultivariateNormal'),
    ...ofOne(student, 'MultivariateStudentT'),
    'MultivariateStudentT.scale': (o) => student.scale(o),
    'MultivariateStudentT.fromScale': (o) =>
      MultivariateStudentT.fromScale({ device, degreesOfFreedom: 5, scale: covariance, ...o }),
    'MultivariateNormalBatch.fromCovariance': (o) =>
      MultivariateNormalBatch.fromCovariance({ device, covariances: [covariance], ...o }),
    'MultivariateNormalBatch.fromCovariance, jitter': (o) =>
      MultivariateNormalBatch.fromCovariance({ device, covariances: [covariance], jitter: true, ...o }),
    'MultivariateNormalBatch.fit': (o) => MultivariateNormalBatch.fit({ device, rows, labels, ...o }),
    'MultivariateNormalBatch.logPdf': (o) => batch.logPdf(rows, o),
    'MultivariateNormalBatch.logPdfEach': (o) => batch.logPdfEach(two, o),
    'MultivariateStudentTBatch.fromScale': (o) =>
      MultivariateStudentTBatch.fromScale({ device, degreesOfFreedom: 5, scales: [covariance], ...o }),
    'MultivariateStudentTBatch.logPdf': (o) => students.logPdf(rows, o),
    'MultivariateStudentTBatch.logPdfEach': (o) => students.logPdfEach(two, o),
    'MultivariateNormalMixture.fromCovariance': (o) =>
      MultivariateNormalMixture.fromCovariance({ device, ...parts, ...o }),
    'MultivariateNormalMixture.fit': (o) => MultivariateNormalMixture.fit({ device, rows, components: 2, ...o }),
    'MultivariateNormalMixture.logPdf': (o) => mixture.logPdf(rows, o),
    'MultivariateNormalMixture.responsibilities': (o) => mixture.responsibilities(rows, o),
    'MultivariateStudentT.fromCholesky': (o) =>
      MultivariateStudentT.fromCholesky({ device, degreesOfFreedom: 5, factor: vectors, ...o }),
    'MultivariateStudentT.fromPrecision': (o) =>
      MultivariateStudentT.fromPrecision({ device, degreesOfFreedom: 5, precision: covariance, ...o }),
    'MultivariateStudentT.fromDiagonal': (o) =>
      MultivariateStudentT.fromDiagonal({ device, degreesOfFreedom: 5, diagonal: [1, 2], ...o }),
    'MultivariateStudentT.fromEigen': (o) =>
      MultivariateStudentT.fromEigen({ device, degreesOfFreedom: 5, values: [2, 1], vectors, ...o }),
    'MultivariateStudentT.fromLowRank': (o) =>
      MultivariateStudentT.fromLowRank({ device, degreesOfFreedom: 5, factor: [[1], [2]], diagonal: [1, 1], ...o }),
    'MultivariateStudentT.fromCorrelation': (o) =>
      MultivariateStudentT.fromCorrelation({
        ...{ device, degreesOfFreedom: 5, correlation: vectors, scales: [1, 2] },
        ...o,
      }),
    'MultivariateStudentT.fromJSON': (o) => MultivariateStudentT.fromJSON(student.toJSON(), { device, ...o }),
    'MultivariateNormalBatch.sample': (o) => batch.sample(3, { seed: 1, ...o }),
    'MultivariateNormalBatch.sampleVolume': (o) => batch.sampleVolume(3, { seed: 1, ...o }),
    'MultivariateStudentTBatch.sampleVolume': (o) => students.sampleVolume(3, { seed: 1, ...o }),
    'MultivariateNormalMixture.sample': (o) => mixture.sample(3, { seed: 1, ...o }),
    'Moments.add': (o) => moments.add(rows, o),
    // Without commands: those of a buffer that is not committed hold memory until it is collected.
    'CommandBuffer.commit': (o) => device.commandBuffer().commit(o),
    readTable: (o) => readTable(Buffer.from('1,2\n'), o),
    klDivergence: (o) => klDivergence(normal, normal, o),
    crossEntropy: (o) => crossEntropy(normal, normal, o),
    renyiDivergence: (o) => renyiDivergence(normal, normal, 0.5, o),
    bhattacharyya: (o) => bhattacharyya(normal, normal, o),
    hellinger: (o) => hellinger(normal, normal, o),
    wasserstein: (o) => wasserstein(normal, normal, o),
    nearestPositiveDefinite: (o) => nearestPositiveDefinite(covariance, { device, ...o }),
    'Matrix.eigh': (o) => matrix.eigh({ device, ...o }),
    'Matrix.svd': (o) => matrix.svd({ device, ...o }),
    'Matrix.qr': (o) => matrix.qr({ device, ...o }),
    'Matrix.solve': (o) => matrix.solve(matrix, { device, ...o }),
    'Matrix.lstsq': (o) => matrix.lstsq(matrix, { device, ...o }),
    'Matrix.inverse': (o) => matrix.inverse({ device, ...o }),
    'Matrix.det': (o) => matrix.det({ device, ...o }),
    'Matrix.slogdet': (o) => matrix.slogdet({ device, ...o }),
    'Matrix.multiply': (o) => matrix.multiply(matrix, { device, ...o }),
    'Matrix.transpose': (o) => matrix.transpose({ device, ...o }),
    'Matrix.covariance': (o) => table.covariance({ device, ...o }),
    'Matrix.columnMeans': (o) => table.columnMeans(o),
    'Matrix.columnQuantiles': (o) => table.columnQuantiles([0.5], o),
  };
  const close = () => {
    for (const each of [normal, student, batch, students, mixture]) each.close();
  };
  return { calls, close };
}
