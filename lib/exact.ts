import type { Encoder } from './backend.ts';
import { Device, requireDevice } from './device.ts';
import type { NormalParameters } from './normal-parameters.ts';
import type { Procedure } from './procedure.ts';
import { openReference } from './reference/device.ts';
import type { Scratch } from './scratch.ts';
import { hostZeros, Storage } from './storage.ts';

/** A mean (n) and a covariance (n x n) in float64, in ordinary memory. */
export interface Moments64 {
  readonly mean: Float64Array<ArrayBuffer>;
  readonly covariance: Float64Array<ArrayBuffer>;
}

let reference: Device | undefined;

/**
 * Where numbers are computed in float64: on `device`, or on the reference device where there is none or it has no float64 (an Apple GPU).
 * Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`.
 */
export function exactDevice(device: Device | undefined): Device {
  if (device !== undefined && requireDevice(device).dtypes.includes('float64')) return device;
  // Nothing of it needs closing.
  reference ??= new Device(openReference());
  return reference;
}

/** Records commands on float64 numbers in ordinary memory, and runs them as one commit. */
export function* exactly(device: Device, encode: (encoder: Encoder, scratch: Scratch) => void): Procedure<void> {
  yield {
    device: exactDevice(device),
    encode,
    reachable: [],
    result: undefined,
    written: new Storage(new Float64Array(0)),
    fresh: [],
  };
}

/**
 * The mean and the covariance of a normal, in float64: they are those of its factor as it is kept, so that what is computed from them loses
 * nothing to a covariance that was rounded to float32. Throws `ERR_OUT_OF_MEMORY`: a diagonal of 10^5 is little, and its covariance is not.
 */
export function* exactMoments({ device, n, mean, factor }: NormalParameters): Procedure<Moments64> {
  const covariance = hostZeros(n * n);
  const centre = Float64Array.from(mean.values);
  const exact = factor.exact();
  yield* exactly(device, (encoder, scratch) => exact.covariance(encoder, covariance, scratch));
  return { mean: centre, covariance };
}
