import { rowsInput } from '../distribution-input.ts';
import { requireCount, type SampleOptions, type SampleSyncOptions } from '../draw.ts';
import { drawAround } from '../draw-around.ts';
import { zerosOf } from '../dtype.ts';
import type { Matrix, MatrixInput } from '../matrix.ts';
import { requireRows } from '../operand.ts';
import { Storage } from '../storage.ts';
import type { Task } from '../task.ts';
import { finiteNumbers } from '../ways-in/finite-numbers.ts';
import type { StudentParameters } from './student-parameters.ts';
import { drawStretched } from './student-tasks.ts';

/** What a sample of a Student-t takes besides: synchronously. */
export interface LocationsSyncOptions extends SampleSyncOptions {
  /** A location for each row, count x n, in place of the Student-t's own, which is the default; each row is stretched from its own. */
  readonly locations?: MatrixInput | undefined;
}

/** What a sample of a Student-t takes besides. */
export interface LocationsOptions extends LocationsSyncOptions, SampleOptions {}

/** The locations that a sample's options say, and what else they say. */
export function apartFromLocations<Options extends LocationsSyncOptions>(
  options: Options,
): { readonly locations?: MatrixInput | undefined; readonly rest: Omit<Options, 'locations'> } {
  if (!Object.hasOwn(Object(options), 'locations')) return { rest: options };
  const { locations, ...rest } = options;
  return { locations, rest };
}

/** Draws `count` rows, each about its own location: the normals and the stretching are those of a sample without. */
export function drawStudentAround(
  { normal, nu }: StudentParameters,
  count: number,
  locations: MatrixInput,
  options: SampleOptions,
): Task<Matrix> {
  if (nu === Number.POSITIVE_INFINITY) return drawAround(normal, count, { ...options, means: locations }, 'Locations');
  requireCount(count, normal);
  const { device, dtype, n } = normal;
  const { values, count: rows } = rowsInput('Locations', device, locations, n);
  requireRows('Locations', rows, count, 'sample', 'rows');
  // A copy: the draws are stretched from them once the commit has run, and may lie where they lay.
  const location = finiteNumbers('Locations', values, n);
  const mean = new Storage(zerosOf(dtype, n));
  return drawStretched({ centred: { ...normal, mean }, location }, nu, count, options, new Uint32Array(6));
}
