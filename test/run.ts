// npm test [-- parts of paths]: runs test files in processes side by side, and ends with one line: N passed, N failed.
// An ending that uvu did not report counts as a failure. With COVARIUM_TEST_RETRY=1, a file that fails runs a second
// time, and the second result counts; the first failure is reported at the end.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { listDevices } from '../lib/list-devices.ts';
import { compile } from './harness/compile.ts';
import { inSources } from './harness/in-sources.ts';
import { sanitized, sanitizerEnvironment } from './harness/sanitized.ts';
import { softAddon } from './metal/softmetal/addon.ts';

/**
 * Rooms whose tests run on every device. Without a Mac they run twice: on cpu and reference, and on metal over its
 * software stand-in.
 */
const everyDevice =
  'array command compute contract distribution examples factor kernel moments normal run student-t'.split(' ');

/**
 * Of these, rooms that depend on products run once more on cpu with those of OpenBLAS, and three files with those of
 * the reference BLAS, which sums in another order and obeys the standard where OpenBLAS is lenient.
 */
const onOpenBlas = 'contract factor'.split(' ');
const onReferenceBlas = ['encoder', 'encoder-factor', 'linear-algebra'].map((name) => `contract/${name}.test.ts`);
/** The path of Debian's libblas3 if OpenBLAS is installed too, which replaces `libblas.so.3`. */
const referenceBlas = ['x86_64', 'aarch64']
  .map((processor) => `/usr/lib/${processor}-linux-gnu/blas/libblas.so.3`)
  .find((path) => existsSync(path));
/**
 * Files that depend on decompositions run once more on cpu without a library. The rest of `contract` has no
 * decompositions there.
 */
const withoutLibrary = (file: string) =>
  'factor moments normal'.split(' ').includes(roomOf(file)) || file === 'contract/encoder-decompositions.test.ts';
const seesNoProduct = ['bench', 'device', 'errors', 'external-buffers', 'launcher', 'realms', 'refusals'].map(
  (name) => `contract/${name}.test.ts`,
);

/** This file opens no device and takes ten seconds, so it runs only once. */
const opensNoDevice = 'kernel/tokens.test.ts';

/** These run once more on cuda, over the software stand-in for NVIDIA's driver, which is built with that for Metal. */
const onCuda = 'contract normal student-t'.split(' ');
/** The stand-in does not measure speed. */
const notOnCuda = 'contract/bench.test.ts';

/**
 * Rooms that run under the sanitizers (test/sanitize.mjs): they cover each way into native code once. The others
 * reach it through the same few commands.
 */
const underSanitizers = ['array', 'command', 'contract', 'kernel', 'kernel/cpu', 'metal', 'native'];

/**
 * Of these, files that also look for leaks of the Metal device, which makes each start of Node four seconds longer.
 */
const countsLeaks = (file: string) =>
  ['command', 'contract'].includes(roomOf(file)) || ['metal/broken.test.ts', 'metal/faults.test.ts'].includes(file);

/**
 * Files of those rooms that do not run under the sanitizers: files without native code or with the same commands as
 * other files (other compilers' work, public classes of arrays, the benchmark, counts of commands, and tests that
 * skip there), and files that measure or limit processor time or memory, of which a sanitizer takes a share.
 */
const withoutSanitizers = [
  ...['columns', 'element-type', 'face', 'foreign'].map((name) => `array/${name}.test.ts`),
  ...['bench', 'realms'].map((name) => `contract/${name}.test.ts`),
  ...['apple-api', 'apple-stand-in', 'counts', 'mach-o', 'softmetal', 'softmetal-strict'].map(
    (name) => `metal/${name}.test.ts`,
  ),
  ...['signature', 'tokens', 'cpu/address-spaces', 'cpu/cache', 'cpu/translation-unit'].map(
    (name) => `kernel/${name}.test.ts`,
  ),
  ...['baseline', 'leak', 'full-memory', 'address-space', 'call-holds', 'quota', 'table-holds', 'wide-table-holds'].map(
    (name) => `native/${name}.test.ts`,
  ),
];

/** Files that run alone, after all others, and why. */
const alone: { readonly [path: string]: string } = {
  'bench/peers.test.ts': 'its peers have a second, or less, to answer',
  'native/call-holds.test.ts': 'it compares times',
  'native/cancel.test.ts': 'it compares times',
  'native/full-memory.test.ts': 'it fills memory',
  'metal/queue.test.ts': 'it compares times',
  'native/wide-table-holds.test.ts': 'it compares times',
};

