// What public kernels use: declarations, names, numbers and preprocessor lines, each of which was once translated
// wrongly or refused without reason. Expected numbers are computed here by other means.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Device } from '../../lib/index.ts';
import { onKernelDevices } from '../harness/kernel-devices.ts';
import { throwsCode } from '../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';
const at = 'uint i [[thread_position_in_grid]]';

async function uints(device: Device, text: string, count: number, more: object = {}): Promise<number[]> {
  const results: number[][] = [];
  // Check mode accepts correct kernels, and changes no number.
  for (const check of device.kind === 'cpu' ? [false, true] : [false]) {
    const kernel = await device.kernel(text, { ...more, check });
    const out = new Uint32Array(count);
    await kernel.run({ grid: count, threadgroup: count, arguments: { out } });
    results.push([...out]);
  }
  assert.equal(results[0], results.at(-1));
  return results[0]!;
}

onKernelDevices('threadgroup variables of any declaration are shared.', async (device) => {
  const barrier = 'threadgroup_barrier(mem_flags::mem_threadgroup);';
  for (const declared of [
    'threadgroup __attribute__((aligned(16))) uint t[8];',
    'threadgroup decltype(i) t[8];',
    'alignas(16) threadgroup uint t[8];',
    'threadgroup uint t[COUNT];',
    'SHARED(uint, t, 8);',
    'threadgroup array<uint, 8> t;',
  ]) {
    const text = `${head}#define COUNT (4 + 4)
#define SHARED(T, name, count) threadgroup T name[count]
kernel void f(device uint* out, ${at}) { ${declared} t[i] = i * i; ${barrier} out[i] = t[7 - i]; }`;
    assert.equal(await uints(device, text, 8), [49, 36, 25, 16, 9, 4, 1, 0], declared);
  }
});

onKernelDevices("A user's functions may have the names of the library's, even in its namespace.", async (device) => {
  const text = `${head}
struct Pair { uint a, b; };
Pair min(Pair x, Pair y) { return x.a < y.a ? x : y; }
namespace metal { inline uint twice(uint x) { return max(x, 1u) * 2; } }
kernel void f(device uint* out, ${at}) {
  Pair p = min(Pair{i, 1}, Pair{3, 2});
  out[i] = min(p.a, 2u) * 100 + p.b * 10 + metal::twice(i);
}`;
  const expected = [0, 1, 2, 3, 4].map((i) => Math.min(i, 3, 2) * 100 + (i < 3 ? 1 : 2) * 10 + Math.max(i, 1) * 2);
  assert.equal(await uints(device, text, 5), expected);
});

onKernelDevices('Text that is skipped, unused or for another stage does not matter.', async (device) => {
  const text = `#if !defined(__METAL__)
#include <cstdint>
#endif
${head}
constant int UNUSED [[function_constant(3)]];
constant uint STEP [[function_constant(0)]];
constant int FC = 1;
struct Twice { uint by; METAL_FUNC uint of(uint x) const { return by * x; } };
vertex float4 v(uint i [[vertex_id]]) { return float4(i); }
fragment half4 shade(float4 p [[position]]) { return half4(p); }
kernel void other(device int* a [[buffer(0)]]) { a[0] = UNUSED; }
kernel void f(device uint* __restrict__ out [[buffer(FC + 2)]], ${at}) { out[i] = Twice{STEP}.of(i); }`;
  // The stand-in for Metal requires all constants of a text.
  const constants = device.kind === 'metal' ? { STEP: 5, UNUSED: 1 } : { STEP: 5 };
  assert.equal(await uints(device, text, 3, { name: 'f', constants }), [0, 5, 10]);
});

