// Float32 is the default only if it represents the numbers: draws about 10^9 with a standard deviation of 1 were once
// five equal numbers.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DeviceKind, Moments, MultivariateNormal, MultivariateStudentT, openDevice } from '../../lib/index.ts';
import { kindsHere } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const device = openDevice('reference');
const mean = [0, 1e9];
const covariance = [
  [1, 0],
  [0, 1],
];
const rows = Array.from({ length: 9 }, (_, i) => [(i * 7) % 5, 1e9 + ((i * 3) % 7)]);
const moments = new Moments(2);
moments.addSync(rows);

type Options = { readonly dtype?: 'float32' | 'float64' };
const ways: { readonly [name: string]: (options: Options) => { readonly dtype: string } } = {
  covariance: (options) => MultivariateNormal.fromCovarianceSync({ device, mean, covariance, ...options }),
  singular: (options) =>
    MultivariateNormal.fromCovarianceSync({ device, mean, covariance, singular: 'pivoted', ...options }),
  jitter: (options) => MultivariateNormal.fromCovarianceSync({ device, mean, covariance, jitter: true, ...options }),
  cholesky: (options) => MultivariateNormal.fromCholeskySync({ device, mean, factor: covariance, ...options }),
  precision: (options) => MultivariateNormal.fromPrecisionSync({ device, mean, precision: covariance, ...options }),
  correlation: (options) =>
    MultivariateNormal.fromCorrelationSync({
      device,
      mean,
      correlation: covariance,
      standardDeviations: [1, 1],
      ...options,
    }),
  diagonal: (options) => MultivariateNormal.fromDiagonalSync({ device, mean, variances: 1, ...options }),
  'low rank': (options) =>
    MultivariateNormal.fromLowRankSync({ device, mean, factor: [[0.6], [0.8]], diagonal: 0.5, ...options }),
  eigen: (options) =>
    MultivariateNormal.fromEigenSync({ device, mean, values: [1, 1], vectors: covariance, ...options }),
  fit: (options) => MultivariateNormal.fitSync({ device, rows, ...options }),
  moments: (options) => MultivariateNormal.fromMomentsSync({ device, moments, ...options }),
  'Student-t': (options) =>
    MultivariateStudentT.fromScaleSync({ device, location: mean, scale: covariance, degreesOfFreedom: 4, ...options }),
};

for (const [name, make] of Object.entries(ways))
  test(`${name}: a mean that float32 rounds by more than a standard deviation is refused, and the message says what to do.`, async () => {
    const error = await throwsCode('ERR_OUT_OF_RANGE', '(64)', () => make({}));
    assert.match(error.message, /(mean|location)\[1\]` is \(1000000002?\.?\d*\)/);
    assert.match(error.message, /dtype: 'float64'/);
    assert.is(make({ dtype: 'float64' }).dtype, 'float64');
    assert.is(make({ dtype: 'float32' }).dtype, 'float32');
  });

test('A mean of a million standard deviations is accepted, and a Float32Array or Float64Array keeps its type.', () => {
  const diagonal = (each: number[] | Float32Array | Float64Array, variances: number) =>
    MultivariateNormal.fromDiagonalSync({ device, mean: each, variances }).dtype;
  assert.is(diagonal([1e6], 1), 'float32');
  assert.is(diagonal([1e9], 1e8), 'float32');
  assert.is(diagonal(Float32Array.of(1e9), 1), 'float32');
  assert.is(diagonal(Float64Array.of(1e9), 1), 'float64');
});

test('An offset that float32 rounds by more than a standard deviation is refused, unless it is given in float32.', async () => {
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 1] });
  const matrix = [[1, 0]];
  await throwsCode('ERR_OUT_OF_RANGE', '`offset[0]` is (1000000000) with a standard deviation of (1)', () =>
    normal.affine({ matrix, offset: [1e9] }),
  );
  const noise = [[1e18]];
  assert.equal((await normal.affine({ matrix, offset: [1e9], noise })).mean.toArray(), [1e9]);
  assert.equal((await normal.affine({ matrix, offset: Float32Array.of(1e9) })).mean.toArray(), [1e9]);
  const exact = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 1], dtype: 'float64' });
  assert.equal((await exact.affine({ matrix, offset: [1e9 + 0.5] })).mean.toArray(), [1e9 + 0.5]);
});

test('Means of rows that float32 rounds by more than a standard deviation are refused, unless they are given in float32.', async () => {
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [4, 1] });
  const rows = [[0, 5], [3, 1e9]]; // biome-ignore format: a matrix
  const shown = '`means[3]` is (1000000000) with a standard deviation of (1)';
  await throwsCode('ERR_OUT_OF_RANGE', shown, () => normal.sampleSync(2, { means: rows }));
  await throwsCode('ERR_OUT_OF_RANGE', shown, () => normal.sample(2, { means: Float64Array.from(rows.flat()) }));
  assert.is(normal.sampleSync(2, { means: Float32Array.from(rows.flat()) }).at(1, 1), 1e9);
  const exact = MultivariateNormal.fromDiagonalSync({ device, variances: [4, 1], dtype: 'float64' });
  assert.is.not(exact.sampleSync(2, { means: rows }).at(1, 1), 1e9);
});

test('Numbers that float32 does not hold are shown as they were given.', async () => {
  const says = (shown: string, options: object) =>
    throwsCode('ERR_OUT_OF_RANGE', shown, () =>
      MultivariateNormal.fromCovarianceSync({ device, covariance, ...options }),
    );
  await says('`mean` entry (1) is (1e+39), which float32 does not hold', { mean: [0, 1e39] });
  await says('`covariance` entry (0, 0) is (1e-50)', { covariance: [[1e-50]] });
  await says('`covariance` entry (1, 1) is (1e+39)', { covariance: [[1, 0], [0, 1e39]] }); // biome-ignore format: a matrix
  assert.is(MultivariateNormal.fromCovarianceSync({ device, covariance: [[1e-50]], dtype: 'float64' }).dimension, 1);
  assert.is(MultivariateNormal.fromCovarianceSync({ device, mean: [1e-50, 0], covariance }).dtype, 'float32');
});

test('A subnormal variance is refused alike on every device, in the type in which it is given too.', async () => {
  const of = (kind: DeviceKind, variance: Float32Array | Float64Array) => {
    using device = openDevice(kind);
    return MultivariateNormal.fromCovarianceSync({ device, covariance: variance });
  };
  for (const kind of kindsHere.filter((each) => each !== 'metal')) {
    await throwsCode('ERR_OUT_OF_RANGE', '(0, 0) is (1e-320)', () => of(kind, Float64Array.of(1e-320)));
    await throwsCode('ERR_OUT_OF_RANGE', '(0, 0) is (', () => of(kind, Float32Array.of(1e-40)));
  }
});

test.run();
