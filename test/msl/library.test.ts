// The names that kernels know: functions, numbers and types of Metal's standard library, with results known by hand.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onKernelDevices } from '../harness/kernel-devices.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

const expressions: readonly (readonly [text: string, value: number])[] = [
  ['sinpi(0.5f)', 1],
  ['sinpi(1.0f)', 0],
  ['sinpi(float2(-1.5f)).y', 1],
  ['cospi(1.0f)', -1],
  ['cospi(0.5f)', 0],
  ['tanpi(0.25f)', 1],
  ['acosh(1.0f) + asinh(0.0f) + atanh(0.0f)', 0],
  ['ilogb(8.0f)', 3],
  ['ldexp(float2(3), int2(2)).x', 12],
  ['fdim(3.0f, 1.0f) + fdim(1.0f, 3.0f)', 2],
  ['fract(-0.25f)', 0.75],
  ['fract(-1e-9f)', 1 - 2 ** -24],
  ['fract(half(-1e-4h))', 1 - 2 ** -11],
  ['fract(bfloat(-1e-4f))', 1 - 2 ** -8],
  ['isnan(fract(NAN))', 1],
  ['divide(6.0f, 3.0f)', 2],
  ['as_type<ushort>(nextafter(half(1), half(2)))', 0x3c01],
  ['as_type<ushort>(nextafter(half(1), half(-2)))', 0x3bff],
  ['as_type<ushort>(nextafter(half(-1), half(2)))', 0xbbff],
  ['as_type<ushort>(nextafter(half(0), half(-2)))', 0x8001],
  ['as_type<ushort>(nextafter(bfloat2(1), bfloat2(2)).y)', 0x3f81],
  ['as_type<uint>(nextafter(1.0f, 2.0f)) - 0x3f800000u', 1],
  ['max3(1, 2, 3)', 3],
  ['min3(1.0f, 2.0f, 3.0f)', 1],
  ['median3(3, 1, 2)', 2],
  ['signbit(-0.0f)', 1],
  ['isnormal(1e-40f)', 0],
  ['isnormal(half2(1e-5h)).y', 0],
  ['isnormal(HALF_MIN) && isnormal(bfloat(1e-5f)) && !isnormal(half(INFINITY))', 1],
  ['isordered(1.0f, NAN)', 0],
  ['isunordered(float2(1), float2(NAN)).x', 1],
  ['distance_squared(float2(0), float2(3, 4))', 25],
  ['reflect(float2(1, -1), float2(0, 1)).y', 1],
  ['refract(float2(0, -1), float2(0, 1), 2.0f).y', -1],
  ['faceforward(float2(1, 2), float2(0, 1), float2(0, 1)).x', -1],
  ['mad24(2, 3, 4)', 10],
  ['mul24(2, -3)', -6],
  ['mulhi(1u << 31, 4u)', 2],
  ['mulhi(short(-2), short(16384))', -1],
  ['mulhi(ulong(1) << 63, ulong(6))', 3],
  ['madhi(1u << 31, 4u, 1u)', 3],
  ['madsat(65536, 65536, -1)', 2 ** 31],
  ['madsat(short2(300), short2(-300), short2(1)).y', -(2 ** 15)],
  ['madsat(ulong(1) << 63, ulong(2), ulong(5)) == ULONG_MAX', 1],
  ['madsat(LONG_MIN, LONG_MIN, 0L) == LONG_MAX', 1],
  ['addsat(uchar(250), uchar(10))', 255],
  ['addsat(INT_MIN, -1)', -(2 ** 31)],
  ['subsat(1u, 2u)', 0],
  ['subsat(char2(-100), char2(100)).y', -128],
  ['hadd(1, 4)', 2],
  ['rhadd(-1, -4)', -2],
  ['extract_bits(0xF0u, 4, 4)', 15],
  ['extract_bits(int(0xF0), 4, 4)', -1],
  ['extract_bits(7u, 0, 0)', 0],
  ['extract_bits(7u, 0, 32)', 7],
  ['insert_bits(0xffu, 0u, 4, 4)', 15],
  ['insert_bits(1, -1, 0, 32)', -1],
  ['insert_bits(7u, 1u, 32, uint(out[0]) - 1)', 7],
  ['absdiff(INT_MIN, INT_MAX)', 2 ** 32],
  ['absdiff(char2(-128), char2(127)).y', 255],
  ['absdiff(5, char(-1))', 6],
  ['select(1, 2, int(out[0]))', 2],
  ['select(1.0f, 2.0f, -1)', 2],
  ['select(float2(1), float2(2), 1).y', 2],
  ['reverse_bits(1u)', 2 ** 31],
  ['reverse_bits(uchar2(2)).x', 64],
  ['numeric_limits<int>::max()', 2 ** 31],
  ['numeric_limits<float>::max() == FLT_MAX', 1],
  ['FLT_EPSILON', 2 ** -23],
  ['FLT_MANT_DIG + FLT_MIN_EXP + FLT_RADIX + HALF_MANT_DIG + HALF_MIN_EXP + HALF_DIG', -98],
  ['M_LN2_F', Math.fround(Math.LN2)],
  ['UINT_MAX == ~0u', 1],
  ['vec<float, 3>(2).y', 2],
  ['metal::float3(1, 2, 3).z', 3],
  ['float2x2{{1, 2}, {3, 4}}[1].x', 3],
  ['float2x3({1, 2, 3}, {4, 5, 6})[1].z', 6],
  ['half3x2{{1, 2}, half2(3, 4), {5, 6}}[2].y', 6],
  ['float4x4({1, 2, 3, 4}, float4(5), {9, 10, 11, 12}, {13, 14, 15, 16})[3].w', 16],
  ['rows[1].x + float2x2{1, 2, 3, 4}[0].y', 5],
  ['array<float, 2>{5, 6}[1]', 6],
  ['is_same<uint, unsigned int>::value', 1],
];

