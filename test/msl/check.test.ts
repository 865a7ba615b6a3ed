// The kernels are Metal Shading Language: C++14 with address spaces, checked by clang with a metal_stdlib that only
// has declarations. Each planted mistake shows that mistakes of its kind are found.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { flatten } from '../../msl/embed.mjs';
import { fusions, mistakes, reason } from './check/check.ts';
import { namesNoSpace } from './check/spaces.ts';

const msl = fileURLToPath(new URL('../../msl', import.meta.url));
const why = reason();
const whereItRuns = (sentence: string, check: () => void): void => {
  if (why === undefined) test(sentence, check);
  else test.skip(sentence);
};
if (why !== undefined) console.log(`skipped  the MSL check: ${why}`);

let folder = '';
let made = 0;
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'covarium-msl-'));
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with our headers and the named kernels. */
function copyOf(...names: readonly string[]): string {
  const to = join(folder, `${made++}`);
  mkdirSync(to);
  for (const name of readdirSync(msl))
    if (name.endsWith('.h') || names.includes(name)) cpSync(join(msl, name), join(to, name));
  return to;
}

/** What the check reports for a kernel with our headers. */
function mistakesWith(text: string): string[] {
  const to = copyOf();
  writeFileSync(join(to, 'planted.metal'), `#include <metal_stdlib>\n\n#include "dialect.h"\n\n${text}\n`);
  return mistakes(to);
}

/**
 * What the check reports for each of these texts, by its index. Each is a separate file with its own names; all are
 * checked together at the first request, since the check starts clang three times.
 */
function foundInEach(texts: readonly string[]): (index: number) => readonly string[] {
  let all: readonly string[] | undefined;
  return (index) => {
    if (all === undefined) {
      const to = copyOf();
      for (const [k, text] of texts.entries()) {
        const own = text.replace(/\b(?:planted|f|S|one|Pair)\b/g, (name) => `${name}${k}`);
        writeFileSync(join(to, `planted${k}.metal`), `#include <metal_stdlib>\n\n#include "dialect.h"\n\n${own}\n`);
      }
      all = mistakes(to);
    }
    return all.filter((each) => each.includes(`planted${index}.metal:`));
  };
}

/** What the check reports for normal.metal if the text of one file is changed. */
function mistakesAfter(name: string, from: string, by: string): string[] {
  const to = copyOf('normal.metal');
  const text = readFileSync(join(to, name), 'utf8');
  assert.is.not(text.replace(from, by), text, 'the mistake is planted');
  writeFileSync(join(to, name), text.replace(from, by));
  return mistakes(to);
}

whereItRuns('The text that newLibraryWithSource: compiles has no mistake.', () => {
  assert.equal(mistakes(), []);
});

for (const name of readdirSync(msl).filter((each) => each.endsWith('.metal')))
  whereItRuns(`msl/${name} alone has no mistake: it includes what it uses.`, () => {
    assert.equal(mistakes(copyOf(name)), []);
  });

whereItRuns('Nothing may fuse in the text; without its pragma, a multiplication and an addition would.', () => {
  const bait = 'float bait(float a, float b, float c) { return a * b + c; }\n';
  assert.is(fusions(flatten() + bait), 0);
  assert.ok(fusions(flatten().replaceAll('#pragma clang fp contract(off)', '') + bait) > 0);
});

// Each kernel has one mistake, which is reported at its line.
const right =
  'kernel void planted(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 1.0f; }';
whereItRuns('A correct kernel is not reported.', () => {
  assert.equal(mistakesWith(right), []);
});

