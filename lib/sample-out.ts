import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';
import { dtypeOf, type Real } from './dtype.ts';
import { isFixed } from './host-values.ts';
import { Matrix, matrixStorage } from './matrix.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { requireColumns } from './operand.ts';
import { isDetached, Storage } from './storage.ts';

/** Where draws go: a matrix, count x n, or a typed array of count n. */
export type SampleOut = Matrix | Real;

/**
 * The matrix to draw into, over the caller's memory. Throws `ERR_SHAPE`, `ERR_CLOSED`, `ERR_FOREIGN_BUFFER`, and
 * `ERR_INVALID_ARGUMENT` for another type, or for memory that may move or that another thread shares.
 */
export function sampleOut(
  { device, dtype, n }: Pick<NormalParameters, 'device' | 'dtype' | 'n'>,
  count: number,
  out: SampleOut,
): Matrix {
  const isMatrix = out instanceof Matrix;
  const values = isMatrix ? matrixStorage(out).valuesFor(device) : out;
  if (dtypeOf(values) !== dtype)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Out (${describe(values)}) has not the distribution's type (${dtype}).`,
    );
  if (isDetached(values.buffer))
    throw new CovariumError('ERR_CLOSED', `Memory of out is detached (${describe(values)}).`);
  if (!isFixed(values.buffer))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Memory of out is resizable or shared (${describe(values.buffer)}).`,
    );
  if (isMatrix) requireColumns('Out', out.columns, n, 'distribution');
  if (isMatrix ? out.rows !== count : values.length !== count * n)
    throw new CovariumError(
      'ERR_SHAPE',
      `Out (${describe(values)}) has not the shape of (${count}) draws of (${n}) numbers.`,
    );
  return isMatrix ? out : new Matrix(new Storage(values), count, n);
}
