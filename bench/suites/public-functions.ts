// The public functions of distributions, each with what it computes from: what the suites `functions` and `calls` time.
import type { Real, RealDtype } from '../../lib/dtype.ts';
import {
  bhattacharyya,
  bhattacharyyaSync,
  type Device,
  type Ellipsoid,
  klDivergence,
  klDivergenceSync,
  Matrix,
  MultivariateNormal,
  MultivariateStudentT,
  type Vector,
  wasserstein,
  wassersteinSync,
} from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import type { Inputs } from '../inputs.ts';

type Result = Matrix | Vector | MultivariateNormal | Ellipsoid | number | readonly (readonly number[])[] | Parts;
/** The matrices of a decomposition. */
type Parts = { readonly parts: readonly (Matrix | Vector)[] };

/** The numbers of a setting; `other` is a covariance too, `rows` and `probabilities` are count x n. */
type FunctionInputs = Readonly<
  Record<'mean' | 'covariance' | 'other' | 'a' | 'rows' | 'probabilities' | 'weights', Real>
>;

/** What a function computes from: distributions of n dimensions, and rows for those that take some. */
export interface Setting {
  readonly device: Device;
  readonly dtype: RealDtype;
  readonly n: number;
  readonly inputs: FunctionInputs;
  readonly normal: MultivariateNormal;
  readonly otherNormal: MultivariateNormal;
  readonly student: MultivariateStudentT;
}

/** A function laid out: synchronous and awaited. */
export interface Call {
  readonly sync: () => Result;
  readonly awaited: () => Promise<Result>;
}

export interface PublicFunction {
  /** The least number of rows that it takes at n dimensions; undefined where it takes none. */
  readonly leastRows?: (n: number) => number;
  /** The most rows that it is timed with; any number by default. */
  readonly mostRows?: number;
  /** The largest dimension that it is timed at; none by default. */
  readonly most?: number;
  readonly of: (setting: Setting) => Call;
}

/** As many rows as `count` where the function takes rows, and enough. */
function rowsOf({ leastRows, mostRows }: PublicFunction, n: number, count: number): number | null {
  return leastRows === undefined ? null : Math.max(Math.min(count, mostRows ?? count), leastRows(n));
}

const degreesOfFreedom = 5;

const all = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
/** The first half of the coordinates, and the others. */
const half = (n: number): number[] => all(n).slice(0, Math.ceil(n / 2));
const rest = (n: number): number[] => all(n).slice(Math.ceil(n / 2));

const square = (values: Real, n: number): Matrix => Matrix.from(values, { columns: n, dtype: dtypeOf(values) });
const dtypeOf = (values: Real): RealDtype => (values instanceof Float32Array ? 'float32' : 'float64');

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

/** A function of rows. */
function ofRows(
  sync: (setting: Setting, rows: Matrix) => Result,
  awaited: (setting: Setting, rows: Matrix) => Promise<Result>,
): PublicFunction {
  return {
    leastRows: () => 1,
    of: (setting) => {
      const rows = square(setting.inputs.rows, setting.n);
      return { sync: () => sync(setting, rows), awaited: () => awaited(setting, rows) };
    },
  };
}

/** A function of distributions alone. */
function ofNormals(sync: (setting: Setting) => Result, awaited: (setting: Setting) => Promise<Result>): PublicFunction {
  return { of: (setting) => ({ sync: () => sync(setting), awaited: () => awaited(setting) }) };
}

const conditionOf = ({ n, inputs }: Setting) => ({
  given: rest(n),
  values: inputs.mean.subarray(0, rest(n).length),
});
const imageOf = ({ n, inputs }: Setting) => ({ matrix: square(inputs.a.subarray(0, half(n).length * n), n) });
const probability = 0.95;

