import type { Tasks } from '../command/task.ts';
import { type ConditionalOptions, checkedValues, regressionAt } from '../normal/conditional.ts';
import { fromEchelon } from '../normal/from-root.ts';
import { inPieces } from '../work.ts';
import type { StudentParameters } from './parameters.ts';

/**
 * The Student-t of the other coordinates. Its location and scale are the normal's conditional ones, the scale times (nu
 * + d^2) / (nu + m), where d is the Mahalanobis distance of the m values from the location of their marginal; it has nu
 * + m degrees of freedom (P. Ding, On the conditional distribution of the multivariate t distribution, The American
 * Statistician 70, 2016). If the scale is singular, m counts only the values that the others do not determine.
 */
export function* studentConditional(
  { normal, nu }: StudentParameters,
  options: ConditionalOptions,
): Tasks<StudentParameters> {
  const checked = checkedValues(normal, options);
  const { onto, mean } = yield* regressionAt(normal, checked);
  const { rank, root, pivots } = onto;
  if (rank > 0 && nu < Number.POSITIVE_INFINITY) {
    const stretch = Math.hypot(Math.sqrt(nu), yield* onto.distance(checked.values)) / Math.sqrt(nu + rank);
    yield* inPieces(root.length, (from, to) => {
      for (let at = from; at < to; at++) root[at]! *= stretch;
    });
  }
  return { normal: yield* fromEchelon(normal, mean, root, pivots, normal.factor.rank < normal.n), nu: nu + rank };
}
