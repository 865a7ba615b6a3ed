import { hostZeros } from '../array/host-memory.ts';
import { type RowsInput, rowsInput, vectorInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import {
  type AbortOptions,
  checkOptions,
  notFinite,
  orElse,
  requireBoolean,
  requireFiniteEntries,
  wholeNumber,
} from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype, Values } from '../dtype.ts';
import { firstElement, normalCounter, randomSeed } from '../stream/counter.ts';
import type { Work } from '../work.ts';
import { nextAbove, OrderStatistics, rankOf } from './order-statistics.ts';
import { reduceDraws } from './reduce-draws.ts';
import type { RunOptions } from './sample-options.ts';
import { Tally } from './tally.ts';
import type { DistributionTasks } from './tasks.ts';

/** Selects rows of a run, and what is computed of them. */
export interface SummarySyncOptions extends RunOptions {
  /** True for the covariance of the draws; false by default. */
  readonly covariance?: boolean | undefined;
  /**
   * Probabilities from 0 to 1, a vector of k, for quantiles (k x n, one row for each). None by default. They are taken
   * as given: 0.1 in a Float32Array is more than 1/10, so its quantile of 10 draws is the second smallest.
   */
  readonly quantiles?: VectorInput | undefined;
  /**
   * Thresholds, k x n or one vector of n: for each, the share of the draws of its coordinate that exceed it. None by
   * default.
   */
  readonly thresholds?: RowsInput | undefined;
}

/** Selects rows of a run, what is computed of them, and a signal to stop. */
export interface SummaryOptions extends SummarySyncOptions, AbortOptions {}

/** The result of `summarize`, in float64. Fields that were not asked for are undefined. */
export interface Summary {
  /** Number of draws. */
  readonly count: number;
  /** Mean of each coordinate, n. */
  readonly mean: Vector<'float64'>;
  /** Covariance of the draws, n x n, with divisor count - 1. */
  readonly covariance: Matrix<'float64'> | undefined;
  /**
   * Quantiles, k x n: the smallest draw x of a coordinate such that at least a share p of its draws are at most x
   * (NumPy's method `inverted_cdf`). The value at risk of a profit is minus a quantile.
   */
  readonly quantiles: Matrix<'float64'> | undefined;
  /** The share of the draws of a coordinate that exceed its threshold, k x n. */
  readonly exceedance: Matrix<'float64'> | undefined;
}

/**
 * The type of a result that the option `Name` asks for: `Result` if it is given as `Asking`, undefined if it is not
 * given.
 */
export type AskedFor<Options, Name extends string, Asking, Result> = Options extends { readonly [key in Name]: Asking }
  ? Result
  : Options extends { readonly [key in Name]?: false | undefined }
    ? undefined
    : Result | undefined;

/** A {@link Summary} with the fields that these options ask for. */
export interface SummaryOf<Options> extends Summary {
  readonly covariance: AskedFor<Options, 'covariance', true, Matrix<'float64'>>;
  readonly quantiles: AskedFor<Options, 'quantiles', VectorInput, Matrix<'float64'>>;
  readonly exceedance: AskedFor<Options, 'thresholds', RowsInput, Matrix<'float64'>>;
}

/** Names of {@link SummarySyncOptions}. */
const summarySyncOptionNames: readonly string[] = [
  ...['seed', 'stream', 'firstRow'],
  ...['covariance', 'quantiles', 'thresholds'],
];

