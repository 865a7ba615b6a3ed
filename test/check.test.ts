import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { areFinite, describe, firstNotFinite } from '../lib/check.ts';
import {
  klDivergence,
  Matrix,
  type MatrixInput,
  MultivariateNormal,
  openDevice,
  Vector,
  type VectorInput,
} from '../lib/index.ts';
import { throwsCode } from './harness/throws-code.ts';

for (const Kind of [Float32Array, Float64Array]) {
  test(`the first ${Kind.name} entry that is not finite is found, wherever it lies`, () => {
    for (const length of [0, 1, 3, 4095, 4096, 4097, 12_290]) {
      const values = new Kind(length).fill(-1.5);
      assert.is(firstNotFinite(values), length);
      for (const at of [0, 1, 2, 3, 4094, 4095, 4096, 8191, 8192, 12_287, 12_289].filter((at) => at < length))
        for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
          values[at] = bad;
          assert.is(firstNotFinite(values), at, `${bad} at ${at} of ${length}`);
          assert.not(areFinite(values, 0, length), `${bad} at ${at} of ${length}`);
          values[at] = -1.5;
        }
    }
  });

  test(`infinities of both signs in ${Kind.name} do not cancel`, () => {
    const values = new Kind(8192);
    values.set([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 1], 4100);
    assert.is(firstNotFinite(values), 4100);
    assert.not(areFinite(values, 4100, 4104));
    assert.ok(areFinite(values, 0, 4100));
    assert.ok(areFinite(values, 4103, 8192));
  });
}

test('finite numbers whose sum overflows are finite', () => {
  const values = new Float64Array(8193).fill(Number.MAX_VALUE);
  assert.is(firstNotFinite(values), values.length);
  assert.ok(areFinite(values, 0, values.length));
  values[8191] = Number.NaN;
  assert.is(firstNotFinite(values), 8191);
});

test('a value that is not a number is not finite', () => {
  for (const bad of [null, undefined, '1', true, 1n, {}])
    assert.is(firstNotFinite([0, bad as number, 2]), 1, typeof bad);
});

test('An object of another copy of the package is refused with that reason; one of this copy is not.', async () => {
  using device = openDevice('reference');
  using normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1] });
  const other = Object.create({ [Symbol.for('covarium.copy')]: Symbol('copy') }) as typeof device & typeof normal;
  await throwsCode('ERR_INVALID_ARGUMENT', 'It is of another copy of the package covarium', () =>
    MultivariateNormal.fromDiagonalSync({ device: other, variances: [1] }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '`q` is (Object). It is of another copy', () => klDivergence(normal, other));
  await throwsCode('ERR_INVALID_ARGUMENT', '`out` is (Object). It is of another copy', () =>
    normal.sampleSync(1, { out: other as never }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '`q` is (Device). Pass', () => klDivergence(normal, device as never));
});

test('An error names a generator, whose class has no name.', () => {
  assert.is(describe((function* () {})()), 'Generator');
  assert.is(describe((async function* () {})()), 'AsyncGenerator');
  assert.is(describe(Object.create(null)), 'object');
});

test('A property that was added to all objects is not an option; one of the same name in the options is.', async () => {
  const everywhere = Object.prototype as { added?: unknown };
  everywhere.added = () => {};
  try {
    using device = openDevice('reference', {});
    using normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1] });
    normal.sampleSync(1, { seed: 1 });
    await throwsCode('ERR_UNKNOWN_OPTION', '(added)', () => normal.sampleSync(1, { seed: 1, added: 2 } as object));
  } finally {
    delete everywhere.added;
  }
});

test('The long name of an unknown option is shortened.', async () => {
  using device = openDevice('reference');
  using normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1] });
  const long = { ['x'.repeat(1e6)]: 1 };
  const { message } = await throwsCode('ERR_UNKNOWN_OPTION', '(xxx', () => normal.sampleSync(1, long as object));
  assert.ok(message.length < 200, `${message.length}`);
});

test('A message is made of a value that throws whatever is asked of it, and the error has its code.', async () => {
  const thrower = (): never => {
    throw new Error('A message shows what the value throws.');
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const traps = { get: thrower, has: thrower, getPrototypeOf: thrower, getOwnPropertyDescriptor: thrower };
  for (const value of [proxy, new Proxy({}, traps), new Proxy([], traps), Object.create(null)]) {
    await throwsCode('ERR_INVALID_ARGUMENT', '`dtype` is (', () => Matrix.from([[1]], { dtype: value }));
    await throwsCode('ERR_INVALID_ARGUMENT', 'is (', () => Matrix.from([[value]]));
    await throwsCode('ERR_SHAPE', 'offset (', () => Matrix.from({ data: [1], shape: [1], offset: value }));
    await throwsCode('ERR_SHAPE', 'shape (', () => Matrix.from({ data: [1], shape: [value] }));
    await throwsCode('ERR_SHAPE', 'shape', () => Matrix.from({ dtype: 'float32', data: [1], shape: [value] }));
  }
});

test('An object of another library that is not read is refused with its method that gives numbers.', async () => {
  // As in ml-matrix: its class has the name of ours.
  class Matrix {
    readonly rows = 1;
    to2DArray = () => [[2]];
  }
  const covariance = new Matrix() as object as MatrixInput;
  const vector = { length: 1, toArray: () => [2] } as object as VectorInput;
  using device = openDevice('reference');
  const words = '`covariance` is (Matrix). Pass what its to2DArray() returns, or rows of numbers';
  await throwsCode('ERR_INVALID_ARGUMENT', words, () =>
    MultivariateNormal.fromCovariance({ device, mean: [0], covariance }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '`mean` is (Object). Pass what its toArray() returns, or an array', () =>
    MultivariateNormal.fromCovariance({ device, mean: vector, covariance: [[2]] }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '(Object). Pass what its toArray() returns, or numbers', () =>
    Vector.from(vector),
  );
});

test.run();
