import { join } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import type { Range } from '../declarations.ts';
import { reachable } from '../reachable.ts';
import type { Signature } from '../signature.ts';
import { Edits, written } from '../tokens.ts';
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
export async function spaceErrors({ source, roots }: Signature): Promise<string | undefined> {
  const edits = new Edits();
  const kept = [...reachable(source, roots)].sort((a, b) => a.begin - b.begin);
  const functions = kept.filter(({ kind }) => kind !== 'instantiation');
  for (const declaration of functions) {
    const { begin, end, body, kind } = declaration;
    for (let at = begin; at < end; at++) if (source.isAttribute(at)) edits.drop(at, source.close[at]! + 1);
    // clang accepts a variable with an address space only if it is static.
    if (body !== undefined && kind === 'function')
      for (const { word } of threadgroupVariables(source, body)) edits.before(word, 'static');
  }
  const ranges = [...functions.map(({ begin, end }): Range => [begin, end]), ...source.frames];
  const own = written(
    source.tokens,
    ranges.sort((a, b) => a[0] - b[0]),
    edits,
  );
  const unit = `#include <metal_stdlib>\nusing namespace metal;\n${own}`;
  const include = join(headersFolder(), 'check');
  const ended = await runProgram('clang++', [...flags, '-I', include, '-'], unit);
  if (ended === undefined) return undefined;
  return linesAboutSpaces(ended.stderr);
}

/** The errors about the address space of a pointer, in Metal's words, including errors whose notes say so. */
function linesAboutSpaces(output: string): string {
  const errors = output.split(/^(?=[^\n]*: (?:fatal )?error: )/m);
  // Metal copies structs from one space to another, for which C++ has no constructor.
  const isCopy = (error: string) =>
    /^[^\n]*no (?:matching constructor|viable (?:overloaded '='|conversion))/.test(error);
  const isAbout = (error: string) =>
    !isCopy(error) &&
    (/changes address space|address space .* in \d+\w\w argument/.test(error) ||
      /(?:cannot (?:initialize|pass|bind)|assigning to)[^\n]*(?:\b(?:device|constant|threadgroup) |address_space\(\d\))[^\n]*\*/.test(
        error,
      ));
  return errors
    .filter(isAbout)
    .map((error) => error.split('\n')[0]!)
    .map((line) =>
      line.replace(/__attribute__\(\(address_space\((\d)\)\)\)/g, (whole, number: string) => spaces[number] ?? whole),
    )
    .join('\n');
}
