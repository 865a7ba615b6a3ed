import { CovariumError } from '../covarium-error.ts';
import { type RealDtype, smallestNormal, type Values } from '../dtype.ts';

/** How an error tells of a singular covariance of rows. */
interface Words {
  /** Which of the rows, as ` in group (1)`; all by default. */
  readonly among?: string;
  /** What helps but to leave the column out. */
  readonly ways?: string;
}

/** An error of a singular covariance of rows, which names the column that makes it so, and the ways out. */
export function singularColumn(
  name: string,
  error: CovariumError,
  { among = '', ways = ', or pass `singular`, `jitter` or `shrinkage`' }: Words = {},
): CovariumError {
  const { code, pivot } = error;
  if (code !== 'ERR_NOT_POSITIVE_DEFINITE' || pivot === undefined) return error;
  const others = pivot === 1 ? 'the column' : 'the columns';
  const combination = pivot === 0 ? '' : `, or a combination of ${others} before it,`;
  return new CovariumError(
    code,
    `\`${name}\` has column (${pivot}), which${among} is the same in all rows${combination} or nearly so. Leave it out${ways}.`,
    { ...indexOf(error, among), pivot, cause: error },
  );
}

/** The same of rows whose column may be too small or too large for its squares. */
export function singularRows(
  rows: Values,
  n: number,
  dtype: RealDtype,
  error: CovariumError,
  words: Words = {},
): CovariumError {
  const { code, pivot } = error;
  if (code !== 'ERR_NOT_POSITIVE_DEFINITE' || pivot === undefined) return error;
  return unheldColumn(rows, n, dtype, pivot, error, words) ?? singularColumn('rows', error, words);
}

/** The error of a column that is not constant, but too small or too large for its squares; undefined for others. */
export function unheldColumn(
  rows: Values,
  n: number,
  dtype: RealDtype,
  column: number,
  cause?: CovariumError,
  { among = '' }: Words = {},
): CovariumError | undefined {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = column; at < rows.length; at += n) {
    // A missing number is neither.
    if (rows[at]! < least) least = rows[at]!;
    if (rows[at]! > most) most = rows[at]!;
  }
  const width = most - least;
  const square = dtype === 'float32' ? Math.fround(width * width) : width * width;
  const isHeld =
    square >= smallestNormal[dtype] / 2 ** (dtype === 'float32' ? -23 : -52) && square < Number.POSITIVE_INFINITY;
  if (width === 0 || isHeld) return undefined;
  return new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`rows\` has column (${column}), whose numbers${among} differ by (${width}) at most: ${dtype} does not hold all digits of the square. Pass the column in another unit.`,
    { ...indexOf(cause, among), column, cause },
  );
}

// The index of the one that is wrong, where there are several.
function indexOf(error: CovariumError | undefined, among: string): { readonly matrix?: number } {
  return among === '' || error?.matrix === undefined ? {} : { matrix: error.matrix };
}