const line = /planted\d+\.metal:\d+:(?:\d+:)? (?:fatal )?error: /;
const inKernel = (statement: string) => right.replace('out[i] = 1.0f;', statement);
const planted: readonly (readonly [string, string, RegExp])[] = [
  [
    'A kernel argument without an address space',
    right.replace('device ', ''),
    /names no address space \(float \* out\)/,
  ],
  [
    'A reference without an address space',
    'inline float f(float& x) { return x; }',
    /names no address space \(float & x\)/,
  ],
  [
    'A local pointer without an address space',
    inKernel('float x = 1.0f; float* p = &x; out[i] = *p;'),
    /names no address space \(float \* p\)/,
  ],
  [
    'A result without an address space',
    'template <typename T>\ninline T* f(device T* x) { return (T*)x; }',
    /result names no address space/,
  ],
  ['A member without an address space', 'struct S {\n  float* p;\n};', /names no address space \(float \* p\)/],
  [
    'A device pointer passed for a threadgroup pointer',
    `inline void f(threadgroup float* x) { *x = 0.0f; }\n${inKernel('f(out);')}`,
    /no matching function/,
  ],
  [
    'A device pointer passed for a pointer of the thread',
    `inline void f(thread float* x) { *x = 0.0f; }\n${inKernel('f(out);')}`,
    /no matching function/,
  ],
  [
    'A device pointer assigned to a threadgroup pointer',
    inKernel('threadgroup float* p = out; *p = 1.0f;'),
    /cannot initialize .*'threadgroup float \*'/,
  ],
  ['A write through constant', right.replace('device float* out', 'constant float* out'), /const-qualified|read-only/],
  [
    'A variable outside of functions that is not in constant',
    `static const float one = 1.0f;\n${inKernel('out[i] = one;')}`,
    /not in constant/,
  ],
  ['A hexadecimal float', inKernel('out[i] = 0x1p-3f;'), /hexadecimal floating/],
  ['A double', inKernel('double x = 1.0f; out[i] = float(x);'), /poisoned/],
  ['A double literal', inKernel('out[i] = out[i] * 0.5;'), /double/],
  [
    'constant const',
    right.replace('uint i', 'constant const float& x [[buffer(1)]], uint i').replace('1.0f', 'x'),
    /duplicate 'const'/,
  ],
  [
    'An overload on an address space',
    'inline float f(device float* x) { return *x; }\ninline float f(threadgroup float* x) { return *x; }',
    /redefinition of 'f\d+'/,
  ],
  [
    'An overload on device const and constant',
    'inline float f(device const float* x) { return *x; }\ninline float f(constant float* x) { return *x; }',
    /redefinition of 'f\d+'/,
  ],
  ['if constexpr', inKernel('if constexpr (sizeof(float) == 4) out[i] = 1.0f;'), /C\+\+17 extension/],
  [
    'Structured bindings',
    `struct Pair {\n  float a, b;\n};\n${inKernel('Pair pair = {1.0f, 2.0f};\n  const auto [a, b] = pair;\n  out[i] = a + b;')}`,
    /C\+\+17 extension/,
  ],
  ['A function of libm', inKernel('out[i] = std::sqrt(2.0f);'), /poisoned/],
  ['A C function', inKernel('out[i] = sqrtf(2.0f);'), /undeclared identifier 'sqrtf'/],
  ['A function with a float for an integer', inKernel('out[i] = float(mulhi(out[i], out[i]));'), /ambiguous/],
  [
    'A variable named half',
    inKernel('uint half = i; out[i] = float(half);'),
    /cannot combine with previous 'uint'|expected/,
  ],
  [
    'A variable named quad',
    inKernel('uint quad = i; out[i] = float(quad);'),
    /cannot combine with previous 'uint'|expected/,
  ],
  ['An exception', inKernel('throw 1;'), /poisoned/],
  ['A name that is not declared', inKernel('out[i] = normal(i);'), /undeclared identifier/],
  ['Code that says nothing', inKernel('uint unused = i; out[0] = 1.0f;'), /unused variable/],
];
const foundOf = foundInEach(planted.map(([, text]) => text));
for (const [index, [what, , expected]] of planted.entries())
  whereItRuns(`${what} is found.`, () => {
    const all = foundOf(index);
    assert.ok(
      all.some((each) => line.test(each) && expected.test(each)),
      all.join('\n') || 'nothing is found',
    );
  });

const inArguments: readonly (readonly [string, string, RegExp])[] = [
  ['An argument without its index', right.replace(' [[buffer(0)]]', ''), /the argument has not one attribute/],
  ['An index that is not said', right.replace('[[buffer(0)]]', '[[buffer]]'), /has no \[\[buffer\(n\)\]\]/],
  [
    'An index taken twice',
    right.replace('uint i', 'device float* more [[buffer(0)]], uint i').replace('1.0f', 'more[i]'),
    /the index is taken/,
  ],
  ['Threadgroup memory as a buffer', right.replace('device', 'threadgroup'), /has no \[\[threadgroup\(n\)\]\]/],
  ['A place that is none', right.replace('in_grid', 'in_grids'), /names no place of a thread/],
  ['A place that is signed', right.replace('uint i', 'int i'), /is a uint or ushort/],
  [
    'Places of two lengths',
    right.replace('uint i', 'uint2 lane [[thread_position_in_threadgroup]], uint i').replace('1.0f', 'float(lane.x)'),
    /different types \(uint2, uint\)/,
  ],
  [
    'A simdgroup place with two components',
    right.replace('uint i', 'uint2 w [[threads_per_simdgroup]], uint i').replace('1.0f', 'float(w.x)'),
    /the place is a scalar/,
  ],
  [
    'A kernel that gives something back',
    right.replace('void', 'float').replace('out[i] =', 'return out[i] ='),
    /gives something back \(float\)/,
  ],
];
const foundInArgumentsOf = foundInEach(inArguments.map(([, text]) => text));
for (const [index, [what, , expected]] of inArguments.entries())
  whereItRuns(`${what} is found.`, () => {
    const all = foundInArgumentsOf(index);
    const isFound = all.some((each) => /^planted\d+\.metal: planted\d+: error: /.test(each) && expected.test(each));
    assert.ok(isFound, all.join('\n') || 'nothing is found');
  });

whereItRuns('A text that lacks its pragma, has it in a comment or too late is found.', () => {
  const pragma = '#pragma METAL fp contract(off)';
  for (const instead of ['', `// ${pragma}`, `inline float one() { return 1.0f; }\n${pragma}`]) {
    const found = mistakesAfter('dialect.h', pragma, instead);
    assert.is(found.length, 1, found.join('\n'));
    assert.match(found[0]!, /^normal\.metal: error: the text lacks its pragma/);
  }
});

whereItRuns('A mistake in a header is reported with its name and line.', () => {
  const to = copyOf('normal.metal');
  const path = join(to, 'philox.h');
  const lines = readFileSync(path, 'utf8').split('\n');
  const at = lines.findIndex((each) => each.includes('struct PhiloxBlock'));
  lines.splice(at, 1, 'structure PhiloxBlock {');
  writeFileSync(path, lines.join('\n'));
  assert.ok(mistakes(to).some((each) => each.startsWith(`philox.h:${at + 1}:`)));
});

test('Every level of a pointer names its space.', () => {
  for (const type of ['device float *', 'float', 'const __attribute__((address_space(2))) Params &', 'thread T &&'])
    assert.not(namesNoSpace(type), type);
  assert.not(namesNoSpace('device float *thread *'));
  for (const type of ['float *', 'const Params &', 'T &&', 'device float **', 'float *device *'])
    assert.ok(namesNoSpace(type), type);
});

test.run();
