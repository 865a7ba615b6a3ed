import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, MultivariateStudentT } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const mean = [1, -2];
const covariance = [
  [2, 0.5],
  [0.5, 1],
];

onEveryDevice('JSON of a normal is a model as `covarium fit` writes it, and reads back.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, mean, covariance });
  const text = JSON.stringify(normal);
  const json = JSON.parse(text) as { [name: string]: unknown };
  assert.equal(Object.keys(json), ['covarium', 'dtype', 'mean', 'covariance']);
  assert.equal([json['covarium'], json['dtype'], json['mean']], [1, 'float32', mean]);
  using read = await MultivariateNormal.fromJSON(json, { device });
  assert.is(read.dtype, 'float32');
  near(read.sampleSync(9, { seed: 3 }).data, normal.sampleSync(9, { seed: 3 }).data, 1e-6);
  using named = MultivariateNormal.fromJSONSync({ ...json, columns: ['a', 'b'] }, { device });
  assert.is(named.dimension, 2);
  if (!device.dtypes.includes('float64')) return;
  // An option that is undefined asks for nothing.
  const wide = { ...json, dtype: 'float64' };
  using unasked = MultivariateNormal.fromJSONSync(wide, { device, dtype: undefined });
  const student = { covarium: 1, dtype: 'float64', degreesOfFreedom: 3, location: mean, scale: covariance };
  using ofStudent = MultivariateStudentT.fromJSONSync(student, { device, dtype: undefined });
  assert.equal([unasked.dtype, ofStudent.dtype], ['float64', 'float64']);
});

onEveryDevice(
  'JSON of every kind of factor has its covariance; that of a singular normal is read with `singular`.',
  (device) => {
    using diagonal = MultivariateNormal.fromDiagonalSync({ device, variances: [4, 9] });
    near(diagonal.toJSON().covariance.flat(), [4, 0, 0, 9], 1e-6);
    using singular = MultivariateNormal.fromCovarianceSync({
      device,
      covariance: [
        [4, 6],
        [6, 9],
      ],
      singular: 'pivoted',
    });
    const json: unknown = JSON.parse(JSON.stringify(singular));
    using again = MultivariateNormal.fromJSONSync(json, { device, singular: 'pivoted' });
    assert.is(again.rank, 1);
  },
);

onEveryDevice('JSON of a Student-t has its scale and degrees of freedom.', async (device) => {
  for (const degreesOfFreedom of [0.5, 7, Number.POSITIVE_INFINITY]) {
    const options = { device, location: mean, scale: covariance, degreesOfFreedom };
    using heavy = MultivariateStudentT.fromScaleSync(options);
    const json: unknown = JSON.parse(JSON.stringify(heavy));
    using read = await MultivariateStudentT.fromJSON(json, { device });
    assert.is(read.degreesOfFreedom, degreesOfFreedom);
    near(read.scaleSync().data, covariance.flat(), 1e-6);
    assert.equal(read.location.toArray(), mean);
    assert.is(MultivariateStudentT.fromJSONSync(json, { device }).dimension, 2);
  }
});

onEveryDevice('JSON that is not a model is refused.', async (device) => {
  const says = (shown: string, json: unknown) =>
    throwsCode('ERR_MALFORMED_MODEL', shown, () => MultivariateNormal.fromJSON(json, { device }));
  await says('version is (undefined)', {});
  await says('version is (undefined)', null);
  const text = JSON.stringify({ covarium: 1, mean, covariance });
  await says('pass JSON.parse(text)', text);
  // The error is about the text, not about the missing options.
  await throwsCode('ERR_MALFORMED_MODEL', 'it is text', () => MultivariateNormal.fromJSON(text as never, undefined!));
  await throwsCode('ERR_MALFORMED_MODEL', 'it is text', () => MultivariateStudentT.fromJSON(text as never, undefined!));
  await says('version is (2)', { covarium: 2, mean, covariance });
  await says('means', { covarium: 1, means: mean, covariance });
  await says('(float16)', { covarium: 1, dtype: 'float16', mean, covariance });
  await says('not a list of numbers', { covarium: 1, mean: new Array(2), covariance });
  await says('not (2) names', { covarium: 1, mean, covariance, columns: new Array(2) });
  await says('row (1)', { covarium: 1, mean, covariance: [[1, 0], [0]] });
  const student = { covarium: 1, degreesOfFreedom: 3, location: mean, scale: covariance };
  const saysOfStudent = (shown: string, fields: object) =>
    throwsCode('ERR_MALFORMED_MODEL', `\`json\` is not the JSON of a Student-t: ${shown}`, () =>
      MultivariateStudentT.fromJSON({ ...student, ...fields }, { device }),
    );
  await saysOfStudent('its degreesOfFreedom are (undefined)', { degreesOfFreedom: undefined });
  await saysOfStudent('its location is not a list of numbers', { location: ['1', 2] });
  await saysOfStudent('row (1) of its scale', { scale: [[1, 0], [0]] });
  await saysOfStudent('it has an unknown field (mean)', { mean });
  await saysOfStudent('it has an unknown field (columns)', { columns: ['a', 'b'] });
  await throwsCode('ERR_UNKNOWN_OPTION', '(seed)', () =>
    MultivariateNormal.fromJSON({ covarium: 1, mean, covariance }, { device, seed: 1 } as never),
  );
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  normal.close();
  await throwsCode('ERR_CLOSED', '(2)', () => JSON.stringify(normal));
});

test.run();
