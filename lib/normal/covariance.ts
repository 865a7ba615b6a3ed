import { Matrix } from '../array/matrix.ts';
import type { Encoder } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import { resultTask, type Task } from '../command/task.ts';
import type { Real } from '../dtype.ts';
import type { NormalParameters } from './parameters.ts';

/** The covariance, n x n. */
export function covarianceTask({ factor, ...parameters }: NormalParameters): Task<Matrix> {
  return rowsTask(parameters, factor.n, (encoder, out, scratch) => factor.covariance(encoder, out, scratch));
}

/** The lower Cholesky factor of the covariance, n x n. If the covariance is singular, its root, n x rank. */
export function factorTask({ factor, ...parameters }: NormalParameters): Task<Matrix> {
  // A root of rank 0 has one column, of zeros.
  return rowsTask(parameters, Math.max(1, factor.rank), (encoder, out, scratch) => factor.root(encoder, out, scratch));
}

function rowsTask(
  { device, dtype, n }: Omit<NormalParameters, 'factor'>,
  columns: number,
  encode: (encoder: Encoder, out: Real, scratch: Scratch) => void,
): Task<Matrix> {
  return resultTask({ device, dtype }, n * columns, (written) => new Matrix(written, n, columns), encode);
}
