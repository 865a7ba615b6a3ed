// Kernels whose threads wait at barriers run as loops over the threads of a group, if that is correct: they give the
// same as check mode, which runs each thread separately.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, type Kernel, openDevice } from '../../../lib/index.ts';
import { compilerAt, flagsOf } from '../../../lib/kernel/cpu/compiler.ts';
import { translationUnit } from '../../../lib/kernel/cpu/translation-unit.ts';
import { Source } from '../../../lib/kernel/declarations.ts';
import { preprocess } from '../../../lib/kernel/preprocess.ts';
import { signatureOf } from '../../../lib/kernel/signature.ts';
import { onNative } from '../../harness/on-native.ts';

const barrier = 'threadgroup_barrier(mem_flags::mem_threadgroup);';

const textOf = (body: string, before = '') => `#include <metal_stdlib>
using namespace metal;
constant uint four = 4;
${before}
kernel void f(device uint* out [[buffer(0)]], device const uint* in [[buffer(1)]], constant uint& n [[buffer(2)]],
              uint3 at [[thread_position_in_grid]], uint3 inGroup [[thread_position_in_threadgroup]],
              uint i [[thread_index_in_threadgroup]], uint3 size [[threads_per_threadgroup]],
              uint3 group [[threadgroup_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  threadgroup uint t[64];
  const uint x = (at.z * grid.y + at.y) * grid.x + at.x;
${body}
}`;

function isInLoops(text: string): boolean {
  const source = new Source(preprocess(text, 'kernel.metal', {}).tokens);
  return translationUnit([signatureOf(source, undefined)], [], false).includes('covarium_group_0');
}

