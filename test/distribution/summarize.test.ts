// Summaries of draws that are not kept: they equal those of the draws themselves, with every draw counted.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Device,
  type Distribution,
  type Matrix,
  MultivariateNormal,
  MultivariateStudentT,
  openDevice,
  type Summary,
} from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const covariance = [
  [4, 1, 0.5],
  [1, 9, -2],
  [0.5, -2, 1],
];
const mean = [1, -200, 0];

const root = [[2], [3], [0]];
const singular = root.map(([a]) => root.map(([b]) => a! * b!));
const kinds: { readonly [name: string]: (device: Device) => Distribution } = {
  'a normal': (device) => MultivariateNormal.fromCovarianceSync({ device, mean, covariance }),
  'a precision': (device) => MultivariateNormal.fromPrecisionSync({ device, mean, precision: covariance }),
  'a diagonal': (device) => MultivariateNormal.fromDiagonalSync({ device, mean, variances: [1, 4, 9] }),
  'low rank': (device) => MultivariateNormal.fromLowRankSync({ device, mean, factor: root, diagonal: [1, 2, 3] }),
  'a singular normal': (device) =>
    MultivariateNormal.fromCovarianceSync({ device, mean, covariance: singular, singular: 'pivoted' }),
  'a Student-t': (device) =>
    MultivariateStudentT.fromScaleSync({ device, location: mean, scale: covariance, degreesOfFreedom: 3 }),
  'a Cauchy': (device) =>
    MultivariateStudentT.fromScaleSync({ device, location: mean, scale: covariance, degreesOfFreedom: 1 }),
};

const probabilities = [0, 0.001, 0.25, 0.5, 0.9, 0.999, 1];

/** Asserts that a summary is that of these draws. */
function isOf(draws: Matrix, summary: Summary, thresholds: readonly (readonly number[])[], digits: number): void {
  const { rows: count, columns: n, data } = draws;
  const columns = Array.from({ length: n }, (_, j) => Float64Array.from({ length: count }, (_, r) => data[r * n + j]!));
  const means = columns.map((column) => column.reduce((sum, x) => sum + x, 0) / count);
  assert.is(summary.count, count);
  near(summary.mean.data, means, digits);
  columns.forEach((column, j) => {
    const sorted = column.slice().sort();
    for (const [k, p] of probabilities.entries())
      assert.is(summary.quantiles!.at(k, j), sorted[Math.max(0, Math.ceil(p * count) - 1)], `p = ${p}, ${j}`);
    for (const [k, row] of thresholds.entries())
      assert.is(summary.exceedance!.at(k, j), column.filter((x) => x > row[j]!).length / count, `above ${row[j]}`);
    const deviations = column.map((x) => x - means[j]!);
    for (let i = 0; i <= j; i++) {
      const sum = columns[i]!.reduce((total, x, r) => total + (x - means[i]!) * deviations[r]!, 0);
      const [entry, size] = [
        sum / (count - 1),
        Math.sqrt(variance(columns[i]!, means[i]!) * variance(column, means[j]!)),
      ];
      assert.ok(Math.abs(summary.covariance!.at(i, j) - entry) <= digits * size, `${i}, ${j}: ${entry}`);
      assert.is(summary.covariance!.at(j, i), summary.covariance!.at(i, j));
    }
  });
}

function variance(column: Float64Array, centre: number): number {
  return column.reduce((sum, x) => sum + (x - centre) ** 2, 0) / (column.length - 1);
}

for (const [name, make] of Object.entries(kinds))
  onEveryDevice(`the summary of ${name} equals that of its draws, with exact quantiles and shares.`, async (device) => {
    using distribution = make(device);
    for (const [count, firstRow] of [
      [2, 0],
      [3, 5],
      [1000, 0],
      [10_007, 3],
    ] as const) {
      using draws = distribution.sampleSync(count, { seed: 42, stream: 7, firstRow });
      // One of the draws, and the number below it.
      const thresholds = [
        Array.from(draws.row(1)),
        [0, -200, Number.NEGATIVE_INFINITY],
        [2, -190, Number.POSITIVE_INFINITY],
      ];
      const asked = { seed: 42, stream: 7, firstRow, covariance: true, quantiles: probabilities, thresholds } as const;
      const summary = distribution.summarizeSync(count, asked);
      isOf(draws, summary, thresholds, 1e-9);
      const again = await distribution.summarize(count, asked);
      for (const part of ['mean', 'covariance', 'quantiles', 'exceedance'] as const)
        assert.equal(again[part].data, summary[part].data, part);
    }
  });

