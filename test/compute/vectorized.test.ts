// Functions of numbers over arrays, with broadcasting, on every device.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { f32, f64, i32, Matrix, openDevice, u8, Vector, Volume } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { is } from '../harness/of-type.ts';
import { throwsCode } from '../harness/throws-code.ts';

const float64 = { dtype: 'float64' } as const;
const rows = [
  [1, 2, 3],
  [4, 5, 6],
];

onEveryDevice('numbers, rows and columns are repeated; the result has the broadcast shape.', async (device) => {
  const add = await device.vectorize([f32, f32], f32, (x, y) => 10 * x + y);
  const matrix = Matrix.from(rows);
  const sums = await add.run([matrix, matrix]);
  assert.instance(sums, Matrix);
  assert.equal(sums.toArray(), [
    [11, 22, 33],
    [44, 55, 66],
  ]);
  assert.equal((await add.run([matrix, [7, 8, 9]])).toArray(), [
    [17, 28, 39],
    [47, 58, 69],
  ]);
  assert.equal(add.runSync([matrix, Matrix.from([[1], [2]])]).toArray(), [
    [11, 21, 31],
    [42, 52, 62],
  ]);
  assert.equal(add.runSync([2, matrix]).toArray(), [
    [21, 22, 23],
    [24, 25, 26],
  ]);
  // A column and a row make a matrix.
  assert.equal(add.runSync([Matrix.from([[1], [2]]), Vector.from([3, 4])]).toArray(), [
    [13, 14],
    [23, 24],
  ]);
  const volume = Volume.from([1, 2, 3, 4, 5, 6, 7, 8], { width: 2, height: 2, depth: 2 });
  const layers = await add.run([volume, Matrix.from([[1, 2]])]);
  assert.instance(layers, Volume);
  assert.equal(layers.toArray().flat(2), [11, 22, 31, 42, 51, 62, 71, 82]);
  const vector = await add.run([Float32Array.of(1, 2), 0.5]);
  assert.instance(vector, Vector);
  assert.equal(vector.toArray(), [10.5, 20.5]);
  const out = new Float32Array(6);
  assert.is(await add.run([matrix, 0], { out }), out);
  assert.equal([...out], [10, 20, 30, 40, 50, 60]);
});

test('The type of a result follows from the arguments and from `out`, not from the variable it is assigned to.', async () => {
  const device = openDevice('reference');
  const twice = await device.vectorize([f32], f32, (x) => 2 * x);
  const add = await device.vectorize([f64, f64], f64, (x, y) => x + y);
  const sum = await device.elementwise('x, y', 'out = x + y');
  const [matrix, row, cube] = [device.matrix(2, 2, float64), device.vector(2, float64), device.volume({ width: 2 })];
  assert.instance(is<Matrix<'float64'>>()(add.runSync([row, matrix])), Matrix);
  assert.instance(is<Vector<'float64'>>()(await add.run([row, 1])), Vector);
  assert.instance(is<Volume<'float32'>>()(await twice.run([cube])), Volume);
  assert.instance(is<Matrix<'float64'> | Vector<'float64'>>()(add.runSync([row as Matrix | Vector, 1])), Vector);
  assert.instance(is<Volume | Matrix>()(await sum.run([matrix, cube as Volume | Vector])), Volume);
  assert.instance(is<Matrix>()(await sum.run([matrix, 1], { signal: undefined })), Matrix);
  assert.instance(
    is<Float32Array<ArrayBuffer>>()(await twice.run([[1, 2]], { out: new Float32Array(2) })),
    Float32Array,
  );
  // @ts-expect-error: without `out` there is no typed array.
  const numbers: Float32Array = await twice.run([[1, 2]]);
  // @ts-expect-error: two vectors make a vector.
  const wrong: Matrix<'float64'> = add.runSync([row, row]);
  // @ts-expect-error: results are arrays.
  const date: Date = await sum.run([row, row]);
  for (const result of [numbers, wrong, date]) assert.instance(result, Vector);
});

function clamp(x: number, most: number): number {
  return Math.min(x, most);
}

