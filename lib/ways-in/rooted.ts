import { lqDecomposition } from '../decomposition/lq-decomposition.ts';
import type { NormalInput } from '../distribution-input.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { kept } from '../factor/parts.ts';
import { RootFactor } from '../factor/root-factor.ts';
import { givenFactor, type NormalParameters } from '../normal-parameters.ts';
import type { Task } from '../task.ts';
import type { Root } from './root-of.ts';

/**
 * The normal of a root of its covariance. With a root of full rank that is A = L Q, the covariance is L L': it gets the Cholesky factor, which
 * is the only one of its kind, so that draws do not depend on the way in.
 * `square` is what an error calls that covariance.
 */
export function rooted(
  input: Pick<NormalInput, 'device' | 'dtype' | 'n' | 'mean'>,
  { root, rank }: Root,
  square: string,
): Task<NormalParameters> {
  const { n } = input;
  return givenFactor(
    input,
    (place) => {
      if (rank < n) return RootFactor.of(place, root, n, rank);
      const { lower } = lqDecomposition(root, n, n);
      return new LowerFactor(kept({ lower }, place).lower, n);
    },
    square,
  );
}
