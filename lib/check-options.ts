import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';

/** Throws `ERR_UNKNOWN_OPTION` at the first option that is not `known`, `ERR_INVALID_ARGUMENT` where `options` is no object. */
export function checkOptions(options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Options are not an object (${describe(options)}).`);
  for (const name in options)
    if (!known.includes(name))
      throw new CovariumError('ERR_UNKNOWN_OPTION', `Option (${name}) is not one of (${known.join(', ')}).`);
}
