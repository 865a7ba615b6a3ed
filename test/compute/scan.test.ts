// Running sums and the like, on every device.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { f32, i32 } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice(
  'each element becomes the combination of itself and all before it, or only of those before.',
  async (device) => {
    const sums = await device.scan(i32, (a, b) => a + b, 0);
    const before = await device.scan(i32, (a, b) => a + b, 0, { exclusive: true });
    for (const n of [1, 1023, 1024, 1025, 50_000, 1_050_000]) {
      const values = Int32Array.from({ length: n }, (_, i) => (i % 7) - 2);
      let sum = 0;
      const expected = values.map((value) => {
        sum += value;
        return sum;
      });
      assert.equal((await sums.run(values)).data, expected, `${n}`);
      assert.equal(
        before.runSync(values).data,
        expected.map((value, i) => value - values[i]!),
        `${n}`,
      );
    }
    assert.equal((await sums.run(new Int32Array(0))).toArray(), []);
    const most = await device.scan(f32, (a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    assert.equal((await most.run([1, 3, 2, 5, 4])).toArray(), [1, 3, 3, 5, 5]);
  },
);

onEveryDevice('an invalid scan is refused.', async (device) => {
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () =>
    device.scan(f32, (a, b) => a + b, 0, { exclusive: 1 as never }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', "('f32')", () => device.scan('f32' as never, (a, b) => a + b, 0));
  const error = await throwsCode('ERR_KERNEL_COMPILE', '(a > b) is a condition', () =>
    device.scan(f32, new Function('a, b', 'return (a > b);') as () => number, 0),
  );
  assert.equal([error.path, error.line, error.column], ['combine', 3, 9]);
  const sums = await device.scan(f32, (a, b) => a + b, 0);
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => sums.run(1 as never));
  await throwsCode('ERR_INVALID_ARGUMENT', '(int32)', () => sums.run(new Int32Array(3)));
});

test.run();
