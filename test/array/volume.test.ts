import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Volume } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { onKernelDevices } from '../harness/kernel-devices.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('a volume wraps a typed array, x fastest.', () => {
  const values = Uint8Array.from({ length: 24 }, (_, i) => i);
  const volume = Volume.from(values, { width: 2, height: 3, depth: 4 });
  assert.equal(volume.size, [2, 3, 4]);
  assert.is(volume.dtype, 'uint8');
  assert.is(volume.data, values);
  assert.is(volume.get(1, 2, 3), 23);
  assert.is(volume.get(1), 1);
  volume.set(0, 1, 0, 200);
  assert.is(values[2], 200);
  assert.is(Volume.from([1, 2, 3], { width: 3, dtype: 'int32' }).get(2), 3);
});

test('a size that does not fit, and indices outside, are refused.', async () => {
  await throwsCode('ERR_SHAPE', () => Volume.from([1, 2, 3], { width: 2, height: 2 }));
  await throwsCode('ERR_OUT_OF_RANGE', () => Volume.from([], { width: 0 }));
  await throwsCode('ERR_INVALID_ARGUMENT', () => Volume.from([1, '2'] as never, { width: 2 }));
  await throwsCode('ERR_UNKNOWN_OPTION', () => Volume.from([1], { width: 1, rows: 1 } as never));
  const volume = Volume.from([1, 2], { width: 2 });
  await throwsCode('ERR_OUT_OF_RANGE', () => volume.get(2));
  await throwsCode('ERR_OUT_OF_RANGE', () => volume.get(0, 1));
});

onEveryDevice('a volume may lie on a device, and is closed there.', async (device) => {
  const volume = device.volume({ width: 3, height: 2 }, { dtype: 'int32' });
  assert.equal(volume.size, [3, 2, 1]);
  assert.equal([...volume.data], [0, 0, 0, 0, 0, 0]);
  volume.close();
  assert.ok(volume.closed);
  await throwsCode('ERR_CLOSED', () => volume.data);
});

onKernelDevices('one kernel takes volumes of every type, with several inputs and outputs.', async (device) => {
  const kernel =
    await device.kernel(`kernel void mixed(device const uchar* a, device const int* b, device const uint* c,
    device float* sum, device int* difference, uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {
  const uint i = (at.z * size.y + at.y) * size.x + at.x;
  sum[i] = float(a[i]) + float(b[i]) + float(c[i]);
  difference[i] = int(a[i]) - b[i];
}`);
  const size = { width: 4, height: 3, depth: 2 };
  const of = (dtype: 'uint8' | 'int32' | 'uint32') => {
    const volume = device.volume(size, { dtype });
    volume.data.forEach((_, i) => {
      volume.data[i] = i;
    });
    return volume;
  };
  const sum = device.volume(size);
  const difference = device.volume(size, { dtype: 'int32' });
  const [a, b, c] = [of('uint8'), of('int32'), of('uint32')];
  await kernel.run({ grid: sum.size, arguments: { a, b, c, sum, difference } });
  assert.is(sum.get(3, 2, 1), 69);
  assert.ok(difference.data.every((value) => value === 0));
});

onKernelDevices(
  'layouts of structs that the text hides may be given, and are compared with the compiler.',
  async (device) => {
    const text = `template <typename T> struct Hidden { T rows; float weights[2]; };
kernel void f(constant Hidden<int>& p, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = p.rows * p.weights[i];
}`;
    const out = new Float32Array(2);
    const launch = { grid: 2, arguments: { p: { rows: 3, weights: [1, 2] }, out } };
    const plain = await device.kernel(text);
    await throwsCode('ERR_UNSUPPORTED', () => plain.run(launch));
    const kernel = await device.kernel(text, { layouts: { p: { rows: 'int', weights: 'float[2]' } } });
    await kernel.run(launch);
    assert.equal([...out], [3, 6]);
    const other = { layouts: { p: { rows: 'long', weights: 'float[2]' } } };
    const error = await throwsCode('ERR_INVALID_ARGUMENT', () => device.kernel(text, other));
    assert.ok(error.message.includes('12 bytes') && error.message.includes('16 bytes'), error.message);
    await throwsCode('ERR_INVALID_ARGUMENT', () => device.kernel(text, { layouts: { q: {} } }));
    await throwsCode('ERR_INVALID_ARGUMENT', () => device.kernel(text, { layouts: { p: { rows: 'double' } } }));
  },
);

test('A strided array of three dimensions is a volume.', async () => {
  const data = Float64Array.from({ length: 24 }, (_, i) => i);
  const dense = Volume.from({ data, shape: [2, 3, 4] });
  assert.equal([dense.dtype, ...dense.size], ['float64', 4, 3, 2]);
  assert.is(dense.get(1, 2, 1), 21);
  data[21] = -1;
  assert.is(dense.get(1, 2, 1), -1, 'in place');
  // The same axes, in another order: depth varies fastest.
  const turned = Volume.from({ data: [0, 1, 2, 3, 4, 5], shape: [2, 1, 3], strides: [1, 6, 2] });
  assert.equal([turned.dtype, ...turned.data], ['float32', 0, 2, 4, 1, 3, 5]);
  await throwsCode('ERR_SHAPE', '(2, 3) is not a volume', () => Volume.from({ data, shape: [2, 3] }));
  await throwsCode('ERR_SHAPE', '(24) numbers', () => Volume.from({ data, shape: [2, 3, 5] }));
  await throwsCode('ERR_SHAPE', 'beyond its data', () => Volume.from({ data, shape: [2, 2, 2], strides: [20, 2, 3] }));
  await throwsCode('ERR_SHAPE', 'three whole strides', () => Volume.from({ data, shape: [2, 2, 2], strides: [1, 7] }));
  for (const depth of [1.5, -1, 0])
    await throwsCode('ERR_OUT_OF_RANGE', '`depth`', () =>
      Volume.from({ data, shape: [depth, 2, 2], strides: [1, 7, 3] }),
    );
});

test.run();
