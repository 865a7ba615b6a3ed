// Finds mistakes in kernels with clang: `mistakes(folder)` checks the text that msl/embed.mjs makes from a folder's
// .metal files.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { flatten } from '../../../msl/embed.mjs';
import { brokenLaws } from './laws.ts';
import { namelessSpaces } from './spaces.ts';

const include = fileURLToPath(new URL('../../../msl/check', import.meta.url));

// A target that has half, and no standard library that clang could find by mistake.
const flags = [
  ...['-x', 'c++', '-std=c++14', '--target=arm64-apple-macos13.3', '-nostdinc', '-nostdinc++', '-I', include],
  ...['-Wall', '-Wextra', '-pedantic', '-Wdouble-promotion', '-Werror', '-Wno-unused-command-line-argument'],
  ...['-Wno-unknown-pragmas', '-Wno-unknown-attributes', '-ferror-limit=0'],
];

/** Why the check can't be made here; undefined if it can. */
export function reason(): string | undefined {
  if (spawnSync('clang++', ['--version']).status === 0) return undefined;
  return 'There is no clang++ (Debian or Ubuntu: apt-get install clang).';
}

/** In MSL `threadgroup` is an attribute too, but clang's preprocessor would read it as the address space. */
const forClang = (text: string): string => text.replaceAll('[[threadgroup(', '[[threadgroup_memory(');

function clang(text: string, more: readonly string[]): { ok: boolean; stdout: string; errors: string[] } {
  const { status, stdout, stderr } = spawnSync('clang++', [...flags, ...more, '-'], {
    input: forClang(text),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  return { ok: status === 0, stdout, errors: stderr.split('\n').filter((line) => /\berror: /.test(line)) };
}

/** Everything that Apple's compiler or our own rules would refuse, one line each. */
export function mistakes(folder?: string): string[] {
  const text = flatten(folder);
  const asMetal = clang(text, ['-fsyntax-only']);
  // One dialect has no address spaces: overloads that differ only in them collide there.
  const plain = clang(text, ['-fsyntax-only', '-DMSL_CHECK_PLAIN']);
  const collisions = plain.errors.filter((line) => /redefinition|redeclared|ambiguous/.test(line));
  const { stdout } = clang(text, ['-fsyntax-only', '-DMSL_CHECK_THREAD', '-Xclang', '-ast-dump=json']);
  return [...asMetal.errors, ...collisions, ...namelessSpaces(JSON.parse(stdout)), ...brokenLaws(folder)];
}

/** How many multiply-adds the front end would fuse in a text whose compiler may fuse within an expression. */
export function fusions(text: string): number {
  const { ok, stdout, errors } = clang(text, ['-S', '-emit-llvm', '-O0', '-ffp-contract=on', '-o', '-']);
  if (!ok) throw new Error(`The text does not compile (${errors.join('\n')}).`);
  return [...stdout.matchAll(/ call .*@llvm\.fmuladd/g)].length;
}
