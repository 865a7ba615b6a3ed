import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { joinHalves, readNumbers } from '../../lib/table/numbers.ts';

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

test('Every number of half precision is read as the float32 with its sign, exponent and digits.', () => {
  const halves = Uint16Array.from({ length: 1 << 16 }, (_, bits) => bits);
  const out = new Float32Array(halves.length + 1);
  readNumbers(new Uint8Array(halves.buffer), 0, { kind: 'float', bits: 16, bytes: 2 }, out, 1, halves.length);
  const bitsOf = new Uint32Array(out.buffer);
  for (const half of halves) {
    const [sign, exponent, fraction] = [half >> 15, (half >> 10) & 31, half & 1023];
    if (exponent === 0) assert.ok(Object.is(out[half + 1], (sign === 1 ? -fraction : fraction) / 2 ** 24), `${half}`);
    else if (exponent === 31 && fraction > 0) assert.ok(Number.isNaN(out[half + 1]), `${half}`);
    else {
      const larger = exponent === 31 ? 255 : exponent + 112;
      assert.is(bitsOf[half + 1], ((sign << 31) | (larger << 23) | (fraction << 13)) >>> 0, `${half}`);
    }
  }
});

test.run();
