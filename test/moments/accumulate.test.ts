// Rows that are added while others are being added: sums are joined in slices, and none may be lost.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, Moments, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

/** Runs `work` with a clock that ends a slice after a few looks, so that the event loop turns all the time. */
async function interrupted(work: () => Promise<unknown>): Promise<void> {
  const { now } = performance;
  let time = 0;
  performance.now = () => (time += 1);
  try {
    await work();
  } finally {
    performance.now = now;
  }
}

onEveryDevice('Overlapping calls add all rows, and those of moments that are merged meanwhile.', async (device) => {
  const [count, n] = [40, 600];
  const parts = [1, 2, 3, 4, 5].map((seed) => Matrix.from(scattered(count * n, seed), { columns: n }));
  const moments = new Moments(n, { device });
  moments.addSync(parts[0]!);
  const others = new Moments(n);
  others.addSync(parts[4]!);
  await interrupted(async () => {
    const merging = async () => {
      for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
      moments.merge(others);
    };
    const adding = parts.slice(1, 4).map((rows) => moments.add(rows));
    await Promise.all([...adding, merging()]);
  });
  assert.is(moments.count, 5 * count);
  const whole = new Moments(n, { device });
  for (const rows of parts) whole.addSync(rows);
  const [actual, wanted] = [moments.covariance().data, whole.covariance().data];
  for (let at = 0; at < n * n; at++) assert.ok(Math.abs(actual[at]! - wanted[at]!) < 1e-12, `entry (${at})`);
});

test('A fit accepts a column of tiny numbers whose mean is rounded, beside one whose mean is exact.', () => {
  using device = openDevice('reference');
  const column = (size: number) => Array.from({ length: 20 }, (_, row) => (1000 + ((2 * row + 1) % 3)) * size);
  for (const size of [1e-100, 1e-141, 1e-144]) {
    const rows = column(size).map((minute, row) => [minute, 1000 + 2 * row]);
    using normal = MultivariateNormal.fitSync({ device, rows, weights: rows.map(() => 1), dtype: 'float64' });
    const { data } = normal.standardDeviationsSync();
    assert.ok(Math.abs(data[0]! / size - 0.825577947481889) < 1e-9, `${data[0]}`);
    assert.ok(Math.abs(data[1]! / Math.sqrt(140) - 1) < 1e-12, `${data[1]}`);
  }
});

onEveryDevice('Weights that take squares beyond float64 are refused by name.', async (device) => {
  const covarianceOf = (size: number, weights: number[]) => {
    const moments = new Moments(1, { device });
    moments.addSync([[size], [2 * size], [3 * size]], { weights });
    return moments.covariance().get(0, 0);
  };
  const tiny = () => covarianceOf(1e-135, [1e-100, 1e-100, 1e-100]);
  await throwsCode('ERR_OUT_OF_RANGE', '`weights` are too small for column (0)', tiny);
  for (const large of [
    () => covarianceOf(1e26, [1, 1e300, 1e300]),
    () => covarianceOf(1e130, [1, 1e150, 1e150]),
    () => covarianceOf(1e100, [1e120, 1e120, 1e120]),
  ])
    await throwsCode('ERR_OUT_OF_RANGE', '`weights` are too large', large);
  const square = () => covarianceOf(1e160, [1, 1, 1]);
  const sum = '`rows` has column (0), whose sum of squares (Infinity) float64 does not hold. Pass the column in';
  await throwsCode('ERR_OUT_OF_RANGE', sum, square);
  // float64 holds the variance of both, and the second has no weights.
  await throwsCode('ERR_OUT_OF_RANGE', sum, () => new Moments(1, { device }).addSync([[-1.2e154], [1.2e154], [0]]));
  const frequencies = [1e12, 1e12];
  const counted = () => new Moments(1, { device }).addSync([[1e150], [2e150]], { frequencies });
  await throwsCode('ERR_OUT_OF_RANGE', sum, counted);
  const huge = () => covarianceOf(1e160, [1e-140, 1e-140, 1e-140]);
  await throwsCode('ERR_OUT_OF_RANGE', '`rows` has column (0), whose variance (Infinity)', huge);
  assert.ok(Math.abs(covarianceOf(1e-100, [1e-100, 1e-100, 1e-100]) / 1e-200 - 1) < 1e-12);
  // A constant column, and a row whose weight is negligible.
  assert.is(covarianceOf(0, [1e-100, 1e-100, 1e-100]), 0);
  const moments = new Moments(1, { device });
  moments.addSync([[1], [1], [2]], { weights: [1, 1, 1e-310] });
  assert.ok(moments.covariance().get(0, 0) < 1e-300);
});

test.run();
