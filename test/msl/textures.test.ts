// Textures on the cpu device (msl/cpu/library): what Metal refuses is refused, and what check mode finds.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice, Texture } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

test('code that Metal does not compile is refused here too.', async () => {
  using device = openDevice('cpu');
  for (const body of [
    'texture2d<float, access::read> t, device float4* o) { constexpr sampler s; o[0] = t.sample(s, float2(0)); }',
    'depth2d<float> t, device float* o) { o[0] = t.read(int2(0, 0)); }',
    'texture2d<float> t, device float4* o) { o[0] = t.read(float2(0)); }',
    'texture1d<float> t, device float* o) { o[0] = t.get_height(); }',
    'texture2d<float> t, device float* o) { o[0] = t.get_array_size(); }',
    'texture3d<float> t, device float4* o) { constexpr sampler s; o[0] = t.gather(s, float3(0)); }',
    'texture2d<uint, access::write> t) { t.atomic_fetch_add(uint2(0), uint4(1)); }',
    'texture2d<float, access::read_write> t) { t.atomic_fetch_add(uint2(0), float4(1)); }',
    'texture2d<float, access::read> t) { t.write(float4(1), uint2(0)); }',
    'texture2d<float, access::write> t, device float4* o) { o[0] = t.read(uint2(0)); }',
    'texture2d<float> t, device float4* o) { constexpr sampler s(address::mirror_clamp_to_edge); o[0] = t.sample(s, float2(0)); }',
  ])
    await throwsCode('ERR_KERNEL_COMPILE', () => device.kernel(`${head}kernel void f(${body}`));
});

test('check mode names the thread and the line of a texel beyond the edges.', async () => {
  using device = openDevice('cpu');
  const kernel = await device.kernel(
    `${head}
kernel void f(texture2d<float, access::read> from, texture2d<float, access::write> to,
              uint i [[thread_position_in_grid]]) {
  const float4 texel = from.read(uint2(i, 0));
  to.write(texel, uint2(i, 0));
}`,
    { check: true },
  );
  const plane = (width: number) => new Texture(new Float32Array(width), { format: 'r32float', width });
  const run = (from: number, to: number) => kernel.run({ grid: 5, arguments: { from: plane(from), to: plane(to) } });
  await run(5, 5);
  for (const [from, to, line] of [
    [4, 5, 6],
    [5, 4, 7],
  ] as const) {
    const error = await throwsCode('ERR_KERNEL_CHECK', 'Thread (4, 0, 0)', () => run(from, to));
    assert.is(error.line, line, error.message);
  }
});

test('check mode finds a face, an element and a level that do not exist.', async () => {
  using device = openDevice('cpu');
  const kernel = await device.kernel(
    `${head}
kernel void f(texturecube_array<float> sky, device const uint3* at, device float* out) {
  out[0] = sky.read(uint2(0), at[0].x, at[0].y, at[0].z).x;
}`,
    { check: true },
  );
  const sky = new Texture(new Float32Array(12), { format: 'r32float', width: 1, layers: 12 });
  const run = (...at: number[]) =>
    kernel.run({ grid: 1, arguments: { sky, at: Uint32Array.of(...at, 0), out: new Float32Array(1) } });
  await run(5, 1, 0);
  for (const at of [
    [6, 0, 0],
    [0, 2, 0],
    [1, 0x2aaaaaab, 0],
    [0, 0, 1],
  ])
    await throwsCode('ERR_KERNEL_CHECK', 'Thread (0, 0, 0)', () => run(...at));
});

test.run();
