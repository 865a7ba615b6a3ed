import { aboutRows, rowsInput, vectorInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireLength } from '../array/operand.ts';
import type { Storage } from '../array/storage.ts';
import type { VectorInput } from '../array/vector.ts';
import { areFinite, checkOptions, requireFiniteEntries } from '../check.ts';
import { resultTask, step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import { DiagonalFactor } from '../factor/diagonal-factor.ts';
import { inRows, type Work } from '../work.ts';
import { fromEchelon, requireFiniteMean } from './from-root.ts';
import { coordinatesIn, marginal, otherCoordinates } from './marginal.ts';
import type { NormalParameters } from './parameters.ts';
import { type Regression, regression } from './regression.ts';

/** Options of {@link MultivariateNormal.conditional}. */
export interface ConditionalOptions {
  /** Coordinates from 0, m of them, each once, in any order. An empty list gives the whole normal. */
  readonly given: readonly number[];
  /** Their values in the same order: m of the n coordinates. */
  readonly values: VectorInput;
}

/**
 * Options of {@link MultivariateNormal.conditionalMeans}.
 *
 * ```ts
 * import { MultivariateNormal, openDevice } from 'covarium';
 *
 * const normal = await MultivariateNormal.fromCovariance({ device: openDevice(), covariance: [[1, 0.5], [0.5, 1]] });
 * const means = await normal.conditionalMeans({ given: [1], rows: [[1], [2], [3]] }); // 3 x 1: 0.5, 1 and 1.5
 * ```
 */
export interface ConditionalMeansOptions {
  /** Coordinates from 0, m of them, each once, in any order. */
  readonly given: readonly number[];
  /** Values of the given coordinates, count x m. */
  readonly rows: MatrixInput;
}

/** The normal of the other coordinates, given these values. */
export function* conditional(parameters: NormalParameters, options: ConditionalOptions): Tasks<NormalParameters> {
  const checked = checkedValues(parameters, options);
  // Independent coordinates tell nothing of each other.
  if (parameters.factor instanceof DiagonalFactor) return yield* marginal(parameters, checked.others);
  const { onto, mean } = yield* regressionAt(parameters, checked);
  return yield* fromEchelon(parameters, mean, onto.root, onto.pivots, parameters.factor.rank < parameters.n);
}

interface CheckedValues {
  readonly given: readonly number[];
  readonly others: readonly number[];
  readonly values: Float64Array;
}

/** The given coordinates, the others, and a copy of the values. */
export function checkedValues({ device, n }: NormalParameters, options: ConditionalOptions): CheckedValues {
  checkOptions(options, ['given', 'values']);
  // A copy, because the caller's numbers may change while the device works.
  const values = new Float64Array(vectorInput('Values', device, options.values));
  const given = coordinatesIn(options.given, n, 'given');
  const others = otherCoordinates(given, n);
  requireOthers({ given, others });
  requireLength('Values', values.length, given.length, '`given`');
  requireFiniteEntries('Values', values);
  return { given, others, values };
}

/** The regression of the other coordinates on the given ones, and the mean of the others at these values. */
export function* regressionAt(
  parameters: NormalParameters,
  { given, values }: CheckedValues,
): Tasks<{ readonly onto: Regression; readonly mean: Float64Array }> {
  const onto = yield* regression(parameters, given);
  requireOnSupport(parameters, onto, values, (_, column) => `\`values[${column}]\``);
  const m = given.length;
  const mean = onto.mean.slice(m).map((centre, i) => centre + shift(onto, m + i, values, 0));
  requireFiniteMean('values', mean, (i) => onto.others[i]!);
  return { onto, mean };
}

/**
 * The conditional mean of the other coordinates for each row of values of the given ones: one regression, and one
 * product on the device.
 */
export function* conditionalMeans<D extends RealDtype>(
  parameters: NormalParameters<D>,
  options: ConditionalMeansOptions,
): Tasks<Matrix<D>> {
  checkOptions(options, ['given', 'rows']);
  const { device, dtype, n } = parameters;
  const given = coordinatesIn(options.given, n, 'given');
  if (given.length === 0)
    throw new CovariumError('ERR_SHAPE', '`given` has (0) coordinates, but `rows` has at least one column.');
  const { values, count } = rowsInput('rows', device, options.rows, given.length, '`given`');
  const input = values.slice();
  const onto = yield* regression(parameters, given);
  requireOthers(onto);
  const isFar = yield* mayOverflow(input, onto.mean.subarray(0, given.length), dtype);
  if (isFar) requireFiniteEntries('rows', input, given.length);
  requireOnSupport(parameters, onto, input, (row, column) => `\`rows\` entry (${row}, ${column})`);
  const m = onto.given.length;
  const coefficients = new Float64Array((n - m) * m);
  for (let i = 0; i < n - m; i++) coefficients.set(onto.coefficients(m + i), i * m);
  // Differences that the type does not hold are halved, and what multiplies them doubled.
  if (isFar) for (let at = 0; at < coefficients.length; at++) coefficients[at]! *= 2;
  // float32 would round the rows before their mean is subtracted: of 10000.1 four digits are left of the difference.
  const isCentred = isFar || (dtype === 'float32' && !(input instanceof Float32Array));
  const share = isFar ? 0.5 : 1;
  const differences = isCentred ? yield* lessRow(input, count, onto.mean.subarray(0, m), share) : input;
  const wrap = (written: Storage<D>) => new Matrix(written, count, n - m);
  const task = resultTask({ device, dtype }, count * (n - m), wrap, (encoder, out, scratch) => {
    const centred = scratch.copy(differences, dtype);
    encoder.requireFinite(centred, m);
    if (!isCentred) encoder.addRow(centred, scratch.copy(onto.mean.subarray(0, m), dtype), -1);
    encoder.product(centred, scratch.copy(coefficients, dtype), out, count, n - m, m, false, true, 1, 0);
    encoder.addRow(out, scratch.copy(onto.mean.subarray(m), dtype), 1);
  });
  return yield* step({ ...task, explain: (error) => aboutRows('rows', error, input, m) });
}

/** Whether a difference of two of these numbers may be beyond the type. */
function* mayOverflow(rows: Values, mean: Float64Array, dtype: RealDtype): Work<boolean> {
  // Beyond float64 for what is beyond half of the type.
  const factor = dtype === 'float32' ? 2 ** 897 : 2;
  let isFar = !areFinite(mean, 0, mean.length, factor);
  yield* inRows(rows.length, 1, (from, to) => {
    isFar ||= !areFinite(rows as Real, from, to, factor);
  });
  return isFar;
}

function* lessRow(rows: Values, count: number, row: Float64Array, share: number): Work<Float64Array<ArrayBuffer>> {
  const m = row.length;
  const differences = new Float64Array(count * m);
  yield* inRows(count, m, (from, to) => {
    for (let r = from; r < to; r++)
      for (let j = 0; j < m; j++) differences[r * m + j] = rows[r * m + j]! * share - row[j]! * share;
  });
  return differences;
}

function requireOthers({ given, others }: Pick<Regression, 'given' | 'others'>): void {
  if (others.length === 0)
    throw new CovariumError('ERR_SHAPE', `\`given\` has all (${given.length}) coordinates: none is left.`);
}

// How far values of the given coordinates, from index `start` on, move the mean of a row.
function shift({ mean, coefficients }: Regression, row: number, values: Values, start: number): number {
  const weights = coefficients(row);
  let sum = 0;
  for (let k = 0; k < weights.length; k++) {
    const difference = values[start + k]! - mean[k]!;
    // The difference of two large numbers may overflow, though what it moves the mean by does not.
    if (Number.isFinite(difference)) sum += weights[k]! * difference;
    else sum += weights[k]! * 2 * (values[start + k]! / 2 - mean[k]! / 2);
  }
  return sum;
}

// A singular distribution has no density at a value that contradicts the coordinates which determine it. `place` is
// what an error calls an entry.
function requireOnSupport(
  { dtype, n }: NormalParameters,
  onto: Regression,
  values: Values,
  place: (row: number, column: number) => string,
): void {
  const { given, determined, mean, coefficients } = onto;
  const m = given.length;
  const tolerance = 64 * n * (dtype === 'float32' ? 2 ** -23 : 2 ** -52);
  for (const column of determined) {
    const weights = coefficients(column);
    for (let start = 0; start < values.length; start += m) {
      const value = values[start + column]!;
      let wanted = mean[column]!;
      let size = Math.abs(wanted) + Math.abs(value);
      for (let k = 0; k < m; k++) {
        wanted += weights[k]! * (values[start + k]! - mean[k]!);
        size += Math.abs(weights[k]!) * (Math.abs(values[start + k]!) + Math.abs(mean[k]!));
      }
      if (Math.abs(value - wanted) <= tolerance * size) continue;
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `${place(start / m, column)} is (${value}), but the other given values make coordinate (${given[column]}) (${wanted}): the distribution is singular.`,
        { row: start / m, column },
      );
    }
  }
}
