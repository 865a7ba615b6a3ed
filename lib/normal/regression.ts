import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { norm } from '../reference/svd.ts';
import { triangularSolve } from '../reference/triangular.ts';
import { runToEnd } from '../work.ts';
import { coordinatesIn, otherCoordinates, rootAt } from './marginal.ts';
import type { NormalParameters } from './parameters.ts';

/** The regression of the other coordinates on m given ones. */
export interface Regression {
  readonly given: readonly number[];
  readonly others: readonly number[];
  /** Means of the given coordinates, then of the others. */
  readonly mean: Float64Array<ArrayBuffer>;
  /**
   * The coefficients of the given coordinates (m) for one row, not to be changed; rows of the given coordinates come
   * first; see {@link determined}.
   */
  coefficients(row: number): Float64Array;
  /**
   * Rows of given coordinates that the given ones before them determine, or that do not vary: they can have only one
   * value.
   */
  readonly determined: readonly number[];
  /** Number of dimensions in which the given coordinates vary: m less those that are determined. */
  readonly rank: number;
  /** The Mahalanobis distance of values of the given coordinates (m) from their mean. */
  distance(values: Float64Array): Tasks<number>;
  /** A root of the others' conditional covariance: an echelon, with the columns of its pivots. */
  readonly root: Float64Array<ArrayBuffer>;
  readonly pivots: Float64Array;
}

/**
 * With the given coordinates first, an echelon of the root is [G 0; H R]. The others regress on the given ones by H
 * G^-1, and R R' is their conditional covariance. Nothing is subtracted, so it stays positive semidefinite. Rows of G
 * without a pivot, like those of H, are regressed on the rows that have one.
 */
export function* regression(parameters: NormalParameters, coordinates: readonly number[]): Tasks<Regression> {
  const { n } = parameters;
  const given = coordinatesIn(coordinates, n, 'given');
  const others = otherCoordinates(given, n);
  const m = given.length;
  const { mean, rows, width, tolerance } = yield* rootAt(parameters, [...given, ...others]);
  const pivots = yield* lowerEchelon(parameters.device, rows, n, width, tolerance);
  const free = Array.from({ length: m }, (_, row) => row).filter((row) => pivots[row]! >= 0);
  const rank = free.length;
  const triangle = rowsOf(rows, width, free, rank);
  const weights = rowsOf(
    rows,
    width,
    Array.from({ length: n }, (_, row) => row),
    rank,
  );
  yield* solve(parameters, triangle, weights, rank, true);
  return {
    given,
    others,
    mean,
    coefficients: (row) => {
      if (rank === m) return weights.subarray(row * rank, (row + 1) * rank);
      const own = new Float64Array(m);
      for (const [k, place] of free.entries()) own[place] = weights[row * rank + k]!;
      return own;
    },
    rank,
    *distance(values) {
      const differences = Float64Array.from(free, (place) => values[place]! - mean[place]!);
      yield* solve(parameters, triangle, differences, rank, false);
      return norm(differences);
    },
    determined: Array.from({ length: m }, (_, row) => row).filter((row) => pivots[row]! < 0),
    root: rest(rows, width, m, rank),
    pivots: pivots.slice(m).map((column) => (column < 0 ? column : column - rank)),
  };
}

const worthACommit = 1 << 12; // operations, about 20 us

// Solves G y = h, or y G = h if `transposed`, for each row h of `rows`, which becomes y.
function* solve(
  { device }: NormalParameters,
  triangle: Float64Array,
  rows: Float64Array,
  rank: number,
  transposed: boolean,
): Tasks<void> {
  if (rank === 0) return;
  if (rows.length * rank <= worthACommit) runToEnd(triangularSolve(triangle, rows, rank, transposed));
  else yield* exactly(device, (encoder) => encoder.triangularSolve(triangle, rows, rank, transposed));
}

/** The first columns of some rows. */
function rowsOf(rows: Float64Array, width: number, places: readonly number[], columns: number): Float64Array {
  const block = new Float64Array(places.length * columns);
  for (const [i, place] of places.entries())
    block.set(rows.subarray(place * width, place * width + columns), i * columns);
  return block;
}

function rest(rows: Float64Array, width: number, firstRow: number, firstColumn: number): Float64Array<ArrayBuffer> {
  const count = rows.length / width - firstRow;
  const kept = width - firstColumn;
  const block = new Float64Array(count * kept);
  for (let i = 0; i < count; i++) {
    const at = (firstRow + i) * width;
    block.set(rows.subarray(at + firstColumn, at + width), i * kept);
  }
  return block;
}
