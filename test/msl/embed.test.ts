// msl/embed.mjs: one text of all kernels, and the header that holds it. test/msl/check.test.ts checks that it
// compiles.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compileLibrary, embed, flatten, header } from '../../msl/embed.mjs';
import { code, list, read } from '../harness/source-text.ts';

let folder = '';
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'covarium-embed-'));
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

const kernelsOf = (text: string): string[] => [...text.matchAll(/\bkernel void (\w+)\(/g)].map(([, name]) => name!);

/** Follows #line as a compiler does: [file, line, text] of every line. */
function placed(text: string): [string, number, string][] {
  let file = 'top';
  let at = 1;
  const out: [string, number, string][] = [];
  for (const line of text.split('\n')) {
    const moved = /^#line (\d+) "([^"]+)"$/.exec(line);
    if (moved) {
      at = Number(moved[1]);
      file = moved[2]!;
    } else out.push([file, at++, line]);
  }
  return out;
}

test('Every kernel of msl is in the flattened text, once.', () => {
  const own = list('msl')
    .filter((path) => path.endsWith('.metal'))
    .flatMap((path) => kernelsOf(code(path)));
  assert.ok(own.length >= 5 && own.includes('fill_normal'));
  assert.equal(kernelsOf(flatten()).sort(), own.sort());
});

test('The only include left is metal_stdlib, first and once.', () => {
  const text = flatten();
  assert.ok(text.split('\n').slice(0, 2).includes('#include <metal_stdlib>'));
  assert.equal(text.match(/^\s*#\s*include\b.*/gm), ['#include <metal_stdlib>']);
  assert.not.match(text, /#\s*pragma\s+once/);
});

test('The namespace is used and contraction is off before the first function, because both take effect from their line on.', () => {
  const text = flatten();
  for (const line of ['using namespace metal;', '#pragma clang fp contract(off)', '#pragma METAL fp contract(off)']) {
    assert.ok(text.includes(line), line);
    assert.ok(text.indexOf(line) < text.indexOf('{'), line);
  }
  // The pragma for safe mathematics would allow contraction again.
  const last = (line: string) => text.lastIndexOf(`#pragma ${line}`);
  assert.ok(last('clang fp contract(off)') > last('METAL fp math_mode(safe)'));
  assert.ok(last('METAL fp contract(off)') > last('METAL fp math_mode(safe)'));
});

test("A compiler's message names our file and line.", () => {
  const lines = placed(flatten());
  const seen = new Set<string>();
  for (const [file, at, line] of lines) {
    if (file === 'top' || line.trim() === '') continue;
    seen.add(file);
    assert.is(read(`msl/${file}`).split('\n')[at - 1], line, `msl/${file}:${at}`);
  }
  for (const name of ['normal.metal', 'normal.h', 'philox.h', 'params.h', 'triangle.metal'])
    assert.ok(seen.has(name), name);
  // No line of a file is lost, except those that are resolved.
  for (const file of seen) {
    const resolved = /^\s*#\s*(include|pragma\s+once)\b/;
    const whole = read(`msl/${file}`)
      .split('\n')
      .filter((line) => line.trim() !== '' && !resolved.test(line));
    assert.equal(lines.filter(([name, , line]) => name === file && line.trim() !== '').length, whole.length, file);
  }
});

test('A header that is missing, or that only the standard library has, is an error.', () => {
  const kernels = join(folder, 'kernels');
  mkdirSync(kernels);
  assert.throws(() => flatten(kernels), /There is no \.metal file in the folder/);
  writeFileSync(join(kernels, 'a.metal'), '#include "gone.h"\n');
  assert.throws(() => flatten(kernels), /A header that \(a\.metal\) includes is not there \(gone\.h\)\./);
  writeFileSync(join(kernels, 'a.metal'), '#include <cmath>\n');
  assert.throws(() => flatten(kernels), /includes what the flattened one has not \(<cmath>\)/);
});

test('The header contains the whole text, in pieces that every compiler takes.', () => {
  const long = flatten() + '// what is long is cut between lines\n'.repeat(4000);
  const pieces = [...header(long).matchAll(/R"msl\(([\s\S]*?)\)msl"/g)].map(([, piece]) => piece!);
  assert.ok(pieces.length >= 3);
  assert.ok(pieces.every((piece) => Buffer.byteLength(piece) <= 60000 && piece.endsWith('\n')));
  assert.is(pieces.join(''), long);
});

test('A current header is not written again.', () => {
  const out = join(folder, 'made', 'shaders.h');
  assert.is(embed(out), true);
  utimesSync(out, 1, 1);
  assert.is(embed(out), false);
  assert.is(statSync(out).mtimeMs, 1000);
  writeFileSync(out, 'old');
  assert.is(embed(out), true);
  assert.is(readFileSync(out, 'utf8'), header(flatten(), compileLibrary(flatten())));
});

/** The library of a text if this shell script is the `xcrun` first in the PATH. */
function compiledBy(script: string): Buffer {
  const tools = mkdtempSync(join(folder, 'tools-'));
  writeFileSync(join(tools, 'xcrun'), script);
  chmodSync(join(tools, 'xcrun'), 0o755);
  const { PATH = '' } = process.env;
  process.env['PATH'] = `${tools}${delimiter}${PATH}`;
  try {
    return compileLibrary('the text');
  } finally {
    process.env['PATH'] = PATH;
  }
}

/** The bytes of a header's library, and the size that the header states. */
function libraryOf(text: string): [Buffer, number] {
  const [, bytes] = /shaderLibrary\[\] = \{([^}]*)\}/.exec(text)!;
  const [, length] = /shaderLibraryBytes = (\d+);/.exec(text)!;
  return [Buffer.from(bytes!.trim().split(/,\s*/).map(Number)), Number(length)];
}

test("Apple's compiler makes the library without fast mathematics, and the header holds it.", () => {
  const made = compiledBy(read('test/metal/softmetal/xcrun'));
  assert.is(made.toString(), 'MTLBthe text');
  const [bytes, length] = libraryOf(header('the text', made));
  assert.equal(bytes.subarray(0, length), made);
  const asked = compiledBy('#!/bin/sh\nfor each; do out=$last; last=$each; done\necho "$@" >"$out"\n').toString();
  const [, oldest] = /"MACOSX_DEPLOYMENT_TARGET": "([\d.]+)"/.exec(read('binding.gyp'))!;
  assert.match(asked, `metal -std=metal3.0 -fno-fast-math -mmacosx-version-min=${oldest} `);
});

test("If Apple's compiler is missing or fails, the header has no library.", () => {
  assert.is(compiledBy('#!/bin/sh\necho no metal >&2\nexit 72\n').length, 0);
  assert.is(libraryOf(header('the text'))[1], 0);
});

test.run();
