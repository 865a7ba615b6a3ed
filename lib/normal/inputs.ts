import { hostValues } from '../array/host-memory.ts';
import { aboutRows, realDtype, squareMatrix, vectorInput } from '../array/inputs.ts';
import { type MatrixInput, matrixStorage } from '../array/matrix.ts';
import { finiteNumber, requireLength, requireSquare } from '../array/operand.ts';
import type { VectorInput } from '../array/vector.ts';
import { requireDevice } from '../backend-handle.ts';
import { about, marked, named, orElse, requireFiniteEntries } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { Real, RealDtype } from '../dtype.ts';
import type { NormalOptions } from './options.ts';
import { requireHeld } from './represented.ts';

/** A mean and a square matrix of the same dimension; see {@link meanInput} and {@link squareInput}. */
export interface NormalInput {
  readonly device: Device;
  readonly dtype: RealDtype;
  readonly n: number;
  /** Undefined means zeros. */
  readonly mean: Real | undefined;
  readonly square: Real;
}

/** The checked inputs of a normal. Throws what its parts throw, and `ERR_INVALID_ARGUMENT` if the device is missing. */
export function normalInput(options: NormalOptions, name: string, square: MatrixInput, centre = 'Mean'): NormalInput {
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, options.mean, square);
  const mean = options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre);
  const { values, n } = squareInput(name, device, square, dtype);
  if (mean !== undefined && mean.length !== n) requireLength(centre, mean.length, n, marked(name), 'columns');
  return { device, dtype, n, mean, square: values };
}

/** How far the entries of a symmetric matrix may differ; throws `ERR_OUT_OF_RANGE`. */
export function symmetryTolerance(dtype: RealDtype, asked?: number | undefined): number {
  // Sums of n products in a different order differ by about sqrt(n) to n ulps (6e-8 or 1.1e-16 each).
  return finiteNumber('symmetryTolerance', orElse(asked, dtype === 'float64' ? 1e-9 : 1e-5), 0);
}

/** A finite mean; throws `ERR_NOT_FINITE` with the entry, `ERR_SHAPE` if it does not have n entries. */
export function meanInput(device: Device, mean: VectorInput, dtype: RealDtype, n?: number, name = 'Mean'): Real {
  const given = vectorInput(name, device, mean);
  const values = hostValues(given, dtype) as Real;
  if (values.length === 0)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(name)} has (0) entries, but a distribution has at least one dimension.`,
    );
  if (n !== undefined) requireLength(name, values.length, n, 'other input');
  // A mean of 1e-50 may be 0.
  if (values !== given) requireFiniteEntries(name, given);
  requireHeld(name, given, values, values.length, 1, true);
  requireFiniteEntries(name, values);
  return values;
}

/** A square matrix, n x n; a bare typed array is read as a square. Throws `ERR_SHAPE`. */
export function squareInput(
  name: string,
  device: Device,
  input: MatrixInput,
  dtype: RealDtype,
): { readonly values: Real; readonly n: number } {
  const matrix = squareMatrix(name, input);
  const n = requireSquare(name, matrix);
  const given = named(name, () => matrixStorage(matrix).valuesFor(device));
  const values = hostValues(given, dtype) as Real;
  requireHeld(name, given, values, n, n + 1);
  return { values, n };
}

/**
 * An error of a device about a square matrix of the caller, in the caller's words: like {@link aboutRows}, with the
 * entry as it was given.
 */
export function aboutSquare(words: string, error: CovariumError, input: MatrixInput): CovariumError {
  if (error.code !== 'ERR_NOT_FINITE') return about(words, error);
  try {
    const { data, columns } = squareMatrix(words, input);
    return aboutRows(words, error, data, columns);
  } catch {
    return about(words, error); // The caller has closed or transferred it meanwhile.
  }
}