onEveryType('draws beyond a block and a commit are all counted.', async (device, dtype) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, mean: [3], covariance: [[4]] });
  const count = device.kind === 'reference' ? 150_001 : 4_500_001;
  const draws = Float64Array.from((await normal.sample(count, { seed: 1 })).data).sort();
  const summary = normal.summarizeSync(count, { seed: 1, quantiles: [0.01, 0.5, 1 - 1e-6], thresholds: [3] });
  assert.equal(
    [...summary.quantiles.data],
    [0.01, 0.5, 1 - 1e-6].map((p) => draws[Math.ceil(p * count) - 1]),
  );
  assert.is(summary.exceedance.at(0, 0), draws.filter((x) => x > 3).length / count);
  near(summary.mean.data, [draws.reduce((sum, x) => sum + x, 0) / count], 1e-9);
});

onEveryDevice('if draws round to few numbers, the quantile among many equal ones is found.', (device) => {
  using normal = MultivariateNormal.fromDiagonalSync({
    ...{ device, dtype: 'float32', mean: [1e6, -1e6, 0], variances: [1e-4, 1, 1e-30] },
  });
  for (const count of [100, 60_000]) {
    const { data } = normal.sampleSync(count, { seed: 3 });
    const { quantiles } = normal.summarizeSync(count, { seed: 3, quantiles: probabilities });
    for (const j of [0, 1, 2]) {
      const sorted = data.filter((_, at) => at % 3 === j).sort();
      for (const [k, p] of probabilities.entries())
        assert.is(quantiles.at(k, j), sorted[Math.max(0, Math.ceil(p * count) - 1)], `${count}, ${j}, ${p}`);
    }
  }
});

onEveryType('many quantiles and thresholds, in any order, equal those of the draws.', async (device, dtype) => {
  using normal = MultivariateNormal.fromCovarianceSync({
    device,
    mean,
    covariance: singular,
    singular: 'pivoted',
    dtype,
  });
  const shares = Array.from({ length: 60 }, (_, k) => ((k * 37) % 60) / 59);
  const draws = normal.sampleSync(3000, { seed: 3 });
  // Limits that are draws, that many share, and that no draw is above.
  const thresholds = shares.map((p, k) => [k % 7 === 0 ? Number.POSITIVE_INFINITY : 8 * p - 4, draws.at(k, 1), 0]);
  const summary = await normal.summarize(3000, { seed: 3, quantiles: shares, thresholds });
  for (let j = 0; j < 3; j++) {
    const column = Float64Array.from({ length: 3000 }, (_, r) => draws.at(r, j)).sort();
    for (const [k, p] of shares.entries()) {
      assert.is(summary.quantiles.at(k, j), column[Math.max(0, Math.ceil(p * 3000) - 1)], `p = ${p}, ${j}`);
      assert.is(summary.exceedance.at(k, j), column.filter((x) => x > thresholds[k]![j]!).length / 3000, `${k}, ${j}`);
    }
  }
});

onEveryDevice('a summary beyond the rows of a Student-t is refused before anything is drawn.', async (device) => {
  using student = MultivariateStudentT.fromScaleSync({ device, scale: covariance, degreesOfFreedom: 3 });
  const [count, firstRow] = [1e12, 2n ** 56n - 10n ** 11n];
  await throwsCode('ERR_OUT_OF_RANGE', '2^56', () => {
    return student.summarize(count, { firstRow, signal: AbortSignal.timeout(2000) });
  });
  await throwsCode('ERR_OUT_OF_RANGE', '2^56', () => student.blocks(count, { firstRow, rowsPerBlock: 2 }));
});

