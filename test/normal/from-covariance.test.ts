import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, MultivariateNormalBatch, MultivariateStudentT } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { lowerFactor } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { type Answer, answers, answersAs, areAlike } from '../harness/same-normal.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryType('jitter is added only if needed, as little as possible, and reported.', async (device, dtype) => {
  const good = await MultivariateNormal.fromCovariance({
    device,
    dtype,
    covariance: [
      [4, 0],
      [0, 9],
    ],
    jitter: true,
  });
  assert.equal(good.jitter, { amount: 0, attempts: 1, smallestPivot: 4 });
  assert.is(MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: [[1]] }).jitter, undefined);
  const covariance = new Array(3).fill([1e6, 1e6, 1e6]);
  const least = dtype === 'float32' ? 2 ** -22 : 2 ** -40;
  const { jitter } = await MultivariateNormal.fromCovariance({ device, dtype, covariance, jitter: true });
  assert.ok(jitter!.attempts > 1 && jitter!.amount === 1e6 * least * 10 ** (jitter!.attempts - 2), `${jitter!.amount}`);
  assert.ok(jitter!.smallestPivot > 0 && jitter!.smallestPivot < 1e6);
  const asked = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance, jitter: 0.01 });
  assert.is(asked.jitter!.amount, 1e4);
  near([asked.covarianceSync().get(1, 1)], [1.01e6], 1e-6);
  // The first jitters would be subnormal numbers, which devices treat as 0.
  const small = dtype === 'float32' ? 1e-34 : 1e-300;
  using tiny = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: [[small, 0], [0, 0]], jitter: true }); // biome-ignore format: a matrix
  assert.is(tiny.jitter!.amount, dtype === 'float32' ? 2 ** -126 : Math.max(small * least, 2 ** -1022));
  const of =
    (jitter: number, given: number[][] = covariance) =>
    () =>
      MultivariateNormal.fromCovariance({ device, dtype, covariance: given, jitter });
  await throwsCode('ERR_OUT_OF_RANGE', '(1e-20)', of(1e-20));
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', of(2));
  const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'even with', of(1e-6, [[1, 2], [2, 1]])); // biome-ignore format: a matrix
  assert.is(error.pivot, 1);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'even with (0)', of(0.1, [[-1]]));
  await throwsCode('ERR_INVALID_ARGUMENT', 'only one', () =>
    MultivariateNormal.fromCovariance({ device, dtype, covariance, jitter: true, singular: 'eigen' }),
  );
});

onEveryType('a covariance that is not positive definite is refused with the same message.', async (device, dtype) => {
  await throwsCode(
    'ERR_NOT_POSITIVE_DEFINITE',
    '`covariance` is not positive definite: pivot (0) is not positive.',
    () => MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: [[-1]] }),
  );
});

onEveryType('writing into the arrays between two attempts changes nothing.', async (device, dtype) => {
  const Values = dtype === 'float32' ? Float32Array : Float64Array;
  for (const way of [{ jitter: true }, { singular: 'pivoted' }, { singular: 'eigen' }] as const) {
    const mean = Values.of(1, 2);
    const covariance = Values.of(4, 4, 4, 4);
    const pending = MultivariateNormal.fromCovariance({ device, dtype, mean, covariance, ...way });
    mean.fill(7);
    covariance.set([9, 0, 0, 9]);
    using normal = await pending;
    assert.equal(normal.mean.toArray(), [1, 2]);
    near(normal.covarianceSync().data, [4, 4, 4, 4], 1e-5);
  }
});