onKernelDevices('functions, numbers and types of the standard library are as in Metal.', async (device) => {
  const kernel = await device.kernel(`${head}
constant float2x2 rows = {{1, 2}, {3, 4}};
kernel void words(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
${expressions.map(([text], k) => `  out[${k}] = ${text};`).join('\n')}
}`);
  const out = new Float32Array(expressions.length);
  await kernel.run({ grid: 1, arguments: { out } });
  expressions.forEach(([text, value], k) => {
    assert.is(out[k]! + 0, value + 0, text);
  });
});

onKernelDevices('functions with two results give both.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void both(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float whole, cosine;
  float2 wholes;
  int exponent;
  out[0] = modf(-2.5f, whole); out[1] = whole;
  out[2] = modf(float2(3.25f), wholes).y; out[3] = wholes.y;
  out[4] = frexp(12.0f, exponent); out[5] = exponent;
  out[6] = sincos(0.0f, cosine); out[7] = cosine;
  out[8] = modf(INFINITY, whole);
}`);
  const out = new Float32Array(9);
  await kernel.run({ grid: 1, arguments: { out } });
  assert.equal([...out], [-0.5, -2, 0.25, 3, 0.75, 4, 0, 1, 0]);
});

onKernelDevices('matrices are their columns, in memory and in products.', async (device) => {
  const kernel = await device.kernel(`${head}
