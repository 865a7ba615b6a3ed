import { wholeNumber, wrongArgument } from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { exactRoot } from './exact.ts';
import { fromRoot } from './from-root.ts';
import type { NormalParameters } from './parameters.ts';

/** The normal of some coordinates: it has their rows of the root. */
export function* marginal(parameters: NormalParameters, coordinates: readonly number[]): Tasks<NormalParameters> {
  const chosen = coordinatesIn(coordinates, parameters.n);
  if (chosen.length === 0)
    throw new CovariumError('ERR_SHAPE', '`coordinates` has (0) entries, but a normal has at least one dimension.');
  const { mean, root, n, width, tolerance } = yield* exactRoot(parameters, true);
  return yield* fromRoot(parameters, rowsAt(mean, 1, chosen), rowsAt(root, width, chosen), tolerance, width < n);
}

/** A copy of coordinates below n; throws `ERR_INVALID_ARGUMENT` (not an array, one twice) and `ERR_OUT_OF_RANGE`. */
export function coordinatesIn(coordinates: readonly number[], n: number, name = 'coordinates'): number[] {
  if (!Array.isArray(coordinates)) throw wrongArgument(name, coordinates, 'an array of coordinates, as [0, 2]');
  const seen = new Set<number>();
  for (const [at, coordinate] of coordinates.entries()) {
    wholeNumber(`\`${name}[${at}]\``, coordinate, 0, n - 1);
    if (seen.has(coordinate))
      throw new CovariumError('ERR_INVALID_ARGUMENT', `\`${name}\` names coordinate (${coordinate}) twice.`);
    seen.add(coordinate);
  }
  return [...coordinates];
}

/** The coordinates below n that are not in `coordinates`, in ascending order. */
export function otherCoordinates(coordinates: readonly number[], n: number): number[] {
  const named = new Set(coordinates);
  return Array.from({ length: n }, (_, coordinate) => coordinate).filter((coordinate) => !named.has(coordinate));
}

/** The rows of `width` numbers at these indices, in this order. */
export function rowsAt(rows: Float64Array, width: number, places: readonly number[]): Float64Array<ArrayBuffer> {
  const chosen = new Float64Array(places.length * width);
  for (let row = 0; row < places.length; row++) {
    const from = places[row]! * width;
    // A view costs as much as to copy some dozen numbers.
    if (width > 64) chosen.set(rows.subarray(from, from + width), row * width);
    else for (let k = 0; k < width; k++) chosen[row * width + k] = rows[from + k]!;
  }
  return chosen;
}
