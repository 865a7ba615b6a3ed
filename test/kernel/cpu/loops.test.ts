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
  'Shifts take the low bits of their amount; divisions by 0 and of the least number give a number.',
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
  },
);

onNative('SIMD functions in a divergent branch exchange among the lanes that are there.', async () => {
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

onNative('SIMD functions of two branches exchange apart, on one line too.', async () => {
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

test.run();
