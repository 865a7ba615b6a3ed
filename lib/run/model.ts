import { createHash } from 'node:crypto';
import type { Matrix } from '../array/matrix.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import { MultivariateNormal } from '../normal/multivariate-normal.ts';
import { MultivariateStudentT } from '../student-t/multivariate-student-t.ts';

/** A normal or a Student-t, as the command line describes it. */
export interface RunModel {
  readonly names: readonly string[] | undefined;
  readonly mean: readonly number[];
  /** float64; the scale of a Student-t. */
  readonly covariance: Matrix;
  /** For a Student-t; undefined for a normal. */
  readonly degreesOfFreedom?: number | undefined;
  /**
   * True if the covariance may be singular: draws are then made from the root of its pivoted Cholesky factorisation.
   */
  readonly singular?: boolean | undefined;
}

/**
 * SHA-256 of `{"covarium":1,"dtype":"float32","mean":[...],"covariance":[[...],...]}` without a space, each number as
 * JavaScript writes it (the shortest that reads back); `dtype` is the type of the draws. A Student-t has
 * `,"degreesOfFreedom":4.2` before the last brace, and a model that may be singular `,"singular":"pivoted"` behind
 * that.
 */
export function modelHash({ mean, covariance, degreesOfFreedom, singular }: RunModel, dtype: RealDtype): string {
  const hash = createHash('sha256').update(
    `{"covarium":1,"dtype":"${dtype}","mean":${JSON.stringify(mean)},"covariance":[`,
  );
  const { rows, columns, data } = covariance;
  for (let row = 0; row < rows; row++) {
    const numbers = Array.from(data.subarray(row * columns, (row + 1) * columns));
    hash.update(`${row === 0 ? '' : ','}${JSON.stringify(numbers)}`);
  }
  const end = degreesOfFreedom === undefined ? '' : `,"degreesOfFreedom":${degreesOfFreedom}`;
  return hash.update(`]${end}${singular ? ',"singular":"pivoted"' : ''}}`).digest('hex');
}

/**
 * The model's distribution on a device. Rejects like {@link MultivariateNormal.fromCovariance} and {@link
 * MultivariateStudentT.fromScale}.
 */
export function openModel(
  device: Device,
  model: RunModel,
  dtype: RealDtype,
): Promise<MultivariateNormal | MultivariateStudentT> {
  const { mean, covariance, degreesOfFreedom } = model;
  if (degreesOfFreedom === undefined) return openNormal(device, model, dtype);
  const options = { device, location: mean, scale: covariance, degreesOfFreedom, dtype };
  return opened(model, (singular) => MultivariateStudentT.fromScale({ ...options, singular }));
}

/** The normal of a model's mean and covariance. Rejects like {@link MultivariateNormal.fromCovariance}. */
export function openNormal(device: Device, model: RunModel, dtype: RealDtype): Promise<MultivariateNormal> {
  const { mean, covariance } = model;
  return opened(model, (singular) => MultivariateNormal.fromCovariance({ device, mean, covariance, dtype, singular }));
}
// The default is passed explicitly, so that an error names the command's option, not the library's.
function opened<T>({ singular = false }: RunModel, open: (singular: 'pivoted' | 'error') => Promise<T>): Promise<T> {
  return singular ? open('pivoted') : open('error').catch(tellWayOut);
}

function tellWayOut(error: unknown): never {
  if (!(error instanceof CovariumError) || error.code !== 'ERR_NOT_POSITIVE_DEFINITE') throw error;
  const { pivot } = error;
  const details = pivot === undefined ? { cause: error } : { pivot, cause: error };
  throw new CovariumError(error.code, `${error.message} Pass --singular if it may be semidefinite.`, details);
}
