// The public functions of distributions and matrices that NumPy or SciPy have too: the suite `functions` times them
// beside those, and the suite `calls` alone.
import {
  bhattacharyya,
  bhattacharyyaSync,
  klDivergence,
  klDivergenceSync,
  Moments,
  MultivariateNormal,
  wasserstein,
  wassersteinSync,
} from '../../lib/index.ts';
import { matrixFunctions } from './matrix-functions.ts';
import {
  conditionOf,
  half,
  imageOf,
  ofNormals,
  ofOptions,
  ofRows,
  type PublicFunction,
  type Setting,
  square,
} from './public-function.ts';

function make(singular: 'error' | 'pivoted' | 'eigen'): PublicFunction {
  return {
    of: ({ device, dtype, n, inputs }) => {
      const options = { device, dtype, mean: inputs.mean, covariance: square(inputs.covariance, n), singular };
      return {
        sync: () => MultivariateNormal.fromCovarianceSync(options),
        awaited: () => MultivariateNormal.fromCovariance(options),
      };
    },
  };
}

function fit(more: (inputs: Setting['inputs']) => object): PublicFunction {
  return {
    leastRows: (n) => 2 * n,
    of: ({ device, dtype, n, inputs }) => {
      const options = { device, dtype, rows: square(inputs.rows, n), ...more(inputs) };
      return { sync: () => MultivariateNormal.fitSync(options), awaited: () => MultivariateNormal.fit(options) };
    },
  };
}

const probability = 0.95;

/** By the name of the case. */
export const functionsWithPeers: Readonly<Record<string, PublicFunction>> = {
  make: make('error'),
  'make, pivoted': make('pivoted'),
  'make, eigen': make('eigen'),
  fit: fit(() => ({})),
  'fit, weights': fit((inputs) => ({ weights: inputs.weights })),
  'fit, shrinkage': fit(() => ({ shrinkage: 0.1 })),
  'Moments add': ofRows(
    ({ device, n }, rows) => {
      const moments = new Moments(n, { device });
      moments.addSync(rows);
      return moments.covariance();
    },
    async ({ device, n }, rows) => {
      const moments = new Moments(n, { device });
      await moments.add(rows);
      return moments.covariance();
    },
    (n) => 2 * n,
  ),
  logPdf: ofRows(
    ({ normal }, rows) => normal.logPdfSync(rows),
    ({ normal }, rows) => normal.logPdf(rows),
  ),
  mahalanobis: ofRows(
    ({ normal }, rows) => normal.mahalanobisSync(rows),
    ({ normal }, rows) => normal.mahalanobis(rows),
  ),
  scoreInput: ofRows(
    ({ normal }, rows) => normal.scoreInputSync(rows),
    ({ normal }, rows) => normal.scoreInput(rows),
  ),
  cdf: {
    ...ofRows(
      ({ normal }, rows) => normal.cdfSync(rows),
      ({ normal }, rows) => normal.cdf(rows),
    ),
    // Three coordinates are integrated, which takes milliseconds per row.
    most: 3,
    mostRows: 100,
  },
  quantile: {
    leastRows: () => 1,
    of: ({ normal, n, inputs }) => {
      const probabilities = square(inputs.probabilities, n);
      return { sync: () => normal.quantileSync(probabilities), awaited: () => normal.quantile(probabilities) };
    },
  },
  toArray: ofRows(
    (_, rows) => rows.toArray(),
    async (_, rows) => rows.toArray(),
  ),
  covariance: ofNormals(
    ({ normal }) => normal.covarianceSync(),
    ({ normal }) => normal.covariance(),
  ),
  marginal: ofOptions(
    ({ n }) => half(n),
    (coordinates, { normal }) => normal.marginalSync(coordinates),
    (coordinates, { normal }) => normal.marginal(coordinates),
  ),
  conditional: ofOptions(
    conditionOf,
    (condition, { normal }) => normal.conditionalSync(condition),
    (condition, { normal }) => normal.conditional(condition),
  ),
  affine: ofOptions(
    imageOf,
    (image, { normal }) => normal.affineSync(image),
    (image, { normal }) => normal.affine(image),
  ),
  klDivergence: ofNormals(
    ({ normal, otherNormal }) => klDivergenceSync(normal, otherNormal),
    ({ normal, otherNormal }) => klDivergence(normal, otherNormal),
  ),
  bhattacharyya: ofNormals(
    ({ normal, otherNormal }) => bhattacharyyaSync(normal, otherNormal),
    ({ normal, otherNormal }) => bhattacharyya(normal, otherNormal),
  ),
  wasserstein: ofNormals(
    ({ normal, otherNormal }) => wassersteinSync(normal, otherNormal),
    ({ normal, otherNormal }) => wasserstein(normal, otherNormal),
  ),
  ellipsoid: ofNormals(
    ({ normal }) => normal.ellipsoidSync({ probability }),
    ({ normal }) => normal.ellipsoid({ probability }),
  ),
  'Student-t logPdf': ofRows(
    ({ student }, rows) => student.logPdfSync(rows),
    ({ student }, rows) => student.logPdf(rows),
  ),
  'Student-t sample': ofRows(
    ({ student }, rows) => student.sampleSync(rows.rows, { seed: 42 }),
    ({ student }, rows) => student.sample(rows.rows, { seed: 42 }),
  ),
  ...matrixFunctions,
};
