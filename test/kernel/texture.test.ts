// Textures and samplers as arguments of kernels: numbers of every format, what a sampler finds between texels and
// beyond the edges, and refusals.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type SamplerAddress, Texture, type TextureFormat } from '../../lib/index.ts';
import { onKernelDevices } from '../harness/kernel-devices.ts';
import { kinds } from '../harness/texture-kinds.ts';
import { throwsCode } from '../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

const copies = (element: string) => `${head}
kernel void copy(texture2d<${element}, access::read> from, texture2d<${element}, access::write> to,
                 device ${element}4* seen, uint2 at [[thread_position_in_grid]]) {
  const ${element}4 texel = from.read(at);
  seen[at.y * from.get_width() + at.x] = texel;
  to.write(texel, at);
}`;

onKernelDevices('texels of every format are read, and written back unchanged.', async (device) => {
  const compiled = new Map<string, Awaited<ReturnType<typeof device.kernel>>>();
  for (const element of ['float', 'int', 'uint']) {
    const kernel = await device.kernel(copies(element));
    assert.equal(kernel.notes, [], 'a GPU runs it itself');
    compiled.set(element, kernel);
  }
  for (const [kind, { bits, read }] of Object.entries(kinds))
    for (const channels of ['r', 'rg', 'rgba'] as const) {
      const element = kind.endsWith('uint') ? 'uint' : kind.endsWith('sint') ? 'int' : 'float';
      const bytesOfOne = Number.parseInt(kind, 10) / 8;
      const texels = bits.byteLength / bytesOfOne / channels.length;
      const width = Math.min(texels, 256);
      const format = `${channels}${kind}` as TextureFormat;
      const options = { format, width, height: texels / width };
      const to = bits.slice();
      to.fill(7);
      const seen = element === 'float' ? new Float32Array(4 * texels) : new Int32Array(4 * texels);
      const given = element === 'uint' ? new Uint32Array(seen.buffer) : seen;
      await compiled.get(element)!.run({
        grid: [width, options.height],
        arguments: { from: new Texture(bits, options), to: new Texture(to, options), seen: given },
      });
      const numbers =
        bytesOfOne === 2
          ? new Uint16Array(bits.buffer)
          : (bits as Uint8Array | Uint32Array | Int32Array | Float32Array);
      const expected = Array.from({ length: 4 * texels }, (_, i) => {
        const channel = i % 4;
        if (channel >= channels.length) return channel === 3 ? 1 : 0;
        const number = read(numbers[Math.floor(i / 4) * channels.length + channel]!);
        return element === 'float' ? Math.fround(number) : number;
      });
      assert.equal(
        [...given].map((each) => each + 0),
        expected.map((each) => (element === 'float' ? each : each) + 0),
        format,
      );
      // In a signed normalized format, the two least numbers both mean -1.
      const least = kind.endsWith('snorm') ? 1 : 0;
      const isSame = [...new Uint8Array(to.buffer)].every((byte, i) => {
        const before = new Uint8Array(bits.buffer)[i]!;
        return byte === before || (least === 1 && Math.abs(byte - before) <= 1);
      });
      assert.ok(isSame, `${format} is written unchanged`);
    }
});

/** The place that a sampler reads for place i of n; -1 for the border. */
function placeOf(address: SamplerAddress, i: number, n: number): number {
  if (address === 'repeat') return ((i % n) + n) % n;
  if (address === 'mirrored_repeat') {
    const inside = ((i % (2 * n)) + 2 * n) % (2 * n);
    return inside < n ? inside : 2 * n - 1 - inside;
  }
  if (address === 'mirror_clamp_to_edge') return Math.min(i < 0 ? -1 - i : i, n - 1);
  if (address === 'clamp_to_edge') return Math.max(0, Math.min(i, n - 1));
  return i < 0 || i >= n ? -1 : i;
}

/** What a sampler finds at a point of normalized coordinates, in numbers of one component. */
function sampled(
  texels: ArrayLike<number>,
  sizes: readonly number[],
  point: readonly number[],
  filter: string,
  address: SamplerAddress,
): number {
  const isLinear = filter === 'linear';
  const at = point.map((u, k) => Math.fround(Math.fround(u) * sizes[k]!) - (isLinear ? 0.5 : 0));
  let sum = 0;
  for (let corner = 0; corner < (isLinear ? 2 ** sizes.length : 1); corner++) {
    let weight = 1;
    let index = 0;
    let isBorder = false;
    for (let k = sizes.length - 1; k >= 0; k--) {
      const next = (corner >> k) & 1;
      const rest = at[k]! - Math.floor(at[k]!);
      if (isLinear) weight *= next === 1 ? rest : 1 - rest;
      const place = placeOf(address, Math.floor(at[k]!) + next, sizes[k]!);
      isBorder ||= place < 0;
      index = index * sizes[k]! + place;
    }
    if (!isBorder) sum += weight * texels[index]!;
  }
  return sum;
}

