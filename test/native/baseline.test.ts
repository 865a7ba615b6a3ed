// The baseline kernels, which need no more than the processor's architecture, run on this machine: those for arm64
// (NEON), in an emulator on other machines, and those for x86-64 without AVX2, which Macs use under Rosetta. They
// give the same float64 bits as everywhere, and flush or keep subnormal numbers.
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

/** A build of the kernels, and how it is run. */
interface Build {
  readonly name: string;
  readonly compiler: string;
  /** An emulator, or nothing. */
  readonly through: readonly string[];
}

const crossCompiler: Build = { name: 'NEON', compiler: 'aarch64-linux-gnu-g++', through: ['qemu-aarch64'] };
const builds: readonly Build[] =
  process.arch === 'x64'
    ? [crossCompiler, { name: 'baseline', compiler: 'g++', through: [] }]
    : [{ name: 'NEON', compiler: 'g++', through: [] }];

function made({ compiler }: Build): string {
  const includes = ['msl', 'msl/cpu', 'objc'].map((each) => `-I${join(top, each)}`);
  // With the addon's own flags, compiling would take longer than running.
  const flags = ['-static', '-std=gnu++17', '-O1', '-ffp-contract=off', '-w', '-DCOVARIUM_TABLE=kernelsBaseline'];
  const stems = ['simd/kernels', 'cholesky', 'pool', 'product-scratch', 'sample'];
  const sources = [...stems.map((each) => `objc/cpu/${each}.cc`), 'test/native/baseline.cc'];
  const built = program(compiler, [...flags, ...includes], sources);
  if ('complaint' in built) throw new Error(`${compiler}: ${built.complaint}`);
  return built.path;
}

/** A test of each build that this machine can make and run; `printed` is what its program says. */
function onEach(
  sentence: string,
  check: (printed: (...args: readonly (number | bigint | string)[]) => string, name: string) => void,
): void {
  for (const build of builds) {
    const title = `${build.name}: ${sentence}`;
    const absent = [build.compiler, ...build.through].filter((each) => spawnSync(each, ['--version']).status !== 0);
    if (absent.length > 0) {
      console.log(`skipped  ${title} (${absent.join(', ')}) is not installed.`);
      test.skip(title);
      continue;
    }
    test(title, () => {
      const [command, ...rest] = [...build.through, made(build)];
      check(
        (...args) => execFileSync(command!, [...rest, ...args.map(String)], { encoding: 'utf8' }).trim(),
        build.name,
      );
    });
  }
}

onEach('Many float64 normals have the known hash.', (printed, name) => {
  const count = 2 ** 22;
  assert.is(printed('normals', known.seed, known.stream, known.first, count), `${name} ${known.hashes[count]}`);
});

onEach('Draws have the bits that they have on every other processor.', (printed, name) => {
  const hashes = answers('draw-hash.json');
  for (const dtype of ['float32', 'float64'])
    for (const [n, hash] of Object.entries(hashes[dtype]))
      assert.is(printed('draws', dtype, n, hashes.rows), `${name} ${hash}`, `${dtype}, n = ${n}`);
});

onEach('Rows of a Student-t are stretched as in plain TypeScript.', (printed, name) => {
  for (const nu of [0.3, 1, 2, 4.2, 1e9]) {
    const scales = new Float64Array(20_001);
    fillRadialScales(scales, nu, normalCounter(42, 7, 0), 2n ** 32n - 5n);
    let hash = 0;
    for (const word of new Uint32Array(scales.buffer)) hash = (Math.imul(hash, 31) + word) | 0;
    const expected = `${name} ${(hash >>> 0).toString(16).padStart(8, '0')}`;
    assert.is(printed('stretched', 42, 7, 2n ** 32n - 5n, scales.length, nu), expected, `nu ${nu}`);
  }
});

onEach('Subnormal numbers are flushed only in a scope that says so.', (printed) => {
  // 61 squares of 1e-20 and of 1e-160.
  const kept = ['6.1e-39 6.1e-39', '6.1e-319 6.1e-319'];
  assert.equal(printed('subnormal').split('\n'), ['0 0', '0 0', ...kept, ...kept]);
});

test.run();
