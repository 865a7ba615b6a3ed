import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';
import { type Device, requireDevice } from './device.ts';
import { type Dtype, dtypeOf, type Real, requireDtype, type Values } from './dtype.ts';
import { hostValues } from './host-values.ts';
import { Matrix, type MatrixInput, matrixStorage } from './matrix.ts';
import type { NormalOptions } from './normal-options.ts';
import { requireColumns, requireSquare, requireSupported } from './operand.ts';
import { Vector, type VectorInput, vectorStorage } from './vector.ts';

/** Element types of a distribution. */
export type RealDtype = 'float32' | 'float64';

/** Rows of n whose shape they tell themselves. */
export type RowList = Exclude<MatrixInput, Values>;

/** Rows of numbers for a distribution: rows of n, or one vector of n. */
export type RowsInput = MatrixInput | VectorInput;

/** `count` rows of n numbers, of the type in which they are given. */
export interface Rows {
  readonly values: Values;
  readonly count: number;
  readonly n: number;
}

/** The type asked for, `float32` by default; throws `ERR_INVALID_ARGUMENT` and `ERR_UNSUPPORTED_DTYPE`. */
export function realDtype(device: Device, dtype: Dtype = 'float32'): RealDtype {
  requireDtype(dtype);
  requireSupported(device, dtype);
  return dtype as RealDtype;
}

/** A mean and a square matrix of one dimension; see {@link meanInput} and {@link squareInput}. */
export interface NormalInput {
  readonly device: Device;
  readonly dtype: RealDtype;
  readonly n: number;
  /** Undefined stands for zeros. */
  readonly mean: Real | undefined;
  readonly square: Real;
}

/** What describes a normal, checked; throws as its parts, and `ERR_INVALID_ARGUMENT` where the device is none. */
export function normalInput(options: NormalOptions, name: string, square: MatrixInput, centre = 'Mean'): NormalInput {
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype);
  const mean = options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre);
  const { values, n } = squareInput(name, device, square, dtype, mean?.length, centre.toLowerCase());
  return { device, dtype, n, mean, square: values };
}

/** How far entries of a symmetric matrix may differ; throws `ERR_OUT_OF_RANGE`. */
export function symmetryTolerance(options: {
  dtype?: Dtype | undefined;
  symmetryTolerance?: number | undefined;
}): number {
  // Sums of n products taken in another order differ by about sqrt(n) to n ulps (6e-8 or 1.1e-16 each).
  const tolerance = options.symmetryTolerance ?? (options.dtype === 'float64' ? 1e-9 : 1e-5);
  if (typeof tolerance === 'number' && tolerance >= 0 && tolerance < Number.POSITIVE_INFINITY) return tolerance;
  throw new CovariumError('ERR_OUT_OF_RANGE', `Symmetry tolerance is (${tolerance}), not a finite number from 0.`);
}

/** A finite mean; throws `ERR_NOT_FINITE` with the entry, `ERR_SHAPE` where it doesn't have n entries. */
export function meanInput(device: Device, mean: VectorInput, dtype: RealDtype, n?: number, name = 'Mean'): Real {
  const values = hostValues(vectorInput(name, device, mean), dtype) as Real;
  if (values.length === 0)
    throw new CovariumError('ERR_SHAPE', `${name} has (0) entries, and a distribution at least one dimension.`);
  if (n !== undefined) requireColumns(name, values.length, n, 'other input');
  for (let column = 0; column < values.length; column++)
    if (!Number.isFinite(values[column]))
      throw new CovariumError('ERR_NOT_FINITE', `${name} entry (${column}) is not finite (${values[column]}).`, {
        row: 0,
        column,
      });
  return values;
}

/** A square matrix, n x n where n is known; a bare typed array is taken for a square. Throws `ERR_SHAPE`. */
export function squareInput(
  name: string,
  device: Device,
  input: MatrixInput,
  dtype: RealDtype,
  n?: number,
  centre = 'mean',
): { readonly values: Real; readonly n: number } {
  const isBare = ArrayBuffer.isView(input);
  const side = isBare ? (n ?? Math.sqrt((input as Values).length)) : undefined;
  if (side !== undefined && side * side !== (input as Values).length)
    throw new CovariumError(
      'ERR_SHAPE',
      `${name} has (${(input as Values).length}) entries, not those of a square${n === undefined ? '' : ` of (${n})`}.`,
    );
  const matrix = asMatrix(input, side);
  const columns = requireSquare(name, matrix);
  if (n !== undefined) requireColumns(name, columns, n, centre);
  return { values: hostValues(matrixStorage(matrix).valuesFor(device), dtype) as Real, n: columns };
}

/** Rows of n: a matrix or an array of arrays; one vector counts as one row, a bare typed array as all its rows. Throws `ERR_SHAPE`. */
export function rowsInput(name: string, device: Device, input: RowsInput, n?: number): Rows {
  if (isVectorInput(input, n)) {
    const values = vectorInput(name, device, input);
    requireColumns(name, values.length, n ?? values.length, 'distribution');
    return { values, count: 1, n: values.length };
  }
  const matrix = asMatrix(input, n);
  requireColumns(name, matrix.columns, n ?? matrix.columns, 'distribution');
  return { values: matrixStorage(matrix).valuesFor(device), count: matrix.rows, n: matrix.columns };
}

/** Whether an input is one vector (of n) and no list of rows. */
export function isVectorInput(input: RowsInput, n?: number): input is VectorInput {
  if (input instanceof Vector) return true;
  if (ArrayBuffer.isView(input)) return (input as Values).length === n;
  return Array.isArray(input) && typeof input[0] === 'number';
}

/** A matrix of any shape; a bare typed array needs its columns. Throws `ERR_SHAPE`, `ERR_INVALID_ARGUMENT`. */
export function asMatrix(input: MatrixInput, columns: number | undefined): Matrix {
  if (input instanceof Matrix) return input;
  if (ArrayBuffer.isView(input)) return Matrix.from(input, { columns });
  if (!Array.isArray(input))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Input is neither rows, nor a typed array, nor a Matrix (${describe(input)}).`,
    );
  // float64, so that nothing is rounded twice on the way to `dtype`.
  return Matrix.from(input, { dtype: 'float64', columns: input.length === 0 ? columns : undefined });
}

/** The numbers of one vector, of the type in which they are given. Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`. */
export function vectorInput(name: string, device: Device, input: VectorInput): Values {
  if (input instanceof Vector) return vectorStorage(input).valuesFor(device);
  if (ArrayBuffer.isView(input)) dtypeOf(input);
  else if (!Array.isArray(input))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `${name} is neither an array, nor a Vector (${describe(input)}).`);
  return Vector.from(input, { dtype: ArrayBuffer.isView(input) ? undefined : 'float64' }).data;
}
