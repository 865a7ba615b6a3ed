import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import type { FactorOn } from '../backend.ts';
import { about, checkOptions, marked, oneOf, quoted } from '../check.ts';
import { exactly } from '../command/float64.ts';
import { factorOn } from '../command/options.ts';
import { step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { rankTolerance, rootOf } from '../decomposition/semidefinite-root.ts';
import { type Real, smallestNormal } from '../dtype.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { rooted } from './from-root.ts';
import { aboutSquare, type NormalInput, normalInput, symmetryTolerance } from './inputs.ts';
import { inUnitsIfMinute, multiplyRows } from './minute.ts';
import type { CovarianceOptions, SingularCovariance } from './options.ts';
import { factoredNormal, type NormalParameters, type NormalTask } from './parameters.ts';
import { requireRepresented } from './represented.ts';
import { withRank } from './with-rank.ts';

/**
 * The normal of a mean and a covariance, which may be singular or get jitter if the options allow it. `square` and
 * `centre` are what an error calls the two. An estimated covariance is that of rows: it gets jitter too where no more
 * than rounding makes it positive definite.
 */
export function* fromCovariance(
  options: CovarianceOptions,
  square = 'Covariance',
  centre = 'Mean',
  isEstimated = false,
): Tasks<NormalParameters> {
  checkOptions(options, covarianceOptionNames);
  const { jitter = false } = options;
  const singular = singularOption(options);
  if (singular === 'error') {
    if (jitter === false) {
      const task = factorCovariance(options, square, centre);
      // A caller who passes one of these options knows them.
      const isAsked = options.singular !== undefined || options.jitter !== undefined;
      const explain = (error: CovariumError) =>
        aboutSquare(square, isAsked ? error : withWayOut(error), options.covariance);
      return yield* step({ ...task, explain });
    }
    const input = copied(normalInput(options, square, options.covariance, centre));
    represented(options, input, centre);
    return yield* withJitter(options, input, square, isEstimated);
  }
  const input = copied(normalInput(options, square, options.covariance, centre));
  const { n } = input;
  represented(options, input, centre);
  const tolerance = symmetryTolerance(input.dtype, options.symmetryTolerance);
  yield;
  const regular = yield* regularNormal(input, tolerance, factorOn(options.factor), square);
  if (regular !== undefined) return regular;
  const symmetric = new Float64Array(input.square);
  yield* exactly(input.device, (encoder) => encoder.requireSymmetric(symmetric, n, tolerance), square);
  // Only the lower triangle counts, as for a Cholesky factor.
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) symmetric[j * n + i] = symmetric[i * n + j]!;
    yield;
  }
  const root = yield* rootOf(input.device, symmetric, n, singular, input.dtype, square);
  return yield* rooted(input, root, square);
}

/** The option `singular`. Throws `ERR_INVALID_ARGUMENT`, also if `jitter` is there too. */
export function singularOption({
  singular: asked = 'error',
  jitter = false,
}: Pick<CovarianceOptions, 'singular' | 'jitter'>): SingularCovariance {
  const singular = oneOf('singular', asked, ['error', 'pivoted', 'eigen']);
  if (singular === 'error' || jitter === false) return singular;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `\`jitter\` (${quoted(jitter)}) changes a singular covariance, but \`singular\` ('${singular}') accepts it as it is: pass only one of them.`,
  );
}

// An eigenvalue of so many tolerances of the rank, or of n, is far from 0: rounding of a factor is n / 2 at most.
const clearlyRegular = 256;
// In float64 a factor has no rounding to speak of beside a tolerance of float32.
const clearlyRegularInFloat64 = 4;

/**
 * The normal of a covariance that is far from singular, for which there is no need to ask for its rank; undefined for
 * others. With D the diagonal of the covariance, if the covariance less a share of D still has a Cholesky factor, then
 * no eigenvalue of the correlation matrix, and so no pivot, is less than that share.
 */
function* regularNormal(
  input: NormalInput,
  tolerance: number,
  where: FactorOn,
  square: string,
): Tasks<NormalParameters | undefined> {
  const { device, dtype, n } = input;
  const share = rankTolerance(n, dtype) * Math.max(clearlyRegular, n);
  // A share so large that few covariances have it, or none.
  const isTooLarge = share > 1 / 8;
  try {
    if (isTooLarge) {
      if (dtype === 'float64') return undefined;
      const less = lessDiagonal(new Float64Array(input.square), n, clearlyRegularInFloat64 * rankTolerance(n, dtype));
      yield* exactly(device, (encoder) => encoder.cholesky(less, n, 'auto'));
    }
    const task = factoredNormal(input, LowerFactor, (encoder, factor, _, scratch) => {
      encoder.requireSymmetric(factor, n, tolerance);
      if (!isTooLarge) encoder.cholesky(lessDiagonal(scratch.copy(input.square, dtype), n, share), n, where);
      encoder.cholesky(factor, n, where);
    });
    return yield* step({ ...task, explain: (error: CovariumError) => about(square, error) });
  } catch (error) {
    if (error instanceof CovariumError && error.code === 'ERR_NOT_POSITIVE_DEFINITE') return undefined;
    throw error;
  }
}

