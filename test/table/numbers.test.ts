import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { joinHalves } from '../../lib/table/numbers.ts';

test('Two 32-bit halves give their 64-bit integer, or undefined if float64 does not hold it.', () => {
  const largest = 2n ** 64n - 1n;
  const signed = [0n, 1n, -1n, 2n ** 53n, -(2n ** 53n), 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 62n, -(2n ** 63n)];
  const unsigned = [0n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 2048n, largest - 1n, largest];
  for (const [numbers, isUnsigned] of [
    [signed, false],
    [unsigned, true],
  ] as const)
    for (const number of numbers) {
      const [low, high] = [Number(BigInt.asIntN(32, number)), Number(BigInt.asIntN(32, number >> 32n))];
      const expected = BigInt(Number(number)) === number ? Number(number) : undefined;
      assert.is(joinHalves(low, high, isUnsigned), expected, `${number}`);
    }
});

test.run();