/** Bodies of kernels, and whether they run in loops; what each thread writes to `out` is compared with check mode. */
const bodies: { readonly [what: string]: readonly [isInLoops: boolean, body: string, before?: string] } = {
  'a variable that lives across a barrier': [
    true,
    `uint own = in[x] * 3; t[i] = own; ${barrier} own += t[0]; out[x] = own;`,
  ],
  'a loop of the group with a barrier': [
    true,
    `t[i] = in[x]; ${barrier}
    for (uint step = 32; step > 0; step >>= 1) {
      uint other = 0;
      if (i + step < size.x * size.y * size.z) other = t[i + step];
      ${barrier}
      t[i] += other;
      ${barrier}
    }
    out[x] = t[0] + i;`,
  ],
  'arrays, vectors and several variables of a statement': [
    true,
    `uint a[2][2] = {{1, 2}, {i, 4}}, b = i, c(5); uint4 v(b, c, n, 1); uint2 w = uint2(3); device const uint* p = in + x;
    int2 bits{1, int(i)};
    t[i] = a[1][0] + v.z; ${barrier} a[0][1] += t[0]; v.xy += w; b++; ++c; p += 1 - 1;
    ${barrier} out[x] = a[0][1] + a[1][0] + v.x * 10 + v.y + b + c + p[0] + bits.y;`,
  ],
  'a cast of what a pointer points to': [
    true,
    `out[x] = 4; const uint a = (uint)*(out + x) + i; const uint b = (n) * i; t[i] = 0; out[x] = 0;
    ${barrier} out[x] += a + b + t[0];`,
  ],
  'elements of an array that are read behind writes of them': [
    true,
    `uint r[3] = {group.x % 3u, 1u, i}; uint2 q(r[0], 5u); r[2] = r[2] % (r[1] + 1u); t[i] = i; ${barrier}
    r[i % 2] += 1; out[x] = r[0] + r[1] * 3 + r[2]; out[x] = out[x] * 5u + q.x + q.y;`,
  ],
  'a counter with the name of a variable': [
    false,
    `const uint own = i; uint sum = 0;
    for (uint own = 0; own < four; ++own) { t[i] = own + i; ${barrier} sum += t[0] + own; ${barrier} } out[x] = sum + own;`,
  ],
  'a threadgroup variable with the name of another': [
    false,
    `const uint own = i; t[i] = own; ${barrier}
    { threadgroup uint own; if (i == 0) own = 9; ${barrier} out[x] = own + t[i]; ${barrier} } out[x] += own;`,
  ],
  'blocks in blocks': [
    true,
    `uint k = i; { uint k3 = 5; t[i] = k3 + i; ${barrier} { const uint k2 = k * 2; ${barrier} out[x] += k2 + t[0]; } k = k3; }
    ${barrier} out[x] += k;`,
  ],
  'positions that each loop computes again': [
    true,
    `const uint row = (inGroup.z * size.y + inGroup.y) * size.x + inGroup.x, far = row + group.x * 100; const uint most = max(n, four);
    t[row] = far; ${barrier} for (uint k = 0; k < most; k += 2) { out[x] += t[(row + k) % (size.x * size.y * size.z)]; ${barrier} }
    out[x] += far + most;`,
  ],
  'types and constants of the body': [
    true,
    `using T = uint; typedef uint U; constexpr T two = 2; struct Both { T a; U b; }; constexpr uint list[two] = {3, 4};
    Both both = {i, 2}; t[i] = both.a + list[1]; ${barrier} T sum[2] = {t[0], both.b}; ${barrier} out[x] = sum[0] + sum[1] + list[0];`,
  ],
  'a simdgroup barrier, and functions that do not wait': [
    true,
    `t[i] = twice(i); simdgroup_barrier(mem_flags::mem_threadgroup); uint own = i; add(own, 4); ${barrier} out[x] = own + t[i];`,
    'uint twice(uint v) { return 2 * v; } void add(thread uint& v, uint by) { v += by; }',
  ],
  'a loop whose threads go different ways without a barrier': [
    true,
    `uint sum = 0; for (uint k = i; k < 64; k += size.x) { if (k == 50) break; sum += k; } t[i] = sum; ${barrier} out[x] = t[0] + sum;`,
  ],
  'changes in parentheses, through an address and of a chosen variable': [
    true,
    `uint a = i, b = i, c = i, d = i; uint2 v = uint2(i); (a)++; (b) = 7; (i < 2 ? a : c) = 9; *(thread uint*)&d = 5;
    (v).x = 3; t[i] = a; ${barrier} out[x] = t[0] + a + 10 * b + 100 * c + 1000 * d + v.x;`,
  ],
  'arguments that are changed': [
    true,
    `uint a = i, b = i, c = i, d = i; add<uint>(a); Adds::to(b); add((c)); auto f = [](thread uint& v) { v += 7; };
    f(d); t[i] = a; ${barrier} out[x] = t[0] + a + 100 * b + 10000 * c + 1000000 * d;`,
    `template <typename T> void add(thread T& v) { v += 7; }
    struct Adds { static void to(thread uint& v) { v += 7; } };`,
  ],
  'what changes itself, or what it refers to': [
    true,
    `Counter k = Counter(i); k.up(); uint a = i, b = i, c = i; Refers p(a); p.set(9); Refers q{b}; q.set(8);
    thread uint& r = i < 3 ? c : b; r += 40; k << 3; t[i] = a; ${barrier} out[x] = t[0] + k.v + 100 * a + 1000 * b + c;`,
    `struct Counter { uint v; Counter() {} Counter(uint first) : v(first) {} void up() { v++; } };
    void operator<<(thread Counter& k, uint by) { k.v += by; }
    struct Refers { thread uint& r; Refers(thread uint& v) : r(v) {} void set(uint v) { r = v; } };`,
  ],
  'a variable that hides a constant of the text': [
    true,
    `uint two = i * 100; uint m = two + 1; t[i] = m; ${barrier} out[x] = m + t[0];`,
    'constant uint two = 2;',
  ],
  'a switch that goes on with the loop': [
    false,
    `for (uint k = 0; k < n; k++) { switch (k) { case 1: continue; default: break; } t[i] = k;
    ${barrier} out[x] += t[0]; ${barrier} }`,
  ],
  'a switch in a loop': [
    true,
    `for (uint k = 0; k < n; k++) { switch (k) { case 1: t[i] = i; break; default: t[i] = k; }
    ${barrier} out[x] += t[0]; ${barrier} }`,
  ],
  'names that hide others': [
    false,
    `uint k = i; { uint k = 5; t[i] = k + i; ${barrier} k = 1; out[x] = k + t[0]; } ${barrier} out[x] += k;`,
  ],
  'a barrier under a condition that is the same for all': [
    true,
    `t[i] = i + 1; if (n > 2) { ${barrier} out[x] = t[0]; } else out[x] = 3; ${barrier} out[x] += t[0];`,
  ],
  'a barrier under a condition of each thread': [false, `t[i] = i + 1; if (in[0] < 9) { ${barrier} out[x] = t[0]; }`],
  'a barrier in a loop of each thread': [
    false,
    `for (uint k = 0; k < in[0] % 3 + 1; ++k) { t[i] = k + 1; ${barrier} out[x] += t[0]; ${barrier} }`,
  ],
  'a barrier in a loop that threads leave': [
    false,
    `for (uint k = 0; k < n; ++k) { t[i] = k; ${barrier} if (k == 1) break; } out[x] = t[i];`,
  ],
  'a barrier in a function': [false, 't[i] = i + 1; wait(); out[x] = t[0];', `void wait() { ${barrier} }`],
  'a position that is changed': [
    false,
    `uint y = x; inGroup.x += 1; t[i] = inGroup.x; ${barrier} out[y] = t[0] + inGroup.x;`,
  ],
  'sums, extremes and products of a simdgroup and of a quad': [
    true,
    `uint own = in[x]; t[i] = simd_sum(own * 2); own += simd_max(own) * 2 + simd_min(own); ${barrier}
    const int3 vector = simd_max(int3(own, 3, -int(i))); ushort few = simd_product(ushort(in[x] % 3 + 1));
    out[x] = t[0] + own + simd_xor(in[x]) + simd_or(i) + metal::simd_and(~in[x]) + vector.x - vector.z + few;
    out[x] += quad_sum(in[x]) + quad_min(i) + 2 * quad_max(own);`,
  ],
  'variables that are named as functions of a simdgroup are': [
    true,
    `uint simd_lane = i % 32, simdgroup_index = i / 32; uint quad_id = simd_lane / 4; simd_vote vote = simd_ballot(simd_lane < quad_id * 3);
    if (simd_lane < n) t[i] = simd_sum(quad_id + simd_lane) + simdgroup_index; ${barrier} out[x] = t[i % n] + uint(ulong(vote) % 999);`,
  ],
  votes: [
    true,
    `const bool any = simd_any(in[x] > 90); const bool each = simd_all(in[x] < 101);
    const ulong votes = ulong(simd_ballot(in[x] > n && i > 1 ? true : false));
    out[x] = any + 4 * each + 8 * simd_all(i > 3) + 16 * quad_any(i % 8 == 2) + 32 * quad_all(i % 8 < 4) + uint(votes % 9973) * 64;`,
  ],
  'prefix sums': [
    true,
    `const uint a = simd_prefix_inclusive_sum(in[x]); const float c = simd_prefix_exclusive_sum(float(in[x]));
    uint d = simd_prefix_inclusive_product(in[x] % 3 + 1) + quad_prefix_exclusive_sum(in[x]); d ^= simd_prefix_exclusive_product(in[x] | 1);
    out[x] = a + uint(c) + d;`,
  ],
  'values of other lanes': [
    true,
    `uint v = in[x]; v += simd_shuffle_down(v, 1); v += simd_shuffle_up(v, 2u); v ^= simd_shuffle_xor(v, ushort(3));
    v += simd_broadcast(v, 4) + simd_broadcast_first(v) + simd_shuffle(v, i % 7) + simd_shuffle_rotate_down(v, 5);
    float2 w = simd_shuffle_rotate_up(float2(v % 100, i), 9); v += quad_shuffle(v, i % 4) + quad_shuffle_xor(v, 1u);
    v += quad_broadcast(v, 2) + quad_shuffle_down(v, 1) + quad_shuffle_rotate_up(v, 1); t[i] = v; ${barrier}
    out[x] = v + t[0] + uint(w.x) * 3 + uint(w.y);`,
  ],
  'an exchange in the argument of another, and in a loop of the group': [
    true,
    `uint v = in[x] + simd_max(simd_sum(in[x]) + simd_shuffle_down(i, simd_min(i) % 4 + 1));
    for (ushort step = 16; step > 0; step >>= 1) v += simd_shuffle_down(v, step);
    for (uint k = 0; k < n; k++) { v = simd_max(v) + k; ${barrier} t[i] = v; ${barrier} v += t[0]; } out[x] = v;`,
  ],
  'exchanges of some lanes': [
    true,
    `uint v = in[x]; if (i % 3 == 1) { v = simd_sum(v); if (i % 2 == 0) v += simd_max(i); else { v -= simd_min(i); } }
    else if (v > 50) v = simd_shuffle_up(v, 1) + simd_prefix_inclusive_sum(1u); else v++;
    if (simd_any(v > 100)) { const uint w = simd_sum(1u); out[x] = w + (i < 9 ? w : v); } ${barrier}
    if (i < 8) t[i] = simd_broadcast_first(v); ${barrier} out[x] += v + t[i % 8];`,
  ],
  'exchanges of lanes that are left': [
    true,
    `uint v = in[x]; if (v % 5 == 0) return; v = simd_sum(v); if (i % 2 == 0) { if (simd_max(i) == 30) { if (v > 30) { out[x] = 3; return; } }
    v +=  simd_ballot(i > 4).any() + simd_sum(1u); } out[x] = v + simd_shuffle_down(v, 1) + simd_prefix_exclusive_sum(v);`,
  ],
  'an exchange that some lanes skip': [false, `t[i] = i > 3 && simd_any(in[x] > 50); ${barrier} out[x] = t[0] + 1;`],
  'an exchange in a loop of each thread': [
    false,
    `uint v = 0; for (uint k = i; k < 64; k += 32) v += simd_sum(k); t[i] = v; ${barrier} out[x] = t[0];`,
  ],
  'an exchange in a function': [
    false,
    `t[i] = all(in[x]); ${barrier} out[x] = t[0];`,
    'uint all(uint v) { return simd_sum(v); }',
  ],
  'a reference that lives across a barrier': [false, `t[i] = 1; device uint& own = out[x]; ${barrier} own = t[0];`],
  'a large array that lives across a barrier': [
    false,
    `uint a[300]; for (uint k = 0; k < 300; ++k) a[k] = k + i; ${barrier} out[x] = a[299];`,
  ],
};

