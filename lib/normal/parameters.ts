import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import { firstNotFinite, marked } from '../check.ts';
import { isForCommand, type Scratch } from '../command/scratch.ts';
import { type Task, taskOf } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { Real, RealDtype } from '../dtype.ts';
import type { Factor } from '../factor/factor.ts';
import { type Allocate, onDevice } from '../factor/parts.ts';
import type { NormalInput } from './inputs.ts';
import type { JitterReport } from './options.ts';

/** The parts of a normal distribution, in the device's memory. */
export interface NormalParameters<D extends RealDtype = RealDtype> {
  readonly device: Device;
  readonly dtype: D;
  readonly n: number;
  readonly mean: Storage;
  readonly factor: Factor;
  /** Set if jitter was requested for the covariance. */
  readonly jitter?: JitterReport | undefined;
}

export type NormalTask = Task<NormalParameters>;

/** A factor that the host has computed. */
interface GivenFactor extends Factor {
  /** All memory of the factor. The timings of the first are the factor's timings. */
  readonly storages: readonly Storage[];
}

/** What an error calls a covariance that the caller did not pass. */
export const resultName = "The result's covariance";

/**
 * A normal whose factor the host computes. Its commit is empty, so that it is made, timed and cleaned up like other
 * normals. `isKnown` if its numbers are known to be finite.
 */
export function givenFactor(
  { device, dtype, n, mean }: Pick<NormalInput, 'device' | 'dtype' | 'n' | 'mean'>,
  make: (allocate: Allocate) => GivenFactor,
  square: string = resultName,
  isKnown = false,
): NormalTask {
  const factor = make(onDevice(device, dtype));
  // The inverse of a standard deviation of 1e-40 overflows float32, and a standard deviation of 1e40 does too.
  const isHeld = isKnown || factor.storages.every(({ values }) => firstNotFinite(values) === values.length);
  if (!isHeld || !Number.isFinite(factor.logDeterminant)) {
    factor.close();
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `${marked(square)} is too large or too small for a factor in (${dtype}).`,
    );
  }
  let centre: Storage;
  try {
    centre = Storage.inside(device, dtype, n);
  } catch (error) {
    factor.close();
    throw error;
  }
  if (mean === undefined) centre.values.fill(0);
  else centre.values.set(mean);
  return taskOf({
    device,
    encode: () => {},
    result: { device, dtype, n, mean: centre, factor },
    written: factor.storages[0]!,
    fresh: [...factor.storages, centre],
    after: () => {
      for (const storage of [...factor.storages, centre]) storage.settle();
    },
  });
}

type Input = Pick<NormalInput, 'device' | 'dtype' | 'n'> & Partial<NormalInput>;

// A normal whose n x n factor is computed in place of `square` (in `fit`, the covariance that it has just computed).
export function factoredNormal(
  { device, dtype, n, mean, square }: Input,
  Kind: new (storage: Storage, n: number) => Factor,
  encode: (encoder: Encoder, factor: Real, mean: Real, scratch: Scratch) => void,
): NormalTask {
  const isLarge = square !== undefined && isForCommand(device, square, dtype);
  const [centre, root] = Storage.allInside(device, dtype, [n, n * n]) as [Storage, Storage];
  const factor = root.values as Real;
  if (mean === undefined) centre.values.fill(0);
  else centre.values.set(mean);
  if (square !== undefined && !isLarge) factor.set(square);
  return taskOf<NormalParameters>({
    device,
    encode: (encoder, scratch) => {
      if (isLarge) encoder.copy(scratch.input(square, dtype), factor);
      encode(encoder, factor, centre.values as Real, scratch);
    },
    result: { device, dtype, n, mean: centre, factor: new Kind(root, n) },
    written: root,
    fresh: [root, centre],
    after: () => {
      root.settle();
      centre.settle();
    },
  });
}
