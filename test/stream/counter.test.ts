import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { firstElement, normalCounter } from '../../lib/stream/counter.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('A counter holds seed, stream and first element, low words before high ones.', () => {
  assert.equal([...normalCounter(1, 2, 3)], [1, 0, 2, 0, 3, 0]);
  const far = 0x1_2345_6789_abcdn;
  assert.equal(
    [...normalCounter(Number(far), far, 2n ** 64n - 1n)].map((word) => word.toString(16)),
    ['6789abcd', '12345', '6789abcd', '12345', 'ffffffff', 'ffffffff'],
  );
});

test('Numbers and bigints give the same words.', () => {
  for (const seed of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1])
    assert.equal(normalCounter(seed, seed, seed), normalCounter(BigInt(seed), BigInt(seed), BigInt(seed)));
});

test('A counter is written into the given one.', () => {
  const counter = new Uint32Array(6).fill(9);
  assert.is(normalCounter(1, 0, 0, counter), counter);
  assert.equal([...counter], [1, 0, 0, 0, 0, 0]);
});

test('Words beyond 64 bits, fractions and other things are refused.', async () => {
  await throwsCode('ERR_OUT_OF_RANGE', '`seed` is (18446744073709551616)', () => normalCounter(2n ** 64n, 0, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '`seed` is (-1)', () => normalCounter(-1, 0, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '`stream` is (-1)', () => normalCounter(0, -1n, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '`seed` is (0.5)', () => normalCounter(0.5, 0, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '(NaN)', () => normalCounter(Number.NaN, 0, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '(9007199254740992)', () => normalCounter(2 ** 53, 0, 0));
  await throwsCode('ERR_INVALID_ARGUMENT', "('42')", () => normalCounter('42' as unknown as number, 0, 0));
});

test('The first element of a row is exact, at any distance.', () => {
  assert.is(firstElement(3, 10, 5), 15);
  assert.is(firstElement(2 ** 52, 10, 5), 5n * 2n ** 52n);
  assert.is(firstElement(2n ** 62n, 0, 4), 2n ** 64n);
  assert.is(firstElement(2n ** 62n - 1n, 1, 4), 2n ** 64n - 4n);
});

test('Rows beyond the end of a stream are refused.', async () => {
  await throwsCode('ERR_OUT_OF_RANGE', '`firstRow` is (4611686018427387904)', () => firstElement(2n ** 62n, 1, 4));
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', () => firstElement(-1, 1, 4));
  await throwsCode('ERR_OUT_OF_RANGE', '(1.5)', () => firstElement(1.5, 1, 4));
});

test.run();
