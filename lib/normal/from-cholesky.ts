import { checkOptions, notFinite } from '../check.ts';
import { factorOn } from '../command/options.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import { InverseFactor } from '../factor/inverse-factor.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { aboutSquare, normalInput, symmetryTolerance } from './inputs.ts';
import { inUnitsIfMinute } from './minute.ts';
import type { CholeskyOptions, PrecisionOptions } from './options.ts';
import { factoredNormal, type NormalTask } from './parameters.ts';
import { requireRepresented } from './represented.ts';

function requirePositiveDiagonal(factor: Real, n: number): void {
  for (let pivot = 0; pivot < n; pivot++) {
    const entry = factor[pivot * (n + 1)]!;
    const place = { row: pivot, column: pivot };
    if (!Number.isFinite(entry)) throw notFinite('Factor', `${pivot}, ${pivot}`, entry, place);
    if (entry <= 0)
      throw new CovariumError(
        'ERR_NOT_POSITIVE_DEFINITE',
        `\`factor\` entry (${pivot}, ${pivot}) is (${entry}), not positive.`,
        { ...place, pivot },
      );
  }
}
// The factor of the reversed matrix counts its pivots from the caller's last row.
function fromTheEnd(error: CovariumError, n: number): CovariumError {
  if (error.code !== 'ERR_NOT_POSITIVE_DEFINITE' || error.pivot === undefined) return error;
  const pivot = n - 1 - error.pivot;
  const message = `\`precision\` is not positive definite: eliminating from the last row up, pivot (${pivot}) is not positive.`;
  return new CovariumError(error.code, message, { pivot, cause: error });
}

export function fromCholesky(options: CholeskyOptions, centre = 'Mean'): NormalTask {
  checkOptions(options, ['device', 'mean', 'factor', 'dtype']);
  const input = normalInput(options, 'Factor', options.factor, centre);
  requirePositiveDiagonal(input.square, input.n);
  const { dtype: chosen, n, square } = input;
  const inputs = [options.mean, options.factor];
  requireRepresented(
    { asked: options.dtype, chosen, inputs },
    input.mean,
    (i) => lengthOfRow(square, n, i) ** 2,
    centre,
  );
  const task = factoredNormal(input, LowerFactor, (encoder, factor) => {
    encoder.zeroUpper(factor, input.n);
    encoder.requireFinite(factor, input.n);
  });
  return { ...task, explain: (error) => aboutSquare('Factor', error, options.factor) };
}

function lengthOfRow(factor: Real, n: number, i: number): number {
  let length = 0;
  for (let j = 0; j <= i; j++) length = Math.hypot(length, factor[i * n + j]!);
  return length;
}

/**
 * precision = W' W with W lower triangular. Let J reverse the order; then J precision J = C C' has the Cholesky factor
 * C, and W = J C' J, which is the antitranspose of C. Then mean + W^-1 z has covariance (W' W)^-1, and no inverse is
 * ever formed.
 */
export function fromPrecision(options: PrecisionOptions, centre = 'Mean'): NormalTask {
  checkOptions(options, ['device', 'mean', 'precision', 'dtype', 'symmetryTolerance', 'factor']);
  const where = factorOn(options.factor);
  const input = normalInput(options, 'Precision', options.precision, centre);
  const { n } = input;
  const tolerance = symmetryTolerance(input.dtype, options.symmetryTolerance);
  const type = { asked: options.dtype, chosen: input.dtype, inputs: [options.mean, options.precision] };
  // Of a coordinate where the others are given: the least of its standard deviations.
  requireRepresented(type, input.mean, (i) => 1 / input.square[i * (n + 1)]!, centre);
  const minute = inUnitsIfMinute(input.square, n);
  const square = minute?.square ?? input.square;
  const task = factoredNormal({ ...input, square }, InverseFactor, (encoder, factor, _, scratch) => {
    // An error shows the entries as they were given.
    encoder.requireSymmetric(minute === undefined ? factor : scratch.copy(minute.given, input.dtype), n, tolerance);
    encoder.antitranspose(factor, n);
    encoder.cholesky(factor, n, where);
    encoder.antitranspose(factor, n);
    if (minute !== undefined) encoder.scaleColumns(factor, scratch.copy(minute.units, input.dtype));
  });
  return { ...task, explain: (error) => aboutSquare('Precision', fromTheEnd(error, n), options.precision) };
}
