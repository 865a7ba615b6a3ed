import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, MultivariateStudentT } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryType('jitter is added where it is needed, as little as does, and reported.', async (device, dtype) => {
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

onEveryType('what the caller writes into his arrays between two attempts changes nothing.', async (device, dtype) => {
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

onEveryType(
  'a refusal names the options that would help, where there are any and none was named.',
  async (device, dtype) => {
    const covariance = [[1, 1], [1, 1]]; // biome-ignore format: a matrix
    const indefinite = [[1, 2], [2, 1]]; // biome-ignore format: a matrix
    const rows = [[1, 7], [2, 7], [3, 7], [5, 7]]; // biome-ignore format: a matrix
    const { fromCovariance, fromCovarianceSync, fromCorrelation, fit } = MultivariateNormal;
    const hint = / Option singular takes a singular covariance as it is, and jitter adds to its diagonal\.$/;
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

test.run();
