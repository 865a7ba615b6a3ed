// A kernel that never ends is stopped by its signal, and MSL's integer arithmetic does not end the process.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice } from '../../../lib/index.ts';
import { findCompiler } from '../../../lib/kernel/cpu/compiler.ts';
import { onNative } from '../../harness/on-native.ts';
import { throwsCode } from '../../harness/throws-code.ts';

onNative('A signal stops a kernel whose loop has no end, in rows and in groups.', async () => {
  using device = openDevice('cpu', { threads: 2 });
  for (const barrier of ['', 'threadgroup_barrier(metal::mem_flags::mem_none);']) {
    const kernel = await device.kernel(`kernel void f(device volatile uint* a, uint i [[thread_position_in_grid]]) {
  while (a[0] == 0) { ${barrier} }
  a[1] = i;
}`);
    const signal = AbortSignal.timeout(50);
    await throwsCode('ERR_ABORTED', () => kernel.run({ grid: 4, arguments: [new Uint32Array(2)] }, { signal }));
  }
});

onNative(
  'Loops are distinguished from the ends of do-while loops: each compiles, and a signal stops each.',
  async () => {
    using device = openDevice('cpu', { threads: 1 });
    const endless = `kernel void f(device volatile uint* a) { a[1] = 1; while (a[0] == 0); }`;
    const signal = AbortSignal.timeout(50);
    const kernel = await device.kernel(endless);
    await throwsCode('ERR_ABORTED', () => kernel.run({ grid: 1, arguments: [new Uint32Array(2)] }, { signal }));
    const counting = await device.kernel(`kernel void f(device uint* a) {
  do if (a[0] < 9) { a[0]++; } while (a[0] < 2);
  do for (uint k = 0; k < 2; ++k) { a[0]++; } while (a[0] < 5);
  do do { a[0]++; } while (a[0] < 7); while (a[0] < 9);
  do { while (a[0] < 10) a[0]++; a[0]++; } while (a[0] < 12);
  if (a[0]) do a[0]++; while (a[0] < 14); else a[0] = 5;
  while (a[0] < 15) a[0]++;
}`);
    const count = new Uint32Array(1);
    await counting.run({ grid: 1, arguments: [count] });
    assert.is(count[0], 15);
  },
);

onNative('A thread reads what it has written itself, even if the loop over threads is vectorized.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void f(device uint* o, device const uint* q, device const uint* in, uint i [[thread_position_in_grid]]) {
  uint v = o[2 * i + 1] % (q[i] % 7 + 1);
  o[2 * i] += (1 ^ v) ^ 2;
  *(device uint2*)(o + 2 * i) = uint2(v > o[2 * i + i % 2] ? o[2 * i] : in[i], q[i] + v).yx;
  o[2 * i + 1] += 5 * q[i];
}`);
  const of = (length: number, by: number) => Uint32Array.from({ length }, (_, i) => (i * by) % 1001);
  const [o, q, input, expected] = [of(600, 7), of(300, 5), of(300, 11), of(600, 7)];
  await kernel.run({ grid: 300, arguments: [o, q, input] });
  for (let i = 0; i < 300; i++) {
    const v = expected[2 * i + 1]! % ((q[i]! % 7) + 1);
    expected[2 * i]! += 1 ^ v ^ 2;
    const taken = v > expected[2 * i + (i % 2)]! ? expected[2 * i]! : input[i]!;
    expected[2 * i] = q[i]! + v;
    expected[2 * i + 1] = taken + 5 * q[i]!;
  }
  assert.equal([...o], [...expected]);
});

onNative(
  'Shifts use the low bits of their amount; a division by 0, or of the least number, gives a number.',
  async () => {
    using device = openDevice('cpu', { threads: 1 });
    const kernel =
      await device.kernel(`kernel void f(device const int* in, device int* out, uint i [[thread_position_in_grid]]) {
  out[4 * i] = int(1u << in[0]) + int(i); out[4 * i + 1] = in[1] / in[2]; out[4 * i + 2] = in[1] % in[2];
  out[4 * i + 3] = in[3] / in[4];
}`);
    const out = new Int32Array(64);
    await kernel.run({ grid: 16, arguments: [Int32Array.of(33, 7, 0, -(2 ** 31), -1), out] });
    for (let i = 0; i < 16; i++) assert.equal([...out.subarray(4 * i, 4 * i + 4)], [2 + i, 0, 7, -(2 ** 31)]);
    // The same in initializers of members.
    const made = await device.kernel(`struct Made {
  int zero = 0, a, b, c; int d = 5 / zero, e = 7 % zero;
  Made(int x, int y) : a(x / y), b{x % y}, c(x << (y + 33)) { a += x / y; }
};
kernel void f(constant int& y, device int* out) {
  Made made(7, y); out[0] = made.a; out[1] = made.b; out[2] = made.c; out[3] = made.d; out[4] = made.e;
}`);
    await made.run({ grid: 1, arguments: { y: 0, out } });
    assert.equal([...out.subarray(0, 5)], [0, 7, 14, 0, 7]);
  },
);

onNative('SIMD functions in a divergent branch exchange values among the active lanes.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  uint x = i;
  if (i >= 1) x += simd_shuffle_up(x, ushort(1));
  out[i] = x;
  out[i] += 1000 * simd_sum(1u);
}`);
  const out = new Uint32Array(32);
  await kernel.run({ grid: 32, arguments: [out] });
  assert.equal(
    [...out.subarray(2)],
    Array.from({ length: 30 }, (_, k) => 2 * (k + 2) - 1 + 32_000),
  );
});

