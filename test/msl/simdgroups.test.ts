// test/msl/simdgroups.cc: simdgroups as wide as those of an Intel Mac's AMD GPU, and as narrow as one lane, which
// JavaScript cannot choose. It is built with the address sanitizer, which finds threadgroup memory that is a byte
// short.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { program } from '../harness/program.ts';

const top = fileURLToPath(new URL('../..', import.meta.url));

/** The path of the program; '' if no compiler can build it. */
function build(): string {
  const flags = '-std=gnu++17 -O1 -g1 -ffp-contract=off -fsanitize=address -Wall -Wextra -Werror -Wno-attributes';
  const quiet = '-Wno-unknown-pragmas -Wno-unknown-attributes';
  const folders = ['msl', 'msl/cpu', 'objc/cpu'].map((name) => `-I${join(top, name)}`);
  const sources = [
    ...['launch', 'group', 'fiber', 'pool'].map((stem) => `objc/cpu/${stem}.cc`),
    'test/msl/simdgroups.cc',
  ];
  for (const compiler of ['g++', 'clang++']) {
    const all = [...`${flags} ${quiet}`.split(' '), ...(process.arch === 'x64' ? ['-mfma'] : []), ...folders];
    const built = program(compiler, all, sources);
    if ('path' in built) return built.path;
    if (built.complaint !== undefined) assert.unreachable(`${compiler}: ${built.complaint}`);
  }
  return '';
}

const sentences = {
  widths: 'Kernels are right for simdgroups of 1 to 64 lanes, in threadgroups of any size.',
  short: 'Threadgroup memory is not a byte larger than what a kernel asks for.',
  uneven: 'A barrier that not all lanes reach is an error, not a hang.',
};

const path = build();
const run = (mode: keyof typeof sentences) => {
  // Under `npm run test:sanitize` another compiler's library may be preloaded, which this program does not need.
  const { LD_PRELOAD: _, ...env } = process.env;
  return spawnSync(path, [mode], { encoding: 'utf8', env });
};
const checks: { [mode in keyof typeof sentences]: () => void } = {
  widths: () => {
    const { status, stdout, stderr } = run('widths');
    assert.is(stdout + stderr, '');
    assert.is(status, 0);
  },
  short: () => {
    const { status, stderr } = run('short');
    assert.match(stderr, /AddressSanitizer: heap-buffer-overflow/);
    assert.match(stderr, /sample_rows/);
    assert.is.not(status, 0);
  },
  uneven: () => {
    const { stdout, status } = run('uneven');
    assert.match(stdout, /^Kernel \(wait_unevenly\) waits at a barrier that not all threads of group \(\d\) reach\.$/m);
    assert.is(status, 0);
  },
};

for (const mode of ['widths', 'short', 'uneven'] as const) {
  if (path === '') {
    console.log(`skipped  ${sentences[mode]} There is neither g++ nor clang++.`);
    test.skip(sentences[mode]);
  } else test(sentences[mode], checks[mode]);
}

test.run();
