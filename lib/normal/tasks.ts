import type { DistributionTasks } from '../distribution/tasks.ts';
import type { RealDtype } from '../dtype.ts';
import { distances, logDensityTask, normalConstant } from './density.ts';
import { drawTask } from './draw.ts';
import type { NormalParameters } from './parameters.ts';

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
    draw: (count, options, counter) => drawTask(parameters, count, options, counter),
    logPdf: (rows) => logDensityTask(parameters, rows, constant),
    mahalanobis: (rows) => distances(parameters, rows),
    close: () => {
      mean.close();
      factor.close();
    },
  };
}
