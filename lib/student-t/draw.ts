import { finiteNumbers, rowsInput } from '../array/inputs.ts';
import type { Matrix, MatrixInput } from '../array/matrix.ts';
import { requireRows } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import type { Task } from '../command/task.ts';
import { requireCount, type SampleOptions, type SampleSyncOptions } from '../distribution/sample-options.ts';
import type { DistributionTasks } from '../distribution/tasks.ts';
import { type Values, zerosOf } from '../dtype.ts';
import { drawAboutMeans, drawTask } from '../normal/draw.ts';
import { normalTasks } from '../normal/tasks.ts';
import { firstElement, type Word64 } from '../stream/counter.ts';
import { fillRadialScales, requireRowLimit } from '../stream/radial-scales.ts';
import { logDecay, logDensityAtLocation } from './density.ts';
import { type CentredNormal, centredNormal, distances, mapDistances } from './mahalanobis.ts';
import type { StudentParameters } from './parameters.ts';

/** What a Student-t of these parameters does on its device. */
export function studentTasks(parameters: StudentParameters): DistributionTasks {
  const { normal, nu } = parameters;
  const name = 'Student-t';
  if (nu === Number.POSITIVE_INFINITY) return { ...normalTasks(normal), name };
  const atLocation = logDensityAtLocation(parameters);
  // The copy of the location outlives close(), as what is in flight does.
  const both = centredNormal(normal);
  const tasks = normalTasks(normal);
  return {
    ...tasks,
    name,
    draw: (count, options, counter) => drawStretched(both, nu, count, options, counter),
    logPdf: (rows) =>
      mapDistances(both, rows, (square, exponent) => atLocation + logDecay(normal, nu, square, exponent)),
    mahalanobis: (rows) => distances(both, rows),
    close: () => {
      tasks.close();
      both.centred.mean.close();
    },
  };
}

/**
 * Row r = location + sqrt(nu / w_r) A z_r: the device makes A z_r, the host stretches it, in float64. What is so far
 * out that a float32 can't tell is infinite. The location is one of all rows (n), or one of each (count x n).
 */
export function drawStretched(
  { centred, location }: Pick<CentredNormal, 'centred' | 'location'>,
  nu: number,
  count: number,
  options: SampleSyncOptions,
  counter: Uint32Array,
): Task<Matrix> {
  requireCount(count, centred);
  const { firstRow = 0 } = options;
  firstElement(firstRow, count, centred.factor.width);
  requireRowLimit(firstRow, count);
  const task = drawTask(centred, count, options, counter);
  return {
    ...task,
    after: () => stretch(task.written.values, centred.n, location, nu, counter, firstRow),
  };
}

const rowsAtOnce = 4096;

function stretch(
  draws: Values,
  n: number,
  location: Float64Array,
  nu: number,
  run: Uint32Array,
  firstRow: Word64,
): void {
  const count = draws.length / n;
  const scales = new Float64Array(Math.min(count, rowsAtOnce));
  for (let begin = 0; begin < count; begin += rowsAtOnce) {
    const rows = scales.subarray(0, Math.min(rowsAtOnce, count - begin));
    fillRadialScales(rows, nu, run, BigInt(firstRow) + BigInt(begin));
    for (let row = 0, at = begin * n; row < rows.length; row++) {
      const scale = rows[row]!;
      const own = location.length === n ? 0 : at;
      for (let j = 0; j < n; j++, at++) {
        // A coordinate that does not vary stays where it is, also where the scale is infinite.
        const draw = draws[at]!;
        draws[at] = location[own + j]! + (draw === 0 ? 0 : scale * draw);
      }
    }
  }
}

/** Options of `sampleSync` with a location for each row. */
export interface LocationsSyncOptions extends SampleSyncOptions {
  /**
   * A location for each row, count x n, in place of the Student-t's own, which is the default; each row is stretched
   * from its own.
   */
  readonly locations?: MatrixInput | undefined;
}

/** Options of `sample` with a location for each row. */
export interface LocationsOptions extends LocationsSyncOptions, SampleOptions {}

/** The locations among the options of a sample, and the other options. */
export function splitLocations<Options extends LocationsSyncOptions>(
  options: Options,
): { readonly locations?: MatrixInput | undefined; readonly rest: Omit<Options, 'locations'> } {
  if (!Object.hasOwn(Object(options), 'locations')) return { rest: options };
  const { locations, ...rest } = options;
  return { locations, rest };
}

/** Draws `count` rows, each about its own location: the normals and the stretching are those of a sample without. */
export function drawAboutLocations(
  { normal, nu }: StudentParameters,
  count: number,
  locations: MatrixInput,
  options: SampleOptions,
): Task<Matrix> {
  if (nu === Number.POSITIVE_INFINITY)
    return drawAboutMeans(normal, count, { ...options, means: locations }, 'Locations');
  requireCount(count, normal);
  const { device, dtype, n } = normal;
  const { values, count: rows } = rowsInput('Locations', device, locations, n);
  requireRows('Locations', rows, count, 'sample', 'rows');
  // A copy: the draws are stretched from them once the commit has run, and may lie where they lay.
  const location = finiteNumbers('Locations', values, n);
  const mean = new Storage(zerosOf(dtype, n));
  return drawStretched({ centred: { ...normal, mean }, location }, nu, count, options, new Uint32Array(6));
}
