import { hostValues } from '../array/host-memory.ts';
import { finiteNumbers, requireFiniteRows, rowsInput } from '../array/inputs.ts';
import type { Matrix, MatrixInput } from '../array/matrix.ts';
import { requireRows } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import type { Task } from '../command/task.ts';
import { requireCount, type SampleOptions, type SampleSyncOptions } from '../distribution/sample-options.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { drawAboutMeans, drawTask, roundedCentres } from '../normal/draw.ts';
import type { NormalParameters } from '../normal/parameters.ts';
import { isRounding, requireRepresented } from '../normal/represented.ts';
import { firstElement, normalCounter } from '../stream/counter.ts';
import { requireRowLimit } from '../stream/radial-scales.ts';
import type { StudentParameters } from './parameters.ts';

/**
 * Row r = location + sqrt(nu / w_r) A z_r: the device computes A z_r and stretches it, in float64. An entry too large
 * for float32 is infinite. There is one location for all rows (n), or one for each (count x n).
 */
export function drawStretched<D extends RealDtype>(
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
  /**
   * A location for each row, count x n, by default the Student-t's own. Each row is stretched from its location.
   * `ERR_OUT_OF_RANGE` if float32 draws would round a location, which is not a Float32Array, to steps that are large
   * beside the scale.
   */
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
  if (nu === Number.POSITIVE_INFINITY) return drawAboutMeans(normal, count, locations, options, 'Locations');
  requireCount(count, normal);
  const { device, dtype, n } = normal;
  const { values, count: rows } = rowsInput('Locations', device, locations, n);
  requireRows('Locations', rows, count, 'sample', 'rows');
  // A copy: the draws are stretched from the locations after the commit has run, and may overwrite the caller's.
  const location = finiteNumbers('Locations', values, n);
  requireFiniteRows('Locations', hostValues(values, dtype), values, n);
  const mean = new Storage(zerosOf(dtype, n));
  const task = drawStretched({ centred: { ...normal, mean }, location }, nu, count, options, new Uint32Array(6));
  const type = { asked: undefined, chosen: dtype, inputs: [locations] };
  if (!isRounding(type)) return task;
  const variances = zerosOf(dtype, n) as Real;
  return {
    ...task,
    encode: (encoder, scratch) => {
      normal.factor.variances(encoder, variances, scratch);
      task.encode(encoder, scratch);
    },
    after: () => {
      task.after?.();
      requireRepresented(type, location, (at) => variances[at % n]!, 'Locations', roundedCentres);
    },
  };
}
