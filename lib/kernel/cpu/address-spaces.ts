import { join } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import { replaced } from '../source.ts';
import { runProgram } from './compiler.ts';
import { threadgroupVariables } from './threadgroup-variables.ts';

// The cpu device has one memory, so its compiler accepts a threadgroup pointer in place of a device pointer; Metal does
// not. clang can tell them apart: msl/check/metal_stdlib defines Metal's words as address spaces. It knows fewer
// functions than Metal, so only clang's errors about the address space of a pointer count.

const flags = [
  ...['-x', 'c++', '-std=c++14', '--target=arm64-apple-macos13.3', '-nostdinc', '-nostdinc++', '-fsyntax-only'],
  ...['-w', '-ferror-limit=0', '-fno-caret-diagnostics', '-fdiagnostics-color=never'],
];

const spaces: { readonly [number: string]: string } = { 1: 'device', 2: 'constant', 3: 'threadgroup' };

/** The compiler's lines about address spaces that Metal would refuse; undefined if clang++ is not installed. */
export async function spaceErrors(text: string): Promise<string | undefined> {
  // clang accepts a variable with an address space only if it is static.
  const words = threadgroupVariables(text).map(({ word }) => ({ begin: word, end: word, by: 'static ' }));
  const own = replaced(text, words).replaceAll('[[threadgroup(', '[[threadgroup_memory(');
  const unit = `#include <metal_stdlib>\nusing namespace metal;\n${own}`;
  const include = join(headersFolder(), 'check');
  const ended = await runProgram('clang++', [...flags, '-I', include, '-'], unit);
  if (ended === undefined) return undefined;
  return linesAboutSpaces(ended.stderr);
}

/** The errors about the address space of a pointer, in Metal's words, including errors whose notes say so. */
function linesAboutSpaces(output: string): string {
  const errors = output.split(/^(?=[^\n]*: (?:fatal )?error: )/m);
  const isAbout = (error: string) =>
    /changes address space|address space .* in \d+\w\w argument/.test(error) ||
    /(?:cannot (?:initialize|pass|bind)|assigning to)[^\n]*(?:\b(?:device|constant|threadgroup) |address_space\(\d\))[^\n]*\*/.test(
      error,
    );
  return errors
    .filter(isAbout)
    .map((error) => error.split('\n')[0]!)
    .map((line) =>
      line.replace(/__attribute__\(\(address_space\((\d)\)\)\)/g, (whole, number: string) => spaces[number] ?? whole),
    )
    .join('\n');
}
