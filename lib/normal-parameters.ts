import type { Encoder } from './backend.ts';
import { checkOptions } from './check-options.ts';
import { CovariumError } from './covarium-error.ts';
import { type Device, requireDevice } from './device.ts';
import {
  type NormalInput,
  normalInput,
  type RealDtype,
  realDtype,
  rowsInput,
  symmetryTolerance,
} from './distribution-input.ts';
import type { Real } from './dtype.ts';
import { factorOn } from './factor-on.ts';
import type { CholeskyOptions, CovarianceOptions, FitOptions, PrecisionOptions } from './normal-options.ts';
import type { Scratch } from './scratch.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { wholeNumber } from './whole-number.ts';

/** What a normal distribution is made of: y = mean + factor z, or mean + factor^-1 z where `inverse`. In the device's memory. */
export interface NormalParameters {
  readonly device: Device;
  readonly dtype: RealDtype;
  readonly n: number;
  readonly mean: Storage;
  /** Lower triangular, n x n; its timings say where it was made. */
  readonly factor: Storage;
  readonly inverse: boolean;
}

/** Logarithm of the covariance's determinant, from the factor's diagonal. */
export function logDeterminant({ factor, n, inverse }: NormalParameters): number {
  const { values } = factor;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.log(values[i * (n + 1)]!);
  return inverse ? -2 * sum : 2 * sum;
}

type Making = Task<NormalParameters>;

export function fromCovariance(options: CovarianceOptions): Making {
  checkOptions(options, ['device', 'mean', 'covariance', 'dtype', 'symmetryTolerance', 'factor']);
  const tolerance = symmetryTolerance(options);
  const where = factorOn(options.factor);
  const input = normalInput(options, 'Covariance', options.covariance);
  return making(allocate(input), input, (encoder, factor) => {
    encoder.requireSymmetric(factor, input.n, tolerance);
    encoder.cholesky(factor, input.n, where);
  });
}

export function fromCholesky(options: CholeskyOptions): Making {
  checkOptions(options, ['device', 'mean', 'factor', 'dtype']);
  const input = normalInput(options, 'Factor', options.factor);
  requirePositiveDiagonal(input.square, input.n);
  return making(allocate(input), input, (encoder, factor) => {
    encoder.zeroUpper(factor, input.n);
    encoder.requireFinite(factor, input.n);
  });
}

/**
 * precision = W' W with W lower: with J the matrix that reverses the order, J precision J = C C' has the Cholesky factor C, and W = J C' J,
 * which is C antitransposed. Then mean + W^-1 z has covariance (W' W)^-1, and no inverse is ever formed.
 */
export function fromPrecision(options: PrecisionOptions): Making {
  checkOptions(options, ['device', 'mean', 'precision', 'dtype', 'symmetryTolerance', 'factor']);
  const tolerance = symmetryTolerance(options);
  const where = factorOn(options.factor);
  const input = normalInput(options, 'Precision', options.precision);
  const { n } = input;
  const task = making({ ...allocate(input), inverse: true }, input, (encoder, factor) => {
    encoder.requireSymmetric(factor, n, tolerance);
    encoder.antitranspose(factor, n);
    encoder.cholesky(factor, n, where);
    encoder.antitranspose(factor, n);
  });
  return { ...task, explain: (error) => fromTheEnd(error, n) };
}

export function fit(options: FitOptions): Making {
  checkOptions(options, ['device', 'rows', 'ddof', 'dtype', 'factor']);
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype);
  const where = factorOn(options.factor);
  const { values, count, n } = rowsInput('Data', device, options.rows);
  // The rank of a covariance is at most count - 1, whatever rounding makes of its last pivots.
  if (count < n + 1)
    throw new CovariumError(
      'ERR_SHAPE',
      `Data has (${count}) rows, but a normal of dimension (${n}) takes at least (${n + 1}).`,
    );
  const ddof = wholeNumber('Degrees of freedom taken (ddof)', options.ddof ?? 1, 0, count - 1);
  return making(allocate({ device, dtype, n }), {}, (encoder, factor, mean, scratch) => {
    const rows = scratch.input(values, dtype);
    encoder.requireFinite(rows, n);
    encoder.meanAndCovariance(rows, mean, factor, ddof);
    encoder.cholesky(factor, n, where);
  });
}

function allocate({ device, dtype, n }: Pick<NormalParameters, 'device' | 'dtype' | 'n'>): NormalParameters {
  const mean = Storage.onDevice(device, dtype, n);
  try {
    return { device, dtype, n, mean, factor: Storage.onDevice(device, dtype, n * n), inverse: false };
  } catch (error) {
    mean.close();
    throw error;
  }
}

function making(
  parameters: NormalParameters,
  { mean, square }: Partial<NormalInput>,
  encode: (encoder: Encoder, factor: Real, mean: Real, scratch: Scratch) => void,
): Making {
  const centre = parameters.mean.values as Real;
  const factor = parameters.factor.values as Real;
  if (mean === undefined) centre.fill(0);
  else centre.set(mean);
  if (square !== undefined) factor.set(square);
  return {
    device: parameters.device,
    encode: (encoder, scratch) => encode(encoder, factor, centre, scratch),
    reachable: [],
    result: parameters,
    written: parameters.factor,
    fresh: [parameters.factor, parameters.mean],
  };
}

function requirePositiveDiagonal(factor: Real, n: number): void {
  for (let pivot = 0; pivot < n; pivot++) {
    const entry = factor[pivot * (n + 1)]!;
    const place = { row: pivot, column: pivot };
    if (!Number.isFinite(entry))
      throw new CovariumError('ERR_NOT_FINITE', `Factor entry (${pivot}, ${pivot}) is not finite (${entry}).`, place);
    if (entry <= 0)
      throw new CovariumError(
        'ERR_NOT_POSITIVE_DEFINITE',
        `Factor entry (${pivot}, ${pivot}) is not positive (${entry}).`,
        { ...place, pivot },
      );
  }
}

// The factor of the reversed matrix counts its pivots from the last row of the caller's.
function fromTheEnd(error: CovariumError, n: number): CovariumError {
  if (error.code !== 'ERR_NOT_POSITIVE_DEFINITE' || error.pivot === undefined) return error;
  const pivot = n - 1 - error.pivot;
  const message = `Precision is not positive definite: eliminating from the last row up, pivot (${pivot}) is not positive.`;
  return new CovariumError(error.code, message, { pivot, cause: error });
}
