import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, MultivariateNormal, MultivariateStudentT } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const covariance = [
  [4, 1, 0.5],
  [1, 9, -2],
  [0.5, -2, 1],
];
const root = [[2], [3], [0]];

const kinds: { readonly [name: string]: (device: Device) => MultivariateNormal } = {
  'a Cholesky factor': (device) => MultivariateNormal.fromCovarianceSync({ device, covariance }),
  'a precision': (device) => MultivariateNormal.fromPrecisionSync({ device, precision: covariance }),
  'a diagonal': (device) => MultivariateNormal.fromDiagonalSync({ device, variances: [1, 4, 9] }),
  'low rank': (device) => MultivariateNormal.fromLowRankSync({ device, factor: root, diagonal: [1, 2, 3] }),
  singular: (device) =>
    MultivariateNormal.fromCovarianceSync({
      device,
      covariance: root.map(([a]) => root.map(([b]) => a! * b!)),
      singular: 'pivoted',
    }),
};

for (const [name, make] of Object.entries(kinds))
  onEveryDevice(`a normal of ${name} has the variances and correlations of its covariance.`, async (device) => {
    using normal = make(device);
    const { data } = normal.covarianceSync();
    const diagonal = [0, 4, 8].map((at) => data[at]!);
    near(normal.variancesSync().data, diagonal, 1e-5);
    near((await normal.variances()).data, diagonal, 1e-5);
    near(normal.standardDeviationsSync().data, diagonal.map(Math.sqrt), 1e-5);
    near((await normal.standardDeviations()).data, diagonal.map(Math.sqrt), 1e-5);
    const correlations = Array.from(data, (entry, at) => {
      const [i, j] = [Math.floor(at / 3), at % 3];
      const scale = Math.sqrt(diagonal[i]! * diagonal[j]!);
      return i === j ? 1 : scale > 0 ? entry / scale : 0;
    });
    near(normal.correlationSync().data, correlations, 1e-5);
    near((await normal.correlation()).data, correlations, 1e-5);
  });

const over = (unit: number) => (value: number) => value / unit;

onEveryDevice(
  'a diagonal of a million variances is returned without allocating a million times a million numbers.',
  (device) => {
    using normal = MultivariateNormal.fromDiagonalSync({ device, variances: 4, dimension: 1e6 });
    assert.ok(normal.variancesSync().data.every((variance) => variance === 4));
    assert.is(normal.standardDeviationsSync().get(999_999), 2);
  },
);

onEveryDevice('a variance that the dtype does not hold is refused by each method that needs it.', async (device) => {
  using normal = MultivariateNormal.fromCholeskySync({
    device,
    factor: [
      [1, 0],
      [0, 1e30],
    ],
    dtype: 'float32',
  });
  const message = 'Variance (1) of the covariance is too large for (float32)';
  for (const ask of [
    () => normal.variances(),
    () => normal.variancesSync(),
    () => normal.standardDeviations(),
    () => normal.covariance(),
  ])
    await throwsCode('ERR_OUT_OF_RANGE', message, ask);
  assert.equal([...(await normal.correlation()).data], [1, 0, 0, 1]);
  const student = { device, factor: [[1, 0], [0, 1e30]], degreesOfFreedom: 3, dtype: 'float32' } as const; // biome-ignore format: a matrix
  using scaled = MultivariateStudentT.fromCholeskySync(student);
  const entry = 'Entry (1, 1) of the scale is too large for (float32)';
  for (const ask of [() => scaled.scale(), () => scaled.scaleSync()]) await throwsCode('ERR_OUT_OF_RANGE', entry, ask);
  await throwsCode('ERR_OUT_OF_RANGE', message, () => scaled.covariance());
});

