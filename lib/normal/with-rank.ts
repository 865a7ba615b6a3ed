import type { Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype } from '../dtype.ts';

// What rounding leaves of a column that others determine was at most 4 units in the last place of its variance in 6,000
// tables of 2 to 400 columns, and above 0 in half of them.
const unitsOfRounding = 16;

/**
 * A task that factors the n x n covariance of rows, or those of many groups one after the other, and refuses a column
 * that adds no more than rounding to those before it: `ERR_NOT_POSITIVE_DEFINITE` with its pivot and matrix.
 */
export function withRank<Made extends { readonly dtype: RealDtype; readonly n: number }>(task: Task<Made>): Task<Made> {
  const { n, dtype } = task.result;
  const roots = task.written.values as Real;
  const share = unitsOfRounding * 2 ** (dtype === 'float32' ? -23 : -52);
  const encode: Task<Made>['encode'] = (encoder, scratch) => {
    task.encode(encoder, scratch);
    const variances = scratch.output(dtype, roots.length / n);
    encoder.squaredNorms(roots, variances, n);
    scratch.after(() => {
      const row = variances.findIndex((variance, i) => roots[i * n + (i % n)]! ** 2 <= share * variance);
      if (row < 0) return;
      const [matrix, pivot] = [Math.floor(row / n), row % n];
      const message = `Matrix is not positive definite: pivot (${pivot}) is no more than rounding.`;
      throw new CovariumError('ERR_NOT_POSITIVE_DEFINITE', message, { matrix, pivot });
    });
  };
  return { ...task, encode };
}