struct Params { float by; float3x2 wide; float3x3 square; };
kernel void products(constant Params& p [[buffer(0)]], device const float2x2* in [[buffer(1)]], device float* out [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
  float2 image = p.wide * float3(1, 2, 3);
  out[0] = image.x; out[1] = image.y;
  float3 turned = float2(1, 2) * p.wide;
  out[2] = turned.x; out[3] = turned.y; out[4] = turned.z;
  float3x3 square = transpose(p.wide) * p.wide + p.by * p.square;
  out[5] = square[0][2]; out[6] = square[2].y;
  out[7] = determinant(p.square); out[8] = determinant(float4x4(2)); out[9] = determinant(float2x2(1, 2, 3, 4));
  float2x2 product = in[0] * in[1];
  out[10] = product[0][0]; out[11] = product[0][1]; out[12] = product[1][0]; out[13] = product[1][1];
  product *= in[0]; product -= float2x2(float2(1, 2), float2(3, 4));
  out[14] = product[1][0]; out[15] = (metal::float2x2(3)[1] * 2).y; out[16] = sizeof(Params);
}`);
  const p = {
    by: 10,
    wide: [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    square: [
      [2, 0, 1],
      [1, 3, 2],
      [1, 1, 4],
    ],
  };
  const out = new Float32Array(17);
  await kernel.run({ grid: 1, arguments: { p, in: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), out } });
  // product is 5 (1, 2) + 6 (3, 4) and 7 (1, 2) + 8 (3, 4); its second column then 3 (23, 34) + 4 (31, 46), less (3, 4)
  const expected = [22, 28, 5, 11, 17, 17 + 10, 39 + 10, 2 * 10 - 2 + 0, 16, -2, 23, 34, 31, 46, 190, 6, 80];
  assert.equal([...out], expected);
});

onKernelDevices('quads are four lanes of a simdgroup, and vectors go from lane to lane.', async (device) => {
  const given = [
    ...['quad_sum(i)', 'quad_max(i)', 'quad_min(i)', 'quad_broadcast(i, ushort(2))', 'quad_shuffle(i, ushort(3))'],
    ...[
      'quad_shuffle_xor(i, ushort(1))',
      'quad_shuffle_rotate_down(i, ushort(1))',
      'quad_shuffle_rotate_up(i, ushort(1))',
    ],
    ...[
      'uint(quad_any(i % 4 == 1)) + 2 * uint(quad_all(i % 4 == 1))',
      'uint(simd_is_first())',
      'uint(quad_is_first())',
    ],
    ...[
      'popcount(ulong(simd_ballot(i % 4 == 1)))',
      'uint(simd_sum(float4(i)).w)',
      'uint(simd_shuffle_xor(float4(i), ushort(2)).z)',
    ],
    ...['place', 'quad', 'quads', 'simd_shuffle_rotate_down(i, ushort(1))'],
  ];
  const kernel = await device.kernel(`${head}
kernel void quads(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]], uint place [[thread_index_in_quadgroup]],
                  uint quad [[quadgroup_index_in_threadgroup]], uint quads [[quadgroups_per_threadgroup]]) {
${given.map((text, k) => `  out[${given.length} * i + ${k}] = ${text};`).join('\n')}
}`);
  const lanes = kernel.threadExecutionWidth;
  const out = new Uint32Array(lanes * given.length);
  await kernel.run({ grid: lanes, threadgroup: lanes, arguments: { out } });
  for (let i = 0; i < lanes; i++) {
    const first = i - (i % 4);
    const expected = [
      ...[4 * first + 6, first + 3, first, first + 2, first + 3],
      ...[i ^ 1, first + ((i + 1) % 4), first + ((i + 3) % 4)],
      ...[1, Number(i === 0), Number(i === first)],
      ...[lanes / 4, (lanes * (lanes - 1)) / 2, i ^ 2],
      ...[i % 4, Math.floor(i / 4), lanes / 4, (i + 1) % lanes],
    ];
    assert.equal([...out.subarray(given.length * i, given.length * (i + 1))], expected, `thread ${i}`);
  }
});

onKernelDevices("the names of Apple's own headers that public kernels call are known.", async (device) => {
  if (device.kind === 'metal') return; // the stand-in's compiler is not Apple's
  const kernel = await device.kernel(`${head}