onEveryDevice('a summary has only what was requested, and so has its type.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const bare = await normal.summarize(10);
  const none: undefined = bare.covariance;
  assert.equal([none, bare.quantiles, bare.exceedance, bare.mean.length], [undefined, undefined, undefined, 3]);
  const one = normal.summarizeSync(10, { quantiles: new Float64Array([0.5]), covariance: false });
  const [rows, columns]: [number, number] = one.quantiles.shape;
  const nothing: undefined = one.covariance;
  assert.equal([rows, columns, nothing], [1, 3, undefined]);
  const empty = normal.summarizeSync(10, { quantiles: [] });
  assert.equal(empty.quantiles.shape, [0, 3]);
  const level = normal.summarizeSync(10, { thresholds: [0, 0, 0] });
  assert.equal(level.exceedance.shape, [1, 3]);
});

onEveryDevice('an impossible summary is refused with the reason.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const before = device.memory().liveBytes;
  await throwsCode('ERR_OUT_OF_RANGE', '(0)', () => normal.summarize(0));
  await throwsCode('ERR_OUT_OF_RANGE', '(1)', () => normal.summarize(1, { covariance: true }));
  await throwsCode('ERR_OUT_OF_RANGE', 'quantiles[1]', () => normal.summarize(9, { quantiles: [0.5, 1.5] }));
  await throwsCode('ERR_NOT_FINITE', 'quantiles', () => normal.summarize(9, { quantiles: [Number.NaN] }));
  await throwsCode('ERR_SHAPE', 'thresholds', () => normal.summarize(9, { thresholds: [[1, 2]] }));
  await throwsCode('ERR_NOT_FINITE', '(0, 2)', () => normal.summarize(9, { thresholds: [[1, 2, Number.NaN]] }));
  await throwsCode('ERR_INVALID_ARGUMENT', 'covariance', () => normal.summarize(9, { covariance: 1 as never }));
  await throwsCode('ERR_UNKNOWN_OPTION', 'means', () => normal.summarize(9, { means: true } as never));
  await throwsCode('ERR_OUT_OF_RANGE', 'seed', () => normal.summarize(9, { seed: -1 }));
  await throwsCode('ERR_ABORTED', 'Signal', () => normal.summarize(9, { signal: AbortSignal.abort() }));
  assert.is(device.memory().liveBytes, before);
  normal.close();
  await throwsCode('ERR_CLOSED', 'closed', () => normal.summarize(9));
});

test('the bits of a summary do not depend on the number of threads.', () => {
  const summaries = [1, 2, 3].map((threads) => {
    using device = openDevice('cpu', { threads });
    using normal = MultivariateNormal.fromCovarianceSync({ device, mean, covariance });
    const { mean: means, covariance: spread } = normal.summarizeSync(300_000, { seed: 5, covariance: true });
    return [means.toArray(), spread.toArray()];
  });
  assert.equal(summaries[1], summaries[0]);
  assert.equal(summaries[2], summaries[0]);
});

onEveryDevice('no draw exceeds Infinity, and an infinite draw exceeds everything else.', async (device) => {
  using student = MultivariateStudentT.fromDiagonalSync({ device, degreesOfFreedom: 0.01, diagonal: [1] });
  const draws = (await student.sample(1000, { seed: 1 })).data;
  const thresholds = [[Number.POSITIVE_INFINITY], [1e39]];
  const { exceedance } = await student.summarize(1000, { seed: 1, thresholds });
  assert.equal([...exceedance.data], [0, draws.filter((x) => x === Number.POSITIVE_INFINITY).length / 1000]);
  assert.ok(exceedance.at(1, 0) > 0.1);
});

onEveryDevice('a variance that overflows is infinite.', async (device) => {
  if (!device.dtypes.includes('float64')) return console.log('skipped  a variance that overflows: there is no float64');
  const options = { device, degreesOfFreedom: 0.01, diagonal: [1], dtype: 'float64' } as const;
  using student = MultivariateStudentT.fromDiagonalSync(options);
  const { covariance: spread } = await student.summarize(1000, { seed: 1, covariance: true });
  assert.is(spread.get(0, 0), Number.POSITIVE_INFINITY);
});

test.run();