const addresses: readonly SamplerAddress[] = [
  ...([
    'clamp_to_edge',
    'mirror_clamp_to_edge',
    'repeat',
    'mirrored_repeat',
    'clamp_to_zero',
    'clamp_to_border',
  ] as const),
];

for (const [type, vector, sizes] of [
  ['texture1d', 'float', [7]],
  ['texture2d', 'float2', [7, 5]],
  ['texture3d', 'float3', [4, 3, 5]],
] as const)
  onKernelDevices(`${type}: a sampler follows its filter and its address mode.`, async (device) => {
    const kernel = await device.kernel(`${head}
kernel void take(${type}<float> from, sampler s, device const packed_${vector === 'float' ? 'float2' : vector}* points,
                 device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = from.sample(s, ${vector}(points[i]${vector === 'float' ? '.x' : ''})).x;
}`);
    const [width = 1, height = 1, depth = 1] = sizes;
    const texels = Float32Array.from({ length: width * height * depth }, (_, i) => Math.sin(i * i));
    const each = Math.max(2, sizes.length);
    const points = Float32Array.from({ length: 200 * each }, (_, i) => ((i * 0.7548776662) % 1) * 4 - 1.5);
    for (const filter of ['nearest', 'linear'] as const)
      for (const address of addresses) {
        const out = new Float32Array(200);
        const from = new Texture(texels, { format: 'r32float', width, height, depth });
        await kernel.run({ grid: 200, arguments: { from, s: { filter, address }, points, out } });
        out.forEach((value, i) => {
          const point = [...points.slice(i * each, i * each + sizes.length)];
          const expected = sampled(texels, sizes, point, filter, address);
          assert.ok(Math.abs(value - expected) < 2e-5, `${filter} ${address} ${point}: ${value}, not ${expected}`);
        });
      }
  });

onKernelDevices('a sampler of the text, pixel coordinates, levels, offsets, gather and comparison.', async (device) => {
  const kernel = await device.kernel(`${head}
constexpr sampler nearest(coord::pixel, address::clamp_to_edge, filter::nearest);
constexpr sampler below(compare_func::less, filter::linear);
kernel void take(texture2d<float> from, depth2d<float> depths, device float4* out [[buffer(0)]]) {
  constexpr sampler smooth(filter::linear, s_address::repeat, t_address::clamp_to_zero);
  out[0] = from.sample(nearest, float2(1.5f, 0.5f));
  out[1] = from.sample(nearest, float2(1.5f, 0.5f), int2(-1, 1));
  out[2] = from.sample(smooth, float2(0.0f, 0.25f), level(0));
  out[3] = from.gather(smooth, float2(0.5f, 0.5f), int2(0), component::y);
  out[4] = float4(depths.sample_compare(below, float2(0.5f, 0.5f), 0.55f), depths.sample(nearest, float2(1, 1)),
                  depths.read(uint2(1, 0)), float(from.get_num_mip_levels()));
  out[5] = float4(from.get_width(), from.get_height(), is_null_texture(from), 0);
}`);
  const from = new Texture(Float32Array.of(1, 10, 2, 20, 3, 30, 4, 40), { format: 'rg32float', width: 2, height: 2 });
  const depths = new Texture(Float32Array.of(0.5, 0.6, 0.7, 0.8), { format: 'depth32float', width: 2, height: 2 });
  const out = new Float32Array(24);
  await kernel.run({ grid: 1, arguments: { from, depths, out } });
  const expected = [
    ...[2, 20, 0, 1],
    ...[3, 30, 0, 1],
    ...[1.5, 15, 0, 1],
    ...[30, 40, 20, 10],
    ...[0.75, 0.8, 0.6, 1],
    ...[2, 2, 0, 0],
  ];
  expected.forEach((value, i) => {
    assert.ok(Math.abs(out[i]! - value) < 1e-6, `${i}: ${out[i]}, not ${value}`);
  });
});