/** Draws `count` rows by blocks and reduces each where it was made. Throws what {@link Distribution.summarize} does. */
export function* summary<D extends RealDtype>(
  tasks: DistributionTasks<D>,
  count: number,
  options: SummarySyncOptions,
): Tasks<Summary> {
  checkOptions(options, summarySyncOptionNames);
  const { device, dtype, n, width } = tasks;
  wholeNumber('Count', count, 1);
  const { seed = randomSeed(), stream = 0, firstRow = 0, quantiles, thresholds } = options;
  normalCounter(seed, stream, firstElement(firstRow, count, width));
  tasks.requireRows?.(firstRow, count);
  const wantsCovariance = requireBoolean('Covariance', orElse(options.covariance, false));
  if (wantsCovariance && count < 2)
    throw new CovariumError('ERR_OUT_OF_RANGE', `\`count\` is (${count}), but a covariance needs at least (2) draws.`);
  const ranks = quantiles === undefined ? [] : ranksOf(vectorInput('Quantiles', device, quantiles), count);
  const levels = thresholds === undefined ? [] : levelsOf(rowsInput('Thresholds', device, thresholds, n).values, n);

  const centre = tasks.centre();
  const sums = new Float64Array(n);
  const products = hostZeros(wantsCovariance ? n * n : 0);
  const search = new OrderStatistics(dtype, count, ranks, ranks.length === 0 ? noRanks : yield* tasks.marginals());
  // What is not below the next number above a threshold exceeds it; nothing lies within these brackets. No number is
  // above Infinity, which draws of a Student-t may be.
  const lower = Array.from(levels, (level) => nextAbove(dtype, level));
  const share = (below: number, at: number) => (levels[at] === Number.POSITIVE_INFINITY ? 0 : (count - below) / count);
  const exceeding = new Tally(device, dtype, n, { lower, upper: lower.map(() => Number.NEGATIVE_INFINITY) }, 0);
  let isFirst = true;
  do {
    const pass = new Tally(device, dtype, n, search.limits(), search.capacity);
    try {
      const tallies = isFirst ? [exceeding, pass] : [pass];
      yield* reduceDraws(tasks, count, { seed, stream, firstRow }, tallies, (encoder, rows) => {
        if (isFirst) encoder.addMoments(rows, unweighted, centre, sums, products);
      });
      yield* search.learn(pass);
    } finally {
      pass.close();
    }
    isFirst = false;
  } while (!search.isDone);

  const matrix = (values: Float64Array<ArrayBuffer>) =>
    new Matrix(new Storage<'float64'>(values), values.length / n, n);
  return {
    count,
    mean: new Vector(new Storage<'float64'>(sums.map((sum, j) => centre[j]! + sum / count))),
    covariance: wantsCovariance ? matrix(yield* covarianceOf(sums, products, count)) : undefined,
    quantiles: quantiles === undefined ? undefined : matrix(search.numbers),
    exceedance: thresholds === undefined ? undefined : matrix(exceeding.below.map(share)),
  };
}

const unweighted = new Float64Array(0);
const noRanks = { centre: new Float64Array(0), scale: new Float64Array(0), quantile: () => 0 };

function ranksOf(probabilities: Values, count: number): number[] {
  requireFiniteEntries('Quantiles', probabilities);
  return Array.from(probabilities, (p, index) => {
    if (p >= 0 && p <= 1) return rankOf(p, count);
    throw new CovariumError('ERR_OUT_OF_RANGE', `\`quantiles[${index}]\` is (${p}), not a probability from 0 to 1.`);
  });
}

// Infinite ones are none of a mistake.
function levelsOf(thresholds: Values, n: number): Values {
  const at = thresholds.findIndex((threshold) => Number.isNaN(threshold));
  if (at < 0) return thresholds;
  const [row, column] = [Math.floor(at / n), at % n];
  throw notFinite('Thresholds', `${row}, ${column}`, Number.NaN, { row, column });
}

// By squares of so many rows and columns, so that what is written column by column stays in the cache.
const mirrorSide = 8;

// In place of the products about the centre: those about the mean, divided.
function* covarianceOf(
  sums: Float64Array,
  products: Float64Array<ArrayBuffer>,
  count: number,
): Work<Float64Array<ArrayBuffer>> {
  const n = sums.length;
  for (let band = 0; band < n; band += mirrorSide) {
    const below = Math.min(n, band + mirrorSide);
    for (let from = 0; from < below; from += mirrorSide) {
      for (let i = band; i < below; i++) {
        for (let j = from; j < Math.min(i + 1, from + mirrorSide); j++) {
          const product = products[i * n + j]!;
          // Of products that overflow nothing can be taken away: a variance is Infinity then, not NaN.
          const about = Number.isFinite(product) ? product - (sums[i]! / count) * sums[j]! : product;
          const value = about / (count - 1);
          products[i * n + j] = value;
          products[j * n + i] = value;
        }
      }
    }
    yield;
  }
  return products;
}