onEveryDevice('types may be mixed, and functions of `uses` called.', async (device) => {
  const shade = await device.vectorize([u8, f32], i32, (x, y) => clamp(i32(x * y), 100) + x, { uses: { clamp } });
  assert.equal((await shade.run([Uint8Array.of(10, 200), 2])).toArray(), [30, 300]);
});

onEveryDevice('the sign of a subnormal number is that of the number or of 0.', async (device) => {
  const sign = await device.vectorize([f32], f32, (x) => Math.sign(x));
  const [up, down, ...others] = (await sign.run([[1e-40, -1e-40, 0, -0, Number.NaN, 2, -3]])).data;
  assert.ok(up === 1 || Object.is(up, 0), String(up));
  assert.ok(down === -1 || Object.is(down, -0), String(down));
  assert.equal(others, [0, -0, Number.NaN, 1, -1]);
});

onEveryDevice('what does not fit is refused.', async (device) => {
  const add = await device.vectorize([f32, f32], f32, (x, y) => x + y);
  await throwsCode('ERR_SHAPE', '`values[1]` has (2) columns', () =>
    add.run([
      [1, 2, 3],
      [1, 2],
    ]),
  );
  await throwsCode('ERR_SHAPE', '(0)', () => add.run([[], [1]]));
  await throwsCode('ERR_SHAPE', '(3 x 1 x 1)', () => add.run([[1, 2, 3], 1], { out: new Float32Array(2) }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(2)', () => add.run([[1, 2]]));
  await throwsCode('ERR_INVALID_ARGUMENT', "`values[1]` is ('text')", () => add.run([1, 'text' as never]));
  await throwsCode('ERR_INVALID_ARGUMENT', '`values[1]` has elements', () => add.run([1, new Float64Array(2)]));
  await throwsCode('ERR_INVALID_ARGUMENT', '`values[0]` has elements', () => add.runSync([new Float64Array(2), 1]));
  const own = Float32Array.of(1, 2);
  await throwsCode('ERR_INVALID_ARGUMENT', '`out` (Float32Array of 2) overlaps `values[0]`', () =>
    add.run([own, 1], { out: own }),
  );
  // A number follows the rule of an array's elements.
  await throwsCode('ERR_OUT_OF_RANGE', '`values[0][0]` is (1e+300)', () => add.run([[1e300], [2]]));
  await throwsCode('ERR_OUT_OF_RANGE', '`values[0]` is (1e+300)', () => add.run([1e300, [2]]));
  await throwsCode('ERR_INVALID_ARGUMENT', 'a typed array of (float32', () => add.run([1, new Int16Array(1) as never]));
  await throwsCode('ERR_INVALID_ARGUMENT', '(array of 0)', () => device.vectorize([], f32, () => 1));
  await throwsCode('ERR_INVALID_ARGUMENT', '(undefined)', () => device.vectorize([f32], f32, undefined as never));
  await throwsCode('ERR_KERNEL_COMPILE', '(scale)', () => device.vectorize([f32], f32, (x) => x * scale));
  const half = new Function('x', 'const y = x / 2;\nreturn y;') as (x: number) => number;
  const error = await throwsCode('ERR_KERNEL_COMPILE', '(y) is of type f32, but the result is i32: write i32', () =>
    device.vectorize([f32], i32, half),
  );
  assert.equal([error.path, error.line, error.column], ['text', 4, 8]);
  await throwsCode('ERR_KERNEL_COMPILE', 'gives no value', () =>
    device.vectorize([f32], f32, new Function('x', '') as () => number),
  );
});
declare const scale: number;

onEveryDevice('a result of f64 has all digits of a number that the function writes.', async (device) => {
  if (!device.dtypes.includes('float64')) return;
  const steps = await device.vectorize([f64], f64, (x) => {
    if (x > 1) return 0.1;
    return x > 0 ? 0.7 : -Math.PI;
  });
  assert.equal((await steps.run([Float64Array.of(2, 1, 0)])).data, Float64Array.of(0.1, 0.7, -Math.PI));
});

test.run();
