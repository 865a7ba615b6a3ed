// The same bits everywhere: the cpu device, with any number of threads and either instruction set, the MSL kernel by
// launch(), and plain TypeScript give the same normals. TypeScript never fuses a product and a sum, so these tests
// also show that the addon's compilers did not (the float64 map has many places where they could; see also
// test/msl/normal-words.test.ts).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { normalCounter } from '../../lib/stream/counter.ts';
import { modulePath, nodeOptions } from '../harness/child.ts';
import { cpuKernels, noCpu, noLesser, openCpuBackend, withLesser } from '../harness/cpu-backend.ts';
import { referenceNormals } from '../harness/reference-normals.ts';
import { sanitized } from '../harness/sanitized.ts';

const { COVARIUM_INSTRUCTION_SET: forced } = process.env;
const dtypes = ['float32', 'float64'] as const;

// Around the edges of 32-bit words: of the element's index (2^32), of the block's (2^34 for float32, 2^33 for float64),
// of the index again (2^63, 2^64).
const span = 320;
const places: readonly (readonly [seed: bigint, stream: bigint, first: bigint])[] = [
  [0n, 0n, 0n],
  [42n, 0n, 8n],
  [1n, 2n ** 32n, 2n ** 32n - 160n],
  [2n ** 32n - 1n, 1n, 2n ** 33n - 160n],
  [2n ** 32n, 2n ** 32n - 1n, 2n ** 34n - 160n],
  [2n ** 53n - 1n, 2n ** 63n, 2n ** 53n - 160n],
  [2n ** 64n - 1n, 2n ** 64n - 1n, 2n ** 63n - 160n],
  [0x0123456789abcdefn, 0xfedcba9876543210n, 3n * 2n ** 34n - 160n],
  [7n, 7n, 2n ** 64n - BigInt(span)],
];

function bytesOf({ buffer, byteOffset, byteLength }: Real): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function sameBits(actual: Real, expected: Real, where: string): void {
  if (bytesOf(actual).equals(bytesOf(expected))) return;
  const at = actual.findIndex((value, i) => !Object.is(value, expected[i]));
  assert.unreachable(`${where}: element (${at}) is (${actual[at]}), not (${expected[at]}).`);
}

function zeros(like: Real, length: number): Real {
  return like instanceof Float32Array ? new Float32Array(length) : new Float64Array(length);
}

function onCpu(sentence: string, check: (backend: Backend) => void, threadCounts: readonly number[] = [1, 2, 8]): void {
  for (const threads of threadCounts) {
    const name = `cpu, ${cpuKernels}, ${threads} threads: ${sentence}`;
    if (noCpu === '') test(name, () => onBackend(openCpuBackend(threads), check));
    else test.skip(name);
  }
}
if (noCpu !== '') console.log(`skipped  the cpu device's part: ${noCpu}`);

function onBackend(backend: Backend, check: (backend: Backend) => void): void {
  try {
    check(backend);
  } finally {
    backend.close();
  }
}

onCpu('Every range at every offset has the bits of plain TypeScript, and nothing outside it is written.', (backend) => {
  for (const dtype of dtypes)
    for (const [seed, stream, first] of places) {
      const whole = referenceNormals(dtype, span, seed, stream, first);
      for (let offset = 0; offset < 8; offset++) {
        // Counts 0 to 300 in one commit, one after the other, with a guard after each.
        const out = zeros(whole, 301 * 151).fill(9);
        const expected = out.slice();
        const encoder = backend.encoder();
        for (let count = 0, at = 0; count <= 300; at += ++count) {
          encoder.fillNormal(out.subarray(at, at + count), normalCounter(seed, stream, first + BigInt(offset)));
          expected.set(whole.subarray(offset, offset + count), at);
        }
        encoder.commitSync();
        sameBits(out, expected, `${dtype}, seed ${seed}, stream ${stream}, first ${first} + ${offset}`);
      }
    }
});

onCpu('The last element of a stream can be drawn.', (backend) => {
  for (const dtype of dtypes)
    for (const count of [1, 2, 3, 4, 5, 77]) {
      const first = 2n ** 64n - BigInt(count);
      const expected = referenceNormals(dtype, count, 3, 4, first);
      const out = zeros(expected, count);
      const encoder = backend.encoder();
      encoder.fillNormal(out, normalCounter(3, 4, first));
      encoder.commitSync();
      sameBits(out, expected, `${dtype}, last ${count}`);
    }
});

// Long enough to be shared by the threads.
const long = 1_000_003;
const longNormals = new Map(
  dtypes.map((dtype) => [dtype, referenceNormals(dtype, long, 2026, 5, 2n ** 34n - 500_001n)]),
);

onCpu('A long range, shared by the threads, has the bits of plain TypeScript.', (backend) => {
  for (const dtype of dtypes) {
    const out = zeros(longNormals.get(dtype)!, long);
    const encoder = backend.encoder();
    encoder.fillNormal(out, normalCounter(2026, 5, 2n ** 34n - 500_001n));
    encoder.commitSync();
    sameBits(out, longNormals.get(dtype)!, dtype);
  }
});

