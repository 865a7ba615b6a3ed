// Kernels of a line of text: types are those of the arguments.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { f32, i32, Matrix } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice('a text runs over arrays of any type.', async (device) => {
  const saxpy = await device.elementwise('x, y, a', 'out = a * x + y');
  assert.equal((await saxpy.run([[1, 2], [10, 20], 0.5])).toArray(), [10.5, 21]);
  const whole = await saxpy.run([Int32Array.of(2 ** 30, 2), Int32Array.of(1, 2), 2]);
  assert.equal(whole.data, Int32Array.of(-(2 ** 31) + 1, 6));
  const matrix = Matrix.from([
    [1, 2],
    [3, 4],
  ]);
  assert.equal((await saxpy.run([matrix, [10, 20], 2])).toArray(), [
    [12, 24],
    [16, 28],
  ]);
  const signs = await device.elementwise('x', 'const big = x > 1; if (big) out = 1; else out = -1', { result: i32 });
  assert.equal((await signs.run([[0, 1, 2]])).data, Int32Array.of(-1, -1, 1));
});

onEveryDevice('a reduction of texts maps and combines.', async (device) => {
  const dot = await device.reduction({ from: 'x, y', map: 'x * y', reduce: 'a + b', identity: 0 });
  assert.is(
    await dot.run([
      [1, 2, 3],
      [4, 5, 6],
    ]),
    32,
  );
  assert.is(await dot.run([Int32Array.of(1, 2), Int32Array.of(3, 4)]), 11);
  const most = await device.reduction({ from: 'x', reduce: 'Math.max(a, b)', identity: 0, result: f32 });
  assert.is(await most.run([Uint8Array.of(3, 200, 7)]), 200);
});

onEveryDevice('what is no text is refused.', async (device) => {
  await throwsCode('ERR_INVALID_ARGUMENT', "('x, x')", () => device.elementwise('x, x', 'out = x'));
  await throwsCode('ERR_INVALID_ARGUMENT', "('out')", () => device.elementwise('out', 'out = 1'));
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => device.elementwise('x', 1 as never));
  await throwsCode('ERR_KERNEL_COMPILE', 'understood', () => device.elementwise('x', 'out = x +'));
  await throwsCode('ERR_KERNEL_COMPILE', 'understood', () => device.elementwise('x', '} evil() {'));
  await throwsCode('ERR_INVALID_ARGUMENT', '(x, y)', () =>
    device.reduction({ from: 'x, y', reduce: 'a + b', identity: 0 }),
  );
  const outside = await device.elementwise('x', 'out = x * scale');
  await throwsCode('ERR_KERNEL_COMPILE', '(scale)', () => outside.run([[1, 2]]));
  for (const text of ['if (x > 1) return; out = 2 * x', 'out = x; return']) {
    const early = await device.elementwise('x', text);
    await throwsCode('ERR_KERNEL_COMPILE', 'This return gives no value', () => early.run([[1, 2]]));
  }
  const mixed = await device.elementwise('x, y', 'out = x + y');
  await throwsCode('ERR_INVALID_ARGUMENT', '(i32, u32)', () => mixed.run([new Int32Array(2), new Uint32Array(2)]));
});

test.run();