onKernelDevices('The library has the functions that public kernels call.', async (device) => {
  const text = `${head}
constant float4 weights = float4(1, 2, 3, 4);
struct Point { packed_float3 at; uint n; };
kernel void f(device uint* out, ${at}) {
  constexpr uint2 pair = uint2(3, 4);
  Point p; p.at = packed_float3(1, 2, 3); p.at.x += 4; p.n = 2;
  const float4 chosen = select(float4(0), weights, bool4(true, false, true, false));
  uint x = simd_shuffle(i, ushort(1)) + simd_prefix_inclusive_product(i == 2 ? 3u : 1u);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  assert((is_same<uint, uint>::value) && i < 4);
  half h = half(0.1f); bfloat b = bfloat(1.0f / 3);
  out[i] = uint(chosen.x + chosen.z) * 1000 + uint(p.at.x) * 100 + pair.y * 10 + x + (uint(as_type<ushort>(h)) << 16)
    + uint(as_type<ushort>(b) == 0x3eabu) * 100000;
}`;
  // 0.1 as a half is 0x2e66, and 1 / 3 as the upper half of a float 0x3eab.
  const expected = [0, 1, 2, 3].map((i) => 104_540 + 1 + (i >= 2 ? 3 : 1) + 0x2e66 * 65_536);
  assert.equal(await uints(device, text, 4), expected);
});

onKernelDevices('Structs are copied from memory, and pointers cast as in C.', async (device) => {
  const text = `${head}
struct Pair { uint a; atomic_uint count; };
struct Plain { uint a, b; };
kernel void f(device uint* out, ${at}) {
  device Plain* plain = (device Plain*)out;
  if (i < 2) { Plain own = plain[i]; own.a += i + 1; own.b = own.a * 2; plain[i] = own; }
  threadgroup_barrier(mem_flags::mem_device);
  device Pair* pairs = reinterpret_cast<device Pair*>(out);
  atomic_fetch_add_explicit((device atomic_uint*)&pairs[1].a, 10, memory_order_relaxed);
  atomic_fetch_add_explicit(&pairs[0].count, 1u, memory_order_relaxed);
}`;
  assert.equal(await uints(device, text, 4), [1, 2 + 4, 2 + 40, 4]);
});