/** By the name of its case. */
export const publicFunctions: Readonly<Record<string, PublicFunction>> = {
  make: make('error'),
  'make, pivoted': make('pivoted'),
  'make, eigen': make('eigen'),
  fit: fit(() => ({})),
  'fit, weights': fit((inputs) => ({ weights: inputs.weights })),
  'fit, shrinkage': fit(() => ({ shrinkage: 0.1 })),
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
    // Three coordinates are integrated, in milliseconds a row.
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
  marginal: ofNormals(
    ({ normal, n }) => normal.marginalSync(half(n)),
    ({ normal, n }) => normal.marginal(half(n)),
  ),
  conditional: ofNormals(
    (setting) => setting.normal.conditionalSync(conditionOf(setting)),
    (setting) => setting.normal.conditional(conditionOf(setting)),
  ),
  affine: ofNormals(
    (setting) => setting.normal.affineSync(imageOf(setting)),
    (setting) => setting.normal.affine(imageOf(setting)),
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
};

/** A matrix of n x n, and what it is taken apart into. */
function ofMatrix(
  sync: (matrix: Matrix, setting: Setting) => Result,
  awaited: (matrix: Matrix, setting: Setting) => Promise<Result>,
): PublicFunction {
  return {
    of: (setting) => {
      const matrix = square(setting.inputs.covariance, setting.n);
      return { sync: () => sync(matrix, setting), awaited: () => awaited(matrix, setting) };
    },
  };
}

const precisionOf = ({ device, dtype, n, inputs }: Setting) => ({
  ...{ device, dtype, mean: inputs.mean },
  precision: square(inputs.covariance, n),
});
const regressed = ({ n }: Setting, rows: Matrix) => ({
  given: rest(n),
  rows: square(rows.data.slice(0, rows.rows * rest(n).length) as Real, rest(n).length),
});

/** Others, by the name of their case, of which no other library is asked: what their calls cost alone. */
export const otherFunctions: Readonly<Record<string, PublicFunction>> = {
  fromPrecision: ofNormals(
    (setting) => MultivariateNormal.fromPrecisionSync(precisionOf(setting)),
    (setting) => MultivariateNormal.fromPrecision(precisionOf(setting)),
  ),
  sample: ofRows(
    ({ normal }, rows) => normal.sampleSync(rows.rows, { seed: 42 }),
    ({ normal }, rows) => normal.sample(rows.rows, { seed: 42 }),
  ),
  transform: ofRows(
    ({ normal }, rows) => normal.transformSync(rows),
    ({ normal }, rows) => normal.transform(rows),
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
  conditionalMeans: ofRows(
    (setting, rows) => setting.normal.conditionalMeansSync(regressed(setting, rows)),
    (setting, rows) => setting.normal.conditionalMeans(regressed(setting, rows)),
  ),
  eigh: ofMatrix(
    (matrix, { device }) => ({ parts: Object.values(matrix.eighSync({ device })) }),
    async (matrix, { device }) => ({ parts: Object.values(await matrix.eigh({ device })) }),
  ),
  svd: ofMatrix(
    (matrix, { device }) => ({ parts: Object.values(matrix.svdSync({ device })) }),
    async (matrix, { device }) => ({ parts: Object.values(await matrix.svd({ device })) }),
  ),
  qr: ofMatrix(
    (matrix, { device }) => ({ parts: Object.values(matrix.qrSync({ device })) }),
    async (matrix, { device }) => ({ parts: Object.values(await matrix.qr({ device })) }),
  ),
  inverse: ofMatrix(
    (matrix, { device }) => matrix.inverseSync({ device }),
    (matrix, { device }) => matrix.inverse({ device }),
  ),
  multiply: ofMatrix(
    (matrix, { device }) => matrix.multiplySync(matrix, { device }),
    (matrix, { device }) => matrix.multiply(matrix, { device }),
  ),
};

/** A problem of a function, of n dimensions and at least `count` rows. */
export function functionProblem(
  problem: Pick<Problem, 'suite' | 'case' | 'tolerance'> & { readonly dtype: RealDtype },
  called: PublicFunction,
  n: number,
  count: number,
  inputs: Inputs,
): Problem {
  const rows = rowsOf(called, n, count);
  return {
    ...problem,
    dimension: n,
    count: rows,
    work: { flops: 0, bytes: 0, normals: 0 },
    inputs: () => inputs.ofFunctions(n, rows ?? 1, problem.dtype),
  };
}

/** The distributions of a problem's setting, which `close` closes. */
export function settingOf(
  device: Device,
  problem: Pick<Problem, 'dtype' | 'dimension' | 'inputs'>,
): { readonly setting: Setting; readonly close: () => void } {
  const [dtype, n, inputs] = [problem.dtype!, problem.dimension!, problem.inputs() as FunctionInputs];
  const mean = inputs.mean;
  const covariance = square(inputs.covariance, n);
  const normal = MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance });
  const other = { device, dtype, mean: mean.map((value) => 0 * value), covariance: square(inputs.other, n) };
  const otherNormal = MultivariateNormal.fromCovarianceSync(other);
  const student = MultivariateStudentT.fromScaleSync({
    ...{ device, dtype, degreesOfFreedom },
    location: mean,
    scale: covariance,
  });
  const setting: Setting = { device, dtype, n, inputs, normal, otherNormal, student };
  const close = () => {
    for (const each of [normal, otherNormal, student]) each.close();
  };
  return { setting, close };
}

/** The numbers of a result that others are compared with. */
export function numbersOf(result: Result): Real {
  if (typeof result === 'number') return Float64Array.of(result);
  if (result instanceof MultivariateNormal) return result.covarianceSync().data as Real;
  if (Array.isArray(result)) return Float64Array.from(result.flat());
  if ('radius' in result) return Float64Array.of(result.radius);
  if ('parts' in result) return numbersOf(result.parts[0]!);
  return (result as Matrix | Vector).data as Real;
}

/** Gives back the memory of a result. */
export function closeResult(result: Result): void {
  if (typeof result !== 'object') return;
  if ('close' in result) result.close();
  if ('parts' in result) for (const part of result.parts) part.close();
}
