import { asMatrix, finiteNumbers, positiveNumbersOf, realDtype } from '../array/inputs.ts';
import { matrixStorage } from '../array/matrix.ts';
import { requireLength } from '../array/operand.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions } from '../check.ts';
import { step, type Tasks } from '../command/task.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { LowRankFactor } from '../factor/low-rank-factor.ts';
import { withoutLastColumns } from './from-root.ts';
import { meanInput } from './inputs.ts';
import type { LowRankOptions } from './options.ts';
import { givenFactor, type NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/** The normal of a mean and a low-rank covariance plus a diagonal. `centre` is what an error calls the mean. */
export function* fromLowRank(options: LowRankOptions, centre = 'Mean'): Tasks<NormalParameters> {
  checkOptions(options, ['device', 'mean', 'factor', 'diagonal', 'dtype']);
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, options.mean, options.factor, options.diagonal);
  // A copy, which the caller cannot change between slices.
  const mean =
    options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre).slice();
  const matrix = asMatrix(options.factor, undefined, 'Factor');
  const n = matrix.rows;
  const factor = finiteNumbers('Factor', matrixStorage(matrix).valuesFor(device), matrix.columns);
  const k = matrix.columns;
  const variance = (i: number) =>
    factor.subarray(i * k, (i + 1) * k).reduce((sum, entry) => sum + entry ** 2, diagonal[i]!);
  const diagonal = positiveNumbersOf('Diagonal', device, options.diagonal, n);
  requireLength('Diagonal', diagonal.length, n, 'factor');
  if (mean !== undefined) requireLength(centre, mean.length, n, 'factor');
  const inputs = [options.mean, options.factor, options.diagonal];
  requireRepresented({ asked: options.dtype, chosen: dtype, inputs }, mean, variance, centre);
  // Of more columns than rows an echelon has the same covariance in n columns, and takes k in place of k^3 steps.
  if (k > n) yield* lowerEchelon(device, factor, n, k, 0);
  const narrow = k > n ? (yield* withoutLastColumns(factor, k, n)).slice() : factor;
  const make = yield* LowRankFactor.of(narrow, diagonal);
  return yield* step(givenFactor({ device, dtype, n, mean }, make, '`factor` with `diagonal`'));
}
