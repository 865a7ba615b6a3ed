// Kernels of one line of text: their types are those of the arguments.
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

onEveryDevice('an error has the line and the column of the text, and the name of its argument.', async (device) => {
  const places = async (make: () => Promise<unknown>, path: string, line: number, column: number, why: string) => {
    const error = await throwsCode('ERR_KERNEL_COMPILE', why, make);
    assert.equal([error.path, error.line, error.column], [path, line, column], error.message);
    assert.ok(error.message.includes(`(${path}:${line}:${column})`), error.message);
    return error;
  };
  const run = (text: string) => async () => (await device.elementwise('x, y, a', text)).run([[1], [2], 3]);
  const error = await places(run('out = (a+b)/2'), 'text', 1, 10, '(b) is not among the names of the text (x, y, a');
  assert.ok(error.message.endsWith('> 1 | out = (a+b)/2\n    |          ^\n'), error.message);
  await places(run('const s = x;\n  out = s * nope;'), 'text', 2, 13, 'add it to `names`');
  await places(run('out = z'), 'text', 1, 7, 'add it to `names`');
  await places(run('out = x;\n out = ) 3'), 'text', 2, 8, 'understood');
  await places(run('out = x +'), 'text', 1, 10, 'too soon');
  await places(run('out = x > y'), 'text', 1, 7, '(x > y) is a condition (true or false), but the result is f32');
  await places(run('const s = x'), 'text', 1, 1, 'write out = ...');
  await places(run('out = x; console.log(x)'), 'text', 1, 10, 'device.compute');
  await places(run('out = x; throw y'), 'text', 1, 10, 'give a number that says what is wrong');
  const reduced = (texts: object) => async () =>
    (await device.reduction({ from: 'x', reduce: 'a + b', identity: 0, ...texts })).run([[1, 2]]);
  await places(reduced({ reduce: 'a +\n  q' }), 'reduce', 2, 3, '(q) is not among the names of the text (a, b): give');
  await places(reduced({ reduce: 'a > b' }), 'reduce', 1, 1, '(a > b) is a condition');
  await places(reduced({ reduce: 'a; b' }), 'reduce', 1, 4, 'one expression');
  await places(reduced({ reduce: 'a) + (b' }), 'reduce', 1, 2, 'one expression');
  await places(reduced({ reduce: ' ' }), 'reduce', 1, 1, 'empty');
  await places(reduced({ map: 'x * w' }), 'map', 1, 5, 'add it to `from`');
  await places(reduced({ map: 'x > 1' }), 'map', 1, 1, '(x > 1) is a condition');
  await places(reduced({ map: 'x ? : 2' }), 'map', 1, 5, 'understood');
});

onEveryDevice('a text may have comments, parentheses and a semicolon at its end.', async (device) => {
  const twice = await device.elementwise('x', '// twice\nout = 2 * x; // done');
  assert.equal((await twice.run([[1, 2]])).toArray(), [2, 4]);
  const sum = await device.reduction({ from: 'x', map: '(x) /* x */;', reduce: '(a) + (b); // sum', identity: 0 });
  assert.is(await sum.run([[1, 2, 3]]), 6);
});

onEveryDevice('an argument that is not a text is refused.', async (device) => {
  await throwsCode('ERR_INVALID_ARGUMENT', "('x, x')", () => device.elementwise('x, x', 'out = x'));
  await throwsCode('ERR_INVALID_ARGUMENT', "('out')", () => device.elementwise('out', 'out = 1'));
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => device.elementwise('x', 1 as never));
  await throwsCode('ERR_KERNEL_COMPILE', 'understood', () => device.elementwise('x', 'out = x +'));
  await throwsCode('ERR_KERNEL_COMPILE', 'understood', () => device.elementwise('x', '} evil() {'));
  await throwsCode('ERR_KERNEL_COMPILE', 'understood', () => device.elementwise('x', 'out = x /*'));
  await throwsCode('ERR_INVALID_ARGUMENT', '1 to 7', () => device.elementwise('a, b, c, d, e, f, g, h', 'out = a'));
  await throwsCode('ERR_INVALID_ARGUMENT', "('f32')", () =>
    device.elementwise('x', 'out = x', { result: 'f32' as never }),
  );
  await throwsCode('ERR_TOO_LARGE', '262144', () => device.elementwise('x', `out = x${' '.repeat(1 << 18)}`));
  await throwsCode('ERR_INVALID_ARGUMENT', '(x, y)', () =>
    device.reduction({ from: 'x, y', reduce: 'a + b', identity: 0 }),
  );
  const outside = await device.elementwise('x', 'out = x * scale');
  await throwsCode('ERR_KERNEL_COMPILE', '(scale)', () => outside.run([[1, 2]]));
  for (const text of ['if (x > 1) return; out = 2 * x', 'out = x; return']) {
    const early = await device.elementwise('x', text);
    await throwsCode('ERR_KERNEL_COMPILE', 'write return out', () => early.run([[1, 2]]));
  }
  const mixed = await device.elementwise('x, y', 'out = x + y');
  await throwsCode('ERR_INVALID_ARGUMENT', '(i32, u32)', () => mixed.run([new Int32Array(2), new Uint32Array(2)]));
});

onEveryDevice('the numbers of a plain array are f64 if another array is f64.', async (device) => {
  if (!device.dtypes.includes('float64')) return;
  const sum = await device.elementwise('x, y', 'out = x + y');
  assert.equal((await sum.run([[0.1, 0.2], Float64Array.of(1, 2)])).data, Float64Array.of(1.1, 2.2));
  assert.equal((await sum.run([[0.1, 0.2], Float32Array.of(1, 2)])).data, Float32Array.of(1.1, 2.2));
  const dot = await device.reduction({ from: 'x, y', map: 'x * y', reduce: 'a + b', identity: 0 });
  assert.is(await dot.run([Float64Array.of(1), [0.1]]), 0.1);
  const constant = await device.elementwise('x', 'const tenth = 0.1; out = x > 0 ? tenth : 0.7');
  assert.equal((await constant.run([Float64Array.of(1, -1)])).data, Float64Array.of(0.1, 0.7));
});

onEveryDevice('a text that is nested too deeply is refused, not a full stack.', async (device) => {
  const sum = async (terms: number) => (await device.elementwise('x', `out = ${'x + '.repeat(terms)}1`)).run([[2]]);
  assert.equal((await sum(1000)).toArray(), [2001]);
  const error = await throwsCode('ERR_KERNEL_COMPILE', '(1200)', () => sum(3000));
  assert.is(error.path, 'text');
  const reduction = { from: 'x', reduce: `a + ${'b + '.repeat(3000)}0`, identity: 0 };
  await throwsCode('ERR_KERNEL_COMPILE', '(1200)', () => device.reduction(reduction));
  // More statements than a call takes arguments.
  await device.elementwise('x', `${';'.repeat(130_000)}out = x`);
});

test.run();
