// The text of a kernel for an NVIDIA GPU: how Metal's words are translated, and that clang compiles it to PTX in
// which nothing is fused.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { translationUnit } from '../../../lib/kernel/cuda/translation-unit.ts';
import { Source } from '../../../lib/kernel/declarations.ts';
import { preprocess } from '../../../lib/kernel/preprocess.ts';
import { signatureOf } from '../../../lib/kernel/signature.ts';

const msl = (folder: string) => fileURLToPath(new URL(`../../../msl/${folder}`, import.meta.url));

function unitOf(text: string): string {
  const source = new Source(preprocess(text, 'kernel.metal', {}).tokens);
  return translationUnit(signatureOf(source, undefined), []);
}

function ptxOf(unit: string): { status: number | null; stdout: string; stderr: string } {
  const flags = '-x cuda --cuda-path=/nonexistent --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib';
  const more = '-nogpulib -nostdinc -nostdinc++ -std=c++17 -O3 -ffp-contract=off -w -S -Xclang -target-feature';
  const args = [...`${flags} ${more} -Xclang +ptx63`.split(' '), '-I', msl('cuda'), '-I', msl('cpu'), '-o', '-', '-'];
  return spawnSync('clang++', args, { input: unit, encoding: 'utf8' });
}

test('Numbers without a suffix are floats, in code and in macros.', () => {
  const unit = unitOf(`#define HALF 0.5
kernel void f(device float* x) { x[0] = 1. + .25 + 1e3 + 2.5f + x[1] * 0x1.8p1 + HALF + 2 + 0x1E; }`);
  assert.match(unit.replace(/ +/g, ' '), 'x[0] = 1.f + .25f + 1e3f + 2.5f + x[1] * 0x1.8p1f + 0.5f + 2 + 0x1E; }');
});

test('The compiler knows constants of the text; parameters are not changed.', () => {
  const unit = unitOf(`constant float table[2] = {1, 2};
constant int count = 3;
float g(constant float* p) { return p[0]; }
kernel void f(device float* x, constant float& k) { x[0] = table[0] + g(&k); }`);
  assert.match(unit, /constexpr +float table\[2\]/);
  assert.not.match(unit, 'count'); // nothing uses it
  assert.match(unit, /float g\(const +float\* p\)/);
});

test('Variables in threadgroup memory are shared, on their lines.', () => {
  const unit = unitOf('kernel void f(device float* x) {\n  threadgroup float a[4],\n    b;\n  x[0] = a[0];\n}');
  assert.match(unit, /__shared__ +float a\[4\],\n +b;\n +x\[0\]/);
});

const words = `#include <metal_stdlib>
using namespace metal;
struct Step { float3 by; uint times; packed_float3 more; };
constant float table[3] = {1, 2.5, 3};
kernel void f(device float4* out, constant Step& s, device atomic_uint* count, threadgroup float* parts,
              uint3 i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
              ushort2 group [[threadgroup_position_in_grid]]) {
  threadgroup float own[32];
  own[lane] = s.by.z * table[i.x % 3] + parts[lane];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i.x].zyx = float3(own[lane ^ 1], sqrt(own[0]), s.by.x / s.more[1]) * 0.1;
  out[i.x].w = simd_sum(own[lane]) + simd_shuffle_xor(own[lane], 1) + quad_max(own[lane]) + group.y;
  if (simd_any(own[lane] > 1)) atomic_fetch_max_explicit(count, popcount(i.y), memory_order_relaxed);
}`;

const isClang = spawnSync('clang++', ['--version']).status === 0;
if (!isClang) console.log('skipped  clang makes PTX of the words of Metal (clang++ is not installed)');
(isClang ? test : test.skip)('Clang makes PTX of the words of Metal, in which every operation is rounded once.', () => {
  const { status, stdout, stderr } = ptxOf(unitOf(words));
  assert.is(status, 0, stderr);
  assert.match(stdout, '.visible .entry covarium_kernel(');
  // The layout of Step: 32 bytes, aligned to 16, with `times` at 16 and `more` at 20.
  assert.match(
    stdout,
    /covarium_layout\[\d+\] = \{16, 0, 0, 0, 16, 0, 0, 0, 32, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 16,/,
  );
  for (const operation of stdout.match(/\b(?:add|sub|mul|div|sqrt|fma)\.[\w.]*f32/g)!)
    assert.match(operation, /^(?:add|sub|mul|div|sqrt)\.rn\.f32$/);
  for (const word of ['bar.sync', 'shfl.sync.idx', 'atom.max.u32', 'vote.sync.ballot']) assert.match(stdout, word);
});

(isClang ? test : test.skip)("A mistake is reported at the line in the user's text.", () => {
  const { status, stderr } = ptxOf(unitOf(words.replace('parts[lane];', 'part[lane];')));
  assert.is.not(status, 0);
  assert.match(stderr, /kernel\.metal:9:\d+: error: .*'part'/);
});

test.run();