onKernelDevices('arrays of textures and cubes have their slices.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void take(texture2d_array<uint> sheets, texturecube<float> sky, texture1d<int> list,
                 texture1d_array<float, access::write> rows, device float* out, uint i [[thread_position_in_grid]]) {
  constexpr sampler s(filter::nearest);
  const float3 ways[6] = {float3(2, .1, .2), float3(-2, .1, .2), float3(.1, 2, .2), float3(.1, -2, .2),
                          float3(.1, .2, 2), float3(.1, .2, -2)};
  out[i] = float(sheets.read(uint2(1, 1), i).x) + 1000 * float(sheets.get_array_size());
  out[6 + i] = sky.sample(s, ways[i]).x;
  out[12 + i] = sky.read(uint2(0, 0), i).x + float(list.read(i).x);
  rows.write(float4(i), i % 3, i / 3);
}`);
  const sheets = new Texture(
    Uint32Array.from({ length: 24 }, (_, i) => i),
    { format: 'r32uint', width: 2, height: 2, layers: 6 },
  );
  const sky = new Texture(
    Float32Array.from({ length: 24 }, (_, i) => Math.floor(i / 4)),
    { format: 'r32float', width: 2, height: 2, layers: 6 },
  );
  const list = new Texture(Int32Array.of(-10, -20, -30, -40, -50, -60), { format: 'r32sint', width: 6 });
  const written = new Float32Array(6);
  const rows = new Texture(written, { format: 'r32float', width: 3, layers: 2 });
  const out = new Float32Array(18);
  await kernel.run({ grid: 6, arguments: { sheets, sky, list, rows, out } });
  const six = [0, 1, 2, 3, 4, 5];
  assert.equal(
    [...out.slice(0, 6)],
    six.map((i) => 6000 + 4 * i + 3),
  );
  assert.equal([...out.slice(6, 12)], six, 'a direction selects its face');
  assert.equal(
    [...out.slice(12)],
    six.map((i) => i - 10 * (i + 1)),
  );
  assert.equal([...written], six);
});

onKernelDevices('a texture buffer is a row of texels, if the device supports it.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void sum(texture_buffer<int> list, device int* out) {
  for (uint i = 0; i < list.get_width(); i++) out[0] += list.read(i).x;
}`);
  const out = new Int32Array(1);
  const list = new Texture(Int32Array.of(-10, -20, -30), { format: 'r32sint', width: 3 });
  const ran = kernel.run({ grid: 1, arguments: { list, out } });
  if (device.kind === 'metal') await throwsCode('ERR_UNSUPPORTED', 'list', () => ran);
  else {
    await ran;
    assert.equal([...out], [-60]);
  }
});

onKernelDevices('numbers beyond the range of a format become the nearest that it has.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void put(texture2d<float, access::write> colours, texture2d<int, access::write> numbers,
                device const float4* from, uint i [[thread_position_in_grid]]) {
  colours.write(from[i], uint2(i, 0));
  numbers.write(int4(from[i] * 100.0f), ushort2(i, 0));
  colours.write(float4(1), uint2(i + 100, 0));
}`);
  const colours = new Uint8Array(8);
  const numbers = new Uint8Array(8);
  const from = Float32Array.of(-1, 0, 0.5, 2, 0.25, 1 / 510, 3 / 510, 1);
  await kernel.run({
    grid: 2,
    arguments: {
      colours: new Texture(colours, { format: 'bgra8unorm', width: 2 }),
      numbers: new Texture(numbers, { format: 'rgba8sint', width: 2 }),
      from,
    },
  });
  assert.equal([...colours], [128, 0, 0, 255, 2, 0, 64, 255]);
  assert.equal([...new Int8Array(numbers.buffer)], [-100, 0, 50, 127, 25, 0, 0, 100]);
});

onKernelDevices('a Matrix of the device is a texture, in a group with barriers too.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void turn(texture2d<float, access::read> from, texture2d<float, access::write> to,
                 uint2 at [[thread_position_in_grid]], uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][8];
  tile[local.y][local.x] = from.read(at).x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  to.write(float4(tile[7 - local.y][7 - local.x]), at);
}`);
  const from = device.matrix(16, 24);
  from.data.set(Array.from({ length: 16 * 24 }, (_, k) => k));
  const to = new Float32Array(16 * 24);
  const options = { format: 'r32float', width: 24, height: 16 } as const;
  const buffer = device.commandBuffer();
  const given = { from: new Texture(from, options), to: new Texture(to, options) };
  buffer.launch(kernel, { grid: [24, 16], threadgroup: [8, 8], arguments: given });
  await buffer.commit();
  to.forEach((value, i) => {
    const [y, x] = [Math.floor(i / 24), i % 24];
    const turned = (8 * (y >> 3) + 7 - (y % 8)) * 24 + 8 * (x >> 3) + 7 - (x % 8);
    assert.is(value, turned);
  });
});

