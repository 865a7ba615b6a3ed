// Uses clang to check Objective-C++ against headers of Apple's API: nothing is built, nothing runs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const top = fileURLToPath(new URL('../../..', import.meta.url));
const language = ['-std=c++17', '-fblocks', '-fobjc-runtime=macosx-13.0'];
const source = ['-x', 'objective-c++', '-fsyntax-only'];

function clang(args: readonly string[], input: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('clang++', [...language, ...args, '-'], { input, encoding: 'utf8', cwd: top, maxBuffer: 2 ** 30 });
}

/** Which standard library has its headers here. */
const library = ['-stdlib=libstdc++', '-stdlib=libc++'].find(
  (flag) => process.platform !== 'darwin' && clang([...source, flag], '#include <vector>\n').status === 0,
);

/** Why sources can't be checked here; undefined if they can. */
export function reason(): string | undefined {
  if (process.platform === 'darwin') return "On macOS the build itself reads Apple's headers.";
  if (library !== undefined) return undefined;
  return 'There is no clang++ with a C++ library (Debian or Ubuntu: apt-get install clang g++).';
}

/** A Mac, as far as its types differ: BOOL is a bool on arm64, a character on x86_64. */
export type Processor = 'arm64' | 'x86_64';

const readOnce = `
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
`;
const precompiled = new Map<string, readonly string[]>();

/** Flags for the system's headers, which lie in `stubs`; clang reads them once for all sources. */
function systemHeaders(stubs: string, processor: Processor): readonly string[] {
  const key = `${stubs} ${processor}`;
  const made = precompiled.get(key);
  if (made !== undefined) return made;
  const flags = [library!, ...(processor === 'x86_64' ? ['-DAPPLE_API_X86_64'] : []), '-isystem', stubs];
  const file = join(stubs, `${processor}.pch`);
  const { status, stderr } = clang(['-x', 'objective-c++-header', ...flags, '-o', file], readOnce);
  if (status !== 0) throw new Error(`The headers do not compile (${stderr}).`);
  const all = [...flags, '-include-pch', file];
  precompiled.set(key, all);
  return all;
}

/**
 * clang's errors and warnings about a source, one line each. Headers in `stubs` are the system's; a path of the
 * source is relative to the package's folder.
 */
export function complaints(
  text: string,
  { stubs, folders, processor }: { stubs: string; folders: readonly string[]; processor: Processor },
): string[] {
  const { status, stderr } = clang(
    [
      ...source,
      ...systemHeaders(stubs, processor),
      ...['-Wall', '-Wextra', '-Werror', '-Werror=objc-method-access', '-ferror-limit=0'],
      ...folders.flatMap((folder) => ['-I', folder]),
    ],
    text,
  );
  const lines = stderr.split('\n').filter((line) => /\b(?:error|warning): /.test(line));
  return status === 0 || lines.length > 0 ? lines : [stderr];
}

/** clang's syntax tree of a text, with headers from the folders, the first before the others. */
export function syntaxTree(text: string, folders: readonly string[]): unknown {
  const { status, stdout, stderr } = clang(
    [...source, ...folders.flatMap((folder) => ['-isystem', folder]), '-Xclang', '-ast-dump=json'],
    text,
  );
  if (status !== 0) throw new Error(`The headers do not compile (${stderr}).`);
  return JSON.parse(stdout);
}
