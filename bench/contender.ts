// Problems and contenders. A problem says what to compute, from the same inputs for every contender. A contender,
// which is one of our devices or a peer, prepares the problem, then gives its result (which is compared before
// timing) and its times.

import type { Real, RealDtype } from '../lib/dtype.ts';
import type { ContenderFacts, Limit, Split, Use } from './results.ts';

/** Floating-point operations, bytes moved, and normals drawn in one run. The limit is computed from them. */
export interface Work {
  readonly flops: number;
  readonly bytes: number;
  readonly normals: number;
}

/** One case at one size. */
export interface Problem {
  readonly suite: string;
  readonly case: string;
  /** True if some devices do not have the case. */
  readonly isOptional?: boolean;
  /** True if the memory of a run and its holds of the event loop are recorded too. */
  readonly isWatched?: boolean;
  /** The dtype of the computation; null if the case computes nothing. */
  readonly dtype: RealDtype | null;
  readonly dimension: number | null;
  readonly count: number | null;
  readonly work: Work;
  /**
   * The inputs of every contender by name (`mean`, `covariance`, `factor`, `z`, `a`, `b`): row-major, in the
   * problem's dtype, made at the first call and kept.
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
   * The result of one run; undefined where there is nothing to compare. Like {@link measure}, it throws if the run
   * fails, and throws a `LeftOut` if the run takes too long.
   */
  result(): Promise<Real | undefined>;
  /** Runs once, and returns the memory and the holds of the event loop; undefined if they are not asked for. */
  watch?(): Promise<Use | undefined>;
  /** Runs again and again for about `milliseconds`, at least once. */
  measure(milliseconds: number): Promise<Samples>;
  close(): Promise<void>;
}

export interface Samples {
  /** Nanoseconds of each run, in any order, without the warm-up. */
  readonly nanoseconds: readonly number[];
  /** The parts of each run, in any order, if the device reports them. */
  readonly splits?: readonly Omit<Split, 'rest'>[];
}

export interface Contender {
  readonly facts: ContenderFacts;
  /** The dtypes that it computes in; all if undefined. */
  readonly dtypes?: readonly RealDtype[];
  /**
   * Undefined if the contender does not have the case. Throws if it has the case but fails, and throws a `LeftOut` if
   * it would take too long.
   */
  prepare(problem: Problem): Promise<Prepared | undefined>;
  /**
   * Measures the best rates that it reaches now in `dtype`, for about `milliseconds` each. A contender without this
   * method has no share of a limit.
   */
  limit?(dtype: RealDtype, milliseconds: number): Promise<Limit>;
  close(): Promise<void>;
}

export function takesDtype({ dtypes }: Pick<Contender, 'dtypes'>, { dtype }: Pick<Problem, 'dtype'>): boolean {
  return dtype === null || dtypes === undefined || dtypes.includes(dtype);
}
