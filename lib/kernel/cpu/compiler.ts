import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { resolve as resolvePath } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import { describe } from '../../check.ts';
import { CovariumError } from '../../covarium-error.ts';

/** A C++ compiler, and its version. */
export interface Compiler {
  readonly path: string;
  readonly version: string;
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

const mostOutput = 1 << 20;
const timeLimitMs = 120_000;

/**
 * Runs a program without a shell, with the given input; undefined if there is no such program. It runs in a folder of
 * the package, because a compiler reads files of its working folder (quoted includes, empty elements of CPATH), and the
 * user's working folder may contain anybody's files. When its time is over it is killed with its child processes: a
 * compiler's driver starts others, which hold its output open.
 */
export function runProgram(
  path: string,
  args: readonly string[],
  input: string,
  limitMs: number = timeLimitMs,
): Promise<Ended | undefined> {
  return new Promise((resolve) => {
    // Messages must be in English, whatever the user's language, because they are parsed here.
    const detached = process.platform !== 'win32';
    const cwd = headersFolder();
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(path, args, { cwd, env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe', detached });
    } catch {
      resolve(undefined); // some errors are thrown: a path through a file, a link to itself
      return;
    }
    const output = { stdout: '', stderr: '' };
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid === undefined) return;
      try {
        process.kill(detached ? -child.pid : child.pid, 'SIGKILL');
      } catch {} // it has ended, but a child still holds its output
      child.stdout.destroy();
      child.stderr.destroy();
    }, limitMs);
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < mostOutput) output[name] += text;
      });
    child.stdin.on('error', () => {}); // it ended before it read all its input: its exit code says why
    child.on('error', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...output, timedOut });
    });
    child.stdin.end(input);
  });
}

const known = new Map<string, Promise<Compiler | undefined>>();

async function ask(path: string): Promise<Compiler | undefined> {
  const ended = await runProgram(path, ['--version'], '', 10_000);
  if (ended === undefined || ended.code !== 0) return undefined;
  return { path, version: ended.stdout.split('\n').slice(0, 2).join(' ').trim() };
}

/** The compiler of this name or path, asked once for its version; undefined if it does not run. */
export async function compilerAt(path: string): Promise<Compiler | undefined> {
  const { PATH = '' } = process.env;
  const key = `${path} ${PATH}`;
  const asked = known.get(key) ?? ask(path);
  known.set(key, asked);
  const compiler = await asked;
  if (compiler === undefined) known.delete(key); // it may be installed while this process runs
  return compiler;
}

/** The compiler that `COVARIUM_CXX` names, or the first that is found; searched for once. Throws `ERR_NO_COMPILER`. */
export async function findCompiler(): Promise<Compiler> {
  const { COVARIUM_CXX: chosen = '' } = process.env;
  const candidates = chosen === '' ? ['clang++', 'g++', 'c++'] : [/[\\/]/.test(chosen) ? resolvePath(chosen) : chosen];
  for (const path of candidates) {
    const compiler = await compilerAt(path);
    if (compiler !== undefined) return compiler;
  }
  const advice =
    'Debian or Ubuntu: apt-get install clang; Fedora: dnf install clang; macOS: xcode-select --install; or name one in COVARIUM_CXX';
  throw new CovariumError(
    'ERR_NO_COMPILER',
    chosen === ''
      ? `Kernels on the cpu device need a C++ compiler, but none of these is found (${candidates.join(', ')}). ${advice}.`
      : `Compiler that COVARIUM_CXX names does not run (${describe(chosen)}). ${advice}.`,
  );
}

/** Bytes of the variables of one function that a thread of a threadgroup has room for; see objc/cpu/fiber.h. */
const mostFrameBytes = 192 << 10;

/** The compiler's flags for a kernel. */
export function flagsOf({ version }: Compiler, check: boolean): string[] {
  const isClang = /clang/i.test(version);
  const machine = process.platform === 'darwin' && process.arch === 'arm64' ? '-mcpu=apple-m1' : '-march=native';
  return [
    ...['-x', 'c++', '-std=c++17', check ? '-O1' : '-O3', machine],
    ...['-ffp-contract=off', '-fsigned-char', '-fno-math-errno', '-fno-strict-aliasing'],
    ...[
      '-shared',
      '-fPIC',
      '-fvisibility=hidden',
      '-fdiagnostics-color=never',
      `-Wframe-larger-than=${mostFrameBytes}`,
    ],
    ...(process.platform === 'darwin' ? [] : ['-Wl,-z,defs']),
    // In Metal, a number without a suffix is a float, and half is a type that computes.
    ...(isClang
      ? [
          ...['-Wno-everything', `-Wframe-larger-than=${mostFrameBytes}`, '-Werror=frame-larger-than'],
          ...['-Werror=undefined-internal', '-ferror-limit=20', '-fno-caret-diagnostics'],
          ...['-Xclang', '-cl-single-precision-constant', '-Xclang', '-fnative-half-type'],
          ...['-Xclang', '-fallow-half-arguments-and-returns'],
        ]
      : [
          ...['-fsingle-precision-constant', `-Werror=frame-larger-than=${mostFrameBytes}`],
          ...['-fmax-errors=20', '-fno-diagnostics-show-caret'],
          ...(process.arch === 'x64' ? ['-fexcess-precision=16'] : []),
        ]),
    ...(check ? checkFlags(isClang) : []),
  ];
}

/**
 * The instrumentation of check mode, whose calls library/check.h answers: at each access, at an index beyond an array.
 * Frames and lines are kept, so that the device finds the line of the user's text.
 */
function checkFlags(isClang: boolean): string[] {
  const settings = ['asan-instrumentation-with-call-threshold=0', 'asan-stack=0', 'asan-globals=0'];
  return [
    ...['-g', `-fdebug-prefix-map=${headersFolder()}=.`, '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls'],
    ...(isClang
      ? [
          ...['-Xclang', '-fsanitize=address', '-Xclang', '-fsanitize=array-bounds'],
          ...settings.flatMap((setting) => ['-mllvm', `-${setting}`]),
        ]
      : ['-fsanitize=kernel-address', '-fsanitize=bounds', ...settings.flatMap((setting) => ['--param', setting])]),
  ];
}
