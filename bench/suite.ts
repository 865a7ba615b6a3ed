import type { Real, RealDtype } from '../lib/dtype.ts';
import type { Device, Timings } from '../lib/index.ts';
import type { Problem } from './contender.ts';
import type { Inputs } from './inputs.ts';
import type { Split } from './results.ts';

/** The sizes that problems are asked in, and the dtypes. */
export interface Sizes {
  readonly dimensions: readonly number[];
  readonly counts: readonly number[];
  readonly dtypes: readonly RealDtype[];
  /** Of suites that have a size of their own: a smaller one. */
  readonly quick?: boolean;
}

/** Each case in each dtype, in which its problems follow one another. */
export function casesOf(
  names: readonly string[],
  dtypes: readonly RealDtype[],
): { readonly name: string; readonly dtype: RealDtype }[] {
  return names.flatMap((name) => dtypes.map((dtype) => ({ name, dtype })));
}

/** A family of cases, and how a device of ours computes them. */
export interface Suite {
  readonly name: string;
  /** Whether it takes part only where it is named. */
  readonly isOnRequest?: boolean;
  /** In the order of growing work, case by case. */
  readonly problems: (sizes: Sizes, inputs: Inputs) => readonly Problem[];
  /** Undefined where the device has no such thing. */
  readonly layOut: (problem: Problem, device: Device) => LaidOut | undefined | Promise<LaidOut>;
}

/** A problem laid out on a device. */
export interface LaidOut {
  /** Computes once, and gives what the device reports of it; undefined where it reports nothing. */
  readonly run: () => Parts | undefined | Promise<Parts | undefined>;
  readonly isAsync?: boolean;
  /** What is timed of one run, in nanoseconds, where that is not how long `run` takes. */
  readonly nanoseconds?: () => Promise<number>;
  /**
   * How often `run` repeats the case, for what is too short to be timed alone; 1 by default. Times and parts are of
   * one.
   */
  readonly repeats?: number;
  /** What the last run has computed: a live view. Undefined where there is nothing to compare. */
  readonly result?: () => Real | Promise<Real>;
  readonly close: () => void;
}

/** The parts of one call of `run`, in nanoseconds. */
export type Parts = Omit<Split, 'rest'>;

/** What a commit reports. Memory that the host shares with the device needs no reading back. */
export function partsOf({ encodeMs, deviceMs }: Timings): Parts {
  return { encode: encodeMs * 1e6, device: deviceMs * 1e6, readBack: 0 };
}

/**
 * Allowed difference of sums of n products in `dtype`, relative to the largest entry: rounding adds up like a random
 * walk.
 */
export function roundingTolerance(n: number, dtype: RealDtype): number {
  return (dtype === 'float32' ? 1e-6 : 4e-15) * Math.max(8, Math.sqrt(n));
}
