import { Matrix } from '../array/matrix.ts';
import type { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import { resultTask, step, type Task, type Tasks } from '../command/task.ts';
import { mapped } from '../distribution/tasks.ts';
import type { Real, RealDtype } from '../dtype.ts';
import { hasSmall, inFloat64, requireHeldVariances, smallAgain } from './covariance.ts';
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

/** c_ij / sqrt(c_ii c_jj) of the covariance, n x n, with ones on the diagonal; who does not vary has 0 beside it. */
export function* correlation<D extends RealDtype>(parameters: NormalParameters<D>): Tasks<Matrix<D>> {
  const { device, dtype, n, factor } = parameters;
  const deviations = yield* step(deviationsTask(parameters));
  const inverses = Float64Array.from(deviations.data as Real, (deviation) => (deviation > 0 ? 1 / deviation : 0));
  const isSmall = hasSmall(
    Float64Array.from(deviations.data as Real, (deviation) => deviation ** 2),
    parameters,
    1,
  );
  deviations.close();
  const wrap = (written: Storage<D>) => new Matrix(written, n, n);
  const task = resultTask({ device, dtype }, n * n, wrap, (encoder, out, scratch) => {
    const rows = scratch.output(dtype, n * n);
    const scales = scratch.copy(inverses, dtype);
    factor.covariance(encoder, rows, scratch);
    encoder.scaleColumns(rows, scales);
    encoder.transpose(rows, out, n, n);
    encoder.scaleColumns(out, scales);
  });
  const out = task.written.values;
  return yield* step({
    ...task,
    *again() {
      if (!isSmall) return;
      const covariance = yield* inFloat64(parameters, n * n, (exact, ...place) => exact.covariance(...place));
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) out[i * n + j] = covariance[i * n + j]! * inverses[i]! * inverses[j]!;
        yield;
      }
    },
    after: () => {
      for (let i = 0; i < n; i++) out[i * (n + 1)] = 1;
    },
  });
}
