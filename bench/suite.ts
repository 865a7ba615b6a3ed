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
  /** Asks for smaller problems in suites that choose their own size. */
  readonly quick?: boolean;
}

/** Each case in each dtype, in the order in which their problems come. */
export function casesOf(
  names: readonly string[],
  dtypes: readonly RealDtype[],
): { readonly name: string; readonly dtype: RealDtype }[] {
  return names.flatMap((name) => dtypes.map((dtype) => ({ name, dtype })));
}

/** A family of cases, and how a device of ours computes them. */
export interface Suite {
  readonly name: string;
  /** True if the suite takes part only when it is named. */
  readonly isOnRequest?: boolean;
  /** In the order of growing work, case by case. */
  readonly problems: (sizes: Sizes, inputs: Inputs) => readonly Problem[];
  /** Undefined if the device does not have the case. */
  readonly layOut: (problem: Problem, device: Device) => LaidOut | undefined | Promise<LaidOut>;
}

/** A problem laid out on a device. */
export interface LaidOut {
  /** Computes once, and gives what the device reports of it; undefined where it reports nothing. */
  readonly run: () => Parts | undefined | Promise<Parts | undefined>;
  readonly isAsync?: boolean;
  /** The time of one run in nanoseconds, if that is not how long `run` takes. */
  readonly nanoseconds?: () => Promise<number>;
  /**
   * How often `run` repeats a case that is too short to be timed alone; 1 by default. Reported times and parts are
   * those of one repeat.
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
