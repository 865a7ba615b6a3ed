// The kernels of arm64 on this machine, in an emulator: the same bits of float64 as everywhere, and subnormal numbers
// that are flushed (FZ) and kept.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { normalCounter } from '../../lib/stream/counter.ts';
import { fillRadialScales } from '../../lib/stream/radial-scales.ts';

const compiler = 'aarch64-linux-gnu-g++';
const emulator = 'qemu-aarch64';
const absent = [compiler, emulator].filter((name) => spawnSync(name, ['--version']).status !== 0);
const top = fileURLToPath(new URL('../..', import.meta.url));
const answers = (name: string) => JSON.parse(readFileSync(join(top, 'test/answers', name), 'utf8'));
const { float64: known } = answers('normal-hash.json');

let folder = '';
let program = '';
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'covarium-neon-'));
  program = join(folder, 'neon');
  if (absent.length !== 0) return;
  const includes = ['msl', 'msl/cpu', 'objc'].map((name) => `-I${join(top, name)}`);
  const flags = ['-static', '-std=gnu++17', '-O3', '-ffp-contract=off', '-w', '-DCOVARIUM_TABLE=kernelsBaseline'];
  const sources = ['simd/kernels', 'cholesky', 'pool', 'product-scratch', 'sample'].map((name) =>
    join(top, `objc/cpu/${name}.cc`),
  );
  sources.push(join(top, 'test/native/neon.cc'));
  execFileSync(compiler, [...flags, ...includes, ...sources, '-o', program]);
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

function emulated(sentence: string, check: () => void): void {
  if (absent.length === 0) {
    test(sentence, check);
  } else {
    console.log(`skipped  ${sentence} (${absent.join(', ')}) is not installed.`);
    test.skip(sentence);
  }
}

function printed(...args: readonly (number | bigint | string)[]): string {
  return execFileSync(emulator, [program, ...args.map(String)], { encoding: 'utf8' }).trim();
}

emulated('NEON: Many float64 normals have the known hash.', () => {
  const count = 2 ** 22;
  assert.is(printed('normals', known.seed, known.stream, known.first, count), `NEON ${known.hashes[count]}`);
});

emulated('NEON: Draws have the bits that they have on every other processor.', () => {
  const hashes = answers('draw-hash.json');
  for (const dtype of ['float32', 'float64'])
    for (const [n, hash] of Object.entries(hashes[dtype]))
      assert.is(printed('draws', dtype, n, hashes.rows), `NEON ${hash}`, `${dtype}, n = ${n}`);
});

emulated('NEON: Rows of a Student-t are stretched as in plain TypeScript.', () => {
  for (const nu of [0.3, 1, 2, 4.2, 1e9]) {
    const scales = new Float64Array(20_001);
    fillRadialScales(scales, nu, normalCounter(42, 7, 0), 2n ** 32n - 5n);
    let hash = 0;
    for (const word of new Uint32Array(scales.buffer)) hash = (Math.imul(hash, 31) + word) | 0;
    const expected = `NEON ${(hash >>> 0).toString(16).padStart(8, '0')}`;
    assert.is(printed('stretched', 42, 7, 2n ** 32n - 5n, scales.length, nu), expected, `nu ${nu}`);
  }
});

emulated('NEON: Subnormal numbers are flushed in a scope that says so, and nowhere else.', () => {
  // 61 squares of 1e-20 and of 1e-160.
  const kept = ['6.1e-39 6.1e-39', '6.1e-319 6.1e-319'];
  assert.equal(printed('subnormal').split('\n'), ['0 0', '0 0', ...kept, ...kept]);
});

test.run();
