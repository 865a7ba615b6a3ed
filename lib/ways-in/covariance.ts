import { checkOptions } from '../check-options.ts';
import { CovariumError } from '../covarium-error.ts';
import { describe } from '../describe.ts';
import { type NormalInput, normalInput, symmetryTolerance } from '../distribution-input.ts';
import { exactly } from '../exact.ts';
import type { CovarianceOptions } from '../normal-options.ts';
import { covarianceOptionNames, fromCovariance, type NormalParameters } from '../normal-parameters.ts';
import { type Procedure, step } from '../procedure.ts';
import { withJitter } from './jitter.ts';
import { rootOf } from './root-of.ts';
import { rooted } from './rooted.ts';

/**
 * The normal of a mean and a covariance, which may be singular, or get jitter, where asked. `square` and `centre` are the caller's words for
 * the two.
 */
export function* ofCovariance(
  options: CovarianceOptions,
  square = 'Covariance',
  centre = 'Mean',
): Procedure<NormalParameters> {
  checkOptions(options, covarianceOptionNames);
  const { singular = 'error', jitter = false } = options;
  if (singular !== 'error' && singular !== 'pivoted' && singular !== 'eigen')
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Option singular is none of 'error', 'pivoted' and 'eigen' (${describe(singular)}).`,
    );
  if (singular === 'error') {
    if (jitter === false) {
      const task = fromCovariance(options, square, centre);
      // Whoever has named an option knows of both.
      const isAsked = options.singular !== undefined || options.jitter !== undefined;
      return yield* step(isAsked ? task : { ...task, explain: withWayOut });
    }
    return yield* withJitter(options, copied(normalInput(options, square, options.covariance, centre)), square);
  }
  if (jitter !== false)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Jitter (${jitter}) makes a singular covariance another one, and singular (${singular}) takes it as it is: only one can be asked for.`,
    );
  const tolerance = symmetryTolerance(options);
  const input = copied(normalInput(options, square, options.covariance, centre));
  const { n } = input;
  const symmetric = Float64Array.from(input.square);
  yield* exactly(input.device, (encoder) => encoder.requireSymmetric(symmetric, n, tolerance));
  // The lower triangle counts, as it does for a Cholesky factor.
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) symmetric[j * n + i] = symmetric[i * n + j]!;
  return yield* step(rooted(input, rootOf(symmetric, n, singular, input.dtype, square), square));
}

// The caller may write into his own arrays between two commits.
function copied({ mean, square, ...rest }: NormalInput): NormalInput {
  return { ...rest, mean: mean?.slice(), square: square.slice() };
}

function withWayOut(error: CovariumError): CovariumError {
  if (error.code !== 'ERR_NOT_POSITIVE_DEFINITE') return error;
  const { pivot } = error;
  const message = `${error.message} Option singular takes a singular covariance as it is, and jitter adds to its diagonal.`;
  return new CovariumError(error.code, message, pivot === undefined ? { cause: error } : { pivot, cause: error });
}
