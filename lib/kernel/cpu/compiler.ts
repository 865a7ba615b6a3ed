import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { access, constants, open, readFile, realpath } from 'node:fs/promises';
import { basename, delimiter, join, resolve as resolvePath } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import { describe } from '../../check.ts';
import { CovariumError } from '../../covarium-error.ts';

/** A C++ compiler. */
export interface Compiler {
  readonly path: string;
  /** Another version has another text. */
  readonly version: string;
  readonly isClang: boolean;
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
 * Runs a program without a shell, with the given input; undefined if there is no such program. Rejects with
 * `ERR_OUT_OF_MEMORY` if the system has no room for it. It runs in a folder of
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
  return new Promise((resolve, reject) => {
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
    let timer: NodeJS.Timeout | undefined;
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (error.code === undefined || !/^(?:EMFILE|ENFILE|EAGAIN|ENOMEM)$/.test(error.code)) resolve(undefined);
      else reject(refused(path, error));
    });
    // It has no streams where the system has no files left: the error comes next.
    if (child.stdin === undefined) return;
    timer = setTimeout(() => {
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
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...output, timedOut });
    });
    child.stdin.end(input);
  });
}

function refused(path: string, cause: NodeJS.ErrnoException): CovariumError {
  const said = `The system refuses to start program (${path}), for it has no files, processes or memory left`;
  return new CovariumError('ERR_OUT_OF_MEMORY', `${said} (${cause.code}).`, { cause });
}

const known = new Map<string, Promise<Compiler | undefined>>();

async function ask(path: string): Promise<Compiler | undefined> {
  const program = await knownProgram(path);
  if (program !== undefined) return { path, ...program };
  const ended = await runProgram(path, ['--version'], '', 10_000);
  if (ended === undefined || ended.code !== 0) return undefined;
  const version = ended.stdout.split('\n').slice(0, 2).join(' ').trim();
  return { path, version, isClang: /clang/i.test(version) };
}

/**
 * What can be told of a compiler by its file, which spares starting it. Undefined for what runs another program (a
 * script, a compiler's cache, Apple's stub), whose file stays the same when that changes.
 */
async function knownProgram(path: string): Promise<Omit<Compiler, 'path'> | undefined> {
  if (process.platform !== 'linux') return undefined;
  const { PATH = '' } = process.env;
  for (const folder of path.includes('/') ? [''] : PATH.split(delimiter).filter((each) => each.startsWith('/')))
    try {
      const found = join(folder, path);
      await access(found, constants.X_OK);
      const real = await realpath(found);
      const [, kind] = /^(?:[\w.]+-)*(clang(?=\+\+|-|$)|g(?=\+\+))(?:\+\+)?(?:-[\d.]+)?$/.exec(basename(real)) ?? [];
      if (kind === undefined) return undefined;
      const file = await open(real);
      try {
        const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
        if (buffer.toString('latin1') !== '\x7fELF') return undefined;
        const { size, mtimeMs } = await file.stat();
        return { version: `${real} of ${size} bytes from ${mtimeMs}`, isClang: kind === 'clang' };
      } finally {
        await file.close();
      }
    } catch {} // not in this folder
  return undefined;
}

/** The compiler of this name or path, looked at once; undefined if it does not run. */
export async function compilerAt(path: string): Promise<Compiler | undefined> {
  const { PATH = '' } = process.env;
  const key = `${path} ${PATH}`;
  const asked = known.get(key) ?? ask(path);
  known.set(key, asked);
  const compiler = await asked.catch((error: unknown) => {
    known.delete(key);
    throw error;
  });
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
export function flagsOf({ isClang }: Compiler, check: boolean): string[] {
  const machine = process.platform === 'darwin' && process.arch === 'arm64' ? '-mcpu=apple-m1' : '-march=native';
  return [
    ...['-x', 'c++', '-std=c++17', check ? '-O1' : '-O3', machine],
    ...['-ffp-contract=off', '-fsigned-char', '-fno-math-errno', '-fno-strict-aliasing'],
    ...['-fPIC', '-fvisibility=hidden', '-fdiagnostics-color=never', `-Wframe-larger-than=${mostFrameBytes}`],
    // In Metal, a number without a suffix is a float, and half is a type that computes.
    ...(isClang
      ? [
          ...['-Wno-everything', `-Wframe-larger-than=${mostFrameBytes}`, '-Werror=frame-larger-than'],
          ...['-Werror=undefined-internal', '-ferror-limit=20', '-fno-caret-diagnostics'],
          ...['-Xclang', '-cl-single-precision-constant', '-Xclang', '-fnative-half-type'],
          ...['-Xclang', '-fallow-half-arguments-and-returns'],
          // A float beyond an integer's range becomes the nearest integer, not whatever an optimisation leaves.
          '-fno-strict-float-cast-overflow',
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

/**
 * Makes a shared library of an object file. Where this process shows its libraries, the linker does that alone: a
 * compiler's driver takes longer to start than the linker to run. What the linker does not find the driver may.
 */
export async function link({ path }: Compiler, object: string, library: string): Promise<Ended | undefined> {
  const libraries = await systemLibraries();
  if (libraries.length > 0) {
    const flags = ['-shared', '-z', 'defs', '--eh-frame-hdr', '--hash-style=gnu'];
    const ended = await runProgram('ld', [...flags, '-o', library, object, ...libraries], '');
    if (ended?.code === 0) return ended;
  }
  const defined = process.platform === 'darwin' ? [] : ['-Wl,-z,defs'];
  return runProgram(path, ['-shared', ...defined, '-o', library, object], '');
}

/** The system's libraries that a kernel may call, as this process has them loaded; none where that cannot be seen. */
async function systemLibraries(): Promise<string[]> {
  const maps = process.platform === 'linux' ? await readFile('/proc/self/maps', 'latin1').catch(() => '') : '';
  return [...new Set(maps.match(/\/\S*\/(?:lib[cm](?:-[\d.]+)?\.so|ld-)\S*$/gm) ?? [])];
}
