// User kernels, from text to results, on the devices that run them.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix } from '../../lib/index.ts';
import { onKernelDevices } from '../harness/kernel-devices.ts';
import { throwsCode } from '../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

const vectorAddition = `#include <metal_stdlib>
using namespace metal;

kernel void add(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                device float* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = a[i] + b[i];
}
`;

onKernelDevices('two vectors are added, by arguments named and in order.', async (device) => {
  const kernel = await device.kernel(vectorAddition);
  for (const n of [1, 31, 1000, 10_007]) {
    const a = Float32Array.from({ length: n }, (_, i) => i);
    const b = Float32Array.from(a, (value) => 2 * value);
    const [named, ordered] = [new Float32Array(n), new Float32Array(n)];
    await kernel.run({ grid: n, arguments: { out: named, a, b } });
    kernel.runSync({ grid: [n, 1, 1], threadgroup: 32, arguments: [a, b, ordered] });
    const sums = Array.from(a, (value) => 3 * value);
    assert.equal([...named], sums);
    assert.equal([...ordered], sums);
  }
});

// The interface of github.com/a-h/gpu's shaders: one parameter struct, then the input and the output.
const process = `#include <metal_stdlib>
using namespace metal;

typedef struct {
  uint16_t w_in, h_in, d_in;
  uint16_t w_out, h_out, d_out;
} Params;

int indexOf(int x, int y, int z, int w, int h) { return z * w * h + y * w + x; }

kernel void process(device const Params* p, device const float* input, device float* output,
                    uint3 gridSize [[threads_per_grid]], uint3 gid [[thread_position_in_grid]]) {
  int from = indexOf(gid.x, gid.y, gid.z, p->w_in, p->h_in);
  int to = indexOf(gid.x, gid.y, gid.z, p->w_out, p->h_out);
  output[to] = input[from] * 2.0 + gid.z + 100.0 * (gridSize.x == p->w_in);
}
`;

onKernelDevices(
  'shaders with the interface of a-h/gpu run unchanged, over width, height and depth.',
  async (device) => {
    const kernel = await device.kernel(process);
    assert.equal(kernel.argumentNames, ['p', 'input', 'output']);
    const [w, h, d] = [5, 4, 3];
    const input = Float32Array.from({ length: w * h * d }, (_, i) => i);
    const output = new Float32Array(input.length);
    const p = { w_in: w, h_in: h, d_in: d, w_out: w, h_out: h, d_out: d };
    await kernel.run({ grid: [w, h, d], arguments: { p, input, output } });
    const expected = Array.from(input, (value, i) => 2 * value + Math.floor(i / (w * h)) + 100);
    assert.equal([...output], expected);
  },
);

// go-mm's shaders: a 16-byte parameter struct, and the right matrix plain or transposed.
const products = `#include <metal_stdlib>
using namespace metal;

struct MatrixParams {
  int32_t a_rows, a_cols;
  int32_t b_rows, b_cols;
};

kernel void matmul_naive(device const MatrixParams* params, constant float* a, constant float* b, device float* c,
                         uint2 gid [[thread_position_in_grid]]) {
  if (int(gid.x) >= params->b_cols || int(gid.y) >= params->a_rows) return;
  float sum = 0.0;
  for (int k = 0; k < params->a_cols; k++) sum += a[gid.y * params->a_cols + k] * b[k * params->b_cols + gid.x];
  c[gid.y * params->b_cols + gid.x] = sum;
}

kernel void matmul_transposed(device const MatrixParams* params, constant float* a, constant float* b, device float* c,
                              uint2 gid [[thread_position_in_grid]]) {
  if (int(gid.x) >= params->b_rows || int(gid.y) >= params->a_rows) return;
  float sum = 0.0;
  for (int k = 0; k < params->a_cols; k++) sum += a[gid.y * params->a_cols + k] * b[gid.x * params->b_cols + k];
  c[gid.y * params->b_rows + gid.x] = sum;
}
`;

