import type { OpenBackend } from '../backend-handle.ts';
import { about, describe, marked, named, quoted, requireFiniteEntries, wrongNumbers } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, dtypes, type RealDtype, type Values } from '../dtype.ts';
import { elementTypeOf, isStrided } from './foreign.ts';
import { hostValues, hostZeros } from './host-memory.ts';
import { Matrix, type MatrixInput, matrixStorage } from './matrix.ts';
import { requireColumns, requireLength, requireSupported } from './operand.ts';
import { Vector, type VectorInput, vectorStorage } from './vector.ts';

/** Rows of n numbers in a form that includes their shape. */
export type RowList = Exclude<MatrixInput, Values>;

/** Rows of numbers for a distribution: rows of n, or one vector of n. */
export type RowsInput = MatrixInput | VectorInput;

/**
 * The type of transformed rows: a Vector for one vector, a Matrix for a list of rows. For a strided array or JSON, its
 * shape decides at run time.
 */
export type Transformed<Z, D extends Dtype = Dtype> = Z extends Vector | Values | readonly number[]
  ? Vector<D>
  : Z extends Matrix
    ? Matrix<D>
    : Z extends { readonly data: unknown; readonly shape: unknown }
      ? Matrix<D> | Vector<D>
      : Matrix<D>;

/** `count` rows of n numbers, in the type in which the caller gave them. */
export interface Rows {
  readonly values: Values;
  readonly count: number;
  readonly n: number;
}

/**
 * The type asked for; else float64 where `inputs` have float64 and the device computes in it; else float32. Throws
 * `ERR_INVALID_ARGUMENT` and `ERR_UNSUPPORTED_DTYPE`.
 */
export function realDtype(device: OpenBackend, dtype: Dtype | undefined, ...inputs: readonly unknown[]): RealDtype {
  return realDtypeOf(device, dtype, inputs);
}

/** As {@link realDtype}, for as many inputs as a batch has: a call takes no more arguments than the stack holds. */
export function realDtypeOf(device: OpenBackend, dtype: Dtype | undefined, inputs: readonly unknown[]): RealDtype {
  const isAsked = dtype !== undefined;
  if (isAsked && !dtypes.includes(dtype))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`dtype\` is (${quoted(dtype)}): pass one of (${device.dtypes.join(', ')}).`,
    );
  // A file's numbers are float64, and a GPU without it takes them as it takes plain arrays: where float32 holds them.
  if (!isAsked) return device.dtypes.includes('float64') ? typeOfInputs(inputs) : 'float32';
  requireSupported('dtype', device, dtype);
  return dtype as RealDtype;
}

function typeOfInputs(inputs: readonly unknown[]): RealDtype {
  return inputs.some((input) => elementTypeOf(input) === 'float64') ? 'float64' : 'float32';
}

/**
 * Rows of n numbers: a matrix or an array of arrays. One vector is one row; a bare typed array holds all rows. Throws
 * `ERR_SHAPE`, which says that `other` has n.
 */
export function rowsInput(
  name: string,
  device: OpenBackend,
  input: RowsInput,
  n?: number,
  other = 'distribution',
): Rows {
  if (isVectorInput(input, n)) {
    const values = vectorInput(name, device, input);
    requireLength(name, values.length, n ?? values.length, other);
    return { values, count: 1, n: values.length };
  }
  const matrix = asMatrix(input, n, name);
  requireColumns(name, matrix.columns, n ?? matrix.columns, other);
  const values = named(name, () => matrixStorage(matrix).valuesFor(device));
  return { values, count: matrix.rows, n: matrix.columns };
}

/**
 * Like {@link rowsInput}, for commands of the device: rows of `dtype` that only the device has stay there until
 * `onHost` is called.
 */
export function rowsOperand(
  name: string,
  device: OpenBackend,
  input: RowsInput,
  dtype: Dtype,
  n: number,
): { readonly values: Values; readonly onHost: () => Values } {
  if (!(input instanceof Matrix) || matrixStorage(input).dtype !== dtype) {
    const { values } = rowsInput(name, device, input, n);
    return { values, onHost: () => values };
  }
  requireColumns(name, input.columns, n, 'distribution');
  const storage = matrixStorage(input);
  return { values: named(name, () => storage.operandFor(device)), onHost: () => storage.values };
}

/**
 * An error of a device about rows of the caller, in the caller's words: an entry that became infinite in the
 * distribution's type is shown as it was given.
 */
