// The driver programs under the address (with leaks), undefined-behaviour and thread sanitizers: node
// test/metal/softmetal/sanitize.mjs. Needs libclang-rt too. Ends with one line: N passed, N failed; with code 2 if
// the tools are missing.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const kinds = {
  'address,undefined': {
    out: 'build-soft-asan',
    parts: [],
    env: {
      // Suppressions match the whole stack of a leak.
      ASAN_OPTIONS: 'detect_leaks=1:fast_unwind_on_malloc=0',
      LSAN_OPTIONS: `suppressions=${join(here, 'leak.supp')}:print_suppressions=0`,
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  },
  thread: {
    out: 'build-soft-tsan',
    parts: ['--drivers'],
    env: { TSAN_OPTIONS: `suppressions=${join(here, 'thread.supp')}`, SOFTMETAL_SIDE_BY_SIDE: '1' },
  },
};

let [passed, failed] = [0, 0];
for (const [sanitize, { out, parts, env }] of Object.entries(kinds)) {
  const build = [join(here, 'build.mjs'), `--sanitize=${sanitize}`, `--out=${out}`, ...parts];
  const make = () => spawnSync(process.execPath, build, { stdio: 'inherit' });
  let { status, signal } = make();
  if (status !== 0 && status !== 2 && process.env.COVARIUM_TEST_RETRY === '1') {
    console.error(`--- failed once: the build of ${out} (${signal ?? status})`);
    ({ status, signal } = make());
  }
  if (status === 2) process.exit(2); // the build has said what is missing
  if (status !== 0) {
    console.error(`--- failed: the build of ${out} (${signal ?? status})`);
    failed += 1;
    continue;
  }
  const run = (program, ...args) => {
    const options = { encoding: 'utf8', env: { ...process.env, SOFTMETAL_THREADS: '2', ...env }, timeout: 300_000 };
    return spawnSync(join(root, out, program), args, options);
  };
  const count = (isRight, what, { status, signal, stdout, stderr }) => {
    if (!isRight) console.error(`--- failed: ${what} under ${sanitize} (${signal ?? status}):\n${stdout}${stderr}`);
    if (isRight) passed += 1;
    else failed += 1;
  };
  for (const program of ['compute', 'matrices', 'queues', 'device']) {
    const ended = run(program);
    count(ended.status === 0, program, ended);
  }
  // A mistake that only runs of encoders side by side show.
  if (sanitize === 'thread') {
    const ended = run('queues', 'race');
    const isFound = ended.status === 66 && /ThreadSanitizer: data race[\s\S]*fill_normal/.test(ended.stderr);
    count(isFound, 'the planted race', ended);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
