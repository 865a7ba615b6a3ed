import type { Device } from '../device.ts';
import type { RealDtype } from '../distribution-input.ts';
import { MultivariateNormal } from '../multivariate-normal.ts';
import { MultivariateStudentT } from '../multivariate-student-t.ts';
import type { RunModel } from './model-hash.ts';

/** What a model is on a device. Rejects as {@link MultivariateNormal.fromCovariance} and {@link MultivariateStudentT.fromScale}. */
export function openModel(
  device: Device,
  { mean, covariance, degreesOfFreedom }: RunModel,
  dtype: RealDtype,
): Promise<MultivariateNormal | MultivariateStudentT> {
  // As by default; said, so that a refusal does not name options that the command hasn't.
  const singular = 'error';
  return degreesOfFreedom === undefined
    ? MultivariateNormal.fromCovariance({ device, mean, covariance, dtype, singular })
    : MultivariateStudentT.fromScale({ device, location: mean, scale: covariance, degreesOfFreedom, dtype, singular });
}
