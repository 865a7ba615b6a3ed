// Common mistakes of callers; each message uses the words of the call.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ErrorCode,
  klDivergenceSync,
  Matrix,
  MultivariateNormal,
  MultivariateStudentT,
  openDevice,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const device = openDevice('reference');
const covariance = [
  [1, 0],
  [0, 1],
];
const normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
const make = (options: unknown, ...others: unknown[]) =>
  (MultivariateNormal.fromCovarianceSync as (...all: unknown[]) => unknown)(options, ...others);

const wide = [[1, 0], [1e300, 1]]; // biome-ignore format: a matrix
const wrong: readonly [string, ErrorCode, string, () => unknown][] = [
  ['no covariance', 'ERR_INVALID_ARGUMENT', '`covariance` is missing (undefined). Pass rows', () => make({ device })],
  [
    'a covariance that was not awaited',
    'ERR_INVALID_ARGUMENT',
    '`covariance` is (Promise). Await it.',
    () => make({ device, covariance: Promise.resolve(covariance) }),
  ],
  ['text', 'ERR_INVALID_ARGUMENT', "`covariance` is ('1,0'). Pass rows", () => make({ device, covariance: '1,0' })],
  ['a flat array', 'ERR_SHAPE', '`covariance` is flat (array of 4)', () => make({ device, covariance: [1, 0, 0, 1] })],
  [
    'ragged rows',
    'ERR_SHAPE',
    '`covariance` row (1) has (1) entries',
    () => make({ device, covariance: [[1, 0], [0]] }),
  ],
  [
    'an entry of text',
    'ERR_INVALID_ARGUMENT',
    "`covariance` entry (0, 1) is ('0')",
    () => make({ device, covariance: [[1, '0']] }),
  ],
  [
    'NaN in a covariance',
    'ERR_NOT_FINITE',
    '`covariance` entry (0, 0) is (NaN)',
    () => make({ device, covariance: [[Number.NaN]] }),
  ],
  [
    'an asymmetric covariance',
    'ERR_NOT_SYMMETRIC',
    '`covariance` is not symmetric',
    () => make({ device, covariance: [[1, 0.5], [0.1, 1]] }), // biome-ignore format: a matrix
  ],
  [
    'a covariance that is not positive definite',
    'ERR_NOT_POSITIVE_DEFINITE',
    '`covariance` is not positive definite: pivot (1)',
    () => make({ device, covariance: [[1, 2], [2, 1]] }), // biome-ignore format: a matrix
  ],
  [
    'an entry of a factor that float32 does not hold',
    'ERR_NOT_FINITE',
    '`factor` entry (1, 0) is (1e+300), which is infinite in float32',
    () => MultivariateNormal.fromCholeskySync({ device, factor: wide }),
  ],
  [
    'such an entry of a precision',
    'ERR_NOT_FINITE',
    '`precision` entry (1, 0) is (1e+300), which',
    () => MultivariateNormal.fromPrecisionSync({ device, precision: wide }),
  ],
  [
    'such an entry of a covariance',
    'ERR_NOT_FINITE',
    '`covariance` entry (1, 0) is (1e+300), which',
    () => make({ device, covariance: wide }),
  ],
  ['f64', 'ERR_INVALID_ARGUMENT', "`dtype` is ('f64'): pass", () => make({ device, covariance, dtype: 'f64' })],
  ['no device', 'ERR_INVALID_ARGUMENT', '`device` is missing (undefined)', () => make({ covariance })],
  ['a kind of device', 'ERR_INVALID_ARGUMENT', "`device` is ('cpu')", () => make({ device: 'cpu', covariance })],
  ['positional arguments', 'ERR_INVALID_ARGUMENT', '(Device). Pass one object', () => make(device, [0, 0], covariance)],
  ['no options', 'ERR_INVALID_ARGUMENT', '(undefined). Pass one object', () => make(undefined)],
  ['no rows', 'ERR_INVALID_ARGUMENT', '`rows` is missing (undefined)', () => normal.logPdfSync(undefined as never)],
  [
    'NaN in rows',
    'ERR_NOT_FINITE',
    '`rows` entry (1, 0) is (NaN)',
    () => normal.logPdfSync([[0, 0], [Number.NaN, 0]]), // biome-ignore format: rows
  ],
  [
    'a normal that was not awaited',
    'ERR_INVALID_ARGUMENT',
    '(Promise). Await it.',
    () => klDivergenceSync(MultivariateNormal.fromCovariance({ device, covariance }) as never, normal),
  ],
  ['nothing', 'ERR_INVALID_ARGUMENT', '`values` is missing (undefined)', () => Matrix.from(undefined as never)],
];

for (const [name, code, shown, call] of wrong)
  test(`${name}: the message names the argument, shows the value, and says what to pass.`, async () => {
    await throwsCode(code, shown, call);
  });

test('Classes that only static methods make say which method, if they are called with new.', async () => {
  for (const each of [MultivariateNormal, MultivariateStudentT, Matrix, Vector, Volume]) {
    const Class = each as unknown as new (...all: unknown[]) => unknown;
    for (const given of [undefined, null, [[1]], { device, covariance }]) {
      const error = await throwsCode('ERR_INVALID_ARGUMENT', '(new)', () => new Class(given));
      assert.match(error.message, `${each.name}.from`);
    }
  }
});

onEveryDevice(
  'The dtype follows the numbers; a device without float64 takes them if float32 represents them.',
  async (each) => {
    const variances = Float64Array.of(1, 2);
    using given = MultivariateNormal.fromDiagonalSync({ device: each, variances });
    const hasFloat64 = each.dtypes.includes('float64');
    assert.is(given.dtype, hasFloat64 ? 'float64' : 'float32');
    const far = () => MultivariateNormal.fromDiagonalSync({ device: each, mean: Float64Array.of(0, 1e9), variances });
    if (hasFloat64) far().close();
    else await throwsCode('ERR_OUT_OF_RANGE', '`mean[1]` is (1000000000) with a standard deviation of', far);
  },
);

test.run();
