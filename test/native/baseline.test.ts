// The kernels for arm64 (NEON) run on this machine, in an emulator if it is another: they give the same float64 bits as
// everywhere, and flush or keep subnormal numbers. The kernels for x86-64 without AVX2 are in the addon, and
// draw-bits, normal-bits, stretch-bits and subnormal.test.ts test them.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { normalCounter } from '../../lib/stream/counter.ts';
import { fillRadialScales } from '../../lib/stream/radial-scales.ts';
import { program } from '../harness/program.ts';

const top = fileURLToPath(new URL('../..', import.meta.url));
const answers = (name: string) => JSON.parse(readFileSync(join(top, 'test/answers', name), 'utf8'));
const { float64: known } = answers('normal-hash.json');

const [compiler, ...emulator] = process.arch === 'x64' ? ['aarch64-linux-gnu-g++', 'qemu-aarch64'] : ['g++'];
const absent = [compiler!, ...emulator].filter((each) => spawnSync(each, ['--version']).status !== 0);

function made(): string {
  const includes = ['msl', 'msl/cpu', 'objc'].map((each) => `-I${join(top, each)}`);
  // With the addon's own flags, compiling would take longer than running.
  const flags = ['-static', '-std=gnu++17', '-O1', '-ffp-contract=off', '-w', '-DCOVARIUM_TABLE=kernelsBaseline'];
  const stems = ['simd/kernels', 'cholesky', 'pool', 'product-scratch', 'sample'];
  const sources = [...stems.map((each) => `objc/cpu/${each}.cc`), 'test/native/baseline.cc'];
  const built = program(compiler!, [...flags, ...includes], sources);
  if ('complaint' in built) throw new Error(`${compiler}: ${built.complaint}`);
  return built.path;
}

/** A test of the kernels, if this machine can make and run them; `printed` is what their program says. */
function onNeon(
  sentence: string,
  check: (printed: (...args: readonly (number | bigint | string)[]) => string) => void,
): void {
  if (absent.length > 0) {
    console.log(`skipped  ${sentence} (${absent.join(', ')}) is not installed.`);
    test.skip(sentence);
    return;
  }
  test(sentence, () => {
    const [command, ...rest] = [...emulator, made()];
    check((...args) => execFileSync(command!, [...rest, ...args.map(String)], { encoding: 'utf8' }).trim());
  });
}

onNeon('Many float64 normals have the known hash.', (printed) => {
  const count = 2 ** 20;
  assert.is(printed('normals', known.seed, known.stream, known.first, count), `NEON ${known.hashes[count]}`);
});

onNeon('Draws have the bits that they have on every other processor.', (printed) => {
  const hashes = answers('draw-hash.json');
  // From 530 columns on, only the number of blocks grows, which draw-bits.test.ts sees without an emulator.
  for (const dtype of ['float32', 'float64'])
    for (const [n, hash] of Object.entries(hashes[dtype]).filter(([n]) => n !== '1000'))
      assert.is(printed('draws', dtype, n, hashes.rows), `NEON ${hash}`, `${dtype}, n = ${n}`);
});

onNeon('Rows of a Student-t are stretched as in plain TypeScript.', (printed) => {
  for (const nu of [0.3, 1, 2, 4.2, 1e9]) {
    const scales = new Float64Array(20_001);
    fillRadialScales(scales, nu, normalCounter(42, 7, 0), 2n ** 32n - 5n);
    let hash = 0;
    for (const word of new Uint32Array(scales.buffer)) hash = (Math.imul(hash, 31) + word) | 0;
    const expected = `NEON ${(hash >>> 0).toString(16).padStart(8, '0')}`;
    assert.is(printed('stretched', 42, 7, 2n ** 32n - 5n, scales.length, nu), expected, `nu ${nu}`);
  }
});

onNeon('Subnormal numbers are flushed only in a scope that says so.', (printed) => {
  // 61 squares of 1e-20 and of 1e-160.
  const kept = ['6.1e-39 6.1e-39', '6.1e-319 6.1e-319'];
  assert.equal(printed('subnormal').split('\n'), ['0 0', '0 0', ...kept, ...kept]);
});

test.run();
