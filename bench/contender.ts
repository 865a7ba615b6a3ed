// Who takes part, and in what: a problem says what is to be computed, from the same numbers for all; a contender, a
// device of ours or a peer, prepares it and is then asked for its result (compared before it is timed) and for its
// times.

import type { Real, RealDtype } from '../lib/dtype.ts';
import type { ContenderFacts, Limit, Split, Use } from './results.ts';

/** Float arithmetic, bytes that must move, and normals of one run: what the limit is made of. */
export interface Work {
  readonly flops: number;
  readonly bytes: number;
  readonly normals: number;
}

/** One case at one size. */
export interface Problem {
  readonly suite: string;
  readonly case: string;
  /** Not every device has the case. */
  readonly isOptional?: boolean;
  /** Whether it matters what a run takes beside its time. */
  readonly isWatched?: boolean;
  /** What the case computes in; null where it computes nothing. */
  readonly dtype: RealDtype | null;
  readonly dimension: number | null;
  readonly count: number | null;
  readonly work: Work;
  /**
   * What every contender computes from, made at the first call and kept: row-major in the problem's dtype,
   * by name (`mean`, `covariance`, `factor`, `z`, `a`, `b`).
   */
  readonly inputs: () => Readonly<Record<string, Real>>;
  /**
   * Allowed difference relative to the largest entry; 0 asks for the same bits; null where results can't be compared (a
   * peer's own random numbers).
   */
  readonly tolerance: number | null;
}

/** A problem laid out on a contender. */
export interface Prepared {
  /**
   * The result of one run; undefined where there is nothing to compare. Like {@link measure} it throws where the run
   * fails, a `LeftOut` where it takes too long.
   */
  result(): Promise<Real | undefined>;
  /** Runs once, and tells what that takes beside its time; undefined where that is not asked for. */
  watch?(): Promise<Use | undefined>;
  /** Runs again and again for about `milliseconds`, at least once. */
  measure(milliseconds: number): Promise<Samples>;
  close(): Promise<void>;
}

export interface Samples {
  /** Nanoseconds of each run, in any order, without the warm-up. */
  readonly nanoseconds: readonly number[];
  /** Of each run, in any order, where the device reports it. */
  readonly splits?: readonly Omit<Split, 'rest'>[];
}

export interface Contender {
  readonly facts: ContenderFacts;
  /** The dtypes that it computes in; all if undefined. */
  readonly dtypes?: readonly RealDtype[];
  /**
   * Undefined where it has no such thing. Throws where it should have and fails, a `LeftOut` where it would take too
   * long.
   */
  prepare(problem: Problem): Promise<Prepared | undefined>;
  /**
   * Measures the best rates that it reaches now in `dtype`, for about so long each; who has none has no share of a
   * limit.
   */
  limit?(dtype: RealDtype, milliseconds: number): Promise<Limit>;
  close(): Promise<void>;
}

export function takesDtype({ dtypes }: Pick<Contender, 'dtypes'>, { dtype }: Pick<Problem, 'dtype'>): boolean {
  return dtype === null || dtypes === undefined || dtypes.includes(dtype);
}
