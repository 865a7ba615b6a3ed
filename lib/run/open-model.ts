import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../distribution-input.ts';
import { MultivariateNormal } from '../multivariate-normal.ts';
import { MultivariateStudentT } from '../multivariate-student-t.ts';
import type { RunModel } from './model-hash.ts';

/** What a model is on a device. Rejects as {@link MultivariateNormal.fromCovariance} and {@link MultivariateStudentT.fromScale}. */
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

/** The normal of a model's mean and covariance. Rejects as {@link MultivariateNormal.fromCovariance}. */
export function openNormal(device: Device, model: RunModel, dtype: RealDtype): Promise<MultivariateNormal> {
  const { mean, covariance } = model;
  return opened(model, (singular) => MultivariateNormal.fromCovariance({ device, mean, covariance, dtype, singular }));
}

// The default is said, so that a refusal names the command's option, and not those of the library.
function opened<T>({ singular = false }: RunModel, open: (singular: 'pivoted' | 'error') => Promise<T>): Promise<T> {
  return singular ? open('pivoted') : open('error').catch(tellWayOut);
}

function tellWayOut(error: unknown): never {
  if (!(error instanceof CovariumError) || error.code !== 'ERR_NOT_POSITIVE_DEFINITE') throw error;
  const { pivot } = error;
  const details = pivot === undefined ? { cause: error } : { pivot, cause: error };
  throw new CovariumError(error.code, `${error.message} With --singular it may be semidefinite.`, details);
}