/** All bodies as one text, whose kernels are f0, f1 and so on: a compiler starts once, and reads its headers once. */
function together(chosen: readonly (readonly [isInLoops: boolean, body: string, before?: string])[]): string {
  const functions = chosen.map(([, , before = '']) => before).join('\n');
  return chosen
    .map(([, body], k) => {
      const text = textOf(body, k === 0 ? functions : '').replace('void f(', `void f${k}(`);
      return k === 0 ? text : text.slice(text.indexOf('kernel void'));
    })
    .join('\n');
}

// If the loops do not compile, threads run one by one, which would show only in the time.
for (const compiler of ['clang++', 'g++'])
  onNative(`Kernels written as loops compile (${compiler}).`, async () => {
    const found = await compilerAt(compiler);
    if (found === undefined) {
      console.log(`skipped  ${compiler}: it is not installed here`);
      return;
    }
    const inLoops = Object.values(bodies).filter(([isLoop]) => isLoop);
    const source = new Source(preprocess(together(inLoops), 'kernel.metal', {}).tokens);
    const kernels = inLoops.map((_, k) => signatureOf(source, `f${k}`));
    const unit = translationUnit(kernels, [], false);
    for (const k of inLoops.keys()) assert.match(unit, `covarium_group_${k}(`);
    const headers = fileURLToPath(new URL('../../../msl/cpu/', import.meta.url));
    const flags = [...flagsOf(found, false), '-fsyntax-only', '-I', headers, '-'];
    const { status, stderr } = spawnSync(found.path, flags, { input: unit, encoding: 'utf8' });
    assert.is(status, 0, stderr);
  });