onEveryType('a large covariance is copied by a command, whatever memory it is in.', async (device, dtype) => {
  const n = 513;
  const [rho, noise] = [0.5, Math.sqrt(0.75)];
  const numbers = Float64Array.from({ length: n * n }, (_, at) => rho ** Math.abs(Math.floor(at / n) - (at % n)));
  const z = Float64Array.from({ length: n }, (_, i) => Math.sin(i));
  let last = 0;
  const wanted = z.map((each, i) => {
    last = i === 0 ? each : rho * last + noise * each;
    return last;
  });
  const shared = new Float64Array(new SharedArrayBuffer(numbers.byteLength));
  shared.set(numbers);
  const matrix = Matrix.from(numbers, { rows: n, columns: n, dtype });
  for (const covariance of [numbers, Float32Array.from(numbers), shared, matrix]) {
    const pending = MultivariateNormal.fromCovariance({ device, dtype, covariance });
    if (covariance === matrix) matrix.close();
    using normal = await pending;
    near(normal.transformSync(z).data, wanted, dtype === 'float32' ? 1e-5 : 1e-13);
  }
  numbers[n] = 1; // (1, 0), but not (0, 1)
  await throwsCode('ERR_NOT_SYMMETRIC', '', () =>
    MultivariateNormal.fromCovariance({ device, dtype, covariance: numbers }),
  );
});

onEveryType(
  'a refusal names the options that would help, if there are any and none was passed.',
  async (device, dtype) => {
    const covariance = [[1, 1], [1, 1]]; // biome-ignore format: a matrix
    const indefinite = [[1, 2], [2, 1]]; // biome-ignore format: a matrix
    const rows = [[1, 7], [2, 7], [3, 7], [5, 7]]; // biome-ignore format: a matrix
    const { fromCovariance, fromCovarianceSync, fromCorrelation, fit } = MultivariateNormal;
    const hint = / Pass `singular` to accept a singular covariance, or `jitter` to add to its diagonal\.$/;
    for (const [isHinted, make] of [
      [true, () => fromCovariance({ device, dtype, covariance })],
      [true, () => fromCovarianceSync({ device, dtype, covariance })],
      [true, () => fromCorrelation({ device, dtype, correlation: covariance, standardDeviations: [1, 2] })],
      [false, () => fromCovariance({ device, dtype, covariance, singular: 'error' })],
      [false, () => fromCovariance({ device, dtype, covariance: indefinite, jitter: true })],
      [false, () => fit({ device, dtype, rows })],
      [true, () => MultivariateStudentT.fromScale({ device, dtype, scale: covariance, degreesOfFreedom: 3 })],
      [
        false,
        () => MultivariateStudentT.fromScale({ device, dtype, scale: indefinite, degreesOfFreedom: 3, jitter: true }),
      ],
    ] as const) {
      const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', make);
      assert.is(hint.test(error.message), isHinted, error.message);
      assert.is(error.pivot, 1);
    }
  },
);

onEveryType(
  'Hilbert matrices have the densities of 60-digit answers, whichever way the normal is made.',
  async (device, dtype) => {
    // Their condition numbers are 1.6e4 (n = 4) and 1.5e10 (n = 8).
    for (const [name, tolerance] of [
      ['hilbert4', dtype === 'float32' ? 2e-2 : 1e-11],
      ['hilbert8', dtype === 'float32' ? 0 : 1e-5],
    ] as const) {
      if (tolerance === 0) continue; // beyond float32
      const answer = answers[name] as Answer;
      const { covariance } = answer;
      for (const singular of ['error', 'pivoted', 'eigen'] as const) {
        using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
        answersAs(normal, answer, tolerance);
      }
    }
  },
);

onEveryType('a Kahan matrix keeps its rank, or loses what float32 cannot hold.', (device, dtype) => {
  const { matrix, values } = answers.spectra.kahan12 as { matrix: number[][]; values: number[] };
  for (const singular of ['pivoted', 'eigen'] as const) {
    using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: matrix, singular });
    assert.ok(normal.rank <= 12 && normal.rank >= (dtype === 'float64' ? 12 : 10), `${singular}: ${normal.rank}`);
    near(normal.covarianceSync().toArray().flat(), matrix.flat(), dtype === 'float64' ? 1e-13 : 1e-5);
    if (normal.rank === 12) {
      const logDeterminant = values.reduce((sum, value) => sum + Math.log(value), 0);
      near([normal.logDeterminant], [logDeterminant], dtype === 'float64' ? 1e-9 : 1e-2);
    }
  }
});

