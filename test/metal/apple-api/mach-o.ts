// Compiles and links for a Mac with Apple silicon, on Linux: clang and ld64.lld write Mach-O files. Apple's frameworks
// are declared by stub-headers.ts, the C and C++ libraries by Linux's headers for arm64; nothing is run.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder } from './metadata.ts';

const top = fileURLToPath(new URL('../../..', import.meta.url));
const require = createRequire(import.meta.url);

function run(program: string, args: readonly string[], input?: string): { status: number | null; stderr: string } {
  return spawnSync(program, args, {
    cwd: top,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    ...(input !== undefined && { input }),
  });
}

const gcc = process.arch === 'arm64' ? 'g++' : 'aarch64-linux-gnu-g++';
const linker = ['ld64.lld', 'ld64.lld-14', 'ld64.lld-18'].find((name) => run(name, ['--version']).status === 0);

/** The folders of Linux's headers for arm64, without those that belong to GCC itself. */
function systemFolders(): string[] {
  const [, found = ''] =
    /<\.\.\.> search starts here:\n([\s\S]*?)^End/m.exec(run(gcc, ['-E', '-v', '-x', 'c++', '-'], '').stderr) ?? [];
  const folders = found.split('\n').map((line) => resolve(line.trim()));
  return folders.filter((folder) => folder.includes('/include') && !/\/lib\/gcc/.test(folder));
}

/** Why nothing can be compiled for a Mac here; undefined if it can. */
export function reason(): string | undefined {
  if (process.platform !== 'linux') return 'On a Mac the build itself does it.';
  const missing = ['clang++', gcc].find((name) => run(name, ['--version']).status !== 0);
  if (missing !== undefined) return `${missing} is not there (Debian or Ubuntu: clang, g++-aarch64-linux-gnu).`;
  return linker === undefined ? 'ld64.lld is not there (Debian or Ubuntu: lld).' : undefined;
}

/** A compiler with the flags of a makefile: `headers` are in place of Apple's, `made` is what the build generates. */
export class Compiler {
  readonly #flags: readonly string[];
  readonly #precompiled = new Map<string, string>();
  readonly #folder: string;

  constructor(flags: readonly string[], { headers, made }: { headers: string; made: string }) {
    // Those of a Mac's own tools are replaced; optimizing would take three times as long.
    const own = flags.filter((flag) => !/^(?:-O\w|-g\S*|-arch|arm64|-mmacosx\S*|-stdlib\S*)$/.test(flag));
    this.#folder = made;
    this.#flags = [
      ...['--target=arm64-apple-macos13.3', '-O0', '-fblocks', '-nostdinc++', '-nostdlibinc', '-isystem', headers],
      // Linux's headers use the name of a macro that clang has for a Mac, and with 64 bits for offsets other functions.
      ...[...systemFolders().flatMap((each) => ['-isystem', each]), '-D_GNU_SOURCE', '-U__nonnull'],
      ...['node-addon-api', 'node-api-headers'].flatMap((name) => ['-isystem', require(name).include_dir]),
      ...['-Imsl', '-Imsl/cpu', '-I', made, ...own, '-U_FILE_OFFSET_BITS', '-Werror', '-Werror=objc-method-access'],
    ];
  }

  /** Compiles a source. Returns what clang says: nothing, if it made the object. */
  compile(source: string, object: string): string {
    const language = source.endsWith('.mm') ? 'objective-c++' : 'c++';
    // The kernels have hardly any headers.
    const before = source.includes('/simd/') ? [] : this.#systemHeaders(language);
    const { status, stderr } = run('clang++', [...this.#flags, ...before, '-x', language, '-c', source, '-o', object]);
    return status === 0 ? '' : stderr || 'No compiler runs.';
  }

  /** The system's headers, which clang reads once for all sources of a language. */
  #systemHeaders(language: string): readonly string[] {
    // Node's headers are for the addon alone, which is plain C++.
    const own = language === 'c++' ? [] : ['-UNAPI_VERSION'];
    let file = this.#precompiled.get(language);
    if (file === undefined) {
      file = join(this.#folder, `${language}.pch`);
      const kits = ['Metal/Metal', 'MetalPerformanceShaders/MetalPerformanceShaders'].map(
        (kit) => `#import <${kit}.h>\n`,
      );
      const text = `#include "test/metal/softmetal/precompiled.h"\n${language === 'c++' ? '' : kits.join('')}`;
      const args = [...this.#flags, ...own, '-fpch-instantiate-templates', '-x', `${language}-header`, '-', '-o', file];
      const { status, stderr } = run('clang++', args, text);
      if (status !== 0) throw new Error(`The headers do not compile (${stderr}).`);
      this.#precompiled.set(language, file);
    }
    return [...own, '-include-pch', file];
  }
}

/** Links objects. Returns the symbols that none of them defines, and what else the linker says. */
export function link(objects: readonly string[]): { undefined: string[]; complaints: string[] } {
  const target = ['-arch', 'arm64', '-platform_version', 'macos', '13.3', '13.3', '-bundle', '-o', '/dev/null'];
  const { stderr } = run(linker!, [...target, '--error-limit=0', ...objects]);
  const lines = stderr.split('\n').filter((line) => /\b(?:error|warning): /.test(line));
  const found = lines.map((line) => /error: undefined symbol: (.*)$/.exec(line)?.[1]);
  return {
    undefined: [...new Set(found.filter((name) => name !== undefined))],
    complaints: lines.filter((_, index) => found[index] === undefined),
  };
}

// The C++ library, and what the compiler's own runtime and the language's libraries have.
const language = new RegExp(
  `^_(?:_Z(?:T[ISV])?(?:N?K?S[a-z]|NK?St|N10__cxxabiv1)\\S*|_Z(?:d[al]|n[aw])\\w+|__cxa_\\w+|_tlv_\\w+|${[
    ...[
      '_Unwind_Resume',
      '__dynamic_cast',
      '__gxx_personality_v0',
      '__stack_chk_(?:fail|guard)',
      '_NSConcreteStackBlock',
    ],
    ...['__isPlatformVersionAtLeast', '__CFConstantStringClassReference', 'objc_\\w+', '_Block_(?:copy|release)'],
  ].join('|')})$|^dyld_stub_binder$`,
);
// What Linux's headers make of names that a Mac has, too: errno, stderr, and the threads of GCC's C++ library.
const ofLinux =
  /^_(?:__errno_location|__libc_single_threaded|__pthread_key_create|_setjmp|stderr|environ|bzero|tolower)$|^memchr$/;

/**
 * A test whether a Mac has a symbol: Node has it, or a framework of `frameworks`, or the system. The package's
 * declarations say which framework has a class or function, and Runtime is the system.
 */
export function availability(frameworks: readonly string[]): (symbol: string) => boolean {
  const names = new Set<string>();
  for (const name of ['Runtime', ...frameworks]) {
    const text = readFileSync(join(packageFolder, 'types', `${name}.d.ts`), 'utf8');
    for (const [, kind, each] of text.matchAll(/^declare (?:abstract )?(class|function) (\w+)/gm))
      names.add(kind === 'class' ? `_OBJC_CLASS_$_${each}` : `_${each}`);
  }
  const { node_api_symbols: node, js_native_api_symbols: script } = require('node-api-headers').symbols.v8;
  for (const each of [...node, ...script]) names.add(`_${each}`);
  return (symbol) => names.has(symbol) || language.test(symbol) || ofLinux.test(symbol);
}