let libraries: Promise<readonly ReadonlyMap<string, Kernel>[]> | undefined;
let opened: Device | undefined;
test.after(() => opened?.close());

/** The kernels of all bodies, as users get them and in check mode. */
function compiled(): Promise<readonly ReadonlyMap<string, Kernel>[]> {
  opened ??= openDevice('cpu', { threads: 2 });
  const device = opened;
  const text = together(Object.values(bodies));
  libraries ??= Promise.all([false, true].map((check) => device.library(text, { check })));
  return libraries;
}

for (const [k, [what, [isLoop, body, before]]] of Object.entries(bodies).entries())
  onNative(`${isLoop ? 'As loops' : 'As threads'}: ${what}.`, async () => {
    assert.is(isInLoops(textOf(body, before)), isLoop);
    const kernels = (await compiled()).map((library) => library.get(`f${k}`)!);
    for (const [grid, threadgroup] of [
      [[70], [32]],
      [
        [10, 6, 3],
        [4, 4, 2],
      ],
    ] as const) {
      const results = [];
      for (const kernel of kernels) {
        const out = new Uint32Array(180);
        const input = Uint32Array.from({ length: 180 }, (_, k) => (k * 37) % 101);
        await kernel.run({ grid, threadgroup, arguments: { out, in: input, n: 5 } });
        results.push([...out]);
      }
      assert.equal(results[0], results[1]);
      assert.ok(results[0]!.some((value) => value !== 0));
    }
  });

