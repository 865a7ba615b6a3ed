import { checkOptions } from '../check-options.ts';
import { requireDevice } from '../device.ts';
import { asMatrix, meanInput, realDtype } from '../distribution-input.ts';
import { LowRankFactor } from '../factor/low-rank-factor.ts';
import { matrixStorage } from '../matrix.ts';
import type { LowRankOptions } from '../normal-options.ts';
import { givenFactor, type NormalParameters } from '../normal-parameters.ts';
import { requireColumns } from '../operand.ts';
import type { Task } from '../task.ts';
import { finiteNumbers } from './finite-numbers.ts';
import { positiveNumbersOf } from './positive-numbers.ts';

/**
 * The normal of a mean and a covariance of low rank with a diagonal added. `square` and `centre` are the caller's words for what an error
 * names.
 */
export function fromLowRank(options: LowRankOptions, square = 'Covariance', centre = 'Mean'): Task<NormalParameters> {
  checkOptions(options, ['device', 'mean', 'factor', 'diagonal', 'dtype']);
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype);
  const mean = options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre);
  const matrix = asMatrix(options.factor, undefined);
  const n = matrix.rows;
  const factor = finiteNumbers('Factor', matrixStorage(matrix).valuesFor(device), matrix.columns);
  const diagonal = positiveNumbersOf('Diagonal', device, options.diagonal, n);
  requireColumns('Diagonal', diagonal.length, n, 'factor');
  if (mean !== undefined) requireColumns(centre, mean.length, n, 'factor');
  return givenFactor({ device, dtype, n, mean }, (place) => LowRankFactor.of(place, factor, diagonal), square);
}
