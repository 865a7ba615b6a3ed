import { wholeNumber, wrongArgument } from '../check.ts';
import { step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import { DiagonalFactor } from '../factor/diagonal-factor.ts';
import { LowRankFactor } from '../factor/low-rank-factor.ts';
import { inRows } from '../work.ts';
import { exactRoot } from './exact.ts';
import { fromRoot } from './from-root.ts';
import { meanInput } from './inputs.ts';
import { givenFactor, type NormalParameters } from './parameters.ts';

/**
 * The normal of some coordinates: it has their rows of the root, or, of a diagonal covariance, their variances.
 */
export function* marginal(parameters: NormalParameters, coordinates: readonly number[]): Tasks<NormalParameters> {
  const chosen = coordinatesIn(coordinates, parameters.n);
  if (chosen.length === 0)
    throw new CovariumError('ERR_SHAPE', '`coordinates` has (0) entries, but a normal has at least one dimension.');
  const { device, dtype, factor } = parameters;
  if (factor instanceof DiagonalFactor) {
    const deviations = rowsAt(factor.deviations(), 1, chosen);
    const mean = meanInput(device, rowsAt(parameters.mean.values, 1, chosen), dtype);
    const input = { device, dtype, n: chosen.length, mean };
    return yield* step(givenFactor(input, (allocate) => DiagonalFactor.of(allocate, deviations)));
  }
  const { mean, rows, tolerance } = yield* rootAt(parameters, chosen);
  return yield* fromRoot(parameters, mean, rows, tolerance, factor.rank < parameters.n);
}

// So many are copied while the event loop stands still.
const numbersAtOnce = 1 << 16;

/**
 * The entries of the mean and the rows of a root at these places, in this order, in memory of their own: those of
 * {@link exactRoot}, or of low rank plus a diagonal a root (m x m) of the m places alone.
 */
export function* rootAt(
  parameters: NormalParameters,
  places: readonly number[],
): Tasks<{
  readonly mean: Float64Array<ArrayBuffer>;
  readonly rows: Float64Array<ArrayBuffer>;
  readonly width: number;
  readonly tolerance: number;
}> {
  const { device, factor } = parameters;
  if (factor instanceof LowRankFactor) {
    const entries = rowsAt(parameters.mean.values, 1, places);
    return { mean: entries, rows: yield* factor.rootAt(device, places), width: places.length, tolerance: 0 };
  }
  const isSmall = parameters.n * parameters.factor.rank <= numbersAtOnce;
  const { mean, root, width, tolerance } = yield* exactRoot(parameters, isSmall);
  const entries = rowsAt(mean, 1, places);
  if (isSmall) return { mean: entries, rows: rowsAt(root, width, places), width, tolerance };
  // A large root is a copy already, of which the first rows need not move.
  if (places.every((place, at) => place === at)) {
    const rows = root.subarray(0, places.length * width) as Float64Array<ArrayBuffer>;
    return { mean: entries, rows, width, tolerance };
  }
  const rows = new Float64Array(places.length * width);
  yield* inRows(places.length, width, (from, to) => {
    rows.set(rowsAt(root, width, places.slice(from, to)), from * width);
  });
  return { mean: entries, rows, width, tolerance };
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
export function rowsAt(rows: Values, width: number, places: readonly number[]): Float64Array<ArrayBuffer> {
  const chosen = new Float64Array(places.length * width);
  for (let row = 0; row < places.length; row++) {
    const from = places[row]! * width;
    // A view costs as much as to copy some dozen numbers.
    if (width > 64) chosen.set(rows.subarray(from, from + width), row * width);
    else for (let k = 0; k < width; k++) chosen[row * width + k] = rows[from + k]!;
  }
  return chosen;
}
