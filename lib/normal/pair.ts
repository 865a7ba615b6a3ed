import { CovariumError } from '../covarium-error.ts';
import type { NormalParameters } from '../normal-parameters.ts';
import type { ExactRoot } from './exact-root.ts';

/** Throws `ERR_NOT_POSITIVE_DEFINITE` for a singular normal, which has no density beside that of a normal with another support. */
export function requireRegular({ n, factor }: NormalParameters): void {
  if (factor.rank < n)
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `A divergence takes regular normals, and this one has rank (${factor.rank}) in dimension (${n}).`,
      { pivot: factor.rank },
    );
}

/** Whether two normals are the same, number for number: nothing then lies between them, not even rounding. */
export function isSame(a: ExactRoot, b: ExactRoot): boolean {
  return isEqual(a.mean, b.mean) && isEqual(a.root, b.root);
}

function isEqual(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
