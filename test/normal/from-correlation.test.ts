import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { correlationOf, MultivariateNormal } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { diagonalOf } from '../harness/same-normal.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryType('correlations and standard deviations give the covariance.', async (device, dtype, tolerance) => {
  const correlation = [
    [1, 0.5],
    [0.5, 1],
  ];
  const standardDeviations = [2, 10];
  using normal = await MultivariateNormal.fromCorrelation({ device, dtype, correlation, standardDeviations });
  near(normal.covarianceSync().data, [4, 10, 10, 100], tolerance);
  const ones = [
    [1, 1],
    [1, 1],
  ];
  const options = { device, dtype, correlation: ones, standardDeviations: [2, 0] };
  using flat = MultivariateNormal.fromCorrelationSync({ ...options, singular: 'pivoted' });
  assert.is(flat.rank, 1);
  near(flat.covarianceSync().data, [4, 0, 0, 0], tolerance);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(0)', () => MultivariateNormal.fromCorrelation(options));
  await throwsCode('ERR_OUT_OF_RANGE', '(4)', () =>
    MultivariateNormal.fromCorrelation({ device, dtype, correlation: diagonalOf([4, 1]), standardDeviations }),
  );
  await throwsCode('ERR_SHAPE', '(1) entries', () =>
    MultivariateNormal.fromCorrelation({ device, dtype, correlation, standardDeviations: [1] }),
  );
});

onEveryType('changes by the caller after the call have no effect.', async (device, dtype, tolerance) => {
  const n = 200;
  const correlation = new Float64Array(n * n).map((_, at) => (at % (n + 1) === 0 ? 1 : 0.25));
  const [mean, standardDeviations] = [new Float64Array(n).fill(1), new Float64Array(n).fill(2)];
  const making = MultivariateNormal.fromCorrelation({ device, dtype, mean, correlation, standardDeviations });
  for (const given of [mean, correlation, standardDeviations]) given.fill(Number.NaN);
  using normal = await making;
  near(normal.mean.data, new Float64Array(n).fill(1), tolerance);
  near(normal.covarianceSync().data.slice(0, 3), [4, 1, 1], 10 * tolerance);
});

test('No correlation is beyond 1, however the share of two equal variables is rounded.', () => {
  for (let step = 1; step <= 1000; step++) {
    const variance = step / 7;
    const { correlation } = correlationOf([
      [variance, -variance],
      [-variance, variance],
    ]);
    assert.ok(correlation.data[1]! >= -1, `${variance}`);
  }
});

test.run();
