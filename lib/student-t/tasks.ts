import { Storage } from '../array/storage.ts';
import type { DistributionTasks } from '../distribution/tasks.ts';
import type { RealDtype } from '../dtype.ts';
import { distances, farMeasured } from '../normal/density.ts';
import { normalTasks } from '../normal/tasks.ts';
import { studentQuantile } from '../probability/f-quantile.ts';
import { requireRowLimit } from '../stream/radial-scales.ts';
import { logDecay, logDensityAtLocation } from './density.ts';
import { drawStretched } from './draw.ts';
import type { StudentParameters } from './parameters.ts';

/** The tasks of a Student-t with these parameters on its device. */
export function studentTasks<D extends RealDtype>(parameters: StudentParameters<D>): DistributionTasks<D> {
  const { normal, nu } = parameters;
  const words = { name: 'Student-t', sampleNames: ['locations'] };
  if (nu === Number.POSITIVE_INFINITY) return { ...normalTasks(normal), ...words };
  const atLocation = logDensityAtLocation(parameters);
  // The copy of the location outlives close(), as commands in flight do.
  const location = new Float64Array(normal.mean.values);
  const { device, dtype, n, factor } = normal;
  const mean = Storage.inside(device, dtype, n);
  mean.values.fill(0);
  mean.settle();
  const centred = { device, dtype, n, mean, factor };
  const tasks = normalTasks(normal);
  // Every field by its name: a spread of an object with so many takes V8 several microseconds.
  return {
    name: words.name,
    device,
    dtype,
    n,
    width: factor.width,
    sampleNames: words.sampleNames,
    centre: tasks.centre,
    requireRows: requireRowLimit,
    draw: (count, options, counter) => drawStretched({ centred, location }, nu, count, options, counter),
    logPdf: (rows) =>
      farMeasured(normal, rows, 0, false, (values, far) => {
        for (let i = 0; i < values.length; i++) values[i] = atLocation + logDecay(normal, nu, -2 * values[i]!, 0);
        for (const { row, square, exponent } of far) values[row] = atLocation + logDecay(normal, nu, square, exponent);
      }),
    mahalanobis: (rows) => distances(normal, rows),
    *marginals() {
      return { ...(yield* tasks.marginals()), quantile: (p) => studentQuantile(p, nu) };
    },
    close: () => {
      tasks.close();
      mean.close();
    },
  };
}