onNative('Threads that return before a barrier run as loops.', async () => {
  const body = `t[i] = 1; ${barrier} if (x % 3 == 1) return; const uint sum = t[i] + n; ${barrier}
    if (i > 5) { out[x] = 7; return; } ${barrier} out[x] = sum;`;
  assert.ok(isInLoops(textOf(body)));
  using device = openDevice('cpu', { threads: 2 });
  const kernel = await device.kernel(textOf(body));
  const out = new Uint32Array(70);
  await kernel.run({ grid: 70, threadgroup: 32, arguments: { out, in: new Uint32Array(70), n: 5 } });
  assert.equal(
    [...out],
    Array.from({ length: 70 }, (_, x) => (x % 3 === 1 ? 0 : x % 32 > 5 ? 7 : 6)),
  );
});

onNative('A grid in which positions could wrap is refused.', async () => {
  using device = openDevice('cpu', { threads: 2 });
  const kernel = await device.kernel(textOf(`t[i] = 1; ${barrier} if (x == 0) out[0] = t[0];`));
  const launch = { grid: 2 ** 32 - 1, threadgroup: 64, arguments: [new Uint32Array(1), new Uint32Array(1), 5] };
  const error = await kernel.run(launch).catch((refusal) => refusal);
  assert.is(error.code, 'ERR_OUT_OF_RANGE');
  assert.match(error.message, /^`grid\[0\]` is \(4294967295\), larger than \(4294966271\)/);
});

onNative('A signal stops a loop of the group that has no end.', async () => {
  using device = openDevice('cpu', { threads: 2 });
  const body = `for (uint k = 1; k > 0; k += 0) { t[i] = in[x]; ${barrier} if (n == 1) out[x] = t[0]; }`;
  assert.ok(isInLoops(textOf(body)));
  const kernel = await device.kernel(textOf(body));
  const signal = AbortSignal.timeout(50);
  const launch = { grid: 64, arguments: [new Uint32Array(64), new Uint32Array(64), 5] };
  const error = await kernel.run(launch, { signal }).catch((refusal) => refusal);
  assert.is(error.code, 'ERR_ABORTED');
});

test.run();
