// Features that public kernels need, found by test/harness/kernel-expectations.ts, and how that program judges.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice } from '../../lib/index.ts';
import { halves, memory, range, read, writes } from '../harness/expectations/expectation.ts';
import { unmet } from '../harness/kernel-expectations.ts';
import { onNative } from '../harness/on-native.ts';

const metal = '#include <metal_stdlib>\nusing namespace metal;\n';

onNative(
  'An argument that depends on a constant computed from constants is required only if that is true.',
  async () => {
    using device = openDevice('cpu');
    const text = `${metal}constant bool gathers [[function_constant(0)]];
constant uint count [[function_constant(1)]];
constant bool both = gathers && count > 1;
kernel void f(device uint* out [[buffer(0)]], constant uint* places [[buffer(1), function_constant(both)]],
              uint i [[thread_position_in_grid]]) { out[i] = both ? places[i] : i; }`;
    for (const [gathers, count, names] of [
      [true, 1, 'out'],
      [false, 2, 'out'],
      [true, 2, 'out,places'],
    ] as const) {
      const kernel = await device.kernel(text, { constants: { gathers, count } });
      assert.is(kernel.argumentNames.join(), names);
      const out = new Uint32Array(2);
      const places = names === 'out' ? {} : { places: [5, 6] };
      await kernel.run({ grid: 2, arguments: { out, ...places } });
      assert.equal([...out], names === 'out' ? [0, 1] : [5, 6]);
    }
  },
);

onNative('Uniform values, disjunctions of traits, and variable templates behind a division compile.', async () => {
  using device = openDevice('cpu');
  const kernel = await device.kernel(`${metal}template <typename T>
constexpr constant uint parts = sizeof(uint) / sizeof(T);
template <typename T>
constexpr constant bool isWhole = _disjunction<is_same<T, int>, is_same<T, uint>>::value;
kernel void f(device uint* out, constant uint& n) {
  const uniform<uint> all = make_uniform(n);
  out[0] = all / parts<ushort>;
  out[1] = all % parts<uchar> + isWhole<uint> * 10 + isWhole<float> * 20;
}`);
  const out = new Uint32Array(2);
  await kernel.run({ grid: 1, arguments: [out, 7] });
  assert.equal([...out], [3, 13]);
});

onNative('A half and a bfloat take numbers, rounded to the nearest.', async () => {
  using device = openDevice('cpu');
  const kernel = await device.kernel(`${metal}struct Both { half a; bfloat b; };
kernel void f(device float* out, constant half& x, constant half4& v, constant bfloat* list, constant Both& both) {
  out[0] = x; out[1] = v.w; out[2] = list[1]; out[3] = both.a; out[4] = both.b;
}`);
  const out = new Float32Array(5);
  await kernel.run({ grid: 1, arguments: [out, 2049, [1, 2, 3, 1 / 3], [0, 257], { a: 2 ** -25, b: -1e-40 }] });
  assert.equal([...out.slice(0, 4)], [2048, halves([1 / 3])[0], 256, 0]);
  assert.ok(Math.abs(out[4]! + 1e-40) < 1e-41 || out[4] === 0); // the device's threads may flush it
  const error = await kernel
    .run({ grid: 1, arguments: [out, 65520, [0, 0, 0, 0], [0, 0], { a: 0, b: 0 }] })
    .catch((refusal) => refusal);
  assert.is(error.code, 'ERR_OUT_OF_RANGE');
  assert.match(error.message, /Argument \(x\) is \(65520\), beyond the range of a half\./);
});

onNative('Check mode finds an access one element beyond arrays, vectors and matrices of the library.', async () => {
  using device = openDevice('cpu');
  for (const [type, n] of [
    ['array<uint, 4>', 4],
    ['uint3', 3],
    ['packed_uint3', 3],
    ['uint4', 4],
  ] as const) {
    const text = `${metal}struct Has { ${type} all; };
Has added(Has has, uint n) {
  for (uint i = 0; i < n; i++)
    has.all[i + 1] += has.all[i];
  return has;
}
kernel void f(device uint* out, constant uint& n) { Has has = {}; has.all[0] = 2; out[0] = added(has, n).all[n]; }`;
    const kernel = await device.kernel(text, { check: true });
    const out = new Uint32Array(1);
    await kernel.run({ grid: 1, arguments: [out, n - 1] });
    assert.is(out[0], 2);
    const error = await kernel.run({ grid: 1, arguments: [out, n] }).catch((refusal) => refusal);
    assert.is(error.code, 'ERR_KERNEL_CHECK');
    assert.is(error.line, 6);
    assert.match(error.message, `uses element (${n}) of an array of type (T[${n}])`);
  }
});

onNative('An expectation is met, or the difference is reported.', async () => {
  using device = openDevice('cpu');
  const text = `${metal}kernel void f(device const half* x, device half* y, device char* bytes,
  uint i [[thread_position_in_grid]]) { y[i] = 2 * x[i]; bytes[i] = i; }`;
  const values = [0.1, 1 / 3, -7, 1000];
  const doubled = halves(values).map((value) => 2 * value);
  const judged = (y: readonly number[], tolerance?: number) =>
    unmet(
      device,
      text,
      {
        kernel: 'f',
        grid: 4,
        arguments: { x: memory('half', values), y: writes('half', y, tolerance), bytes: writes('char', range(4)) },
      },
      { path: 'f.metal', check: false },
    );
  assert.is(await judged(doubled), undefined);
  const off = doubled.with(2, -14.5);
  assert.is(await judged(off), 'y[2] is -14, not -14.5');
  assert.is(await judged(off, 1e-3), undefined);
  assert.is(await judged(doubled.with(3, Number.NaN)), undefined);
  assert.equal(read('bfloat', Uint8Array.of(0x80, 0x3f, 0x00, 0xc0)), [1, -2]);
});

test.run();