const one = `${head}kernel void one(texture2d<float> from, sampler s, texture2d<float, access::write> to) {
  to.write(from.sample(s, float2(0.5f)), uint2(0));
}`;

onKernelDevices('a texture that does not fit is refused with the name of the argument.', async (device) => {
  const kernel = await device.kernel(one);
  const plane = (format: TextureFormat = 'r32float', more: object = {}) =>
    new Texture(new Uint8Array(16), { format, width: 2, height: 2, ...more });
  const same = new Float32Array(4);
  const options = { format: 'r32float', width: 2, height: 2 } as const;
  const run = (given: object) =>
    kernel.run({ grid: 1, arguments: { from: plane(), s: {}, to: plane(), ...given } as never });
  const refused: readonly [object, string, RegExp][] = [
    [{ from: new Float32Array(4) }, 'ERR_INVALID_ARGUMENT', /\(from\) is a texture: it takes new Texture/],
    [{ from: plane('r32float', { height: 1 }) }, 'ERR_SHAPE', /\(from\) takes \(8\) bytes/],
    [{ from: plane('r32uint') }, 'ERR_INVALID_ARGUMENT', /\(from\).*does not read format \(r32uint\)/],
    [{ from: plane('depth32float') }, 'ERR_INVALID_ARGUMENT', /\(from\).*does not read format/],
    [{ from: plane('r32float', { height: 1, layers: 2 }) }, 'ERR_SHAPE', /`layers` \(2\)/],
    [{ s: 'linear' }, 'ERR_INVALID_ARGUMENT', /\(s\) is a sampler/],
    [{ s: { filter: 'cubic' } }, 'ERR_INVALID_ARGUMENT', /`filter` of argument \(s\)/],
    [{ s: { coord: 'pixel', address: 'repeat' } }, 'ERR_INVALID_ARGUMENT', /\(s\) has pixel coordinates/],
    [{ s: { adress: 'repeat' } }, 'ERR_UNKNOWN_OPTION', /adress/],
    [{ from: new Texture(same, options), to: new Texture(same, options) }, 'ERR_INVALID_ARGUMENT', /\(to\).*overlaps/],
  ];
  for (const [given, code, message] of refused)
    await run(given).then(
      () => assert.unreachable(String(message)),
      (error) => {
        assert.is(error.code, code, error.message);
        assert.match(error.message, message);
      },
    );
  await run({});
  const plain = await device.kernel(`${head}kernel void f(device float* out) { out[0] = 1; }`);
  await plain.run({ grid: 1, arguments: { out: plane() } }).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, /\(out\) is not a texture/),
  );
  const unclear = 'constexpr constant access mode = access::write;\n';
  for (const [text, word] of [
    ['kernel void f(texture2d_ms<float> from) {}', 'texture2d_ms'],
    ['kernel void f(array<texture2d<float>, 2> from) {}', 'more than one'],
    [`${unclear}kernel void f(texture2d<float, mode> from) {}`, 'access that is not understood'],
    ['kernel void f(texture2d<float> from [[buffer(0)]]) {}', 'attribute (buffer)'],
  ] as const) {
    const error = await throwsCode('ERR_UNSUPPORTED', word, () => device.kernel(head + text));
    assert.is((error as { line?: number }).line, text.split('\n').length + 2, error.message);
  }
  const solid = await device.kernel(`${head}kernel void f(texture3d<float> from, device float* out) {
  out[0] = from.read(uint3(0)).x; }`);
  const wide = new Texture(new Uint8Array(2 * 4096), { format: 'r8unorm', width: 4096, depth: 2 });
  await throwsCode('ERR_OUT_OF_RANGE', 'from', () =>
    solid.run({ grid: 1, arguments: { from: wide, out: new Float32Array(1) } }),
  );
});

