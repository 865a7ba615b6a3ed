// Check mode finds accesses of threadgroup memory that no barrier orders, and accepts those that a barrier orders.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice } from '../../../lib/index.ts';
import { onNative } from '../../harness/on-native.ts';
import { throwsCode } from '../../harness/throws-code.ts';

const head = `#include <metal_stdlib>
using namespace metal;
`;
const kernelOf = (body: string) => `${head}kernel void f(device float* out [[buffer(0)]], threadgroup float* own,
  uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64]; threadgroup atomic_uint count; threadgroup uchar bytes[64];
${body}
}`;
const barrier = 'threadgroup_barrier(mem_flags::mem_threadgroup);';

async function run(body: string): Promise<Float32Array> {
  using device = openDevice('cpu', { threads: 1 });
  const kernel = await device.kernel(kernelOf(body), { check: true });
  const out = new Float32Array(128);
  await kernel.run({ grid: 128, threadgroup: 64, arguments: { out, own: { threadgroupLength: 64 } } });
  return out;
}

onNative('A race of two writes, or of a write and a read, is reported with both threads.', async () => {
  const simd = 'simdgroup_barrier(mem_flags::mem_threadgroup);';
  for (const [body, words] of [
    [
      't[i] = i; out[i] = t[i & 62];',
      'Thread (1, 0, 0) reads element (0) of (t), which thread (0, 0, 0) writes with no',
    ],
    ['own[i] = i; out[i] = own[63 - i];', 'of (own), which thread'],
    ['t[0] = i;', 'Thread (1, 0, 0) writes element (0) of (t), which thread (0, 0, 0) writes'],
    [
      `t[i] = i; ${barrier} float x = t[(i + 1) % 64];\nt[i] = x;`,
      'writes element (1) of (t), which thread (0, 0, 0) reads',
    ],
    [`t[i] = i; ${simd}\nout[i] = t[i & 31];`, 'Thread (32, 0, 0) reads element (0) of (t)'],
    ['atomic_store_explicit(&count, 0, memory_order_relaxed); t[i % 32] = i;', 'Thread (32, 0, 0) writes element (0)'],
  ] as const)
    await throwsCode('ERR_KERNEL_CHECK', words, () => run(body));
  const error = await throwsCode('ERR_KERNEL_CHECK', 'kernel.metal:7', () => run('t[i] = i;\nout[i] = t[i & 62];'));
  assert.is((error as { line?: number }).line, 7);
});

onNative('Accesses that barriers, simdgroups or atomics order are not races.', async () => {
  const sums = await run(`t[i] = i; bytes[i] = i; ${barrier}
for (uint step = 32; step > 0; step /= 2) { if (i < step) t[i] += t[i + step]; ${barrier} }
if (i == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
${barrier}
atomic_fetch_add_explicit(&count, bytes[63 - i], memory_order_relaxed);
own[i] = 1; simdgroup_barrier(mem_flags::mem_threadgroup); const float next = own[i ^ 1]; ${barrier}
out[i] = t[0] + next + atomic_load_explicit(&count, memory_order_relaxed);`);
  for (const at of [0, 17, 63]) assert.is(sums[at], 2016 + 1 + 2016);
});

test.run();
