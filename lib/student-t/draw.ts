import { finiteNumbers, rowsInput } from '../array/inputs.ts';
import type { Matrix, MatrixInput } from '../array/matrix.ts';
import { requireRows } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import type { Task } from '../command/task.ts';
import { requireCount, type SampleOptions, type SampleSyncOptions } from '../distribution/sample-options.ts';
import type { DistributionTasks } from '../distribution/tasks.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { distances, fromSquares } from '../normal/density.ts';
import { drawAboutMeans, drawTask } from '../normal/draw.ts';
import type { NormalParameters } from '../normal/parameters.ts';
import { normalTasks } from '../normal/tasks.ts';
import { studentQuantile } from '../probability/f-quantile.ts';
import { firstElement, normalCounter } from '../stream/counter.ts';
import { requireRowLimit } from '../stream/radial-scales.ts';
import { logDecay, logDensityAtLocation } from './density.ts';
import type { StudentParameters } from './parameters.ts';

/** The tasks of a Student-t with these parameters on its device. */
export function studentTasks<D extends RealDtype>(parameters: StudentParameters<D>): DistributionTasks<D> {
  const { normal, nu } = parameters;
  const words = { name: 'Student-t', sampleNames: ['locations'] };
  if (nu === Number.POSITIVE_INFINITY) return { ...normalTasks(normal), ...words };
  const atLocation = logDensityAtLocation(parameters);
  // The copy of the location outlives close(), as commands in flight do.
  const location = new Float64Array(normal.mean.values);
  const mean = Storage.inside(normal.device, normal.dtype, normal.n);
  mean.values.fill(0);
  const centred = { ...normal, mean };
  const tasks = normalTasks(normal);
  return {
    ...tasks,
    ...words,
    requireRows: requireRowLimit,
    draw: (count, options, counter) => drawStretched({ centred, location }, nu, count, options, counter),
    logPdf: (rows) =>
      fromSquares(normal, rows, 0, (values, far) => {
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

/**
 * Row r = location + sqrt(nu / w_r) A z_r: the device computes A z_r and stretches it, in float64. An entry too large
 * for float32 is infinite. There is one location for all rows (n), or one for each (count x n).
 */
function drawStretched<D extends RealDtype>(
  { centred, location }: { readonly centred: NormalParameters<D>; readonly location: Float64Array },
  nu: number,
  count: number,
  options: SampleSyncOptions,
  counter: Uint32Array,
): Task<Matrix<D>> {
  requireCount(count, centred);
  const { firstRow = 0 } = options;
  firstElement(firstRow, count, centred.factor.width);
  requireRowLimit(firstRow, count);
  const task = drawTask(centred, count, options, counter);
  const rows = normalCounter(0, 0, firstRow);
  rows.set(counter.subarray(0, 4));
  const draws = task.written.operandFor(centred.device) as Real;
  return {
    ...task,
    encode: (encoder, scratch) => {
      task.encode(encoder, scratch);
      encoder.stretchRows(draws, location, centred.n, nu, rows);
    },
  };
}

/** Options of `sampleSync` when each row has its own location. */
export interface LocationsSyncOptions extends SampleSyncOptions {
  /** A location for each row, count x n, by default the Student-t's own. Each row is stretched from its location. */
  readonly locations?: MatrixInput | undefined;
}

/** Options of `sample` when each row has its own location. */
export interface LocationsOptions extends LocationsSyncOptions, SampleOptions {}

/** Separates the locations from the other options of a sample. */
export function splitLocations<Options extends LocationsSyncOptions>(
  options: Options,
): { readonly locations?: MatrixInput | undefined; readonly rest: Omit<Options, 'locations'> } {
  if (!Object.hasOwn(Object(options), 'locations')) return { rest: options };
  const { locations, ...rest } = options;
  return { locations, rest };
}

/**
 * Draws `count` rows, each about its own location, with the same normals and stretch factors as a sample without
 * locations.
 */
export function drawAboutLocations<D extends RealDtype>(
  { normal, nu }: StudentParameters<D>,
  count: number,
  locations: MatrixInput,
  options: SampleOptions,
): Task<Matrix<D>> {
  if (nu === Number.POSITIVE_INFINITY)
    return drawAboutMeans(normal, count, { ...options, means: locations }, 'Locations');
  requireCount(count, normal);
  const { device, dtype, n } = normal;
  const { values, count: rows } = rowsInput('Locations', device, locations, n);
  requireRows('Locations', rows, count, 'sample', 'rows');
  // A copy: the draws are stretched from the locations after the commit has run, and may overwrite the caller's.
  const location = finiteNumbers('Locations', values, n);
  const mean = new Storage(zerosOf(dtype, n));
  return drawStretched({ centred: { ...normal, mean }, location }, nu, count, options, new Uint32Array(6));
}
