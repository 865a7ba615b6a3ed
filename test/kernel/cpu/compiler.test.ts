// The compiler's flags give a text the meaning that the documentation promises.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice } from '../../../lib/index.ts';
import { findCompiler } from '../../../lib/kernel/cpu/compiler.ts';
import { onNative } from '../../harness/on-native.ts';

onNative('A float beyond the range of an integer becomes the nearest one, and NaN becomes 0 (clang++).', async () => {
  if (!(await findCompiler()).isClang) {
    console.log('skipped  The compiler is not clang++.');
    return;
  }
  using device = openDevice('cpu');
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void convert(device const float* x [[buffer(0)]], device int* a [[buffer(1)]], device uint* b [[buffer(2)]],
                    device uchar* c [[buffer(3)]], device int* folded [[buffer(4)]],
                    uint i [[thread_position_in_grid]]) {
  a[i] = int(x[i]);
  b[i] = uint2(float2(x[i])).y;
  c[i] = static_cast<uchar>(x[i]);
  folded[0] = int(3e9f); folded[1] = short(half(40000)); folded[2] = uint(-5.0f); folded[3] = int(NAN);
}`);
  const x = [NaN, 3e9, -3e9, Infinity, -Infinity, 300.9, -5, 1.5];
  const [a, b, c, folded] = [new Int32Array(8), new Uint32Array(8), new Uint8Array(8), new Int32Array(4)];
  await kernel.run({ grid: 8, arguments: { x, a, b, c, folded } });
  const [most, least] = [2 ** 31 - 1, -(2 ** 31)];
  assert.equal([...a], [0, most, least, most, least, 300, -5, 1]);
  assert.equal([...b], [0, 3e9, 0, 2 ** 32 - 1, 0, 300, 0, 1]);
  assert.equal([...c], [0, 255, 0, 255, 0, 255, 0, 1]);
  assert.equal([...folded], [most, 32767, 0, 0]);
});

test.run();
