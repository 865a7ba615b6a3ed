import { step } from '../command/task.ts';
import type { DistributionTasks } from '../distribution/tasks.ts';
import type { RealDtype } from '../dtype.ts';
import { quantile } from '../probability/standard-normal.ts';
import { distances, logDensityTask, normalConstant } from './density.ts';
import { drawTask } from './draw.ts';
import type { NormalParameters } from './parameters.ts';
import { deviationsTask } from './spread.ts';

/** The tasks of a normal with these parameters on its device. */
export function normalTasks<D extends RealDtype>(parameters: NormalParameters<D>): DistributionTasks<D> {
  const { device, dtype, n, mean, factor } = parameters;
  const constant = normalConstant(parameters);
  return {
    name: 'Normal',
    device,
    dtype,
    n,
    width: factor.width,
    sampleNames: ['means', 'empirical'],
    draw: (count, options, counter) => drawTask(parameters, count, options, counter),
    logPdf: (rows) => logDensityTask(parameters, rows, constant),
    mahalanobis: (rows) => distances(parameters, rows),
    centre: () => new Float64Array(mean.values),
    *marginals() {
      const deviations = yield* step(deviationsTask(parameters));
      const scale = new Float64Array(deviations.data);
      deviations.close();
      return { centre: new Float64Array(mean.values), scale, quantile };
    },
    close: () => {
      mean.close();
      factor.close();
    },
  };
}
