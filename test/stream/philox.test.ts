import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { philox } from '../../lib/stream/philox.ts';

interface Answer {
  readonly counter: readonly string[];
  readonly key: readonly string[];
  readonly words: readonly string[];
}

const file = new URL('../answers/philox4x32-10.json', import.meta.url);
const { answers }: { answers: readonly Answer[] } = JSON.parse(readFileSync(file, 'utf8'));

function wordsOf(counter: readonly number[], key: readonly number[]): number[] {
  const words = new Int32Array(6).fill(9);
  const [c0 = 0, c1 = 0, c2 = 0, c3 = 0] = counter;
  const [k0 = 0, k1 = 0] = key;
  philox(c0, c1, c2, c3, k0, k1, words, 1);
  assert.equal([words[0], words[5]], [9, 9], 'it writes four words');
  return [...words.subarray(1, 5)].map((word) => word >>> 0);
}

// The same function with BigInt.
function philoxOfBigInts(counter: readonly number[], key: readonly number[]): number[] {
  const mask = 0xffffffffn;
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const [p0, p1] = [c0 * 0xd2511f53n, c2 * 0xcd9e8d57n];
    [c0, c1, c2, c3] = [(p1 >> 32n) ^ c1 ^ k0, p1 & mask, (p0 >> 32n) ^ c3 ^ k1, p0 & mask];
    [k0, k1] = [(k0 + 0x9e3779b9n) & mask, (k1 + 0xbb67ae85n) & mask];
  }
  return [c0, c1, c2, c3].map(Number);
}

test('Philox4x32-10 gives the published answers.', () => {
  const hex = (word: string) => Number.parseInt(word, 16);
  assert.is(answers.length, 3);
  for (const { counter, key, words } of answers)
    assert.equal(wordsOf(counter.map(hex), key.map(hex)), words.map(hex), counter.join(' '));
});

test('Its 32-bit products are exact at the edges of words and half words.', () => {
  const edges = [0, 1, 0xffff, 0x10000, 0x10001, 0x7fffffff, 0x80000000, 0xffff0000, 0xffff0001, 0xffffffff];
  for (const a of edges)
    for (const b of edges) {
      const [counter, key] = [
        [a, b, b, a],
        [b, a],
      ];
      assert.equal(wordsOf(counter!, key!), philoxOfBigInts(counter!, key!), `${a}, ${b}`);
    }
});

test.run();
