import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';

/** `value` where it is a whole number in [minimum, maximum]; throws `ERR_OUT_OF_RANGE`, or `ERR_INVALID_ARGUMENT` for no number. */
export function wholeNumber(
  name: string,
  value: unknown,
  minimum = 0,
  maximum: number = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value !== 'number')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `${name} is not a number (${describe(value)}).`);
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `${name} is (${value}), not a whole number from ${minimum} to ${maximum}.`,
  );
}