const cuts = 'Any cut of a range into parts gives the bits of the whole.';
onCpu(cuts, requireCuts);
// Instruction sets do not matter to plain TypeScript.
if (forced === undefined) test(`reference: ${cuts}`, () => onBackend(openReference(), requireCuts));

function requireCuts(backend: Backend): void {
  for (const dtype of dtypes) {
    const out = zeros(longNormals.get(dtype)!, long);
    const encoder = backend.encoder();
    // Parts of 1, 2, 4, ... and of 3, 9, 27, ... elements: their edges fall at every position within a block and a
    // vector.
    for (let at = 0, part = 1, other = 3; at < long; ) {
      const end = Math.min(long, at + part);
      encoder.fillNormal(out.subarray(at, end), normalCounter(2026, 5, 2n ** 34n - 500_001n + BigInt(at)));
      at = end;
      [part, other] = [other, part * 2 > 60_000 ? 1 : part * 2 + (at % 3)];
    }
    encoder.commitSync();
    sameBits(out, longNormals.get(dtype)!, dtype);
  }
}

// The hash of many float64 normals from version 3d7c977, which made them one block at a time.
const { float64: known } = JSON.parse(readFileSync(new URL('../answers/normal-hash.json', import.meta.url), 'utf8'));

/** The hash 31 hash + word, four words at a time, since each step waits for the previous one. */
function hashOf(words: Int32Array, before: number): number {
  let hash = before;
  for (let i = 0; i < words.length; i += 4) {
    const first = Math.imul(words[i]!, 31 ** 3) + Math.imul(words[i + 1]!, 31 ** 2);
    const second = Math.imul(words[i + 2]!, 31) + words[i + 3]!;
    hash = (Math.imul(hash, 31 ** 4) + (first | 0) + (second | 0)) | 0;
  }
  return hash;
}

function hashesOfFloat64(backend: Backend, count: number): Record<string, string> {
  const hashes: Record<string, string> = {};
  const out = new Float64Array(2 ** 20);
  let hash = 0;
  for (let i = 0; i < count; ) {
    const encoder = backend.encoder();
    const first = BigInt(known.first) + BigInt(i);
    encoder.fillNormal(out, normalCounter(BigInt(known.seed), BigInt(known.stream), first));
    encoder.commitSync();
    hash = hashOf(new Int32Array(out.buffer), hash);
    i += out.length;
    if (String(i) in known.hashes) hashes[i] = (hash >>> 0).toString(16).padStart(8, '0');
  }
  return hashes;
}

const float64Hash = 'Many float64 normals have the known hash.';
const requireHashes = (count: number) => (backend: Backend) => {
  const expected = Object.entries(known.hashes).filter(([length]) => Number(length) <= count);
  assert.equal(hashesOfFloat64(backend, count), Object.fromEntries(expected));
};
if (sanitized) console.log('2^22 normals are hashed in place of 2^28, because the sanitizer makes each of them slow');
onCpu(float64Hash, requireHashes(sanitized ? 2 ** 22 : 2 ** 28), [2]);
// withLesser would end the choice of the process that runs this with AVX2.
const noBaseline = forced !== undefined || sanitized ? 'another run has it' : noLesser('baseline');
if (noBaseline !== '') console.log(`skipped  cpu, baseline: ${noBaseline}`);
else
  test(`cpu, baseline: ${float64Hash}`, () =>
    onBackend(
      withLesser('baseline', () => openCpuBackend(2)),
      requireHashes(2 ** 22),
    ));
if (forced === undefined) test(`reference: ${float64Hash}`, () => onBackend(openReference(), requireHashes(2 ** 22)));

onCpu('The MSL kernel fill_normal gives the bits of fillNormal() in threadgroups of any size.', (backend) => {
  for (const [seed, stream, first] of places)
    for (const offset of [0, 1, 2, 3])
      for (const count of [1, 2, 3, 4, 5, 31, 300])
        for (const threadgroup of [1, 32, 1000]) {
          const counter = normalCounter(seed, stream, first + BigInt(offset));
          const expected = new Float32Array(count + 1).fill(9); // with a guard
          const out = expected.slice();
          const encoder = backend.encoder();
          encoder.fillNormal(expected.subarray(0, count), counter);
          // Whole threadgroups, as Metal launches them: threads beyond the range must write nothing.
          const threads = Math.ceil((offset + count) / 4 / threadgroup) * threadgroup;
          encoder.launch('fill_normal', [out, Uint32Array.of(...counter, count)], [threads, 1, 1], [threadgroup, 1, 1]);
          encoder.commitSync();
          sameBits(out, expected, `first ${first} + ${offset}, count ${count}, threadgroup ${threadgroup}`);
        }
});

if (forced === undefined && cpuKernels === 'AVX-512') {
  test('All of this holds with the AVX2 kernels too.', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...nodeOptions, modulePath('test/native/normal-bits.test.ts')],
      { encoding: 'utf8', env: { ...process.env, COVARIUM_INSTRUCTION_SET: 'avx2' } },
    );
    assert.is(status, 0, stdout + stderr);
    assert.match(stdout, 'The kernels are (AVX2).');
  });
} else if (forced === undefined) console.log(`skipped  AVX2 beside AVX-512: the kernels here are (${cpuKernels}).`);
else console.log(`The kernels are (${cpuKernels}).`);

test.run();
