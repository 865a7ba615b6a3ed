import type { DeviceKind } from '../backend.ts';
import { describe, oneOf, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { deviceKinds } from '../list-devices.ts';
import type { Word64 } from '../stream/counter.ts';

/** A whole number of the command line; throws `ERR_OUT_OF_RANGE`. */
export function wholeArgument(name: string, text: string): number {
  return wholeNumber(name, Number(wordArgument(name, text)));
}

/** A whole number of the command line below 2^64, as 1000000 or 1e6; throws `ERR_OUT_OF_RANGE`. */
export function wordArgument(name: string, text: string): Word64 {
  const [, whole = '', part = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e\+?(\d{1,2}))?$/i.exec(text) ?? [];
  const zeros = Number(exponent) - part.length;
  const word = whole === '' || zeros < 0 ? -1n : BigInt(whole + part) * 10n ** BigInt(zeros);
  if (word < 0n || word >= 1n << 64n)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `${name} is (${describe(text)}): pass a whole number from 0 to 2^64 - 1, as 1000000 or 1e6.`,
    );
  return word <= Number.MAX_SAFE_INTEGER ? Number(word) : word;
}

/** An element type of the command line; throws `ERR_INVALID_ARGUMENT`. */
export function dtypeArgument(text: string): RealDtype {
  return oneOf('--dtype', text, ['float32', 'float64']);
}

/** A kind of device, `auto` or none for the best; throws `ERR_INVALID_ARGUMENT`. */
export function deviceArgument(text: string | undefined): DeviceKind | undefined {
  return text === undefined || text === ''
    ? undefined
    : (oneOf('--device', text, ['auto', ...deviceKinds]) as DeviceKind);
}