onKernelDevices('texels work as atomic counters, and half textures read like float ones.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void count(texture2d<uint, access::read_write> bins, texture2d<half, access::read> from,
                  uint i [[thread_position_in_grid]]) {
  const uint bin = uint(from.read(uint2(i % 16, i / 16)).x * 4.0h);
  bins.atomic_fetch_add(uint2(bin, 0), uint4(1));
  bins.atomic_fetch_max(uint2(bin, 1), uint4(i));
}`);
  const pixels = Uint8Array.from({ length: 256 }, (_, i) => (i * 77) % 255);
  const bins = new Uint32Array(8);
  await kernel.run({
    grid: 256,
    arguments: {
      bins: new Texture(bins, { format: 'r32uint', width: 4, height: 2 }),
      from: new Texture(pixels, { format: 'r8unorm', width: 16, height: 16 }),
    },
  });
  const expected = new Uint32Array(8);
  // A half near a whole quarter may be rounded up to it.
  pixels.forEach((value, i) => {
    const bin = Math.floor(4 * halfNear(value / 255));
    expected[bin]!++;
    expected[4 + bin] = i;
  });
  assert.equal([...bins], [...expected]);
});

/** The nearest half of a number from 0 to 1. */
function halfNear(value: number): number {
  const unit = 2 ** Math.max(Math.floor(Math.log2(value || 1)) - 10, -24);
  return Math.round(value / unit) * unit;
}

onKernelDevices('atomics take one component of 32 bits, and nothing beside it changes.', async (device) => {
  const kernel = await device.kernel(`${head}
typedef unsigned int Element;
void add(texture2d<Element, access::read_write> bins) { bins.atomic_fetch_add(uint2(3, 0), uint4(0x01020304)); }
kernel void count(texture2d<Element, access::read_write> bins) { add(bins); }`);
  const bytes = new Uint8Array(16);
  for (const format of ['r8uint', 'r16uint', 'rg32uint'] as const) {
    const options = { format, width: format === 'r8uint' ? 4 : format === 'r16uint' ? 2 : 1, height: 1 };
    const part = bytes.subarray(4, format === 'rg32uint' ? 12 : 8);
    await throwsCode('ERR_INVALID_ARGUMENT', 'bins', () =>
      kernel.run({ grid: 1, arguments: { bins: new Texture(part, options) } }),
    );
  }
  assert.equal([...bytes], new Array(16).fill(0));
  const words = new Uint32Array(6);
  const bins = new Texture(words.subarray(1, 5), { format: 'r32uint', width: 4 });
  await kernel.run({ grid: 1, arguments: { bins } });
  assert.equal([...words], [0, 0, 0, 0, 0x01020304, 0]);
});

onKernelDevices(
  "a cube's faces are always clamped to their edges; Metal's names do not hide a user's.",
  async (device) => {
    const kernel = await device.kernel(`${head}
struct Gradient { float x; };
static bool isSetting(float x) { return x > 0; }
kernel void take(texturecube<float> sky, sampler s, device float* out) {
  out[0] = sky.sample(s, float3(1, 0.3f, -1)).x;
  out[1] = sky.sample(s, float3(-0.999f, 0.2f, 0.1f)).x + Gradient{0}.x + isSetting(-1);
}`);
    const sky = new Texture(
      Float32Array.from({ length: 54 }, (_, i) => i),
      { format: 'r32float', width: 3, height: 3, layers: 6 },
    );
    const out = new Float32Array(2);
    for (const address of ['repeat', 'clamp_to_zero', 'clamp_to_edge'] as const) {
      await kernel.run({ grid: 1, arguments: { sky, s: { address }, out } });
      assert.equal([...out], [5, 13], address);
    }
  },
);

test('a Texture says what is wrong with its sizes.', async () => {
  const of = (options: object, memory: unknown = new Uint8Array(4)) =>
    new Texture(memory as Uint8Array, { format: 'r8unorm', width: 2, height: 2, ...options } as never);
  await throwsCode('ERR_INVALID_ARGUMENT', '`format`', () => of({ format: 'rgb8unorm' }));
  await throwsCode('ERR_OUT_OF_RANGE', '`width`', () => of({ width: 0 }));
  await throwsCode('ERR_OUT_OF_RANGE', '`height`', () => of({ height: 20_000 }));
  await throwsCode('ERR_SHAPE', '`depth`', () => of({ depth: 2, layers: 2 }));
  await throwsCode('ERR_UNKNOWN_OPTION', 'widht', () => of({ widht: 2 }));
  for (const memory of [[1, 2, 3, 4], new Float32Array(4), new Uint16Array(4), new DataView(new ArrayBuffer(4))])
    await throwsCode('ERR_INVALID_ARGUMENT', '`memory`', () => of({}, memory));
  for (const format of ['r16float', 'r32float'])
    await throwsCode('ERR_INVALID_ARGUMENT', '`memory`', () => of({ format }, new Int32Array(4)));
  of({}, new Uint8ClampedArray(4));
  of({ format: 'r32float', width: 1, height: 1 }, new Uint8Array(4));
  const { format, width, height, depth, layers } = of({});
  assert.equal(
    { format, width, height, depth, layers },
    { format: 'r8unorm', width: 2, height: 2, depth: 1, layers: 1 },
  );
});

test.run();