/** Takes a share of its diagonal from a square matrix, in place. */
function lessDiagonal(square: Real, n: number, share: number): Real {
  for (let i = 0; i < n; i++) square[i * (n + 1)]! *= 1 - share;
  return square;
}

// A copy, because the caller may change their arrays between two commits.
function copied({ device, dtype, n, mean, square }: NormalInput): NormalInput {
  return { device, dtype, n, mean: mean?.slice(), square: square.slice() };
}

/** The error of a singular covariance, with the options that accept it. */
export function withWayOut(error: CovariumError): CovariumError {
  if (error.code !== 'ERR_NOT_POSITIVE_DEFINITE') return error;
  const { pivot } = error;
  const message = `${error.message} Pass \`singular\` to accept a singular covariance, or \`jitter\` to add to its diagonal.`;
  return new CovariumError(error.code, message, pivot === undefined ? { cause: error } : { pivot, cause: error });
}

const attempts = 5; // nothing, then 1, 10, 100 and 1,000 times the jitter
/**
 * The normal of a covariance (`name` in messages), with the least multiple of the jitter added to its diagonal that
 * makes it positive definite.
 */
function* withJitter(
  options: CovarianceOptions,
  input: NormalInput,
  name: string,
  isEstimated: boolean,
): Tasks<NormalParameters> {
  const { n, mean, square } = input;
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, square[i * (n + 1)]!);
  const begin = Math.max(share(options.jitter!, input.dtype) * largest, smallestNormal[input.dtype]);
  for (let attempt = 1; ; attempt++) {
    const amount = attempt === 1 ? 0 : begin * 10 ** (attempt - 2);
    const shifted = square.slice();
    for (let i = 0; i < n; i++) shifted[i * (n + 1)]! += amount;
    const covariance = new Matrix(new Storage(shifted), n, n);
    try {
      const task = factorCovariance({ ...options, mean, covariance, dtype: input.dtype });
      const parameters = yield* step(isEstimated ? withRank(task) : task);
      const { smallestPivot } = parameters.factor as LowerFactor;
      return { ...parameters, jitter: { amount, attempts: attempt, smallestPivot } };
    } catch (error) {
      if (!(error instanceof CovariumError)) throw error;
      if (error.code !== 'ERR_NOT_POSITIVE_DEFINITE') throw about(name, error);
      if (attempt < attempts && largest > 0) continue;
      const { pivot } = error;
      const message = `${marked(name)} is not positive definite, even with (${amount}) added to its diagonal${
        pivot === undefined ? '' : `: pivot (${pivot}) is not positive`
      }.`;
      throw new CovariumError(error.code, message, pivot === undefined ? { cause: error } : { pivot, cause: error });
    }
  }
}

function share(jitter: boolean | number, dtype: string): number {
  const least = dtype === 'float32' ? 2 ** -22 : 2 ** -51;
  if (jitter === true) return dtype === 'float32' ? least : 2 ** -40;
  if (typeof jitter === 'number' && jitter >= least && jitter <= 1) return jitter;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`jitter\` is (${quoted(jitter)}), not a share of the largest variance from (${least}), the least that (${dtype}) resolves, to 1.`,
  );
}

function represented({ dtype: asked, mean, covariance }: CovarianceOptions, input: NormalInput, centre: string): void {
  const { dtype: chosen, n, square } = input;
  requireRepresented({ asked, chosen, inputs: [mean, covariance] }, input.mean, (i) => square[i * (n + 1)]!, centre);
}

// `centre` and `name` are what an error calls the two: a Student-t has a location and a scale.
export function factorCovariance(options: CovarianceOptions, name = 'Covariance', centre = 'Mean'): NormalTask {
  checkOptions(options, covarianceOptionNames);
  const where = factorOn(options.factor);
  const input = normalInput(options, name, options.covariance, centre);
  represented(options, input, centre);
  const tolerance = symmetryTolerance(input.dtype, options.symmetryTolerance);
  const { dtype, n } = input;
  const minute = inUnitsIfMinute(input.square, n);
  const square = minute?.square ?? input.square;
  return factoredNormal({ ...input, square }, LowerFactor, (encoder, factor, _, scratch) => {
    // An error shows the entries as they were given.
    encoder.requireSymmetric(minute === undefined ? factor : scratch.copy(minute.given, dtype), n, tolerance);
    encoder.cholesky(factor, n, where);
    if (minute !== undefined) multiplyRows(encoder, factor, minute.units, scratch);
  });
}

export const covarianceOptionNames: readonly string[] = [
  ...['device', 'mean', 'covariance', 'dtype', 'symmetryTolerance', 'factor', 'singular', 'jitter'],
];
