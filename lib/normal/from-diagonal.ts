import { positiveNumbersOf, realDtype } from '../array/inputs.ts';
import { requireLength } from '../array/operand.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, marked, named, wholeNumber } from '../check.ts';
import type { Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { DiagonalFactor } from '../factor/diagonal-factor.ts';
import { meanInput } from './inputs.ts';
import type { DiagonalOptions } from './options.ts';
import { givenFactor, type NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/** The normal of a mean and variances. `centre` and `sizes` are what an error calls the two. */
export function fromDiagonal(options: DiagonalOptions, centre = 'Mean', sizes = 'Variances'): Task<NormalParameters> {
  checkOptions(options, ['device', 'mean', 'variances', 'dimension', 'dtype']);
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, options.mean, options.variances);
  const mean = options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre);
  const { variances } = options;
  const dimension = options.dimension === undefined ? undefined : wholeNumber('Dimension', options.dimension, 1);
  const asked = dimension ?? mean?.length;
  if (typeof variances === 'number' && asked === undefined)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(sizes)} is one number (${variances}) for all: pass ${marked(centre)} or \`dimension\` too.`,
    );
  const deviations = named('Dimension', () => positiveNumbersOf(sizes, device, variances, asked ?? 0)).map(Math.sqrt);
  const n = deviations.length;
  if (n === 0)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(sizes)} has (0) entries, but a distribution has at least one dimension.`,
    );
  if (dimension !== undefined && dimension !== n)
    throw new CovariumError('ERR_SHAPE', `\`dimension\` is (${dimension}), but ${marked(sizes)} has (${n}) entries.`);
  if (mean !== undefined) requireLength(centre, mean.length, n, marked(sizes));
  const inputs = [options.mean, variances];
  requireRepresented({ asked: options.dtype, chosen: dtype, inputs }, mean, (i) => deviations[i]! ** 2, centre);
  return givenFactor({ device, dtype, n, mean }, (allocate) => DiagonalFactor.of(allocate, deviations), sizes);
}