export function aboutRows(words: string, error: CovariumError, values: Values, columns: number): CovariumError {
  const { code, row, column } = error;
  if (code !== 'ERR_NOT_FINITE' || row === undefined || column === undefined) return about(words, error);
  const given = values[row * columns + column];
  if (!Number.isFinite(given)) return about(words, error);
  return new CovariumError(
    code,
    `${marked(words)} entry (${row}, ${column}) is (${given}), which is infinite in float32. Make the distribution with \`dtype: 'float64'\`, or pass another unit.`,
    { row, column, cause: error },
  );
}

/**
 * Throws `ERR_NOT_FINITE` at the first entry of rows that is not finite as it is `held`, in the words of {@link
 * aboutRows}; `given` has the numbers of the caller.
 */
export function requireFiniteRows(words: string, held: Values, given: Values, columns: number): void {
  try {
    requireFiniteEntries(undefined, held, columns);
  } catch (error) {
    throw error instanceof CovariumError ? aboutRows(words, error, given, columns) : error;
  }
}

/** True if an input is one vector (of n) rather than a list of rows. */
export function isVectorInput(input: RowsInput, n?: number): input is VectorInput {
  if (input instanceof Vector) return true;
  if (ArrayBuffer.isView(input)) return (input as Values).length === n;
  if (Array.isArray(input)) return typeof input[0] === 'number';
  return !(input instanceof Matrix) && isStrided(input) && input.shape?.length === 1;
}

/**
 * A matrix of any shape; a bare typed array needs its number of columns. Throws `ERR_SHAPE`, `ERR_INVALID_ARGUMENT`.
 */
export function asMatrix(input: MatrixInput, columns: number | undefined, name = 'Matrix'): Matrix {
  if (input instanceof Matrix) return input;
  if (ArrayBuffer.isView(input)) {
    if (columns !== undefined) return named(name, () => Matrix.from(input, { columns }));
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(name)} is a typed array (${describe(input)}) without a shape: pass Matrix.from(array, { columns }).`,
    );
  }
  // float64, so that nothing is rounded twice on the way to `dtype`.
  return named(name, () => {
    if (Array.isArray(input))
      return Matrix.from(input, { dtype: 'float64', columns: input.length === 0 ? columns : undefined });
    const own = elementTypeOf(input);
    return Matrix.from(input, { dtype: own === 'plain' ? 'float64' : own });
  });
}

/** A matrix that is to be square, which the shape of a bare typed array says. Throws `ERR_SHAPE`. */
export function squareMatrix(name: string, input: MatrixInput): Matrix {
  if (!ArrayBuffer.isView(input)) return asMatrix(input, undefined, name);
  const { length } = input as Values;
  const side = Math.sqrt(length);
  if (Number.isInteger(side)) return asMatrix(input, Math.max(1, side), name);
  throw new CovariumError('ERR_SHAPE', `${marked(name)} has (${length}) entries, not those of a square matrix.`);
}

/**
 * The numbers of one vector, in the type in which the caller gave them. Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`.
 */
export function vectorInput(name: string, device: OpenBackend, input: VectorInput): Values {
  return named(name, () => {
    if (input instanceof Vector) return vectorStorage(input).valuesFor(device);
    if (ArrayBuffer.isView(input)) return hostValues(input as Values, undefined);
    const isArray = Array.isArray(input);
    if (!isArray && !isStrided(input))
      throw wrongNumbers(name, input, 'an array of numbers, a typed array, or a Vector');
    return Vector.from(input, { dtype: isArray || elementTypeOf(input) === 'plain' ? 'float64' : undefined }).data;
  });
}

/** The numbers in float64; throws `ERR_NOT_FINITE` with the entry. */
export function finiteNumbers(name: string, values: Values, columns?: number): Float64Array<ArrayBuffer> {
  requireFiniteEntries(name, values, columns);
  return new Float64Array(values);
}

/**
 * n positive finite numbers in float64. Throws `ERR_NOT_FINITE` with the entry, `ERR_NOT_POSITIVE_DEFINITE` with the
 * pivot.
 */
function positiveNumbers(name: string, device: OpenBackend, input: VectorInput): Float64Array<ArrayBuffer> {
  const values = new Float64Array(vectorInput(name, device, input));
  requireFiniteEntries(name, values);
  values.forEach((value, i) => {
    if (value <= 0)
      throw new CovariumError(
        'ERR_NOT_POSITIVE_DEFINITE',
        `${marked(name)} entry (${i}) is (${value}), not positive.`,
        {
          pivot: i,
        },
      );
  });
  return values;
}

/** Like {@link positiveNumbers}, or one number that is repeated n times; throws `ERR_OUT_OF_MEMORY` too. */
export function positiveNumbersOf(
  name: string,
  device: OpenBackend,
  input: VectorInput | number,
  n: number,
): Float64Array<ArrayBuffer> {
  return positiveNumbers(name, device, typeof input === 'number' ? hostZeros(n).fill(input) : input);
}
