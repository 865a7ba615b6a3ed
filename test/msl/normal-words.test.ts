// The maps of the normal stream over all words, from the text that the devices run: msl/normal.h and
// msl/normal-float64.h.
// Each function of a 32-bit word is hashed over all values of the bits that it uses, 32 for the radius and 26 for the
// direction, and compared with test/answers/normal-words.json.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cpuKernels } from '../harness/cpu-backend.ts';
import { program } from '../harness/program.ts';

interface Answers {
  readonly 'float32 used': Readonly<Record<string, string>>;
  readonly float64: Readonly<Record<string, string>>;
}

const run = promisify(execFile);
const top = fileURLToPath(new URL('../..', import.meta.url));
const answers: Answers = JSON.parse(readFileSync(join(top, 'test/answers/normal-words.json'), 'utf8'));

const avx2 = ['-mavx2', '-mfma'];
const instructionSets: ReadonlyMap<string, readonly string[]> = new Map([
  ['AVX2', avx2],
  ['AVX-512', ['-mavx512f', '-mavx512bw', '-mavx512dq', '-mavx512vl', ...avx2]],
]);
const compilers = ['g++', 'clang++'].filter((compiler) => spawnSync(compiler, ['--version']).status === 0);
// AVX2, and the instruction set that the cpu device found.
const setsHere = [...instructionSets.keys()].filter((set) => set === 'AVX2' || set === cpuKernels);

// The same flags with which binding.gyp builds the kernels.
const [, flagText = ''] = /"kernel_flags": \[([^\]]*)\]/.exec(readFileSync(join(top, 'binding.gyp'), 'utf8')) ?? [];
const kernelFlags = [...flagText.matchAll(/"([^"]+)"/g)].map(([, flag]) => flag!);

async function hashes(compiler: string, flags: readonly string[], mode: string): Promise<Record<string, string>> {
  const folders = ['msl', 'msl/cpu', 'objc/cpu'].map((name) => `-I${join(top, name)}`);
  const all = ['-std=gnu++17', '-DHASHES_ONLY', ...kernelFlags, ...folders, ...flags];
  const built = program(compiler, all, ['test/msl/exhaustive.cc']);
  if ('complaint' in built) throw new Error(`${compiler}: ${built.complaint}`);
  const { stdout } = await run(built.path, [mode]);
  return JSON.parse(stdout);
}

function whereItRuns(sentence: string, check: () => Promise<void>): void {
  const why =
    process.arch !== 'x64'
      ? `test/msl/exhaustive.cc is for x86-64, and this is (${process.arch}).`
      : compilers.length === 0
        ? 'There is neither g++ nor clang++.'
        : '';
  if (why === '') test(sentence, check);
  else {
    console.log(`skipped  ${sentence} ${why}`);
    test.skip(sentence);
  }
}

// All words once, by the widest vectors here; test/native/normal-bits.test.ts has the AVX2 kernels beside them.
const [compilerOfAll, widest] = [compilers[0] ?? 'g++', setsHere.at(-1)!];
whereItRuns(`${compilerOfAll}, ${widest}: The functions of float32 give the known bits for all words.`, async () => {
  assert.equal(await hashes(compilerOfAll, instructionSets.get(widest)!, '--used'), answers['float32 used']);
});

// Each compiler once, each instruction set once; the widest with the program that is already built.
for (const [index, set] of setsHere.toReversed().entries()) {
  const compiler = compilers[Math.min(index, compilers.length - 1)] ?? 'g++';
  whereItRuns(`${compiler}, ${set}: The functions of float64 give the known bits for vectors of words.`, async () => {
    assert.equal(await hashes(compiler, instructionSets.get(set)!, '--float64'), answers.float64);
  });
}

for (const compiler of compilers.length === 0 ? ['g++'] : compilers)
  whereItRuns(`${compiler} -O1: The functions of float64 give the known bits for single words.`, async () => {
    assert.equal(await hashes(compiler, [...avx2, '-O1'], '--single'), answers.float64);
  });

whereItRuns('Without -ffp-contract=off a compiler fuses, and the hash shows it.', async () => {
  assert.ok(kernelFlags.includes('-ffp-contract=off'), `binding.gyp has (${kernelFlags.join(' ')})`);
  const fused = await hashes(compilers[0]!, [...avx2, '-ffp-contract=fast'], '--float64');
  for (const name of Object.keys(fused)) assert.is.not(fused[name], answers.float64[name]);
});

test.run();
