// The stand-in for NVIDIA's driver: the PTX of a kernel computes the same as the cpu device from the same text, and
// mistakes that a GPU would not report are refused.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onClang, printedBesideCuda } from './on-cuda.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';
const bothWays = (text: string, more: string) => `
  const text = ${JSON.stringify(head + text)};
  const results = [];
  for (const name of ['cpu', 'cuda']) {
    const device = covarium.openDevice(name);
    const kernel = await device.kernel(text);
    const out = new Float32Array(512);
    const counts = new Uint32Array(64);
    const { ranOn } = await kernel.run({ grid: 256, threadgroup: 128, arguments: { out, counts } });
    results.push([ranOn, kernel.notes.join(), out.join(), counts.join()]);
    device.close();
  }
  ${more}`;

onClang('Threadgroup memory, barriers, atomics and simdgroups give the results of the cpu device.', async () => {
  const text = `
    kernel void all(device float* out, device atomic_uint* counts, uint i [[thread_position_in_grid]],
                    uint at [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
      threadgroup float shared[128];
      threadgroup atomic_int total;
      if (at == 0) atomic_store_explicit(&total, 0, memory_order_relaxed);
      shared[at] = float(i) * 0.5f;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      atomic_fetch_sub_explicit(&total, int(at), memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      float sum = simd_sum(shared[127 - at]) + simd_shuffle(shared[at], 31 - lane);
      for (uint k = 0; k < at % 5; ++k) sum = fma(sum, 1.25f, simd_max(lane * k % 7 == 3 ? 2.0f : sum));
      uchar small = uchar(i * 37);
      ushort less = ushort(small) * 300;
      char sign = char(small);
      long far = long(sign) * 100000000000L;
      out[i] = sum + float(atomic_load_explicit(&total, memory_order_relaxed));
      out[256 + i] = float(less) + float(sign) / 3.0f + float(far >> 20) + rint(sum) + float(popcount(i)) + float(clz(i));
      atomic_fetch_add_explicit(&counts[i % 32], i, memory_order_relaxed);
      atomic_fetch_max_explicit(&counts[40], i, memory_order_relaxed);
      if (simd_any(lane == i % 40)) atomic_fetch_xor_explicit(&counts[50], i << 3, memory_order_relaxed);
    }`;
  const out = await printedBesideCuda(
    bothWays(
      text,
      `const [cpu, cuda] = results;
       console.log(cuda[0], cuda[1], cpu[2] === cuda[2], cpu[3] === cuda[3], new Set(cuda[2].split(',')).size > 300);`,
    ),
  );
  assert.is(out, 'gpu  true true true');
});

onClang('A missing barrier leaves wrong numbers.', async () => {
  const text = (barrier: string) => `
    kernel void turn(device float* out, device uint* counts, uint i [[thread_position_in_grid]],
                     uint at [[thread_position_in_threadgroup]]) {
      threadgroup float shared[128];
      shared[at] = i;
      ${barrier}
      out[i] = shared[127 - at];
      counts[i % 64] = 1;
    }`;
  const isTurned = `const turned = Array.from({ length: 256 }, (_, i) => (i < 128 ? 127 - i : 383 - i)).join();
    console.log(results[1][0], results[1][2].startsWith(turned));`;
  const barrier = 'threadgroup_barrier(mem_flags::mem_threadgroup);';
  assert.is(await printedBesideCuda(bothWays(text(barrier), isTurned)), 'gpu true');
  assert.is(await printedBesideCuda(bothWays(text(''), isTurned)), 'gpu false');
});

const refused: readonly (readonly [name: string, body: string, shown: RegExp])[] = [
  ['An access beyond a buffer', 'out[i + (1ul << 40)] = 1;', /an address of no memory .*st\.global\.[ub]32/],
  ['An access before a buffer', 'out[int(i) - 1] = 1;', /an address of no memory/],
  [
    'An access beyond threadgroup memory',
    'threadgroup float s[64]; s[at] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = s[63 - at % 64];',
    /thread \d+: an address beyond the memory/,
  ],
  [
    'A barrier that some threads of a simdgroup do not reach',
    'if (at % 3 == 0) threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = at; ',
    /is not reached by all: bar\.sync/,
  ],
  [
    'A barrier that some simdgroups do not reach',
    'out[i] = 1; if (at >= 64) return; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = at; ',
    /a barrier is not reached by all: warps have ended before it/,
  ],
];

for (const [name, body, shown] of refused)
  onClang(`${name} ends the context, as on a GPU, and the stand-in says where.`, async () => {
    const text = `kernel void wrong(device float* out, device uint* counts, uint i [[thread_position_in_grid]],
      uint at [[thread_position_in_threadgroup]]) { ${body} counts[i % 64] = 1; }`;
    const { code, stdout, stderr } = await besideCuda(
      `const device = covarium.openDevice('cuda');
       const kernel = await device.kernel(${JSON.stringify(head + text)});
       try {
         await kernel.run({ grid: 256, threadgroup: 128, arguments: { out: new Float32Array(256), counts: new Uint32Array(64) } });
       } catch (error) { console.log(error.code); }
       device.close();`,
    );
    assert.is(stdout.trim(), 'ERR_DEVICE_FAILED', stderr);
    assert.is(code, 0);
    assert.match(stderr, /softcuda: covarium_kernel: /);
    assert.match(stderr, shown);
  });

test.run();