#pragma METAL internals : enable
using small = bfloat;
namespace metal {
METAL_FUNC small exp2(small x) { return static_cast<small>(__metal_exp2(static_cast<float>(x), __METAL_FAST_MATH__)); }
METAL_FUNC small max(small x, small y) { return small(__metal_fmax(float(x), float(y), __METAL_MAYBE_FAST_MATH__)); }
METAL_FUNC small simd_sum(small x) { return static_cast<small>(__metal_simd_sum(static_cast<float>(x))); }
METAL_FUNC small simd_shuffle_and_fill_up(small x, small filling, ushort delta) {
  return small(__metal_simd_shuffle_and_fill_up(float(x), float(filling), delta, __metal_get_simdgroup_size(ushort())));
}
constexpr constant metal::thread_scope thread_scope_system = static_cast<thread_scope>(__METAL_MEMORY_SCOPE_SYSTEM__);
}
template <typename T> struct Ranked { T value; uint rank; };
template <typename T> struct _numeric_limits_impl<Ranked<T>> {
  static constexpr METAL_FUNC Ranked<T> lowest() { return Ranked<T>{numeric_limits<T>::lowest(), 9}; }
};
METAL_FUNC ulong simd_shuffle_down(ulong x, uint16_t delta) { return as_type<ulong>(simd_shuffle_down(as_type<uint2>(x), delta)); }
template <typename T> METAL_FUNC Ranked<T> simd_shuffle_down(Ranked<T> x, ushort delta) {
  return Ranked<T>{simd_shuffle_down(x.value, delta), simd_shuffle_down(x.rank, delta)};
}
template <typename T> constexpr constant bool is_simd = __is_valid_simdgroup_type<T>::value;
constant bool forward = true;
[[kernel]] void f(volatile coherent(system) device float* out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const small x = small(float(i));
  float all = float(metal::exp2(small(3.0f))) + float(metal::max(x, small(2.0f))) + float(metal::simd_sum(x));
  all += float(metal::simd_shuffle_and_fill_up(x, small(50.0f), 1)) + numeric_limits<Ranked<uint>>::lowest().rank;
  all += float(simd_shuffle_down(ulong(i) << 40, 1) >> 40) + simd_shuffle_down(Ranked<float>{float(i), i}, ushort(2)).value;
  int exponent;
  all += __metal_frexp(12.0f, &exponent) + exponent + __metal_fmedian3(3.0f, 1.0f, 2.0f, __METAL_PRECISE_MATH__);
  all += is_simd<float> * 1000 + is_simd<ulong> * 2000 + is_simd<bool> * 4000 + is_simd<int4> * 8000;
  metal::atomic_thread_fence(metal::mem_flags::mem_device, metal::memory_order_seq_cst, metal::thread_scope_system);
  out[i] = forward ? all + __metal_get_thread_index_in_simdgroup(ushort()) - lane : 0;
}`);
  const out = new Float32Array(8);
  await kernel.run({ grid: 8, threadgroup: 8, arguments: { out } });
  const expected = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => {
    const up = i === 0 ? 50 : i - 1;
    // A lane without a neighbour keeps its own value.
    const down = (by: number) => (i + by < 8 ? i + by : i);
    return 8 + Math.max(i, 2) + 28 + up + 9 + down(1) + down(2) + 0.75 + 4 + 2 + 9000;
  });
  assert.equal([...out], expected);
});

onKernelDevices('vectors in braces may have fewer numbers, and members may be private.', async (device) => {
  const kernel = await device.kernel(`${head}
class Count {
 public:
  Count() = default;
  constexpr explicit Count(uint n) : inner(n) {}
  METAL_FUNC uint twice() const { return 2 * inner; }
 private:
  uint inner;
};
template <template <typename> class Of> struct Holder { Of<uint> held; };
kernel void f(device const Count* counts, device uint* out, uint3 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  uint4 v = {3, 4, 5}, w = {uint2(1, 2), 7};
  const uint2 first = {7};
  v += w + uint4{1} + uint4{w} - w + uint4(first, uint2{at.xy}) - uint4(7, 0, uint2(at.xy));
  out[at.x] = counts[at.x].twice() + v.x * 10 + v.y * 100 + v.z * 1000 + v.w * 10000 + at.y + at.z + size.y * 100000;
}`);
  const out = new Uint32Array(2);
  await kernel.run({ grid: 2, arguments: [new Uint8Array(Uint32Array.of(1, 2).buffer), out] });
  assert.equal([...out], [2 + 50 + 600 + 12_000 + 100_000, 4 + 50 + 600 + 12_000 + 100_000]);
});

onKernelDevices(
  'a function that a text adds to the namespace metal, fast or precise does not hide those of the library.',
  async (device) => {
    const added = 'METAL_FUNC bfloat exp2(bfloat x) { return bfloat(7.0f); }';
    const kernel = await device.kernel(`${head}
