import { isStrided } from '../array/foreign.ts';
import { copiedNumbers, hostValues } from '../array/host-memory.ts';
import type { RowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import { type AbortOptions, checkOptions, named, requireFiniteEntries } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Missing, requireMissing, type Values } from '../dtype.ts';
import type { WeightedRows } from './block.ts';

/** Options of {@link Moments.addSync}. */
export interface AddSyncOptions {
  /**
   * The weight of each row, not negative: a vector of count, numpy.cov's `aweights`; all 1 by default. Only their
   * ratios matter to a covariance. A row of weight 0 is ignored.
   */
  readonly weights?: VectorInput | undefined;
  /**
   * How often each row was observed: a vector of count whole numbers from 0, numpy.cov's `fweights`; all 1 by default.
   */
  readonly frequencies?: VectorInput | undefined;
  /**
   * What to do with a row that has a NaN: `error` (by default) refuses all rows, `drop` leaves it out and counts it in
   * {@link Moments.dropped}.
   */
  readonly missing?: Missing | undefined;
}

/** Options of {@link Moments.add}. */
export interface AddOptions extends AddSyncOptions, AbortOptions {}

/** Names of {@link AddSyncOptions}. */
export const addSyncOptionNames: readonly string[] = ['weights', 'frequencies', 'missing'];

/**
 * Rows of n with their weights, checked. Throws `ERR_SHAPE`, `ERR_OUT_OF_RANGE`, `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`.
 */
export function weightedRows(input: RowsInput, n: number, options: AddSyncOptions): WeightedRows {
  checkOptions(options, addSyncOptionNames);
  const values = named('rows', () => rowValues(input, n));
  const count = values.length / n;
  const missing = requireMissing(options.missing);
  return {
    values,
    count,
    n,
    weights: perRow('weights', options.weights, count, Number.isFinite, 'a finite number of at least 0'),
    frequencies: perRow(
      'frequencies',
      options.frequencies,
      count,
      Number.isSafeInteger,
      'a whole number from 0 to 2^53 - 1',
    ),
    missing,
  };
}

/** A mean of n finite entries in float64, if given; throws `ERR_SHAPE`, `ERR_NOT_FINITE`. */
export function fixedMean(mean: VectorInput | undefined, n: number): Float64Array | undefined {
  if (mean === undefined) return undefined;
  const values = named('mean', () => float64Of(mean));
  if (values.length !== n)
    throw new CovariumError('ERR_SHAPE', `\`mean\` has (${values.length}) entries for (${n}) columns.`);
  requireFiniteEntries('Mean', values);
  return values;
}

// The numbers are copied block by block, so they may be in any device's memory.
function rowValues(input: RowsInput, n: number): Values {
  const isOneRow = input instanceof Vector || (Array.isArray(input) && typeof input[0] === 'number');
  const matrix = isOneRow ? undefined : Matrix.from(asValues(input as MatrixInput), shapeOf(input as MatrixInput, n));
  const values = matrix?.data ?? float64Of(input as VectorInput);
  const columns = matrix?.columns ?? values.length;
  if (columns === n) return values;
  throw new CovariumError('ERR_SHAPE', `\`rows\` has (${columns}) columns, not (${n}).`);
}

function asValues(input: MatrixInput): Exclude<MatrixInput, Matrix> {
  return input instanceof Matrix ? input.data : input;
}

function shapeOf(input: MatrixInput, n: number): { columns?: number; dtype?: 'float64' } {
  if (input instanceof Matrix) return { columns: input.columns };
  if (ArrayBuffer.isView(input)) return { columns: n };
  return Array.isArray(input) && input.length === 0 ? { columns: n, dtype: 'float64' } : { dtype: 'float64' };
}

function perRow(
  argument: string,
  given: VectorInput | undefined,
  count: number,
  isPossible: (value: number) => boolean,
  kind: string,
): Float64Array | undefined {
  if (given === undefined) return undefined;
  const values = named(argument, () => float64Of(given));
  if (values.length !== count)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`${argument}\` has (${values.length}) entries, but \`rows\` has (${count}) rows.`,
    );
  for (let row = 0; row < count; row++)
    if (!(isPossible(values[row]!) && values[row]! >= 0))
      throw new CovariumError('ERR_OUT_OF_RANGE', `\`${argument}[${row}]\` is (${values[row]}), not ${kind}.`);
  return values;
}

function float64Of(input: VectorInput): Float64Array {
  if (Array.isArray(input)) return copiedNumbers(input, 'float64') as Float64Array;
  if (input instanceof Vector) return hostValues(input.data, 'float64') as Float64Array;
  return (
    isStrided(input) ? Vector.from(input, { dtype: 'float64' }).data : hostValues(input as Values, 'float64')
  ) as Float64Array;
}
