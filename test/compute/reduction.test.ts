// Reductions of arrays, on every device with the same bits.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { f32, f64, i32, Matrix, u32 } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

/** The sum in the order that the docstring states, in float32. */
function sumInOrder(values: Float32Array, isFirst = true): number {
  if (values.length <= 16 && !isFirst) return values.reduce((sum, value) => Math.fround(sum + value), 0);
  const partial = new Float32Array(16 * Math.ceil(values.length / 4096));
  values.forEach((value, i) => {
    const at = 16 * Math.floor(i / 4096) + (i % 16);
    partial[at]! += value;
  });
  return sumInOrder(partial, false);
}

onEveryDevice('elements are combined in an order that depends only on their number.', async (device) => {
  const sum = await device.reduce(f32, (a, b) => a + b, 0);
  const most = await device.reduce(i32, (a, b) => Math.max(a, b), -(2 ** 31));
  for (const n of [1, 15, 16, 17, 4095, 4096, 4097, 70_001, 1_048_576]) {
    const values = Float32Array.from({ length: n }, (_, i) => Math.sin(i) / 3);
    assert.is(await sum.run(values), sumInOrder(values), `${n}`);
    assert.is(sum.runSync(values), sumInOrder(values), `${n}`);
    const whole = Int32Array.from({ length: n }, (_, i) => ((i * 2654435761) | 0) >> 1);
    assert.is(
      await most.run(whole),
      whole.reduce((a, b) => Math.max(a, b)),
      `${n}`,
    );
  }
  assert.is(await sum.run([]), 0);
  assert.is(
    await sum.run(
      Matrix.from([
        [1, 2],
        [3, 4],
      ]),
    ),
    10,
  );
  assert.ok(device.memory().liveBytes < 1000, 'memory between the passes is released');
});

onEveryDevice('elements are mapped first, also from several arrays.', async (device) => {
  const dot = await device.reduce(f32, (a, b) => a + b, 0, { from: [f32, i32], map: (x, y) => x * y });
  const n = 5000;
  const x = Float32Array.from({ length: n }, (_, i) => i % 10);
  const y = Int32Array.from({ length: n }, (_, i) => i % 3);
  assert.is(
    await dot.run([x, y]),
    x.reduce((sum, value, i) => sum + value * y[i]!, 0),
  );
  assert.is(dot.runSync([x, y]), await dot.run([x, y]));
});

onEveryDevice('f64 sums work if the device supports them; arguments that do not fit are refused.', async (device) => {
  if (device.dtypes.includes('float64')) {
    const sum = await device.reduce(f64, (a, b) => a + b, 0);
    assert.is(await sum.run(Float64Array.of(0.1, 0.2)), 0.1 + 0.2);
  } else await throwsCode('ERR_UNSUPPORTED_DTYPE', '(out)', () => device.reduce(f64, (a, b) => a + b, 0));
  const dot = await device.reduce(f32, (a, b) => a + b, 0, { from: [f32, f32], map: (x, y) => x * y });
  await throwsCode('ERR_SHAPE', '(2)', () =>
    dot.run([
      [1, 2, 3],
      [1, 2],
    ]),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '(2)', () => dot.run([1, 2, 3]));
  await throwsCode('ERR_INVALID_ARGUMENT', '`values[0]`', () => dot.run([1 as never, [1]]));
  await throwsCode('ERR_INVALID_ARGUMENT', "`identity` is ('zero')", () =>
    device.reduce(f32, (a, b) => a + b, 'zero' as never),
  );
  for (const [type, identity] of [
    [i32, 0.5],
    [i32, Number.NEGATIVE_INFINITY],
    [u32, -1],
    [f32, 1e39],
  ] as const) {
    const code = 'ERR_OUT_OF_RANGE';
    const words = `\`identity\` is (${identity}), which no ${type.scalar} is`;
    await throwsCode(code, words, () => device.reduce(type as typeof f32, (a, b) => a + b, identity));
    await throwsCode(code, words, () => device.scan(type as typeof f32, (a, b) => a + b, identity));
  }
  const halves = await device.reduction({ from: 'x', map: 'x', reduce: 'a + b', identity: 0.5 });
  await throwsCode('ERR_OUT_OF_RANGE', '`identity` is (0.5)', () => halves.run([new Int32Array(0)]));
  const whole = await device.reduce(i32, (a, b) => a + b, 0);
  await throwsCode('ERR_OUT_OF_RANGE', '`values[0]` is (1.5)', () => whole.run([1.5]));
  await throwsCode('ERR_INVALID_ARGUMENT', '(0)', () => device.reduce(f32, () => 1, 0));
  const outside = await throwsCode('ERR_KERNEL_COMPILE', '(scale)', () =>
    device.reduce(f32, (a, b) => a + b * scale, 0),
  );
  assert.is(outside.path, 'combine');
  const text = new Function('a, b', 'return a > b;') as (a: number, b: number) => number;
  for (const given of [{}, { map: text, from: [f32, f32] }]) {
    const combine = given.map === undefined ? text : (a: number, b: number) => a + b;
    const error = await throwsCode('ERR_KERNEL_COMPILE', '(a > b) is a condition (true or false)', () =>
      device.reduce(f32, combine, 0, given),
    );
    assert.equal([error.path, error.line, error.column], [given.map === undefined ? 'combine' : 'map', 3, 8]);
  }
});
declare const scale: number;

test.run();
