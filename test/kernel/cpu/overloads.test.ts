// Functions and types that differ only in an address space, as public kernels have them: on the cpu there is only
// one.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Device } from '../../../lib/index.ts';
import { onKernelDevices } from '../../harness/kernel-devices.ts';
import { throwsCode } from '../../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';
const at = 'uint i [[thread_position_in_grid]]';

async function uints(device: Device, text: string, count: number): Promise<number[]> {
  const results: number[][] = [];
  for (const check of device.kind === 'cpu' ? [false, true] : [false]) {
    const kernel = await device.kernel(head + text, { check });
    const out = new Uint32Array(count);
    await kernel.run({ grid: count, threadgroup: count, arguments: { out } });
    results.push([...out]);
  }
  assert.equal(results[0], results.at(-1));
  return results[0]!;
}

onKernelDevices('constructors and conversions for each address space are merged.', async (device) => {
  const text = `
template <typename U> static constexpr constant bool is_whole_v = is_same_v<U, uint> || is_same_v<U, int>;
template <typename T>
struct Pair {
  T a, b;
  T both[2] = {T(1), T(2)};
  constexpr Pair(T a, T b) thread : a(a), b(b) {};
  constexpr Pair<T>() thread : a{0}, b(0) {};
  constexpr Pair<T>() threadgroup : a{0}, b(0) {};
  template <typename U, typename = typename enable_if<is_whole_v<U> && !is_same_v<U, float>>::type>
  constexpr Pair(U x) thread : a(static_cast<T>(x)), b(static_cast<T>(7)) {}
  template <typename U, typename = typename enable_if<is_whole_v<U> && !is_same_v<U, float>>::type>
  constexpr Pair(U x) constant : a(static_cast<T>(x)), b(static_cast<T>(7)) {}
  constexpr operator vec<T, 2>() const thread { return vec<T, 2>(a, b); }
  constexpr operator vec<T, 2>() const device { return vec<T, 2>(a, b); }
  constexpr operator vec<T, 2>() const constant { return vec<T, 2>(a, b); }
  T sum() const thread { return a + b; }
  T sum() const constant { return a + b; }
};
struct Seed {
  uint state;
  Seed() thread = default;
  Seed() device = default;
  Seed() constant = default;
  METAL_FUNC static Seed of(uint x) { Seed s; s.state = x * 2; return s; }
};
constant Pair<uint> fixed = Pair<uint>(20u, 30u);
kernel void f(device uint* out, ${at}) {
  Pair<uint> none, one(5u);
  const uint2 two = one;
  out[i] = none.a + none.b + two.x * 10 + two.y + fixed.sum() + one.both[1] + Seed::of(i).state;
}`;
  const expected = [0, 1, 2].map((i) => 5 * 10 + 7 + 50 + 2 + 2 * i);
  assert.equal(await uints(device, text, 3), expected);
});

onKernelDevices('specialisations for pointers of each address space are merged.', async (device) => {
  const text = `
template <typename T> struct element {};
template <typename T> struct element<thread T*> { using type = remove_cv_t<T>; };
template <typename T> struct element<device T*> { using type = remove_cv_t<T>; };
template <typename T> struct element<constant T*> { using type = remove_cv_t<T>; };
template <typename T> struct element<threadgroup T*> { using type = remove_cv_t<T>; };
kernel void f(device uint* out, ${at}) {
  out[i] = sizeof(element<device ushort*>::type) * 10 + sizeof(element<const device ulong*>::type);
}`;
  assert.equal(await uints(device, text, 1), [28]);
});

onKernelDevices('if they do not do the same, the text is refused at its line.', async (device) => {
  if (device.kind === 'metal') return; // Metal can tell them apart
  const type = `template <typename T> struct is_shared { static constexpr constant bool value = false; };
template <typename T> struct is_shared<device T*> { static constexpr constant bool value = false; };
template <typename T> struct is_shared<threadgroup T*> { static constexpr constant bool value = true; };
kernel void f(device uint* out, ${at}) { out[i] = is_shared<device uint*>::value; }`;
  const twoConstructors = `struct S { uint a; S() thread : a(1) {} S() device : a(2) {} };
kernel void f(device uint* out, ${at}) { S s; out[i] = s.a; }`;
  for (const [text, line, name] of [
    [type, 5, 'is_shared'],
    [twoConstructors, 3, 'S'],
  ] as const) {
    const error = await throwsCode('ERR_UNSUPPORTED', `(${name}) differs from another`, () =>
      device.kernel(head + text),
    );
    assert.is((error as { line?: number }).line, line, error.message);
  }
});

test.run();
