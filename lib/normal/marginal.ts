import { CovariumError } from '../covarium-error.ts';
import type { NormalParameters } from '../normal-parameters.ts';
import type { Procedure } from '../procedure.ts';
import { coordinatesIn, rowsAt } from './coordinates.ts';
import { exactRoot } from './exact-root.ts';
import { fromRoot } from './from-root.ts';

/** The normal of some coordinates: their rows of the root. */
export function* marginal(parameters: NormalParameters, coordinates: readonly number[]): Procedure<NormalParameters> {
  const chosen = coordinatesIn(coordinates, parameters.n);
  if (chosen.length === 0)
    throw new CovariumError('ERR_SHAPE', 'Coordinates are (0), and a normal has at least one dimension.');
  const { mean, root, n, width, tolerance } = yield* exactRoot(parameters);
  return yield* fromRoot(parameters, rowsAt(mean, 1, chosen), rowsAt(root, width, chosen), tolerance, width < n);
}
