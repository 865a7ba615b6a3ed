import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, Moments, Vector } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const rows = [
  [1, 10],
  [4, -1],
  [2, 7],
  [8, 0.5],
];

test('Means and quantiles of columns equal those of NumPy.', async () => {
  const matrix = Matrix.from(rows);
  assert.equal((await matrix.columnMeans()).toArray(), [3.75, 4.125]);
  // numpy.quantile(rows, [0.9, 0, 0.5, 1, 1/3], axis=0)
  const wanted = [
    [6.8, 9.1],
    [1, -1],
    [3, 3.75],
    [8, 10],
    [2, 0.5],
  ];
  const quantiles = await matrix.columnQuantiles([0.9, 0, 0.5, 1, 1 / 3]);
  near(quantiles.data, wanted.flat(), 1e-12);
  assert.equal([quantiles.rows, quantiles.columns, quantiles.dtype], [5, 2, 'float64']);
  assert.equal(matrix.columnQuantilesSync([0.5]).toArray(), [[3, 3.75]]);
  assert.equal(matrix.columnMeansSync().toArray(), [3.75, 4.125]);
  assert.equal(
    Matrix.from([[1], [Number.NaN]])
      .columnQuantilesSync([0])
      .toArray(),
    [[Number.NaN]],
  );
});

test('A mean is finite if the exact mean is, and otherwise infinite or NaN as the numbers require.', () => {
  const { MAX_VALUE: max, POSITIVE_INFINITY: infinity, NaN: none } = Number;
  const columns = {
    alternating: Float64Array.of(max, -max, max, -max),
    large: Float64Array.of(max, max, max, max),
    apart: Float64Array.of(-1.5e308, 1e308, 1.5e308, 1e308),
    infinite: Float64Array.of(1, infinity, 2, -5),
    neither: Float64Array.of(infinity, -infinity, 1, 1),
    missing: Float64Array.of(1, none, 2, 3),
    minute: Float64Array.of(8e-320, 0, 0, 0),
  };
  const means = Matrix.from(columns).columnMeansSync().toArray();
  assert.equal(means, [0, max, 5e307, infinity, none, none, 2e-320]);
});

test('Quantiles equal those of the sorted column, for many, equal, sorted and infinite numbers.', () => {
  const kinds: ((at: number) => number)[] = [
    (at) => Math.sin(at * 12.9898) * 43758.5453,
    (at) => at % 3,
    (at) => at,
    (at) => -at,
    () => 7,
    (at) => (at % 5 === 0 ? Number.POSITIVE_INFINITY : at),
  ];
  for (const [kind, make] of kinds.entries())
    for (const count of [1, 2, 3, 10, 1001, 100_000]) {
      const values = Float64Array.from({ length: count }, (_, at) => make(at));
      const sorted = values.slice().sort();
      const ps = [0, 0.1, 0.25, 0.5, 0.9, 1];
      const found = Matrix.from(values, { columns: 1 }).columnQuantilesSync(ps).data;
      for (const [at, p] of ps.entries()) {
        const place = p * (count - 1);
        const [a, b] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
        near([found[at]!], [a === b ? a : a + (place - Math.floor(place)) * (b - a)], 1e-14, `${kind} ${count} ${p}`);
      }
    }
});

test('Quantiles have the bits of those of NumPy, and an infinite number does not give NaN.', () => {
  const column = Matrix.from([[0.1], [0.7], [-1234.5678], [9.3]], { dtype: 'float64' });
  assert.equal(
    [...column.columnQuantilesSync([0.1, 0.3, 0.77]).data],
    [-864.16746, -123.3667800000001, 3.3660000000000005],
  );
  const ends = Matrix.from([[-Infinity, -1e308], [1, 1e308], [Infinity, 1.5e308]], { dtype: 'float64' }); // biome-ignore format: a matrix
  assert.equal(
    [...ends.columnQuantilesSync([0.125, 0.5, 0.625]).data],
    [-Infinity, -5e307, 1, 1e308, Infinity, 1.125e308],
  );
});

test('A mean far from 0 keeps its digits, and no part of the work holds the event loop for long.', async () => {
  const matrix = Matrix.from(
    Float32Array.from({ length: 3_000_000 }, (_, at) => 16_000_000 + (at % 2)),
    { columns: 1 },
  );
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 1);
  assert.is((await matrix.columnMeans()).get(0), 16_000_000.5);
  await matrix.columnQuantiles([0.25, 0.5]);
  clearInterval(counting);
  assert.ok(turns > 0, 'timers have their turn');
});

onEveryDevice('the covariance of a sample equals that of its moments.', async (device) => {
  const moments = new Moments(2);
  moments.addSync(rows);
  const matrix = Matrix.from(rows);
  near((await matrix.covariance({ device })).data, moments.covariance().data, 1e-6);
  near(matrix.covarianceSync({ device, ddof: 0 }).data, moments.covariance({ ddof: 0 }).data, 1e-6);
  await throwsCode('ERR_SHAPE', '(1)', () => Matrix.from([[1, 2]]).covariance({ device }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`device` is missing', () => matrix.covariance());
});

test('Probabilities are a list, or any other vector.', async () => {
  const matrix = Matrix.from(rows);
  const wanted = [0.25, 0.5];
  const found = matrix.columnQuantilesSync(wanted).toArray();
  const vector = Vector.from(wanted);
  const strided = { data: [0.5, 9, 0.25], shape: [2], strides: [-2], offset: 2 };
  for (const given of [Float64Array.from(wanted), Float32Array.from(wanted), vector, vector.toJSON(), strided]) {
    assert.equal(matrix.columnQuantilesSync(given).toArray(), found);
    assert.equal((await matrix.columnQuantiles(given)).toArray(), found);
  }
  await throwsCode('ERR_SHAPE', '`probabilities`', () => matrix.columnQuantilesSync(Matrix.from([wanted]) as never));
  await throwsCode('ERR_OUT_OF_RANGE', '`probabilities[0]` is (NaN)', () =>
    matrix.columnQuantilesSync(Vector.from([Number.NaN])),
  );
  vector.close();
  await throwsCode('ERR_CLOSED', '', () => matrix.columnQuantilesSync(vector));
});

test('A mean or a quantile that does not exist is refused.', async () => {
  const none = Matrix.from([], { columns: 2 });
  await throwsCode('ERR_SHAPE', '(0)', () => none.columnMeans());
  await throwsCode('ERR_SHAPE', '(0)', () => none.columnQuantilesSync([0.5]));
  const matrix = Matrix.from(rows);
  await throwsCode('ERR_OUT_OF_RANGE', '`probabilities[1]` is (1.5)', () => matrix.columnQuantiles([0.5, 1.5]));
  await throwsCode('ERR_INVALID_ARGUMENT', '`probabilities` is (0.5)', () => matrix.columnQuantilesSync(0.5 as never));
  matrix.close();
  await throwsCode('ERR_UNKNOWN_OPTION', '(device)', () => matrix.columnMeans({ device: 1 } as never));
  await throwsCode('ERR_UNKNOWN_OPTION', '(device)', () => matrix.columnMeansSync({ device: 1 } as never));
  await throwsCode('ERR_UNKNOWN_OPTION', '(device)', () => matrix.columnQuantilesSync([0.5], { device: 1 } as never));
  await throwsCode('ERR_CLOSED', '(8', () => matrix.columnMeans());
});

test.run();
