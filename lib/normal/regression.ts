import type { Tasks } from '../command/task.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { exactRoot } from './exact.ts';
import { coordinatesIn, otherCoordinates, rowsAt } from './marginal.ts';
import type { NormalParameters } from './parameters.ts';

/** The regression of the other coordinates on m given ones. */
export interface Regression {
  readonly given: readonly number[];
  readonly others: readonly number[];
  /** Of the given ones, then of the others. */
  readonly mean: Float64Array<ArrayBuffer>;
  /** Row of the given coordinate or the other -> coefficients of the given ones (m); see {@link determined}. */
  coefficients(row: number): Float64Array;
  /**
   * Rows of given coordinates that the given ones before them determine, or that do not vary: their values are not
   * free.
   */
  readonly determined: readonly number[];
  /** Of the others' conditional covariance: an echelon, with the columns of its pivots. */
  readonly root: Float64Array<ArrayBuffer>;
  readonly pivots: Int32Array;
}

/**
 * With the given coordinates first, an echelon of the root is [G 0; H R]. The others regress on the given ones by H
 * G^-1, and R R' is their conditional covariance: nothing is subtracted, so that it can't lose its definiteness. Where
 * G has rows without a pivot, H and these are regressed on the rows that have one.
 */
export function* regression(parameters: NormalParameters, coordinates: readonly number[]): Tasks<Regression> {
  const { n } = parameters;
  const given = coordinatesIn(coordinates, n);
  const others = otherCoordinates(given, n);
  const m = given.length;
  const { mean, root, width, tolerance } = yield* exactRoot(parameters);
  const order = [...given, ...others];
  const rows = rowsAt(root, width, order);
  const pivots = lowerEchelon(rows, n, width, tolerance);
  const free = Array.from({ length: m }, (_, row) => row).filter((row) => pivots[row]! >= 0);
  const rank = free.length;
  return {
    given,
    others,
    mean: rowsAt(mean, 1, order),
    coefficients: (row) => coefficients(rows, width, free, row, m),
    determined: Array.from({ length: m }, (_, row) => row).filter((row) => pivots[row]! < 0),
    root: rest(rows, width, m, rank),
    pivots: pivots.slice(m).map((column) => (column < 0 ? column : column - rank)),
  };
}

// The solution c of c G = h for the row h, where G has the rows `free` and as many columns; 0 for those that aren't
// free.
function coefficients(
  rows: Float64Array,
  width: number,
  free: readonly number[],
  row: number,
  m: number,
): Float64Array {
  const solution = new Float64Array(m);
  const h = rows.slice(row * width, row * width + free.length);
  for (let column = free.length - 1; column >= 0; column--) {
    const at = free[column]! * width;
    const value = h[column]! / rows[at + column]!;
    solution[free[column]!] = value;
    for (let k = 0; k < column; k++) h[k]! -= value * rows[at + k]!;
  }
  return solution;
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
