import { positiveNumbersOf, realDtype } from '../array/inputs.ts';
import { requireLength } from '../array/operand.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, wholeNumber } from '../check.ts';
import type { Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { DiagonalFactor } from '../factor/diagonal-factor.ts';
import { meanInput } from './inputs.ts';
import type { DiagonalOptions } from './options.ts';
import { givenFactor, type NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/** The normal of a mean and variances. `square`, `centre` and `sizes` are what an error calls them. */
export function fromDiagonal(
  options: DiagonalOptions,
  square = 'Covariance',
  centre = 'Mean',
  sizes = 'Variances',
): Task<NormalParameters> {
  checkOptions(options, ['device', 'mean', 'variances', 'dimension', 'dtype']);
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, options.mean, options.variances);
  const mean = options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre);
  const { variances } = options;
  const asked = options.dimension === undefined ? mean?.length : wholeNumber('Dimension', options.dimension, 1);
  if (typeof variances === 'number' && asked === undefined)
    throw new CovariumError(
      'ERR_SHAPE',
      `One number (${variances}) for all ${sizes.toLowerCase()} needs the dimension: pass \`${centre.toLowerCase()}\` or \`dimension\`.`,
    );
  const deviations = positiveNumbersOf(sizes, device, variances, asked ?? 0).map(Math.sqrt);
  const n = deviations.length;
  if (n === 0)
    throw new CovariumError('ERR_SHAPE', `${sizes} has (0) entries, but a distribution has at least one dimension.`);
  requireLength(sizes, n, asked ?? n, 'requested dimension');
  if (mean !== undefined) requireLength(centre, mean.length, n, `list of ${sizes.toLowerCase()}`);
  const inputs = [options.mean, variances];
  requireRepresented({ asked: options.dtype, chosen: dtype, inputs }, mean, (i) => deviations[i]! ** 2, centre);
  return givenFactor({ device, dtype, n, mean }, (allocate) => DiagonalFactor.of(allocate, deviations), square);
}
