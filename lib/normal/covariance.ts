import { Matrix } from '../array/matrix.ts';
import type { Encoder } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import { resultTask, type Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Real, type RealDtype, smallestNormal, type Values } from '../dtype.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The covariance, n x n, times `ratio` (a Student-t's). It fails with `ERR_OUT_OF_RANGE` where the type of the
 * distribution does not hold a variance.
 */
export function covarianceTask<D extends RealDtype>(parameters: NormalParameters<D>, ratio = 1): Task<Matrix<D>> {
  const { n, factor } = parameters;
  const task = rowsTask(parameters, n, (encoder, out, scratch) => factor.covariance(encoder, out, scratch));
  const { values } = task.written;
  return {
    ...task,
    after: () => {
      if (ratio !== 1) for (let i = 0; i < values.length; i++) values[i] = ratio * values[i]!;
      // No entry is larger than the larger of its two variances.
      requireHeldVariances(values, parameters, n + 1);
    },
  };
}

/**
 * Throws `ERR_OUT_OF_RANGE` at the first of n variances, every `stride`th number, that the type of the distribution
 * does not hold, although it holds the factor.
 */
export function requireHeldVariances(values: Values, { n, dtype, factor }: NormalParameters, stride: number): void {
  // A singular covariance may have variances of 0.
  const least = factor.rank < n ? 0 : smallestNormal[dtype];
  for (let i = 0; i < n; i++) {
    const variance = values[i * stride]!;
    if (variance >= least && variance < Number.POSITIVE_INFINITY) continue;
    const way = dtype === 'float32' ? "make the distribution with `dtype: 'float64'`, or " : '';
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Variance (${i}) of the covariance is too ${variance < least ? 'small' : 'large'} for (${dtype}), although its factor is not: ${way}scale the coordinate.`,
    );
  }
}

/** The lower Cholesky factor of the covariance, n x n. If the covariance is singular, its root, n x rank. */
export function factorTask<D extends RealDtype>({ factor, ...parameters }: NormalParameters<D>): Task<Matrix<D>> {
  // A root of rank 0 has one column, of zeros.
  return rowsTask(parameters, Math.max(1, factor.rank), (encoder, out, scratch) => factor.root(encoder, out, scratch));
}

function rowsTask<D extends RealDtype>(
  { device, dtype, n }: Omit<NormalParameters<D>, 'factor'>,
  columns: number,
  encode: (encoder: Encoder, out: Real, scratch: Scratch) => void,
): Task<Matrix<D>> {
  return resultTask({ device, dtype }, n * columns, (written) => new Matrix(written, n, columns), encode);
}