onEveryDevice('float64 gives every variance that is a normal number, and correlations even of others.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const unit = 2 ** -1012;
  const options = { device, dtype: 'float64' } as const;
  const times = (rows: number[][], by: number) => rows.map((row) => row.map((entry) => entry * by));
  for (const normal of [
    MultivariateNormal.fromCovarianceSync({
      ...options,
      covariance: times(
        [
          [3, 1],
          [1, 2],
        ],
        unit,
      ),
    }),
    MultivariateNormal.fromPrecisionSync({
      ...options,
      precision: times(
        [
          [0.4, -0.2],
          [-0.2, 0.6],
        ],
        1 / unit,
      ),
    }),
    MultivariateNormal.fromLowRankSync({
      ...options,
      factor: times([[1], [1]], Math.sqrt(unit)),
      diagonal: [2 * unit, unit],
    }),
  ]) {
    near(normal.covarianceSync().data.map(over(unit)), [3, 1, 1, 2], 1e-14);
    near(normal.variancesSync().data.map(over(unit)), [3, 2], 1e-14);
    near(normal.toJSON().covariance.flat().map(over(unit)), [3, 1, 1, 2], 1e-14);
    near(normal.correlationSync().data, [1, 1 / Math.sqrt(6), 1 / Math.sqrt(6), 1], 1e-14);
    normal.close();
  }
  using smaller = MultivariateNormal.fromCholeskySync({
    ...options,
    factor: [
      [1e-160, 0],
      [1e-160, 1e-160],
    ],
  });
  near(smaller.correlationSync().data, [1, Math.SQRT1_2, Math.SQRT1_2, 1], 1e-14);
});

onEveryDevice(
  'a variance below the normal numbers of the dtype is refused, except a variance of 0 in a singular normal.',
  async (device) => {
    using diagonal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 1e-60], dtype: 'float32' });
    using factor = MultivariateNormal.fromCholeskySync({ device, factor: [[1e-30]], dtype: 'float32' });
    const message = (i: number) => `Variance (${i}) of the covariance is too small for (float32)`;
    for (const [normal, i] of [
      [diagonal, 1],
      [factor, 0],
    ] as const)
      for (const ask of [() => normal.variances(), () => normal.standardDeviations(), () => normal.covariance()])
        await throwsCode('ERR_OUT_OF_RANGE', message(i), ask);
    using singular = MultivariateNormal.fromCovarianceSync({
      device,
      covariance: [
        [1, 0],
        [0, 0],
      ],
      singular: 'eigen',
    });
    near(singular.variancesSync().data, [1, 0], 1e-6);
  },
);

onEveryDevice(
  'variances near the least normal number keep their digits, however a device treats subnormal numbers.',
  (device) => {
    // A power of two changes no digit. Entries far from the diagonal, and the remainders of pivots, become subnormal.
    for (const [dtype, unit, tolerance] of [
      ['float32', 2 ** -118, 2e-6],
      ['float64', 2 ** -968, 1e-13],
    ] as const) {
      if (!device.dtypes.includes(dtype)) continue;
      for (const n of [3, 40, 200]) {
        const ones = Array.from({ length: n }, (_, i) =>
          Array.from({ length: n }, (_, j) => 0.9 ** Math.abs(i - j) + (i === j ? 0.01 : 0)),
        );
        const small = ones.map((row) => row.map((entry) => unit * entry));
        using plain = MultivariateNormal.fromCovarianceSync({ device, covariance: ones, dtype });
        using tiny = MultivariateNormal.fromCovarianceSync({ device, covariance: small, dtype });
        const scale = Math.sqrt(unit);
        near(tiny.factorSync().data.map(over(scale)), plain.factorSync().data, tolerance);
        near(tiny.covarianceSync().data.map(over(unit)), ones.flat(), tolerance);
        near(tiny.variancesSync().data.map(over(unit)), plain.variancesSync().data, tolerance);
        near(tiny.correlationSync().data, plain.correlationSync().data, tolerance);
      }
    }
  },
);

onEveryDevice('a Student-t has variances and correlations if it has a covariance.', async (device) => {
  using heavy = MultivariateStudentT.fromScaleSync({ device, scale: covariance, degreesOfFreedom: 6 });
  near(heavy.variancesSync().data, [6, 13.5, 1.5], 1e-5);
  near((await heavy.standardDeviations()).data, [6, 13.5, 1.5].map(Math.sqrt), 1e-5);
  near([(await heavy.correlation()).get(0, 1)], [1 / 6], 1e-5);
  using heavier = MultivariateStudentT.fromScaleSync({ device, scale: covariance, degreesOfFreedom: 2 });
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => heavier.variances());
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => heavier.standardDeviationsSync());
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => heavier.correlation());
});

test.run();
