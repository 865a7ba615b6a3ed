// Whole numbers as users type them.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { wholeArgument, wordArgument } from '../lib/typed-number.ts';
import { throwsCode } from './harness/throws-code.ts';

test('A whole number may be written in any form, and an error shows it as it was typed, with the limit.', async () => {
  for (const text of ['1500', '1.5e3', '15e2', '1.50E+3']) assert.is(wholeArgument('--count', text), 1500);
  assert.is(wholeArgument('--count', '9007199254740991'), Number.MAX_SAFE_INTEGER);
  assert.is(wordArgument('--seed', '18446744073709551615'), 2n ** 64n - 1n);
  for (const text of ['9007199254740993', '-1', '1.5', '', '1e99', '0x10'])
    await throwsCode('ERR_OUT_OF_RANGE', '2^53 - 1', () => wholeArgument('--count', text));
  await throwsCode('ERR_OUT_OF_RANGE', '(9007199254740993)', () => wholeArgument('--count', '9007199254740993'));
  for (const text of ['18446744073709551616', '-1', '1.5', ''])
    await throwsCode('ERR_OUT_OF_RANGE', '2^64 - 1', () => wordArgument('--seed', text));
});

test.run();
