import type { RowsInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, inspectFields, named, notCloneable, wholeNumber, wrongArgument } from '../check.ts';
import { runWith } from '../command/abort.ts';
import { exactDevice } from '../command/float64.ts';
import { runAllSync, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { runToEnd } from '../work.ts';
import { accumulating, joinedSums } from './accumulate.ts';
import type { WeightedRows } from './block.ts';
import { type CentralSums, noRows } from './central-sums.ts';
import { aboutMean, estimating } from './estimate.ts';
import { type MomentsJson, momentsFromJson, momentsToJson } from './json.ts';
import { intensityOf, type Shrinkage } from './shrinkage.ts';
import { type AddOptions, type AddSyncOptions, addSyncOptionNames, fixedMean, weightedRows } from './weighted-rows.ts';

let sumsInside: (moments: Moments) => CentralSums;

/** Options of {@link Moments}. */
export interface MomentsOptions {
  /**
   * An open device for the work of n^2 operations for each row. By default, or if the device does not support float64,
   * that work is done in plain TypeScript.
   */
  readonly device?: OpenBackend | undefined;
}

/** Options of {@link Moments.covariance}. */
export interface EstimateOptions {
  /** Degrees of freedom subtracted from the divisor; by default 1, or 0 about a given mean. */
  readonly ddof?: number | undefined;
  /** A known mean, n entries; by default that of the rows. */
  readonly mean?: VectorInput | undefined;
  /** How far the covariance is shrunk towards a multiple of the identity; `none` by default. */
  readonly shrinkage?: Shrinkage | undefined;
}

/**
 * The sums over rows of n numbers that a fit needs: their count, mean, centred products, and the sums of Ledoit and
 * Wolf's shrinkage. Rows may come in any pieces and are not kept. {@link merge} joins moments of parts, which may be
 * computed anywhere, into those of the whole, up to rounding. All sums are float64, and accurate far from the origin.
 */
export class Moments {
  /** n, from 1. */
  readonly dimension: number;
  /** @internal Its sums would be lost. */
  readonly cloning: symbol = notCloneable('A Moments object', 'send its toJSON(), and call fromJSON there');
  readonly #device: OpenBackend | undefined;
  #sums: CentralSums;

  static {
    sumsInside = (moments) => moments.#sums;
    inspectFields(Moments.prototype, 'Moments');
  }

  /**
   * Moments of no rows of n = `dimension` numbers. Throws `ERR_OUT_OF_RANGE`, `ERR_OUT_OF_MEMORY`,
   * `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`.
   */
  constructor(dimension: number, options: MomentsOptions = {}) {
    checkOptions(options, ['device']);
    this.dimension = wholeNumber('Dimension', dimension, 1);
    this.#device = options.device === undefined ? undefined : requireDevice(options.device);
    this.#sums = named('Dimension', () => noRows(dimension));
    Object.freeze(this);
  }

  /**
   * Moments from the result of {@link toJSON}, or from that result parsed from JSON. Throws `ERR_MALFORMED_MOMENTS`
   * with the path of the wrong field, also if no rows can have these sums.
   */
  static fromJSON(json: unknown, options: MomentsOptions = {}): Moments {
    const sums = momentsFromJson(json);
    const moments = new Moments(sums.n, options);
    moments.#sums = sums;
    return moments;
  }

  /** Number of observations: rows of positive weight, each counted as often as its frequency. */
  get count(): number {
    return this.#sums.count;
  }

  /** Number of rows dropped because they have a missing value. */
  get dropped(): number {
    return this.#sums.dropped;
  }

  /** Sum of the weights times frequencies; without weights it equals {@link count}. */
  get weightSum(): number {
    return this.#sums.weight;
  }

  /**
   * Sum of the squared weights times frequencies. weightSum^2 / squaredWeightSum is the effective number of
   * observations.
   */
  get squaredWeightSum(): number {
    return this.#sums.squaredWeight;
  }

  /** A copy of the mean, n entries in float64. Throws `ERR_SHAPE` if there are no rows. */
  get mean(): Vector<'float64'> {
    return new Vector(new Storage<'float64'>(runToEnd(aboutMean(this.#sums, undefined)).mean.slice()));
  }

  /**
   * Adds rows (count x n, or one vector of n). If a row is refused, nothing is added. Rejects with `ERR_NOT_FINITE`
   * (the entry), `ERR_SHAPE`, `ERR_OUT_OF_RANGE` (a weight; sums beyond float64), `ERR_CLOSED`, `ERR_ABORTED`.
   * Overlapping calls are added in the order in which they end: to get the same bits each time, await one before the
   * next.
   */
  async add(rows: RowsInput, options: AddOptions = {}): Promise<void> {
    await runWith(options, (rest) => this.#adding(weightedRows(rows, this.dimension, rest)));
  }

  /** Synchronous twin of {@link add}. */
  addSync(rows: RowsInput, options: AddSyncOptions = {}): void {
    checkOptions(options, addSyncOptionNames);
    runAllSync(this.#adding(weightedRows(rows, this.dimension, options)));
  }

  /**
   * Adds the rows of other moments of dimension n, which do not change. Throws `ERR_SHAPE`, `ERR_OUT_OF_RANGE`,
   * `ERR_INVALID_ARGUMENT`.
   */
  merge(other: Moments): void {
    const sums = sumsOf('other', other);
    if (sums.n !== this.dimension)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`other\` has dimension (${sums.n}), but these moments have (${this.dimension}).`,
      );
    this.#sums = runToEnd(joinedSums(this.#sums, sums));
  }

  /**
   * The covariance in float64, n x n, like numpy.cov's: the sum of w d d' divided by weightSum - ddof squaredWeightSum
   * / weightSum, where d is a row minus the mean. With `shrinkage` it is shrunk towards a multiple of the identity.
   * Throws `ERR_SHAPE` (no rows, or one), `ERR_OUT_OF_RANGE` (ddof, shrinkage), `ERR_NOT_FINITE` (the mean's entry).
   *
   * ```ts
   * import { Moments } from 'covarium';
   *
   * const moments = new Moments(2);
   * await moments.add([[1, 2], [3, 5], [4, 4]]);
   * await moments.add([[2, 3]], { weights: [0.5] });
   * console.log(moments.covariance().toArray());
   * ```
   */
  covariance(options: EstimateOptions = {}): Matrix<'float64'> {
    checkOptions(options, ['ddof', 'mean', 'shrinkage']);
    const { ddof, shrinkage } = options;
    const mean = fixedMean(options.mean, this.dimension);
    const { covariance } = runToEnd(estimating(this.#sums, { ddof, mean, shrinkage }));
    return new Matrix(new Storage<'float64'>(covariance), this.dimension, this.dimension);
  }

  /**
   * The share of the identity, from 0 to 1, in Ledoit and Wolf's estimate (2004) of the covariance. Deviations are from
   * the mean of the rows, or from a given mean of n entries. Throws `ERR_SHAPE` (no rows), `ERR_NOT_FINITE` (the mean's
   * entry), `ERR_OUT_OF_RANGE` (variances about the mean that are too small or too large for float64).
   */
  ledoitWolf(options: { readonly mean?: VectorInput | undefined } = {}): number {
    checkOptions(options, ['mean']);
    return intensityOf(runToEnd(aboutMean(this.#sums, fixedMean(options.mean, this.dimension))), 'ledoit-wolf');
  }

  /** The moments for JSON.stringify, exact, in version 1 of the format. {@link fromJSON} reads them. */
  toJSON(): MomentsJson {
    return momentsToJson(this.#sums);
  }

  // The sums are never changed but replaced: nothing is added if the rows are refused, and other rows may be added
  // between two slices, which are then joined too.
  *#adding(rows: WeightedRows): Tasks<void> {
    const added = yield* accumulating(exactDevice(this.#device), rows, { higher: true });
    let before: CentralSums;
    let sums: CentralSums;
    do {
      before = this.#sums;
      sums = yield* joinedSums(before, added);
    } while (before !== this.#sums);
    this.#sums = sums;
  }
}

/** The sums behind moments, for other modules of lib only. Throws `ERR_INVALID_ARGUMENT`. */
export function sumsOf(name: string, moments: unknown): CentralSums {
  if (moments instanceof Moments) return sumsInside(moments);
  throw wrongArgument(name, moments, 'a Moments');
}
