// The maps of the normal stream in plain TypeScript: known bits, made by the C++ text of the maps. Other devices are
// compared with plain TypeScript in test/native/normal-bits.test.ts.
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { normalCounter } from '../../lib/stream/counter.ts';
import { fillNormalRange } from '../../lib/stream/fill-normal.ts';
import { mapToNormals } from '../../lib/stream/normal.ts';
import { mapToNormalsFloat64 } from '../../lib/stream/normal-float64.ts';
import { hasSameBytes } from '../harness/naive.ts';
import { referenceNormals } from '../harness/reference-normals.ts';

interface Answer {
  readonly seed: string;
  readonly stream: string;
  readonly first: string;
  readonly float32: readonly string[];
  readonly float64: readonly string[];
}

const file = new URL('../answers/normal-v1.json', import.meta.url);
const { answers }: { answers: readonly Answer[] } = JSON.parse(readFileSync(file, 'utf8'));
const little = endianness() === 'LE';
const dtypes = ['float32', 'float64'] as const;

function hexOf(values: Real): string[] {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const word = (i: number) =>
    values instanceof Float32Array ? view.getUint32(4 * i, little) : view.getBigUint64(8 * i, little);
  return Array.from(values, (_, i) =>
    word(i)
      .toString(16)
      .padStart(2 * values.BYTES_PER_ELEMENT, '0'),
  );
}

for (const dtype of dtypes) {
  test(`${dtype} normals have the known bits, at the edges of seed, stream and index too.`, () => {
    assert.is(answers.length, 11);
    for (const { seed, stream, first, ...bits } of answers) {
      const normals = referenceNormals(dtype, 8, BigInt(seed), BigInt(stream), BigInt(first));
      assert.equal(hexOf(normals), bits[dtype], `seed ${seed}, stream ${stream}, first ${first}`);
    }
  });

  test(`${dtype} normals of a range are the same, however it is cut.`, () => {
    const length = 5000; // several batches of 256 blocks
    for (const first of [0n, 1n, 2n ** 32n - 777n, 2n ** 34n - 777n, 2n ** 64n - 5000n]) {
      const whole = referenceNormals(dtype, length, 7, 2n ** 64n - 1n, first);
      const [cut, apart] = [whole.slice().fill(9), whole.slice().fill(9)];
      for (let begin = 0, part = 0; begin < length; part = (part * 5 + 1) % 1237) {
        const end = Math.min(length, begin + part);
        fillNormalRange(cut, begin, end, normalCounter(7, 2n ** 64n - 1n, first));
        fillNormalRange(
          apart.subarray(begin, end),
          0,
          end - begin,
          normalCounter(7, 2n ** 64n - 1n, first + BigInt(begin)),
        );
        begin = end;
      }
      hasSameBytes(cut, whole, `ranges, first ${first}`);
      hasSameBytes(apart, whole, `arrays, first ${first}`);
    }
  });
}

test('Seeds, streams and types differ from one another.', () => {
  const distinct = new Set<string>();
  for (const seed of [0n, 1n, 2n ** 32n, 2n ** 64n - 1n])
    for (const stream of [0n, 1n, 2n ** 32n, 2n ** 64n - 1n])
      for (const dtype of dtypes) distinct.add([...referenceNormals(dtype, 4, seed, stream, 0)].join());
  assert.is(distinct.size, 32);
});

test('Both maps are total: every word at the edges gives a finite normal that is not 0.', () => {
  const edges = Array.from({ length: 33 * 7 }, (_, i) => (2 ** Math.floor(i / 7) + (i % 7) - 3) | 0);
  const words = Int32Array.from(edges.flatMap((radius) => edges.flatMap((angle) => [radius, angle, angle, radius])));
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < words.length; at += 1024) {
    const some = words.subarray(at, at + 1024);
    const blocks = some.length / 4;
    const [float32, float64] = [new Float32Array(4 * blocks), new Float64Array(2 * blocks)];
    mapToNormals(some, blocks, float32);
    mapToNormalsFloat64(some, blocks, float64);
    for (const z of [...float32, ...float64]) {
      if (!Number.isFinite(z)) assert.unreachable(`normal is (${z})`);
      least = Math.min(least, Math.abs(z));
      most = Math.max(most, Math.abs(z));
    }
  }
  assert.ok(least > 0, `least is (${least})`);
  assert.ok(most > 6.7 && most < 9.6, `most is (${most})`);
});

test('The first normals of a stream equal those of an NVIDIA H200 (test/real-gpu).', () => {
  const device = openReference();
  const normals = new Float32Array(4096);
  const encoder = device.encoder();
  encoder.fillNormal(normals, Uint32Array.of(42, 0, 7, 0, 0, 0));
  encoder.commitSync();
  device.close();
  const hash = new Uint32Array(normals.buffer).reduce((sum, bits) => (Math.imul(sum, 31) + bits) >>> 0, 0);
  assert.is(hash.toString(16), 'f40dc0a5');
});

test.run();
