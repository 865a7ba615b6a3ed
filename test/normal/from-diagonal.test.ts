import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { klDivergence, MultivariateNormal, openDevice, Vector, wasserstein } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { type Answer, answers, answersAs, areAlike, diagonalOf } from '../harness/same-normal.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('A diagonal of a million draws rows and gives densities; a method that needs a million squared is refused before it allocates.', async () => {
  using device = openDevice('reference');
  const dimension = 1e6;
  using normal = await MultivariateNormal.fromDiagonal({ device, variances: 1, dimension });
  assert.ok(Math.abs(normal.logPdfSync(new Float64Array(dimension)).get(0) + 918938.533) < 1);
  const row = new Float64Array(dimension).fill(1);
  for (const ask of [
    () => normal.conditionalMeans({ given: [0], rows: [[0]] }),
    () => normal.ellipsoid({ probability: 0.5 }),
    () => normal.cdf(row),
    () => normal.boxProbability({ lower: row }),
    () => normal.factor(),
    () => normal.covariance(),
    () => klDivergence(normal, normal),
    () => wasserstein(normal, normal),
  ])
    await throwsCode('ERR_OUT_OF_MEMORY', '000000000000', ask);
  using sum = await normal.affine({ matrix: row });
  assert.is(sum.variancesSync().get(0), dimension);
  using half = await normal.marginal(Array.from({ length: dimension / 2 }, (_, i) => dimension - 1 - 2 * i));
  assert.is(half.variancesSync().get(dimension / 2 - 1), 1);
  using rest = await normal.conditional({ given: [3, 0], values: [1, 2] });
  assert.equal([rest.dimension, rest.variancesSync().get(dimension - 3)], [dimension - 2, 1]);
  await throwsCode('ERR_SHAPE', '(1)', () => normal.conditional({ given: [0], values: [1, 2] }));
  const ofDimension = (dimension: number) => () => MultivariateNormal.fromDiagonal({ device, variances: 1, dimension });
  await throwsCode('ERR_OUT_OF_MEMORY', '8000000000000000', ofDimension(1e15));
  await throwsCode('ERR_TOO_LARGE', '2^53', ofDimension(2 ** 53 - 1));
});

onEveryType('a diagonal normal equals the dense one with the same variances.', async (device, dtype, tolerance) => {
  for (const variances of [[4], [1, 4, 9], Array.from({ length: 70 }, (_, i) => 1 + i / 7)]) {
    const mean = variances.map((_, i) => i - 1);
    using diagonal = await MultivariateNormal.fromDiagonal({ device, dtype, mean, variances });
    using dense = MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance: diagonalOf(variances) });
    await areAlike(diagonal, dense, tolerance);
    assert.equal(diagonal.sampleSync(0).rows, 0);
    assert.ok(diagonal.timings.wallMs >= 0);
  }
  using same = MultivariateNormal.fromDiagonalSync({ device, dtype, variances: 4, dimension: 3 });
  using listed = MultivariateNormal.fromDiagonalSync({ device, dtype, variances: Vector.from([4, 4, 4]) });
  assert.equal(same.sampleSync(5, { seed: 1 }).data, listed.sampleSync(5, { seed: 1 }).data);
  assert.is(MultivariateNormal.fromDiagonalSync({ device, dtype, variances: 2, mean: [0, 1] }).dimension, 2);
});

onEveryType('variances that span 10^12 do not make a normal singular.', async (device, dtype, tolerance) => {
  const wide = answers.wide as Answer;
  const variances = wide.covariance.map((row, i) => row[i]!);
  const { covariance } = wide;
  const vectors = diagonalOf(variances.map(() => 1));
  for (const normal of [
    await MultivariateNormal.fromDiagonal({ device, dtype, variances }),
    await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular: 'pivoted' }),
    await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular: 'eigen' }),
    await MultivariateNormal.fromEigen({ device, dtype, values: variances, vectors }),
    await MultivariateNormal.fromCovariance({ device, dtype, covariance, jitter: true }),
  ]) {
    assert.is(normal.rank, 7);
    answersAs(normal, wide, tolerance);
    normal.close();
  }
});

onEveryDevice(
  'standard deviations that float32 does not hold, or whose inverses it does not, are refused.',
  async (device) => {
    for (const variance of [1e300, 1e-300, 1e-80]) {
      const refused = (work: () => unknown) => throwsCode('ERR_OUT_OF_RANGE', '(float32)', work);
      await refused(() => MultivariateNormal.fromDiagonal({ device, variances: [1, variance] }));
      await refused(() => MultivariateNormal.fromLowRank({ device, factor: [[1], [1]], diagonal: [1, variance] }));
      await refused(() => MultivariateNormal.fromEigen({ device, values: [variance], vectors: [[1], [0]] }));
    }
  },
);

onEveryDevice('an invalid description of a normal is refused.', async (device) => {
  const { fromDiagonal, fromLowRank } = MultivariateNormal;
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(0)', () => fromDiagonal({ device, variances: [1, 0] }));
  await throwsCode('ERR_NOT_FINITE', '(Infinity)', () =>
    fromDiagonal({ device, variances: [Number.POSITIVE_INFINITY] }),
  );
  await throwsCode('ERR_SHAPE', '(2)', () => fromDiagonal({ device, variances: 2 }));
  await throwsCode('ERR_SHAPE', '(0) entries', () => fromDiagonal({ device, variances: [] }));
  await throwsCode('ERR_SHAPE', '`mean` has (1)', () => fromDiagonal({ device, variances: [1, 2], mean: [1] }));
  await throwsCode('ERR_UNKNOWN_OPTION', '(variance)', () => fromDiagonal({ device, variance: 1 } as never));
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(-1)', () => fromLowRank({ device, factor: [[1]], diagonal: -1 }));
  await throwsCode('ERR_NOT_FINITE', '(0, 1)', () => fromLowRank({ device, factor: [[1, Number.NaN]], diagonal: 1 }));
  await throwsCode('ERR_SHAPE', '(2) entries', () => fromLowRank({ device, factor: [[1]], diagonal: [1, 2] }));
  const before = device.memory().liveBytes;
  const made = await fromLowRank({ device, factor: [[1], [2]], diagonal: 1 });
  made.close();
  await throwsCode('ERR_CLOSED', '(2)', () => made.sample(1));
  assert.is(device.memory().liveBytes, before);
});

test.run();