onKernelDevices('A template that is instantiated by a host_name is a kernel of that name.', async (device) => {
  const text = `${head}
template <typename T, int by> [[kernel]] void scale(device T* out [[buffer(0)]], ${at}) { out[i] = T(i) * by; }
template [[host_name("scale_uint_3")]] [[kernel]] void scale<uint, 3>(device uint* out, uint i);
#define instantiate(name, T, by) template [[host_name(#name)]] kernel void scale<T, by>(device T* out, uint i);
instantiate(scale_float_2, float, 2)
[[host_name("plain.copy")]] kernel void copy(device uint* out, ${at}) { out[i] = i; }`;
  assert.equal(await uints(device, text, 3, { name: 'scale_uint_3' }), [0, 3, 6]);
  assert.equal(await uints(device, text, 3, { name: 'plain.copy' }), [0, 1, 2]);
  const library = await device.library(text);
  assert.equal([...library.keys()], ['scale_uint_3', 'scale_float_2', 'plain.copy']);
  const { arguments: list, argumentNames } = library.get('scale_float_2')!;
  assert.equal(argumentNames, ['out']);
  assert.equal(list, [{ name: 'out', type: 'float', access: 'write', bytes: 4, index: 0 }]);
  assert.ok(Object.isFrozen(list) && Object.isFrozen(list[0]));
  await throwsCode('ERR_INVALID_ARGUMENT', 'scale_uint_3, scale_float_2, plain.copy', () =>
    device.kernel(text, { name: 'scale' }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', 'does not contain a kernel', () => device.library('float f();'));
});

onKernelDevices('A kernel says what it takes.', async (device) => {
  const kernel = await device.kernel(`${head}struct S { float4 a; uint n; };
kernel void f(device const float* in [[buffer(2)]], constant S& s [[buffer(0)]], threadgroup uint2* t [[threadgroup(0)]],
              device uchar* out [[buffer(1)]], ${at}) { t[0] = uint2(s.n); out[i] = uchar(in[i] + t[0].x); }`);
  assert.equal(kernel.arguments, [
    { name: 'in', type: 'float', access: 'read', bytes: 4, index: 2 },
    { name: 's', type: 'S', access: 'constant', bytes: 32, index: 0 },
    { name: 't', type: 'uint2', access: 'threadgroup', bytes: 8, index: 0 },
    { name: 'out', type: 'uchar', access: 'write', bytes: 1, index: 1 },
  ]);
});

onKernelDevices('A reference to a struct that ends in an array takes more of its elements.', async (device) => {
  const kernel = await device.kernel(`${head}struct Row { uint count; uint v[1]; };
kernel void f(device const Row& row [[buffer(0)]], device uint* out [[buffer(1)]], ${at}) {
  out[i] = i < row.count ? row.v[i] : 0;
}`);
  const out = new Uint32Array(4);
  const bytes = new Uint8Array(Uint32Array.of(3, 7, 8, 9).buffer);
  await kernel.run({ grid: 4, arguments: { row: bytes, out } });
  assert.equal([...out], [7, 8, 9, 0]);
  await throwsCode('ERR_SHAPE', 'row', () => kernel.run({ grid: 4, arguments: { row: new Uint8Array(11), out } }));
});

onKernelDevices('Features that the device lacks are refused at their line.', async (device) => {
  if (device.kind === 'metal') return; // Metal supports more of this
  for (const [text, line, words] of [
    [`struct S { device float* p; };\nkernel void f(constant S& s, device float* out) { out[0] = s.p[0]; }`, 4, 's'],
    [`kernel void f(device float* out,\n texture2d_ms<float> t [[texture(0)]]) {}`, 4, 'texture2d_ms'],
    [`void g(texture2d_ms<float> t) {}\nkernel void f(device float* out) { (void)&g; }`, 3, 'texture2d_ms'],
    [`kernel void f(device float* out, uint i [[nothing_known]]) {}`, 3, 'nothing_known'],
    [
      `struct In { float4 p [[attribute(0)]]; };\nkernel void f(device float* out,\n In in [[stage_in]]) {}`,
      5,
      'read its fields',
    ],
    [`kernel void f(device float* out) {\n threadgroup float t[2] = {1, 2};\n out[0] = t[0]; }`, 4, 'initial value'],
    [
      `kernel void f(device float* out) {\n double x = 1; out[0] = x; }`,
      4,
      '(double) is not a type of MSL: write float',
    ],
    [`kernel void f(device double* out) { out[0] = 1; }`, 3, 'f64'],
    [`#define REAL double\nkernel void f(device float* out) {\n out[0] = REAL(1); }`, 5, '(double)'],
    [
      `kernel void f(device int* out) {\n int* p = new int(1);\n out[0] = *p; }`,
      4,
      '(new) is not MSL: declare an array',
    ],
    [`kernel void f(device int* out) {\n int x;\n if (out[0]) delete &x; }`, 5, '(delete)'],
    [`kernel void f(device int* out) {\n again: out[0]++;\n if (out[0] < 5) goto again; }`, 5, 'write a loop'],
    [`int g() {\n throw 1; }\nkernel void f(device int* out) { out[0] = g(); }`, 4, '(throw)'],
    [`kernel void f(device int* out) {\n try { out[0] = 1; } catch (...) {} }`, 4, 'into a buffer'],
    [
      `struct S { virtual int g() { return 1; } };\nkernel void f(device int* out) { S s; out[0] = s.g(); }`,
      3,
      'a switch',
    ],
    [
      `struct S { int a; };\nkernel void f(device int* out) { S s; out[0] = dynamic_cast<S*>(&s)->a; }`,
      4,
      'static_cast',
    ],
    [`kernel void f(device int* out) {\n out[0] = typeid(int) == typeid(float); }`, 4, 'template'],
  ] as const) {
    const error = await throwsCode('ERR_UNSUPPORTED', words, () => device.kernel(head + text));
    assert.is((error as { line?: number }).line, line, error.message);
  }
  const undefinedFunction = 'float g(float x);\nkernel void f(device float* out) {\n  out[0] = g(1); }';
  await throwsCode('ERR_KERNEL_COMPILE', 'kernel.metal:5', () => device.kernel(head + undefinedFunction));
});

onKernelDevices('Words that MSL refuses do no harm if no kernel uses them.', async (device) => {
  if (device.kind === 'metal') return; // Metal reads all functions
  const kernel = await device.kernel(`${head}// new double goto
#define REAL double
#if 0
double g() { throw 1; }
#elif !defined(__METAL_VERSION__)
virtual double goto
#endif
/* try { delete x; } */
double unused(double x) { return x; }
template <typename T> T of(int x) = delete;
template <> float of<float>(int x) { return x; }
int newer(int goto_end) { return goto_end; }
kernel void f(device float* out) { const constant char* t = "double new"; out[0] = of<float>(newer(7)) + (t[0] == 'd'); }`);
  const out = new Float32Array(1);
  await kernel.run({ grid: 1, arguments: { out } });
  assert.is(out[0], 8);
});

onKernelDevices('A large array of a thread beside a barrier works, or is refused by name.', async (device) => {
  const text = (bytes: number) => `${head}kernel void f(device uint* out, ${at}) {
  uchar a[${bytes}];
  for (uint k = 0; k < ${bytes}; ++k) a[(k * 7) % ${bytes}] = uchar(k + i + out[0]);
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = a[(i + out[0]) % ${bytes}];
}`;
  const n = 65_536;
  const expected = [0, 1, 2, 3].map((i) => (i * inverseOf7(n) + i) & 255);
  assert.equal(await uints(device, text(n), 4), expected);
  await throwsCode('ERR_KERNEL_COMPILE', '', () => device.kernel(text(1_000_000)));
});

onKernelDevices('An instantiation may let its parameters determine the template arguments.', async (device) => {
  const text = `${head}
template <typename T> struct Twice { T of(T x) const { return 2 * x; } };
template <int n> struct Strides { int each[n]; };
template <typename T, int n>
[[kernel]] void strided(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                        const constant Strides<n>* strides [[buffer(2)]], ${at}) {
  out[i] = in[i] * T(strides->each[n - 1]);
}
#define instantiate(T, n) template [[host_name("strided_" #T #n)]] [[kernel]] void strided( \\
  const device T* in [[buffer(0)]], device T* out [[buffer(1)]], const constant Strides<n>* s [[buffer(2)]], uint i);
instantiate(float, 2)
instantiate(uint, 3)`;
  const library = await device.library(text);
  assert.equal([...library.keys()], ['strided_float2', 'strided_uint3']);
  const out = new Uint32Array(2);
  const strides = Int32Array.of(10, 20, 30);
  await library
    .get('strided_uint3')!
    .run({ grid: 2, arguments: [Uint32Array.of(1, 2), out, new Uint8Array(strides.buffer)] });
  assert.equal([...out], [30, 60]);
  const floats = new Float32Array(2);
  await library
    .get('strided_float2')!
    .run({ grid: 2, arguments: [Float32Array.of(0.5, 2), floats, new Uint8Array(strides.buffer, 0, 8)] });
  assert.equal([...floats], [10, 40]);
  const unlike = `${head}template <int n> kernel void f(device uint* out) { out[0] = n; }
template [[host_name("f3")]] kernel void f(device uint* out);`;
  await throwsCode('ERR_UNSUPPORTED', 'does not say its arguments: write them as (f<...>) at (kernel.metal:4)', () =>
    device.kernel(unlike),
  );
});

onKernelDevices('Nested template lists may end in one >> mark, and arguments may be arrays.', async (device) => {
  const text = `${head}
template <typename T> struct Twice { METAL_FUNC static T of(T x) { return 2 * x; } };
template <typename T> struct Next { METAL_FUNC static T of(T x) { return x + 1; } };
template <typename T, typename F = Twice<T>, typename G = Next<T>>
[[kernel]] void apply(device T* out [[buffer(0)]], constant const T by[3] [[buffer(1)]], ${at}) {
  threadgroup T shared[4];
  shared[i] = G::of(F::of(by[i]));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[2 - i];
}
template [[host_name("two")]] [[kernel]] void apply<uint>(device uint* out, constant const uint by[3], uint i);
template [[host_name("four")]] [[kernel]] void apply<uint, Twice<uint>, Twice<uint>>(
  device uint* out, constant const uint by[3], uint i);`;
  const library = await device.library(text);
  for (const [name, expected] of [
    ['two', [7, 5, 3]],
    ['four', [12, 8, 4]],
  ] as const) {
    const out = new Uint32Array(3);
    const by = Uint32Array.of(1, 2, 3);
    await library.get(name)!.run({ grid: 3, threadgroup: 3, arguments: { out, by } });
    assert.equal([...out], expected, name);
  }
});

/** The k with 7 k = 1 modulo a power of 2. */
function inverseOf7(n: number): number {
  for (let k = 1; k < n; k += 2) if ((7 * k) % n === 1) return k;
  return 0;
}

test.run();
