import type { DeviceKind } from '../backend.ts';
import { describe, oneOf, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import type { Word64 } from '../stream/counter.ts';

/** A whole number of the command line; throws `ERR_OUT_OF_RANGE`. */
export function wholeArgument(name: string, text: string): number {
  return wholeNumber(name, Number(wordArgument(name, text)));
}

/**
 * A whole number of up to 64 bits of the command line; its upper bound is checked where it is used. Throws
 * `ERR_OUT_OF_RANGE`.
 */
export function wordArgument(name: string, text: string): Word64 {
  if (!/^\d+$/.test(text))
    throw new CovariumError('ERR_OUT_OF_RANGE', `${name} is not a nonnegative whole number (${describe(text)}).`);
  const word = BigInt(text);
  return word <= Number.MAX_SAFE_INTEGER ? Number(word) : word;
}

/** An element type of the command line; throws `ERR_INVALID_ARGUMENT`. */
export function dtypeArgument(text: string): RealDtype {
  return oneOf('Type', text, ['float32', 'float64']);
}

/** A kind of device; openDevice() refuses unknown ones. */
export function deviceArgument(text: string | undefined): DeviceKind | undefined {
  return text as DeviceKind | undefined;
}
