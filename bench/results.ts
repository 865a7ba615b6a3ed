// The schema of results.json, which a run of the benchmark writes: version 2. docs/benchmarks.md describes it, and
// bench/read-results.ts refuses what does not follow it. Times are in nanoseconds, rates per second.

import type { RealDtype } from '../lib/dtype.ts';

/** Raised whenever a reader of the old schema would misread the new one. */
export const resultsVersion = 2;

export interface Results {
  readonly schema: 'covarium-benchmark';
  readonly version: typeof resultsVersion;
  /** When the run began, ISO 8601 in UTC. */
  readonly started: string;
  /** How long it took. */
  readonly seconds: number;
  /** True if the run was interrupted: what follows is right, but not everything that was asked for is there. */
  readonly partial: boolean;
  readonly options: RunOptions;
  readonly machine: Machine;
  /** Every requested device and peer, including those that are not available. */
  readonly contenders: readonly ContenderFacts[];
  /** The best rates that each device reached here; a share of the limit refers to them. */
  readonly limits: readonly Limit[];
  readonly measurements: readonly Measurement[];
}

export interface RunOptions {
  readonly suites: readonly string[];
  readonly dimensions: readonly number[];
  readonly counts: readonly number[];
  readonly dtypes: readonly RealDtype[];
  readonly quick: boolean;
  /** Measuring time of a contender in a case, all rounds together. */
  readonly millisecondsPerCase: number;
  readonly rounds: number;
}

export interface Machine {
  readonly processor: string;
  readonly processors: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly covarium: string;
  /** The commit of the checkout, with `+` appended if files differ from it; '' if there is none. */
  readonly commit: string;
  /** Load average of the last minute as the run began; null where the system has none. */
  readonly load: number | null;
  /** 'mains', 'battery', or '' where unknown. */
  readonly power: string;
  /** Variables of the environment that change speed and are set. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ContenderFacts {
  /** Unique in a run: `metal`, `cpu`, `reference`, `softmetal`, `numpy`, `ml-matrix`, ... */
  readonly name: string;
  readonly kind: 'device' | 'peer';
  readonly available: boolean;
  /** What computes: a GPU, a BLAS library, a package with its version. '' if it is not available. */
  readonly about: string;
  /** Why it is not available; '' if it is. */
  readonly reason: string;
  readonly threads: number | null;
  readonly facts: Readonly<Record<string, string>>;
  /** False for a software stand-in: its times say nothing about speed. */
  readonly measuresSpeed: boolean;
}

/** The best rates of a device in one dtype. */
export interface Limit {
  readonly contender: string;
  readonly dtype: RealDtype;
  readonly flopsPerSecond: number;
  readonly bytesPerSecond: number;
  readonly normalsPerSecond: number;
}

/** One contender in one case. */
export interface Measurement {
  readonly suite: string;
  /** Unique in its suite, apart from dtype, dimension and count. */
  readonly case: string;
  /** The dtype of the computation; null if the case computes nothing. */
  readonly dtype: RealDtype | null;
  readonly dimension: number | null;
  readonly count: number | null;
  readonly contender: string;
  readonly state: 'timed' | 'wrong' | 'failed' | 'left out';
  /** Why it was not timed; '' where it was. */
  readonly reason: string;
  /** How far its result lies from the one it was compared with; null where nothing was compared. */
  readonly check: Check | null;
  readonly time: Time | null;
  readonly split: Split | null;
  /** Memory and holds of the event loop of one run, in suites where they matter. */
  readonly use?: Use | undefined;
  /** The time that the limit allows divided by the time taken, from 0 to about 1; null if no limit applies. */
  readonly shareOfLimit: number | null;
}

/** Stands for a contender where a result is compared with its definition. */
export const definitionName = 'definition';

export interface Check {
  /** The contender whose result was taken as right, or `definition`: the result of covarium's own float64 loops. */
  readonly against: string;
  /** The largest difference, relative to the largest entry of the right result. */
  readonly error: number;
  /** What is allowed; 0 asks for the same bits. */
  readonly tolerance: number;
}

/** Nanoseconds of one run. */
export interface Time {
  /** Runs timed, the warm-up not among them. */
  readonly runs: number;
  readonly median: number;
  readonly p25: number;
  readonly p75: number;
  /** Half the width of the 95% confidence interval of the mean, relative to the mean. */
  readonly relativeMargin: number;
  /** The median of each round; rounds of the contenders alternate, so that they show the machine's drift. */
  readonly rounds: readonly number[];
}

export interface Use {
  /** The most bytes that the process took beyond what it had before; null if the system does not tell. */
  readonly peakMemory: number | null;
  /** Nanoseconds of processor time of the JavaScript thread between two turns of its event loop; null of peers. */
  readonly longestHold: number | null;
}

/** Median nanoseconds of the parts of a run, where the device reports them. */
export interface Split {
  readonly encode: number;
  readonly device: number;
  readonly readBack: number;
  /** What is left of the median: waiting, waking, the way in and out of native code. */
  readonly rest: number;
}