onKernelDevices("go-mm's parameter struct and its two products run unchanged.", async (device) => {
  const a = Matrix.from([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  const b = Matrix.from([
    [1, 0, 2, 1],
    [0, 1, 1, 3],
    [2, 2, 0, 1],
  ]);
  const bTransposed = Matrix.from([
    [1, 0, 2],
    [0, 1, 2],
    [2, 1, 0],
    [1, 3, 1],
  ]);
  const expected = [
    [7, 8, 4, 10],
    [16, 17, 13, 25],
  ];
  for (const [name, right] of [
    ['matmul_naive', b],
    ['matmul_transposed', bTransposed],
  ] as const) {
    const kernel = await device.kernel(products, { name });
    const c = device.matrix(2, 4);
    const params = { a_rows: 2, a_cols: 3, b_rows: right.rows, b_cols: right.columns };
    await kernel.run({ grid: [4, 2], arguments: { params, a, b: right, c } });
    assert.equal(c.toArray(), expected, name);
  }
});

onKernelDevices('numbers without a suffix are floats, as in Metal.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void f(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = (0.1 + 0.2 == 0.1f + 0.2f) + 2 * (sizeof(1.0) == 4);
}`);
  const out = new Float32Array(3);
  kernel.runSync({ grid: 3, arguments: [out] });
  assert.equal([...out], [3, 3, 3]);
});

onKernelDevices('structs of scalars, vectors, arrays and structs are laid out from plain objects.', async (device) => {
  const kernel = await device.kernel(`${head}
struct Inner { float2 a; uchar b; };
struct Outer {
  bool on;
  float3 v;  // 16 bytes, at a multiple of 16
  packed_float3 packed;
  short numbers[3];
  Inner inner[2];
  ulong big;
  uint4 last;
};
kernel void spread(constant Outer& o [[buffer(0)]], device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  const float all[] = {float(o.on), o.v.x, o.v.y, o.v.z, o.packed[0], o.packed[1], o.packed[2], float(o.numbers[0]),
                       float(o.numbers[1]), float(o.numbers[2]), o.inner[0].a.x, o.inner[0].a.y, float(o.inner[0].b),
                       o.inner[1].a.x, o.inner[1].a.y, float(o.inner[1].b), float(o.big >> 40), float(o.last.x),
                       float(o.last.w), float(sizeof(Outer))};
  out[i] = all[i];
}`);
  const out = new Float32Array(20);
  const o = {
    on: true,
    v: [1, 2, 3],
    packed: [4, 5, 6],
    numbers: [-1, 0, 7],
    inner: [
      { a: [8, 9], b: 10 },
      { a: [11, 12], b: 255 },
    ],
    big: 5n << 40n,
    last: [13, 0, 0, 14],
  };
  await kernel.run({ grid: 20, arguments: { o, out } });
  assert.equal([...out], [1, 1, 2, 3, 4, 5, 6, -1, 0, 7, 8, 9, 10, 11, 12, 255, 5, 13, 14, 112]);
});

onKernelDevices('names of properties of JavaScript objects are ordinary names.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void constructor(device float* toString [[buffer(0)]]) { float valueOf = 2, __proto__ = 3; *toString = valueOf * __proto__; }`);
  const out = new Float32Array(1);
  kernel.runSync({ grid: 1, arguments: { toString: out } });
  assert.is(out[0], 6);
});

onKernelDevices('vectors have the operators, swizzles and functions that kernels use.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void words(device const float4* in [[buffer(0)]], device float4* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  float4 v = in[i];
  out[0] = v.wzyx * 2 + float4(1);
  out[1] = float4(v.xy, v.zw) - 0.5f;
  float3 a = v.xyz, b = float3(1, 0, 0);
  out[2] = float4(cross(a, b), dot(a, b));
  v.xy = v.yx;
  out[3] = v;
  out[4] = clamp(in[i], 1.5f, 3.0f);
  out[5] = mix(float4(0), in[i], 0.25f);
  out[6] = float4(min(v.x, 1.0f), max(v, 2.0f).x, length(float2(3, 4)), float(all(in[i] > 0)));
  out[7] = select(float4(0), in[i], in[i] > 2);
  uint2 u = uint2(v.zw) << 2;
  out[8] = float4(float2(u), float(popcount(7u)), float(as_type<uint>(1.0f) == 0x3f800000u));
  out[9] = sqrt(in[i] * in[i]) + floor(fract(v) + 1) - float4(1, 1, 1, 1);
  out[10] = in[i];
  out[10].wzyx = out[10];
}`);
  const out = new Float32Array(44);
  kernel.runSync({ grid: 1, arguments: [Float32Array.of(1, 2, 3, 4), out] });
  const rows = Array.from({ length: 11 }, (_, i) => [...out.subarray(4 * i, 4 * i + 4)]);
  assert.equal(rows, [
    [9, 7, 5, 3],
    [0.5, 1.5, 2.5, 3.5],
    [0, 3, -2, 1],
    [2, 1, 3, 4],
    [1.5, 2, 3, 3],
    [0.25, 0.5, 0.75, 1],
    [1, 2, 5, 1],
    [0, 0, 3, 4],
    [12, 16, 3, 1],
    [1, 2, 3, 4],
    [4, 3, 2, 1],
  ]);
});

onKernelDevices(
  'function constants are set by name, and one that the text asks about may be left out.',
  async (device) => {
    const text = `${head}
