// How a public function is described to the suites `functions` and `calls`: what it computes from, and its two calls.
import type { Real, RealDtype } from '../../lib/dtype.ts';
import {
  type ConditionalOptions,
  type Device,
  type Ellipsoid,
  Matrix,
  MultivariateNormal,
  MultivariateStudentT,
  type Vector,
  type Volume,
} from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import type { Inputs } from '../inputs.ts';

export type Result =
  | Matrix
  | Vector
  | Volume
  | MultivariateNormal
  | Ellipsoid
  | number
  | readonly (readonly number[])[]
  | Parts
  | Closable;

/** A distribution of any kind. */
interface Closable {
  close(): void;
}

/** A result of several parts, and those of its numbers that are compared with other contenders. */
interface Parts {
  readonly parts: readonly Closable[];
  readonly numbers?: () => Real;
}

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

/** `count` rows within the function's limits; null if it takes no rows. */
function rowsOf({ leastRows, mostRows }: PublicFunction, n: number, count: number): number | null {
  return leastRows === undefined ? null : Math.max(Math.min(count, mostRows ?? count), leastRows(n));
}

export const degreesOfFreedom = 5;

const all = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
/** The first half of the coordinates, and the others. */
export const half = (n: number): number[] => all(n).slice(0, Math.ceil(n / 2));
export const rest = (n: number): number[] => all(n).slice(Math.ceil(n / 2));

export const square = (values: Real, n: number): Matrix => Matrix.from(values, { columns: n, dtype: dtypeOf(values) });
const dtypeOf = (values: Real): RealDtype => (values instanceof Float32Array ? 'float32' : 'float64');

/** The second half of the coordinates, each given as 1. */
export function conditionOf({ n, inputs }: Setting): ConditionalOptions {
  return { given: rest(n), values: inputs.mean.subarray(0, rest(n).length) };
}

/** An image of half as many coordinates. */
export function imageOf({ n, inputs }: Setting): { readonly matrix: Matrix } {
  return { matrix: square(inputs.a.subarray(0, half(n).length * n), n) };
}

/** A function of rows. */
export function ofRows(
  sync: (setting: Setting, rows: Matrix) => Result,
  awaited: (setting: Setting, rows: Matrix) => Promise<Result>,
  leastRows = (_n: number): number => 1,
): PublicFunction {
  return {
    leastRows,
    of: (setting) => {
      const rows = square(setting.inputs.rows, setting.n);
      return { sync: () => sync(setting, rows), awaited: () => awaited(setting, rows) };
    },
  };
}

/** A function of distributions only. */
export function ofNormals(
  sync: (setting: Setting) => Result,
  awaited: (setting: Setting) => Promise<Result>,
): PublicFunction {
  return { of: (setting) => ({ sync: () => sync(setting), awaited: () => awaited(setting) }) };
}

/** A function of options that are made once, before it is timed, as the peers' are. */
export function ofOptions<Options>(
  make: (setting: Setting) => Options,
  sync: (options: Options, setting: Setting) => Result,
  awaited: (options: Options, setting: Setting) => Promise<Result>,
): PublicFunction {
  return {
    of: (setting) => {
      const options = make(setting);
      return { sync: () => sync(options, setting), awaited: () => awaited(options, setting) };
    },
  };
}

/** A problem of a function, of n dimensions and at least `count` rows. */
export function functionProblem(
  problem: Pick<Problem, 'suite' | 'case' | 'tolerance'> & { readonly dtype: RealDtype },
  called: PublicFunction,
  n: number,
  count: number,
  inputs: Inputs,
  isHarsh = false,
): Problem {
  const rows = rowsOf(called, n, count);
  return {
    ...problem,
    dimension: n,
    count: rows,
    work: { flops: 0, bytes: 0, normals: 0 },
    inputs: () => inputs.ofFunctions(n, rows ?? 1, problem.dtype, isHarsh),
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

/** The numbers of a result that are compared with other contenders. */
export function numbersOf(result: Result): Real {
  if (typeof result === 'number') return Float64Array.of(result);
  if (result instanceof MultivariateNormal) return result.covarianceSync().data as Real;
  if (Array.isArray(result)) return Float64Array.from(result.flat());
  if ('radius' in result) return Float64Array.of(result.radius);
  if ('parts' in result) return result.numbers!();
  return (result as Matrix | Vector).data as Real;
}

/** Gives back the memory of a result. */
export function closeResult(result: Result): void {
  if (typeof result !== 'object') return;
  if ('close' in result) result.close();
  if ('parts' in result) for (const part of result.parts) part.close();
}