namespace metal { ${added} namespace fast { ${added} } namespace precise { ${added} } }
kernel void f(device float* out) {
  const float x = 1.00390625f; // a bfloat has no such number
  out[0] = exp2(x); out[1] = metal::exp2(x); out[2] = fast::exp2(x); out[3] = metal::precise::exp2(x);
  out[4] = float(fast::exp2(bfloat(x))) + float(exp2(bfloat(x))) + float(precise::exp2(bfloat(x)));
  out[5] = fast::max(x, 2.0f) + precise::dot(float2(1, 2), float2(3, 4));
}`);
    const out = new Float32Array(6);
    await kernel.run({ grid: 1, arguments: { out } });
    for (let i = 0; i < 4; i++) assert.ok(Math.abs(out[i]! - 2 ** 1.00390625) < 1e-6, `${i}: ${out[i]}`);
    assert.equal([...out.subarray(4)], [21, 2 + 11]);
  },
);

onKernelDevices('numbers are packed into the bytes of a word and unpacked.', async (device) => {
  const given: readonly (readonly [text: string, value: number])[] = [
    ['pack_float_to_unorm4x8(float4(0, 1, 0.5f, 2))', 0xff_80_ff_00],
    ['pack_float_to_snorm4x8(float4(-1, 1, 0, -9))', 0x81_00_7f_81],
    ['pack_float_to_unorm2x16(float2(1, 0.25f))', 0x4000_ffff],
    ['pack_float_to_snorm2x16(float2(-1, 1))', 0x7fff_8001],
    ['pack_half_to_unorm4x8(half4(1, 0, 1, 0))', 0x00_ff_00_ff],
    ['pack_float_to_unorm10a2(float4(1, 0, 1, 1))', 0xfff0_03ff],
    ['pack_float_to_srgb_unorm4x8(float4(1, 0, 0.21404114f, 1))', 0xff_80_00_ff],
    ['uint(255 * unpack_unorm4x8_to_float(0x04030201).z + 0.5f)', 3],
    ['uint(-127 * unpack_snorm4x8_to_float(0x80000081).x + 0.5f)', 127],
    ['uint(-2 * unpack_snorm4x8_to_float(0x80000081).w)', 2],
    ['uint(65535 * unpack_unorm2x16_to_float(0x12345678).y + 0.5f)', 0x1234],
    ['uint(32767 * unpack_snorm2x16_to_float(0x12345678).x + 0.5f)', 0x5678],
    ['uint(1023 * unpack_unorm10a2_to_float(0x40100c01).y + 0.5f)', 3],
    ['uint(3 * unpack_unorm10a2_to_float(0x40100c01).w + 0.5f)', 1],
    ['uint(1000 * unpack_unorm4x8_srgb_to_float(0x80808080).x + 0.5f)', 216],
    ['uint(255 * unpack_unorm4x8_srgb_to_float(0x80808080).w + 0.5f)', 128],
  ];
  const kernel = await device.kernel(`${head}
kernel void words(device uint* out) {
${given.map(([text], k) => `  out[${k}] = ${text};`).join('\n')}
}`);
  const out = new Uint32Array(given.length);
  await kernel.run({ grid: 1, arguments: { out } });
  given.forEach(([text, value], k) => {
    assert.is(out[k], value >>> 0, text);
  });
});

onKernelDevices('parts of vectors are vectors when their type is deduced.', async (device) => {
  const text = `${head}
template <typename T> T twice(T x) { T result = x + x; return result; }
template <typename T> uint bytes(T x) { return sizeof(x); }
template <typename T> struct Base { T value; };
struct Own : Base<uint>, Base<int> { uint yw; };
kernel void f(device uint* out, uint i [[thread_index_in_threadgroup]]) {
  uint4 v = uint4(1, 2, 3, 4) + i;
  auto part = v.zw;
  part.x += 100;
  const uint2 zy = v.zy;
  Own own;
  own.yw = i;
  part.x += bytes(own.yw) - 4;
  const uint3 xxy = v.xxy;
  thread uint4* at = &v;
  const uint sum = twice(v.xy.yxy).z + twice(zy.xxx).y + twice(v.xyz.zzzz).w + twice(at->wxxz).w + at->yyy.z;
  if (zy.x != v.z || xxy.z != v.y || sum != 2 * v.y + 2 * v.z + 2 * v.z + 2 * v.z + v.y) part.x = 0;
  const uint2 chosen = i % 2 == 0 ? v.xy : v.wx;
  v.yx = v.xy;
  (v.zw) = uint2(7, 8);
  ++v.xy;
  const short2 shifted = short2(1, 2) << uint2(3, 4);
  short2 more = shifted;
  more >>= uint2(1, 33);
  const uint2 least = simd_min(uint2(i + 2, 9 - i)), given = simd_shuffle(v.xy, ushort(1)), most = simd_max(v.zw);
  const half2 sums = simd_sum(half2(half(i), 1));
  out[12 * i] = part.x * 10 + bytes(v.xyz) + bytes(twice(v.xy));
  out[12 * i + 1] = chosen.x * 10 + chosen.y;
  out[12 * i + 2] = v.x * 1000 + v.y * 100 + v.z * 10 + v.w;
  out[12 * i + 3] = shifted.x * 1000 + shifted.y * 100 + more.x * 10 + more.y;
  out[12 * i + 4] = least.x * 1000 + least.y * 100 + given.x * 10 + given.y;
  out[12 * i + 5] = most.x * 1000 + most.y * 100 + uint(sums.x) * 10 + uint(sums.y);
}`;
  const out = new Uint32Array(48);
  for (const check of device.kind === 'cpu' ? [false, true] : [false]) {
    const kernel = await device.kernel(text, { check });
    await kernel.run({ grid: 4, threadgroup: 4, arguments: { out: out.fill(0) } });
    for (let i = 0; i < 4; i++) {
      const chosen = i % 2 === 0 ? [1 + i, 2 + i] : [4 + i, 1 + i];
      const expected = [
        (3 + i + 100) * 10 + 16 + 8,
        chosen[0]! * 10 + chosen[1]!,
        // x and y change places, and are one more.
        (3 + i) * 1000 + (2 + i) * 100 + 78,
        8 * 1000 + 32 * 100 + 4 * 10 + 16,
        2 * 1000 + 6 * 100 + 4 * 10 + 3,
        7 * 1000 + 8 * 100 + 6 * 10 + 4,
      ];
      assert.equal([...out.subarray(12 * i, 12 * i + 6)], expected, `thread ${i}, check ${check}`);
    }
  }
});

onKernelDevices(
  'generated texts have their types: lists in braces, columns, arrays, volatile structs.',
  async (device) => {
    const text = `${head}
