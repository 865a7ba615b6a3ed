// Makes one source text of all kernels, and a C++ header that holds it: node msl/embed.mjs OUT.h
// newLibraryWithSource: takes one text and has no folder for headers, so our own headers are written into it, each
// once. If Apple's compiler is installed, the header also holds what it makes of the text.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const msl = fileURLToPath(new URL('.', import.meta.url));

// A template looks its names up where it stands, and a pragma holds from where it stands. So both come before the
// first header of ours, which promises bits too. Compilers before Metal 3.2 don't know the METAL pragmas. Safe
// mathematics allows contraction again, so contraction is forbidden after it, by both pragmas.
const head = `#pragma clang diagnostic ignored "-Wunknown-pragmas"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#pragma clang fp contract(off)
`;

/** Bytes of one literal: compilers must take 65,536 characters, and concatenate neighbours. */
const literalBytes = 60000;

/**
 * The text of all .metal files of a folder, in the order of their names; a compiler's messages name our files and
 * lines.
 */
export function flatten(folder = msl) {
  const inlined = new Set();
  const textOf = (name, from) => {
    const path = join(folder, name);
    if (!existsSync(path)) throw new Error(`A header that (${from}) includes is not there (${name}).`);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const out = lines.map((line, index) => {
      const include = /^\s*#\s*include\s*(?:<([^>]*)>|"([^"]*)")/.exec(line);
      if (/^\s*#\s*pragma\s+once\b/.test(line) || include?.[1] === 'metal_stdlib') return '';
      if (!include) return line;
      const [, system, own] = include;
      if (own === undefined) throw new Error(`A kernel's text includes what the flattened one has not (<${system}>).`);
      if (inlined.has(own)) return '';
      inlined.add(own);
      return `${textOf(own, name)}#line ${index + 2} "${name}"`;
    });
    return `#line 1 "${name}"\n${out.join('\n')}\n`;
  };
  const files = readdirSync(folder).filter((name) => name.endsWith('.metal'));
  if (files.length === 0) throw new Error(`There is no .metal file in the folder (${folder}).`);
  return (
    head +
    files
      .sort()
      .map((name) => textOf(name, name))
      .join('')
  );
}

// As newLibrary (objc/metal/library.mm) compiles the text, for the oldest system that binding.gyp names.
const flags = ['-std=metal3.0', '-fno-fast-math', '-mmacosx-version-min=13.3', '-w'];

/** The .metallib that Apple's compiler makes of the text; no bytes if that compiler is missing. */
export function compileLibrary(text) {
  const scratch = mkdtempSync(join(tmpdir(), 'covarium-'));
  const [source, library] = [join(scratch, 'covarium.metal'), join(scratch, 'covarium.metallib')];
  try {
    writeFileSync(source, text);
    const args = ['-sdk', 'macosx', 'metal', ...flags, '-o', library, source];
    const { status, stderr, error } = spawnSync('xcrun', args, { encoding: 'utf8' });
    if (status === 0) return readFileSync(library);
    const why = (stderr ?? String(error)).trim().split('\n')[0];
    if (error?.code !== 'ENOENT') console.error(`The kernels will be compiled when a Metal device is opened: ${why}`);
    return Buffer.alloc(0);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** A C++ header with the text as `covarium::metal::shaderSource`, and its .metallib as `shaderLibrary`. */
export function header(text, library = Buffer.alloc(0)) {
  const pieces = [];
  let piece = '';
  for (const line of text.split(/(?<=\n)/)) {
    if (Buffer.byteLength(piece + line) > literalBytes) pieces.push(piece);
    piece = Buffer.byteLength(piece + line) > literalBytes ? line : piece + line;
  }
  pieces.push(piece);
  return `// Made by msl/embed.mjs from msl/*.metal.
#pragma once

namespace covarium::metal {

inline constexpr char shaderSource[] =
${pieces.map((each) => `R"msl(${each})msl"`).join('\n')};

inline constexpr unsigned long shaderLibraryBytes = ${library.length};
inline constexpr unsigned char shaderLibrary[] = {
${[...library, 0].join(',').replace(/((?:\d+,){24})/g, '$1\n')}
};

}  // namespace covarium::metal
`;
}

/** Writes the header if it is missing or differs, so that nothing is rebuilt needlessly. Returns whether it wrote. */
export function embed(out, folder = msl) {
  const source = flatten(folder);
  const text = header(source, compileLibrary(source));
  if (existsSync(out) && readFileSync(out, 'utf8') === text) return false;
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, text);
  return true;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out] = process.argv.slice(2);
  if (!out) throw new Error('The header to write is not named: node msl/embed.mjs OUT.h.');
  embed(out);
}
