import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, type MatrixInput, MultivariateNormal } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { areAlike } from '../harness/same-normal.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryType('an eigen-decomposition gives the normal of its covariance.', async (device, dtype, tolerance) => {
  const [c, s] = [Math.cos(0.3), Math.sin(0.3)];
  const vectors = [
    [c, -s],
    [s, c],
  ];
  // biome-ignore format: a matrix
  const covariance = [[9 * c * c + s * s, 8 * s * c], [8 * s * c, 9 * s * s + c * c]];
  using normal = await MultivariateNormal.fromEigen({ device, dtype, mean: [1, 2], values: [9, 1], vectors });
  using same = MultivariateNormal.fromCovarianceSync({ device, dtype, mean: [1, 2], covariance });
  await areAlike(normal, same, tolerance);
  // Singular because of a value of 0, a value rounded below 0, or a missing vector.
  for (const options of [
    { values: [9, 0], vectors },
    { values: [9, -1e-16], vectors },
    { values: [9], vectors: [[c], [s]] },
  ]) {
    using line = MultivariateNormal.fromEigenSync({ device, dtype, ...options });
    assert.is(line.rank, 1);
    near([line.logDeterminant], [Math.log(9)], tolerance);
    near(
      line
        .sampleSync(50, { seed: 1 })
        .toArray()
        .map(([x, y]) => x! * s - y! * c),
      new Array(50).fill(0),
      tolerance,
    );
    near(line.logPdfSync([3 * c, 3 * s]).toArray(), [-(Math.log(2 * Math.PI * 9) + 1) / 2], tolerance);
  }
  const of = (values: number[], given: MatrixInput) => () =>
    MultivariateNormal.fromEigen({ device, dtype, values, vectors: given });
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(-1)', of([9, -1], vectors));
  await throwsCode('ERR_INVALID_ARGUMENT', 'orthonormal', of([9, 1], [[1, 0.1], [0, 1]])); // biome-ignore format: a matrix
  await throwsCode('ERR_INVALID_ARGUMENT', '`vectors` column (1) has length (1.25), not 1', of([9, 1], [[1, 0], [0, 1.25]])); // biome-ignore format: a matrix
  await throwsCode('ERR_SHAPE', '(3) columns', of([1, 1], [[1, 0, 0]]));
  await throwsCode('ERR_SHAPE', '(2) columns', of([1, 1], [[1, 0]]));
  await throwsCode('ERR_NOT_FINITE', '(NaN)', of([Number.NaN], [[1]]));
});

onEveryType('an eigenvalue counts, whatever the unit of its coordinate.', async (device, dtype, tolerance) => {
  const values = [1e10, 1e-10];
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    // biome-ignore format: two orders
    const vectors = order.map((axis) => [axis === 0 ? 1 : 0, axis === 1 ? 1 : 0]);
    using normal = MultivariateNormal.fromEigenSync({ device, dtype, values, vectors });
    assert.is(normal.rank, 2);
    near(
      normal
        .variancesSync()
        .toArray()
        .map((variance, i) => variance / values[order[i]!]!),
      [1, 1],
      tolerance,
    );
    near([normal.logDeterminant], [0], tolerance);
  }
  // An eigenvalue of 0 after rounding, on either side of 0.
  const [c, s] = [Math.cos(0.3), Math.sin(0.3)];
  using line = MultivariateNormal.fromEigenSync({ device, dtype, values: [9, 1e-16], vectors: [[c, -s], [s, c]] }); // biome-ignore format: a matrix
  assert.is(line.rank, 1);
  if (dtype === 'float32')
    await throwsCode(
      'ERR_OUT_OF_RANGE',
      'The covariance of `values` and `vectors` has a factor whose entry (0, 0) is (1e+150), which float32 does not hold.',
      () => MultivariateNormal.fromEigen({ device, dtype, values: [1e300, 1], vectors: [[1, 0], [0, 1]] }), // biome-ignore format: a matrix
    );
});

onEveryDevice('a float32 decomposition may come back as plain numbers, or as JSON.', async (device) => {
  const matrix = Matrix.from([[4, 1, 0], [1, 3, 1], [0, 1, 2]], { dtype: 'float32' }); // biome-ignore format: a matrix
  const { values, vectors } = await matrix.eigh({ device });
  for (const given of [
    { values, vectors },
    { values: values.toArray(), vectors: vectors.toArray() },
    JSON.parse(JSON.stringify({ values: values.toArray(), vectors: vectors.toArray() })),
  ]) {
    using normal = MultivariateNormal.fromEigenSync({ device, dtype: 'float32', ...given });
    near(normal.covarianceSync().toArray().flat(), matrix.toArray().flat(), 1e-5);
    using other = MultivariateNormal.fromEigenSync({ device, ...given });
    assert.is(other.dtype, 'float32');
  }
});

test.run();
