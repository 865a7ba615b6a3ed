import { Matrix } from '../array/matrix.ts';
import type { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import { firstNotFinite } from '../check.ts';
import { resultTask, step, type Task, type Tasks } from '../command/task.ts';
import { mapped } from '../distribution/tasks.ts';
import type { RealDtype } from '../dtype.ts';
import { endsPiece } from '../work.ts';
import { hasSmall, inUnits, requireHeldVariances, smallAgain } from './covariance.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The diagonal of the covariance, n; `ratio` times it. No n x n numbers are made of a factor that has fewer. It fails
 * with `ERR_OUT_OF_RANGE` where the type of the distribution does not hold a variance.
 */
export function variancesTask<D extends RealDtype>(parameters: NormalParameters<D>, ratio = 1): Task<Vector<D>> {
  const { device, dtype, n, factor } = parameters;
  const wrap = (written: Storage<D>) => new Vector(written);
  const task = resultTask({ device, dtype }, n, wrap, (encoder, out, scratch) =>
    factor.variances(encoder, out, scratch),
  );
  const { values } = task.written;
  const scaled = ratio === 1 ? task : mapped(task, (variance) => ratio * variance);
  return {
    ...scaled,
    again: () => smallAgain(values, parameters, 1, (exact, ...place) => exact.variances(...place)),
    after: () => {
      scaled.after?.();
      requireHeldVariances(values, parameters, 1);
    },
  };
}

/** The roots of {@link variancesTask}, which fails like it. */
export function deviationsTask<D extends RealDtype>(parameters: NormalParameters<D>, ratio = 1): Task<Vector<D>> {
  return mapped(variancesTask(parameters), (variance) => Math.sqrt(ratio) * Math.sqrt(variance));
}

/**
 * c_ij / sqrt(c_ii c_jj) of the covariance, n x n, with ones on the diagonal; who does not vary has 0 beside it. The
 * type need not hold the variances.
 */
export function* correlation<D extends RealDtype>(parameters: NormalParameters<D>): Tasks<Matrix<D>> {
  const { device, dtype, n, factor } = parameters;
  const wrap = (written: Storage<D>) => new Matrix(written, n, n);
  const task = resultTask({ device, dtype }, n * n, wrap, (encoder, out, scratch) => {
    factor.covariance(encoder, out, scratch);
  });
  const out = task.written.values;
  return yield* step({
    ...task,
    *again() {
      const variances = Float64Array.from({ length: n }, (_, i) => out[i * (n + 1)]!);
      const isHeld = firstNotFinite(variances) === n && !hasSmall(variances, parameters, 1);
      const { products } = isHeld ? { products: out } : yield* inUnits(parameters);
      const inverses = variances.map((_, i) =>
        products[i * (n + 1)]! > 0 ? 1 / Math.sqrt(products[i * (n + 1)]!) : 0,
      );
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) out[i * n + j] = i === j ? 1 : products[i * n + j]! * inverses[i]! * inverses[j]!;
        if (endsPiece(i, n)) yield;
      }
    },
  });
}
