import { Matrix } from '../array/matrix.ts';
import type { Encoder } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import { resultTask, type Task } from '../command/task.ts';
import type { Real, RealDtype } from '../dtype.ts';
import type { NormalParameters } from './parameters.ts';

/** The covariance, n x n. */
export function covarianceTask<D extends RealDtype>({ factor, ...parameters }: NormalParameters<D>): Task<Matrix<D>> {
  return rowsTask(parameters, factor.n, (encoder, out, scratch) => factor.covariance(encoder, out, scratch));
}

/** The lower Cholesky factor of the covariance, n x n; of a singular one its root, n x rank. */
export function factorTask<D extends RealDtype>({ factor, ...parameters }: NormalParameters<D>): Task<Matrix<D>> {
  // The root of rank 0 has a column, of zeros.
  return rowsTask(parameters, Math.max(1, factor.rank), (encoder, out, scratch) => factor.root(encoder, out, scratch));
}

function rowsTask<D extends RealDtype>(
  { device, dtype, n }: Omit<NormalParameters<D>, 'factor'>,
  columns: number,
  encode: (encoder: Encoder, out: Real, scratch: Scratch) => void,
): Task<Matrix<D>> {
  return resultTask({ device, dtype }, n * columns, (written) => new Matrix(written, n, columns), encode);
}