/**
 * Rooms whose files share processes, one after the other, because they leave their process unchanged. A process takes
 * a seventh of a second to start, and code that an earlier file has called is already compiled.
 */
const sharesProcess =
  'array command compute contract decomposition distribution factor kernel kernel/cpu moments normal plot probability reference run stream student-t table'.split(
    ' ',
  );
/** The most files in one process, so that no processor waits long for the last process. */
const mostTogether = 8;

interface Run {
  /** Relative to test/. */
  readonly files: readonly string[];
  /** Describes the environment, for titles. */
  readonly setting?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

interface Outcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What the file printed, and how it ended. */
  readonly output: string;
  readonly seconds: number;
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const compiled = fileURLToPath(new URL(`../build-tests/${process.pid}`, import.meta.url));
const begin = performance.now();
const secondsSince = (start: number) => (performance.now() - start) / 1000;

function runFiles({ files, env }: Run): Promise<Outcome[]> {
  const start = performance.now();
  return new Promise((resolve) => {
    const paths = files.map((file) => join(compiled, 'test', file.replace(/\.ts$/, '.js')));
    const program = files.length > 1 ? [join(folder, 'harness/together.mjs')] : [];
    const child = spawn(process.execPath, ['--expose-gc', ...program, ...paths], {
      // Programs colour their output if CI or FORCE_COLOR is set; the tests compare it without colours.
      env: { ...env, COVARIUM_COMPILED_TESTS: compiled, NO_COLOR: '1', FORCE_COLOR: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Under sanitizers, on a busy machine, the longest file takes a fifth of this. A process that hangs is a
      // failure.
      timeout: 900_000,
      killSignal: 'SIGKILL',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    child.on('close', (code, signal) => {
      const whole: Ending = { output, code, signal, seconds: secondsSince(start) };
      const each = files.length > 1 ? endingsOf(whole, files.length) : [whole];
      resolve(files.map((file, index) => outcomeOf(file, each[index]!)));
    });
  });
}

interface Ending {
  readonly output: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly seconds: number;
}

/**
 * How each file of a process ended, from the lines of test/harness/together.mjs. A file without an end line, and
 * those after it, ended with the process; so did the last file if the process itself failed.
 */
function endingsOf(whole: Ending, files: number): Ending[] {
  const [first = '', ...parts] = whole.output.split(/^=== begin .*\n/m);
  const endings = Array.from({ length: files }, (_, index): Ending => {
    const [output = '', code, seconds, late = ''] = (parts[index] ?? '').split(/^=== end (\d) (\S+)\n/m);
    if (code === undefined) return { ...whole, output };
    return { output: output + late, code: Number(code), signal: null, seconds: Number(seconds) };
  });
  const hasFailed = endings.some(({ code }) => code !== 0);
  if (whole.code !== 0 && !hasFailed) endings.push({ ...whole, output: `${first}${endings.pop()!.output}` });
  return endings;
}

function outcomeOf(file: string, { output, code, signal, seconds }: Ending): Outcome {
  const [total, passed, skipped] = ['Total', 'Passed', 'Skipped'].map((label) => count(output, label)) as number[];
  // uvu's total does not count skipped tests.
  const lost = total! - passed!;
  const isSilent = total! + skipped! === 0;
  // A file that can't run here says why.
  const isSkipped = isSilent && code === 0 && /^skipped {2}/m.test(output);
  const failed = lost > 0 || (code === 0 && !isSilent) ? lost : isSkipped ? 0 : 1;
  const ending = code === 0 ? '' : `\nexit code ${code}, signal ${signal}`;
  return {
    file,
    passed: passed!,
    failed,
    skipped: isSkipped ? 1 : skipped!,
    output: inSources(output.trimEnd(), compiled) + ending,
    seconds,
  };
}

/**
 * A finding of a sanitizer is a defect even if it shows in only one of many runs; so is a crash. A crash of the leak
 * sanitizer itself is not: its tracer sometimes reads the memory of a thread that is just ending.
 */
function isFinding(output: string): boolean {
  if (/^.*Tracer caught signal \d+.*\n==\d+==LeakSanitizer has encountered a fatal error/m.test(output)) return false;
  return /(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|signal SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP)$/.test(
    output,
  );
}

function count(output: string, label: string): number {
  const plain = stripVTControlCharacters(output);
  return [...plain.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'gm'))].reduce(
    (sum, [, digits]) => sum + Number(digits),
    0,
  );
}

/** The addon with the stand-in: none on a Mac, and none if an addon is chosen already. */
function standIn(): { path: string; reason: string } {
  const { COVARIUM_ADDON: chosen } = process.env;
  if (platform() === 'darwin' || chosen !== undefined) return { path: '', reason: '' };
  const built = softAddon();
  // Set so that files that use it do not check its sources again.
  if (!('reason' in built)) process.env['COVARIUM_TEST_STAND_IN'] = built.path;
  return 'reason' in built ? { path: '', reason: built.reason } : { path: built.path, reason: '' };
}

/** An environment for a file, and its description in the title. */
interface Setting {
  readonly title?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** On cuda, which here makes all draws on its GPU, however small. */
function softCuda(standIn: string): Setting {
  const env = {
    COVARIUM_TEST_DEVICES: 'cuda',
    COVARIUM_CUDA_FROM: '0',
    LD_LIBRARY_PATH: join(dirname(standIn), 'softcuda'),
    COVARIUM_NVRTC: 'none',
    COVARIUM_CUBLAS: 'none',
    COVARIUM_CUSOLVER: 'none',
  };
  return { title: 'cuda, over its software stand-in', env };
}

/** One run for each setting in which a file is tested. */
function plan(files: readonly string[]): Run[] {
  const onMetal: NodeJS.ProcessEnv = { COVARIUM_TEST_DEVICES: 'metal', COVARIUM_METAL_FROM: '0' };
  const onOthers: NodeJS.ProcessEnv = { COVARIUM_TEST_DEVICES: 'cpu,reference' };
  const metal = (env: NodeJS.ProcessEnv): Setting => ({ title: 'metal, over its software stand-in', env });
  const runsOf = (file: string, settings: readonly Setting[]): Run[] =>
    settings.map(({ title, env }) => ({ files: [file], setting: title, env: { ...process.env, ...env } }));
  const isForAll = (file: string) => everyDevice.includes(roomOf(file)) && file !== opensNoDevice;
  if (sanitized) {
    // The room `metal` tests user kernels itself, and the room `native` tests the CPU's commands.
    const isOnMetal = (file: string) => roomOf(file) === 'metal' || (isForAll(file) && roomOf(file) !== 'kernel');
    return files.flatMap((file) => {
      const sanitizer = sanitizerEnvironment(countsLeaks(file));
      return runsOf(file, [
        isOnMetal(file) ? metal({ ...onMetal, ...sanitizer }) : { env: { ...onOthers, ...sanitizer } },
      ]);
    });
  }
  const hasOpenBlas = listDevices().some(({ facts }) => facts['decompositions']?.startsWith('OpenBLAS'));
  if (!hasOpenBlas && files.some((file) => onOpenBlas.includes(roomOf(file))))
    console.log('skipped  products of OpenBLAS: it is not the library here');
  if (referenceBlas === undefined && platform() === 'linux' && files.some((file) => onReferenceBlas.includes(file)))
    console.log('skipped  products of the reference BLAS: it is not installed (libblas3)');
  const needsStandIn = (file: string) => isForAll(file) || ['metal', 'cuda'].includes(roomOf(file));
  const stand = files.some(needsStandIn) ? standIn() : { path: '', reason: '' };
  if (stand.reason !== '') console.log(`skipped  metal: ${stand.reason}`);
  const onCpu = (title: string, library: string): Setting => ({
    title: `cpu, ${title}`,
    // glibc fills new memory with bytes that no result has, so that one that is not wholly written shows.
    env: { COVARIUM_TEST_DEVICES: 'cpu', COVARIUM_BLAS: library, MALLOC_PERTURB_: '90' },
  });
  return files.flatMap((file) => {
    const settings: Setting[] =
      stand.path !== '' && isForAll(file)
        ? [{ env: onOthers }, metal({ ...onMetal, COVARIUM_ADDON: stand.path })]
        : [{ env: { COVARIUM_METAL_FROM: '0' } }];
    if (!(file in alone)) {
      if (stand.path !== '' && onCuda.includes(roomOf(file)) && file !== notOnCuda) settings.push(softCuda(stand.path));
      if (hasOpenBlas && onOpenBlas.includes(roomOf(file)) && !seesNoProduct.includes(file))
        settings.push(onCpu('products of OpenBLAS', 'libopenblas.so.0'));
      if (referenceBlas !== undefined && onReferenceBlas.includes(file))
        settings.push(onCpu('products of the reference BLAS', referenceBlas));
      if (withoutLibrary(file) && isForAll(file)) settings.push(onCpu('without a library', 'none'));
    }
    return runsOf(file, settings);
  });
}

/** Groups files with the same room and setting. */
function grouped(runs: readonly Run[]): Run[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const [file = ''] = run.files;
    const isAlone = file in alone || !sharesProcess.includes(roomOf(file));
    const key = `${isAlone ? file : roomOf(file)} ${run.setting}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].flatMap((group) => {
    const processes = Math.ceil(group.length / mostTogether);
    // Files with neighbouring names often take equally long.
    return Array.from({ length: processes }, (_, place) => ({
      ...group[0]!,
      files: group.filter((_, index) => index % processes === place).flatMap(({ files }) => files),
    }));
  });
}

/** kernel/cpu is a separate room from kernel: it compiles for the CPU. */
function roomOf(file: string): string {
  return dirname(file);
}

const endOf = (output: string) => output.split('\n').slice(-100).join('\n');
const { COVARIUM_TEST_RETRY } = process.env;
const done: (Outcome & { readonly title: string })[] = [];
const told: string[] = [];

/** Runs the files of a process, repeats those that fail if that is enabled, and prints the whole output of each. */
async function complete(run: Run): Promise<void> {
  const titleOf = (file: string) => (run.setting === undefined ? file : `${file} (${run.setting})`);
  for (let outcome of await runFiles(run)) {
    const title = titleOf(outcome.file);
    if (outcome.failed > 0 && COVARIUM_TEST_RETRY === '1' && !isFinding(outcome.output)) {
      const first = outcome;
      console.log(`\n${title} failed, and runs once more`);
      [outcome = first] = await runFiles({ ...run, files: [outcome.file] });
      told.push(`--- failed${outcome.failed === 0 ? ' once, then passed' : ''}: ${title}\n${endOf(first.output)}`);
    }
    console.log(`\n${title}  ${outcome.seconds.toFixed(1)} s\n${outcome.output}`);
    if (outcome.failed > 0) told.push(`--- failed: ${title}\n${endOf(outcome.output)}`);
    done.push({ ...outcome, title });
  }
}

/** Runs each, `jobs` at a time. */
async function sideBySide(runs: readonly Run[], jobs: number): Promise<number> {
  const start = performance.now();
  const waiting = [...runs];
  const worker = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) await complete(run);
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return secondsSince(start);
}

const wanted = process.argv.slice(2);
const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
const files = sanitized
  ? found.filter((file) => underSanitizers.includes(roomOf(file)) && !withoutSanitizers.includes(file))
  : found;
if (files.length < found.length) {
  const left = [...new Set(found.filter((file) => !files.includes(file)).map((file) => roomOf(file)))];
  console.log(`Left to the run without sanitizers: (${found.length - files.length}) files of ${left.join(', ')}.`);
}
let failed = 0;
if (files.length === 0) {
  console.log(`No test file matches (${wanted.join(', ')}).`);
  failed += 1;
} else {
  process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  mkdirSync(compiled, { recursive: true });
  const runs = grouped(plan(files));
  await compile(
    files.map((file) => `test/${file}`),
    compiled,
  );
  const prepared = secondsSince(begin);
  // Two more than processors, since tests wait for processes that they start, for files, or for a clock.
  const jobs = availableParallelism() + 2;
  const isFirst = ({ files: [file = ''] }: Run) => roomOf(file) === 'repo';
  const isAlone = ({ files: [file = ''] }: Run) => file in alone;
  const shared = runs.filter((run) => !isAlone(run));
  // Tests of the repository wait for npm and a browser, and take longest.
  const together = await sideBySide([...shared.filter(isFirst), ...shared.filter((run) => !isFirst(run))], jobs);
  const last = await sideBySide(runs.filter(isAlone), 1);
  // Repeated at the end, where people look first in a long log; .ci/run looks for this mark.
  for (const each of told) console.log(`\n${each}`);
  const longest = done.sort((a, b) => b.seconds - a.seconds).slice(0, 5);
  console.log(`\nLongest: ${longest.map(({ title, seconds }) => `${title} ${seconds.toFixed(0)} s`).join(', ')}`);
  console.log(
    `${prepared.toFixed(0)} s to build, ${together.toFixed(0)} s with ${jobs} side by side, ${last.toFixed(0)} s alone`,
  );
}
const sum = (of: (outcome: Outcome) => number) => done.reduce((total, outcome) => total + of(outcome), 0);
failed += sum((outcome) => outcome.failed);
const skipped = sum((outcome) => outcome.skipped);
console.log(`\n${sum(({ passed }) => passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 ? 0 : 1;