onEveryType('entries that are not symmetric are shown as they were written.', async (device, dtype) => {
  if (dtype === 'float32') return;
  for (const [lower, upper] of [
    [0.2, 0.1],
    [0.5000001, 0.5],
    [-1 / 3, 1e-30],
  ] as const) {
    const covariance = [[1, upper], [lower, 1]]; // biome-ignore format: a matrix
    const call = () => MultivariateNormal.fromCovariance({ device, dtype, covariance });
    const message = `entry (1, 0) is (${lower}), but entry (0, 1) is (${upper}).`;
    await throwsCode('ERR_NOT_SYMMETRIC', message, call);
  }
});

onEveryType('a positive definite covariance gives the same normal in every way.', async (device, dtype, tolerance) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.nat(1000), async (n, seed) => {
      const factor = Float64Array.from(lowerFactor(n, seed));
      const covariance = Array.from({ length: n }, (_, i) =>
        Array.from({ length: n }, (_, j) => {
          let sum = 0;
          for (let k = 0; k < n; k++) sum += factor[i * n + k]! * factor[j * n + k]!;
          return sum;
        }),
      );
      using plain = await MultivariateNormal.fromCovariance({ device, dtype, covariance });
      for (const singular of ['pivoted', 'eigen'] as const) {
        using same = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
        await areAlike(same, plain, 10 * tolerance);
      }
    }),
    { numRuns: 15 },
  );
});

onEveryType('what is subnormal beside minute variances counts.', async (device, dtype, tolerance) => {
  const correlation = [[1, 0.125, 0.125], [0.125, 1, 0.0625], [0.125, 0.0625, 1]]; // biome-ignore format: a matrix
  const unit = dtype === 'float32' ? 2 ** -62 : 2 ** -509;
  const covariance = correlation.map((row) => row.map((entry) => entry * unit ** 2));
  for (const singular of ['error', 'pivoted', 'eigen'] as const) {
    using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
    near(normal.correlationSync().data, correlation.flat(), tolerance);
  }
  const identity = [[1, 0], [0, 1]]; // biome-ignore format: a matrix
  // The second pivot is subnormal, though its root is not.
  for (const [first, second] of [
    [1, unit],
    [unit, 1],
    [unit, unit],
  ] as const) {
    const between = (1 - 2 ** -10) * first * second;
    const scale = [[first ** 2, between], [between, second ** 2]]; // biome-ignore format: a matrix
    using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance: scale });
    using student = MultivariateStudentT.fromScaleSync({ device, dtype, scale, degreesOfFreedom: 3 });
    const pivot = Math.sqrt(2 ** -9 - 2 ** -20);
    for (const factor of [normal.factorSync(), student.factorSync()]) {
      const inUnits = [[factor.get(0, 0) / first, 0], [factor.get(1, 0) / second, factor.get(1, 1) / second]]; // biome-ignore format: a matrix
      near(inUnits.flat(), [1, 0, 1 - 2 ** -10, pivot], tolerance);
    }
    using batch = MultivariateNormalBatch.fromCovarianceSync({ device, dtype, covariances: [identity, scale] });
    assert.equal(batch.at(1).factorSync().toArray(), normal.factorSync().toArray());
    const skew = [[first ** 2, between / 2], [between, second ** 2]]; // biome-ignore format: a matrix
    await throwsCode('ERR_NOT_SYMMETRIC', `\`covariances[1]\` is not symmetric: entry (1, 0) is (${between})`, () =>
      MultivariateNormalBatch.fromCovariance({ device, dtype, covariances: [identity, skew] }),
    );
    // As a precision, its normal has the same correlation, of the other sign.
    using inverse = MultivariateNormal.fromPrecisionSync({ device, dtype, precision: scale });
    near([inverse.correlationSync().get(1, 0)], [2 ** -10 - 1], tolerance);
    const error = await throwsCode(
      'ERR_NOT_POSITIVE_DEFINITE',
      'pivot (1) is not positive',
      () =>
      MultivariateNormal.fromCovariance({ device, dtype, covariance: [[first ** 2, 2 * between], [2 * between, second ** 2]] }), // biome-ignore format: a matrix
    );
    assert.is(error.pivot, 1);
  }
});

test.run();