onNative('Lanes meet again after a branch, an iteration and a loop that some have left.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  const text = `#include <metal_stdlib>
using namespace metal;
uint total(uint x) { return simd_sum(x); }
uint count() { return simd_sum(1u); }
kernel void f(device uint4* out, uint i [[thread_position_in_grid]]) {
  uint x = i;
  if (i < 5) x += count();
  const uint branch = total(x);
  uint k = 0, pass = 0;
  while (k++ < 3) {
    pass += simd_sum(1u);
    if (i >= 5) continue;
    pass += 100 * simd_sum(1u);
  }
  uint loop = 0;
  for (uint j = 0; j < i % 4; ++j) loop += total(1);
  do if (k == 4) loop += count(); else k += i % 2; while (k++ < 5);
  while (uint left = i % 2 > 2) loop += count() + left;
  out[i] = uint4(branch, pass, loop, count());
}`;
  for (const check of [false, true]) {
    const kernel = await device.kernel(text, { check });
    const out = new Uint32Array(4 * 32);
    await kernel.run({ grid: 32, threadgroup: 32, arguments: [out] });
    for (let i = 0; i < 32; i++) {
      const loop = 32 + [0, 24, 24 + 16, 24 + 16 + 8][i % 4]!;
      assert.equal([...out.subarray(4 * i, 4 * i + 4)], [521, 96 + (i < 5 ? 1500 : 0), loop, 32]);
    }
  }
});

onNative('SIMD functions of two branches exchange separately, even on one line.', async () => {
  // g++ does not say the column of a call.
  if (!(await findCompiler()).isClang) return;
  using device = openDevice('cpu', { threads: 1 });
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
#define SUM(x, a, b) if (i % 2) x = simd_sum(a); else x = simd_sum(b)
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  uint x, y; SUM(x, i, 10 * i); if (i < 3) y = simd_max(i); else y = simd_max(100 + i);
  out[i] = 1000 * x + y;
}`);
  const out = new Uint32Array(4);
  await kernel.run({ grid: 4, threadgroup: 4, arguments: [out] });
  assert.equal([...out], [20_002, 4002, 20_002, 4103]);
});

onNative('A function with SIMD functions that two branches call exchanges separately in each.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  const text = `#include <metal_stdlib>
using namespace metal;
namespace own { template <typename T> T sum(T x) { return simd_sum(x); } }
uint twice(uint x) { return own::sum<uint>(x) + own::sum(x); }
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  uint x = 0;
  if (i % 2 == 0) { x = own::sum(i); } else { x = own::sum(10 * i); }
  const uint y = i < 3 ? twice(i) : twice(100 + i);
  uint sum(simd_sum(1u));
  for (uint k = 0; k < i; ++k) x += own::sum(1u);
  out[i] = 1000 * x + y + 100000 * sum;
}`;
  for (const check of [false, true]) {
    const kernel = await device.kernel(text, { check });
    const out = new Uint32Array(5);
    await kernel.run({ grid: 5, threadgroup: 5, arguments: [out] });
    // Each iteration sums the lanes that are still in the loop.
    const passes = [0, 4, 4 + 3, 4 + 3 + 2, 4 + 3 + 2 + 1];
    const sums = [6, 40, 6, 40, 6].map((sum, i) => sum + passes[i]!);
    const other = [6, 6, 6, 2 * 207, 2 * 207];
    assert.equal(
      [...out],
      sums.map((sum, i) => 1000 * sum + other[i]! + 500_000),
    );
  }
});

test.run();
