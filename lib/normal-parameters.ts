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
import type { Factor } from './factor/factor.ts';
import { InverseFactor } from './factor/inverse-factor.ts';
import { LowerFactor } from './factor/lower-factor.ts';
import { onDevice, type Place } from './factor/parts.ts';
import { factorOn } from './factor-on.ts';
import type {
  CholeskyOptions,
  CovarianceOptions,
  FitOptions,
  JitterReport,
  PrecisionOptions,
} from './normal-options.ts';
import type { Scratch } from './scratch.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { wholeNumber } from './whole-number.ts';

/** What a normal distribution is made of, in the device's memory. */
export interface NormalParameters {
  readonly device: Device;
  readonly dtype: RealDtype;
  readonly n: number;
  readonly mean: Storage;
  readonly factor: Factor;
  /** Of a covariance for which jitter was asked. */
  readonly jitter?: JitterReport | undefined;
}

export const covarianceOptionNames: readonly string[] = [
  ...['device', 'mean', 'covariance', 'dtype', 'symmetryTolerance', 'factor', 'singular', 'jitter'],
];

type Making = Task<NormalParameters>;

// `centre` and `square` are the caller's words for what an error names: a Student-t has a location and a scale.

export function fromCovariance(options: CovarianceOptions, square = 'Covariance', centre = 'Mean'): Making {
  checkOptions(options, covarianceOptionNames);
  const tolerance = symmetryTolerance(options);
  const where = factorOn(options.factor);
  const input = normalInput(options, square, options.covariance, centre);
  return making(input, LowerFactor, (encoder, factor) => {
    encoder.requireSymmetric(factor, input.n, tolerance);
    encoder.cholesky(factor, input.n, where);
  });
}

export function fromCholesky(options: CholeskyOptions, centre = 'Mean'): Making {
  checkOptions(options, ['device', 'mean', 'factor', 'dtype']);
  const input = normalInput(options, 'Factor', options.factor, centre);
  requirePositiveDiagonal(input.square, input.n);
  return making(input, LowerFactor, (encoder, factor) => {
    encoder.zeroUpper(factor, input.n);
    encoder.requireFinite(factor, input.n);
  });
}

/**
 * precision = W' W with W lower: with J the matrix that reverses the order, J precision J = C C' has the Cholesky factor C, and W = J C' J,
 * which is C antitransposed. Then mean + W^-1 z has covariance (W' W)^-1, and no inverse is ever formed.
 */
export function fromPrecision(options: PrecisionOptions, centre = 'Mean'): Making {
  checkOptions(options, ['device', 'mean', 'precision', 'dtype', 'symmetryTolerance', 'factor']);
  const tolerance = symmetryTolerance(options);
  const where = factorOn(options.factor);
  const input = normalInput(options, 'Precision', options.precision, centre);
  const { n } = input;
  const task = making(input, InverseFactor, (encoder, factor) => {
    encoder.requireSymmetric(factor, n, tolerance);
    encoder.antitranspose(factor, n);
    encoder.cholesky(factor, n, where);
    encoder.antitranspose(factor, n);
  });
  return { ...task, explain: (error) => fromTheEnd(error, n) };
}

export function fitPlainly(options: Pick<FitOptions, 'device' | 'rows' | 'ddof' | 'dtype' | 'factor'>): Making {
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype);
  const where = factorOn(options.factor);
  const { values, count, n } = rowsInput('Data', device, options.rows);
  const ddof = plainDdof(options.ddof, count, n);
  return making({ device, dtype, n }, LowerFactor, (encoder, factor, mean, scratch) => {
    const rows = scratch.input(values, dtype);
    encoder.requireFinite(rows, n);
    encoder.meanAndCovariance(rows, mean, factor, ddof);
    encoder.cholesky(factor, n, where);
  });
}

/** What is taken from the divisor of a plain fit; throws where there are too few rows. */
export function plainDdof(ddof: number | undefined, count: number, n: number): number {
  // The rank of a covariance is at most count - 1, whatever rounding makes of its last pivots.
  if (count < n + 1)
    throw new CovariumError(
      'ERR_SHAPE',
      `Data has (${count}) rows, but a normal of dimension (${n}) takes at least (${n + 1}).`,
    );
  return wholeNumber('Degrees of freedom taken (ddof)', ddof ?? 1, 0, count - 1);
}

/** A factor that the host has computed. */
export interface GivenFactor extends Factor {
  /** All that it has; the first one's timings are the factor's. */
  readonly storages: readonly Storage[];
}

/** A normal whose factor the host computes: a commit of nothing, so that it is made, timed and tidied up as the others are. */
export function givenFactor(
  { device, dtype, n, mean }: Pick<NormalInput, 'device' | 'dtype' | 'n' | 'mean'>,
  make: (place: Place) => GivenFactor,
  square = 'Covariance',
): Making {
  const factor = make(onDevice(device, dtype));
  // A standard deviation of 1e-40 has no inverse in float32, and one of 1e40 is none.
  const isHeld = factor.storages.every(({ values }) => (values as Real).every(Number.isFinite));
  if (!isHeld || !Number.isFinite(factor.logDeterminant)) {
    factor.close();
    throw new CovariumError('ERR_OUT_OF_RANGE', `${square} is too large or too small for a factor in (${dtype}).`);
  }
  let centre: Storage;
  try {
    centre = Storage.onDevice(device, dtype, n);
  } catch (error) {
    factor.close();
    throw error;
  }
  if (mean === undefined) centre.values.fill(0);
  else centre.values.set(mean);
  return {
    device,
    encode: () => {},
    reachable: [],
    result: { device, dtype, n, mean: centre, factor },
    written: factor.storages[0]!,
    fresh: [...factor.storages, centre],
  };
}

type Input = Pick<NormalInput, 'device' | 'dtype' | 'n'> & Partial<NormalInput>;

// A factor of n x n numbers, made in place of `square` (which is what `fit` computes first).
function making(
  { device, dtype, n, mean, square }: Input,
  Kind: new (storage: Storage, n: number) => Factor,
  encode: (encoder: Encoder, factor: Real, mean: Real, scratch: Scratch) => void,
): Making {
  const [centre, root] = Storage.allOnDevice(device, dtype, [n, n * n]) as [Storage, Storage];
  const factor = root.values as Real;
  if (mean === undefined) centre.values.fill(0);
  else centre.values.set(mean);
  if (square !== undefined) factor.set(square);
  return {
    device,
    encode: (encoder, scratch) => encode(encoder, factor, centre.values as Real, scratch),
    reachable: [],
    result: { device, dtype, n, mean: centre, factor: new Kind(root, n) },
    written: root,
    fresh: [root, centre],
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