constant int scale [[function_constant(0)]];
constant bool negative [[function_constant(1)]];
constant float offset [[function_constant(2)]];
constant float added = is_function_constant_defined(offset) ? offset : 100.0f;
kernel void f(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = (negative ? -1 : 1) * scale * int(i) + added;
}`;
    for (const [constants, expected] of [
      [{ scale: 3, negative: true, offset: 0.5 }, [0.5, -2.5, -5.5]],
      [{ scale: -2, negative: false }, [100, 98, 96]],
    ] as const) {
      const out = new Float32Array(3);
      await (await device.kernel(text, { constants })).run({ grid: 3, arguments: [out] });
      assert.equal([...out], expected);
    }
    await throwsCode('ERR_INVALID_ARGUMENT', () => device.kernel(text, { constants: { scale: 1 } }));
    await throwsCode('ERR_INVALID_ARGUMENT', () =>
      device.kernel(text, { constants: { scale: 1, negative: true, other: 1 } }),
    );
    const fraction = await device.kernel(text, { constants: { scale: 1.5, negative: true } }).catch((error) => error);
    assert.is(fraction.code, 'ERR_OUT_OF_RANGE');
    assert.match(fraction.message, /^Argument \(constants\.scale\) is \(1\.5\)/);
  },
);

onKernelDevices('function constants keep all digits of 64 bits, and the sign of 0.', async (device) => {
  const text = `${head}
constant long least [[function_constant(0)]];
constant ulong most [[function_constant(1)]];
constant float zero [[function_constant(2)]];
kernel void f(device int2* out [[buffer(0)]]) {
  out[0] = as_type<int2>(least);
  out[1] = as_type<int2>(most);
  out[2].x = as_type<int>(zero);
}`;
  const constants = { least: -(2n ** 53n) - 1n, most: 2n ** 64n - 2n, zero: -0 };
  const out = new Int32Array(6);
  await (await device.kernel(text, { constants })).run({ grid: 1, arguments: [out] });
  assert.equal([...new BigInt64Array(out.buffer, 0, 2)], [constants.least, -2n]);
  assert.is(out[4], -(2 ** 31));
  await throwsCode('ERR_OUT_OF_RANGE', 'a bigint or a whole number up to 2^53 - 1', () =>
    device.kernel(text, { constants: { ...constants, most: 2 ** 60 } }),
  );
});

onKernelDevices('kernels run between other commands of one command buffer, in order.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void double_all(device float* x [[buffer(0)]], constant float* by [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  x[i] *= by[0];
}`);
  const [a, by] = [device.vector(8), device.vector(1)];
  const sum = device.vector(8);
  a.data.fill(1);
  by.data.fill(2);
  await device
    .commandBuffer()
    .launch(kernel, { grid: 8, arguments: { x: a, by } })
    .sum(by, by, by)
    .launch(kernel, { grid: 8, arguments: { x: a, by } })
    .sum(a, a, sum)
    .commit();
  assert.equal(sum.toArray(), Array(8).fill(16));
});

onKernelDevices('typed arrays of bytes and integers are read and written.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void gray(device const uchar4* rgba [[buffer(0)]], device uchar* out [[buffer(1)]], device int* sums [[buffer(2)]],
                 uint i [[thread_position_in_grid]]) {
  const uint3 c = uint3(rgba[i].rgb);
  out[i] = uchar((77 * c.r + 150 * c.g + 29 * c.b) >> 8);
  sums[i] = -int(c.r + c.g + c.b);
}`);
  const rgba = Uint8Array.of(255, 255, 255, 0, 10, 20, 30, 0, 0, 0, 0, 255);
  const [out, sums] = [new Uint8Array(3), new Int32Array(3)];
  await kernel.run({ grid: 3, arguments: { rgba, out, sums } });
  assert.equal([...out], [255, 18, 0]);
  assert.equal([...sums], [-765, -60, 0]);
});

test.run();
