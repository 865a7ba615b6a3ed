// Numbers as they are typed, of the command and of the benchmark's options.
import { describe } from './check.ts';
import { CovariumError } from './covarium-error.ts';

/** A whole number of the command line below 2^53, as 1000000 or 1e6; throws `ERR_OUT_OF_RANGE`. */
export function wholeArgument(name: string, text: string): number {
  const word = parsed(text);
  if (word === undefined || word > Number.MAX_SAFE_INTEGER) throw notWhole(name, text, '2^53 - 1');
  return Number(word);
}

/** A whole number of the command line below 2^64, as 1000000 or 1e6; throws `ERR_OUT_OF_RANGE`. */
export function wordArgument(name: string, text: string): number | bigint {
  const word = parsed(text);
  if (word === undefined || word >= 1n << 64n) throw notWhole(name, text, '2^64 - 1');
  return word <= Number.MAX_SAFE_INTEGER ? Number(word) : word;
}

// Undefined if it is not a whole number.
function parsed(text: string): bigint | undefined {
  const [, whole, part = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e\+?(\d{1,2}))?$/i.exec(text) ?? [];
  const zeros = Number(exponent) - part.length;
  return whole === undefined || zeros < 0 ? undefined : BigInt(whole + part) * 10n ** BigInt(zeros);
}

function notWhole(name: string, text: string, most: string): CovariumError {
  return new CovariumError(
    'ERR_OUT_OF_RANGE',
    `${name} is (${describe(text)}): pass a whole number from 0 to ${most}, as 1000000 or 1e6.`,
  );
}
