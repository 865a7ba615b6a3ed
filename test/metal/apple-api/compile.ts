// clang as a reader of Objective-C++ against headers of Apple's API: nothing is built, nothing runs.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const top = fileURLToPath(new URL('../../..', import.meta.url));
const language = ['-x', 'objective-c++', '-std=c++17', '-fblocks', '-fobjc-runtime=macosx-13.0', '-fsyntax-only'];

function clang(args: readonly string[], input: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('clang++', [...language, ...args, '-'], { input, encoding: 'utf8', cwd: top, maxBuffer: 2 ** 30 });
}

/** Which standard library has its headers here. */
const library = ['-stdlib=libstdc++', '-stdlib=libc++'].find(
  (flag) => process.platform !== 'darwin' && clang([flag], '#include <vector>\n').status === 0,
);

/** Why sources can't be checked here; nothing where they can. */
export function reason(): string | undefined {
  if (process.platform === 'darwin') return "On macOS the build itself reads Apple's headers.";
  if (library !== undefined) return undefined;
  return 'There is no clang++ with a C++ library (Debian or Ubuntu: apt-get install clang g++).';
}

/** A Mac, as far as its types differ: BOOL is a bool on arm64, a character on x86_64. */
export type Processor = 'arm64' | 'x86_64';

/**
 * What clang says of a source, one line each, errors and warnings alike: none where all is well.
 * Headers in `stubs` are the system's; a path of the source is relative to the package's folder.
 */
export function complaints(
  text: string,
  { stubs, folders, processor }: { stubs: string; folders: readonly string[]; processor: Processor },
): string[] {
  const { status, stderr } = clang(
    [
      ...[library!, '-Wall', '-Wextra', '-Werror', '-Werror=objc-method-access', '-ferror-limit=0'],
      ...(processor === 'x86_64' ? ['-DAPPLE_API_X86_64'] : []),
      ...['-isystem', stubs, ...folders.flatMap((folder) => ['-I', folder])],
    ],
    text,
  );
  const lines = stderr.split('\n').filter((line) => /\b(?:error|warning): /.test(line));
  return status === 0 || lines.length > 0 ? lines : [stderr];
}

/** clang's syntax tree of a text, with headers from the folders, the first before the others. */
export function syntaxTree(text: string, folders: readonly string[]): unknown {
  const { status, stdout, stderr } = clang(
    [...folders.flatMap((folder) => ['-isystem', folder]), '-Xclang', '-ast-dump=json'],
    text,
  );
  if (status !== 0) throw new Error(`The headers do not compile (${stderr}).`);
  return JSON.parse(stdout);
}