template <typename T, int Cols, int Rows = Cols>
struct Storage {
  vec<T, Rows> columns[Cols];
  Storage() thread = default;
  thread Storage& operator=(initializer_list<vec<T, Rows>> given) thread {
    size_t at = 0;
    for (thread auto& each : given) columns[at++] = each;
    return *this;
  }
  Storage(const thread matrix<T, Cols, Rows>& m) thread {
    for (size_t k = 0; k < Cols; ++k) columns[k] = m.columns[k];
  }
  operator matrix<T, Cols, Rows>() const thread {
    matrix<T, Cols, Rows> m;
    for (int k = 0; k < Cols; ++k) m.columns[k] = columns[k];
    return m;
  }
};
struct Block { float4 value; uint n; };
kernel void f(volatile device Block& block [[buffer(0)]], device array<uint, 2>* pairs [[buffer(1)]],
              device MTLQuadTessellationFactorsHalf* quads [[buffer(2)]], volatile device uint* plain [[buffer(3)]],
              device MTLTriangleTessellationFactorsHalf* triangles [[buffer(4)]], uint i [[thread_position_in_grid]]) {
  Storage<float, 2> s = Storage<float, 2>(float2x2(float2(1, 2), float2(3, 4)));
  s = { float2(5, 6), s.columns[0] };
  const float2x2 m = float2x2(s);
  block.value = float4(m[0], m[1]);
  block.n = (*pairs)[1] + pairs[1][0];
  quads[i].edgeTessellationFactor[3] = half(2.0);
  quads[i].insideTessellationFactor[1] = 0.5h;
  triangles[i].insideTessellationFactor = 1;
  plain[i] += 5;
}`;
    for (const check of device.kind === 'cpu' ? [false, true] : [false]) {
      const kernel = await device.kernel(text, { check });
      const block = new Uint8Array(32);
      const pairs = new Uint8Array(Uint32Array.of(1, 20, 300, 4000).buffer);
      const [quads, triangles] = [new Uint8Array(12), new Uint8Array(8)];
      const plain = Uint32Array.of(6);
      await kernel.run({ grid: 1, arguments: { block, pairs, quads, plain, triangles } });
      assert.equal([...new Float32Array(block.buffer, 0, 4)], [5, 6, 1, 2]);
      assert.is(new Uint32Array(block.buffer)[4], 320);
      assert.equal([...new Uint16Array(quads.buffer)], [0, 0, 0, 0x4000, 0, 0x3800]);
      assert.equal([...new Uint16Array(triangles.buffer)], [0, 0, 0, 0x3c00]);
      assert.equal([...plain], [11]);
    }
  },
);

test.run();
