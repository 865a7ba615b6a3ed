// Calls that would compute something other than the caller meant: cpu and reference refuse them alike.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CovariumError,
  Matrix,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  MultivariateStudentTBatch,
  nearestPositiveDefiniteSync,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const bad = <Value>(value: unknown) => value as Value;

onEveryDevice('A seed, a stream or a first row of null is refused, not random.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
  for (const name of ['seed', 'stream', 'firstRow']) {
    const options = bad<{ seed: number }>({ seed: 1, [name]: null });
    await throwsCode('ERR_INVALID_ARGUMENT', '(null)', () => normal.sampleSync(3, options));
    await throwsCode('ERR_INVALID_ARGUMENT', '(null)', () => normal.sample(3, options));
    await throwsCode('ERR_INVALID_ARGUMENT', '(null)', async () => {
      for await (const _ of normal.blocks(3, options));
    });
    using factor = device.matrix(1, 1);
    using mean = device.vector(1);
    using out = device.matrix(2, 1);
    await throwsCode('ERR_INVALID_ARGUMENT', '(null)', () =>
      device.commandBuffer().sample(factor, mean, out, options).commitSync(),
    );
  }
  await throwsCode('ERR_INVALID_ARGUMENT', '(null)', () => normal.sampleSync(3, bad({ seed: null, empirical: true })));
});

onEveryDevice('An option of null is refused as its type says, and is not taken for the default.', async (device) => {
  const covariance = [[1]];
  const rows = [[1], [2], [4]];
  const matrix = Matrix.from(rows);
  const moments = new Moments(1);
  moments.addSync(rows);
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const mixture = { device, rows, components: 1 };
  const calls: Readonly<Record<string, (none: never) => unknown>> = {
    dtype: (dtype) => Matrix.from(rows, { dtype }),
    'dtype ': (dtype) => Matrix.from({ a: [1, 2] }, { dtype }),
    'dtype  ': (dtype) => Vector.from({ data: [1, 2], shape: [2] }, { dtype }),
    'dtype     ': (dtype) => Volume.from({ data: [1, 2], shape: [1, 1, 2] }, { dtype }),
    'dtype   ': (dtype) => device.vector(1, { dtype }),
    'dtype    ': (dtype) => nearestPositiveDefiniteSync(covariance, { dtype }),
    correlation: (correlation) => nearestPositiveDefiniteSync(covariance, { correlation }),
    symmetryTolerance: (symmetryTolerance) =>
      MultivariateNormal.fromCovarianceSync({ device, covariance, symmetryTolerance }),
    ddof: (ddof) => matrix.covarianceSync({ device, ddof }),
    'ddof ': (ddof) => moments.covariance({ ddof }),
    'ddof  ': (ddof) => MultivariateNormal.fitSync({ device, rows, ddof }),
    'ddof   ': (ddof) => MultivariateNormalBatch.fitSync({ device, rows, labels: [0, 0, 0], ddof }),
    covariance: (asked) => normal.summarizeSync(3, { covariance: asked }),
    empirical: (empirical) => normal.sampleSync(3, { empirical }),
    lower: (lower) => normal.boxProbabilitySync({ lower, upper: [1] }),
    singular: (singular) => normal.affineSync({ matrix: [[1]], singular }),
    maxIterations: (maxIterations) => MultivariateNormalMixture.fitSync({ ...mixture, maxIterations }),
    tolerance: (tolerance) => MultivariateNormalMixture.fitSync({ ...mixture, tolerance }),
    regularization: (regularization) => MultivariateNormalMixture.fitSync({ ...mixture, regularization }),
    rowsPerBlock: async (rowsPerBlock) => (await normal.blocks(3, { rowsPerBlock }).next()).value,
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = await Promise.resolve()
      .then(() => call(bad(null)))
      .catch((thrown: unknown) => thrown);
    assert.instance(error, CovariumError, name);
    const { code, message } = error as CovariumError;
    assert.match(code, /^ERR_(?:INVALID_ARGUMENT|OUT_OF_RANGE)$/, `${name}: ${message}`);
    assert.match(message, new RegExp(`^\`${name.trim()}.*\\(null\\)`), name);
  }
});

onEveryDevice(
  'Options that are not a plain object are refused, for example a promise without await.',
  async (device) => {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
    for (const [options, shown] of [
      [new Map([['seed', 1]]), '(Map)'],
      [new Date(), '(Date)'],
      [[], '(array of 0)'],
      [Promise.resolve({ seed: 1 }), '(Promise). Await it.'],
      [new Float32Array(2), '(Float32Array of 2)'],
      [3, '(3)'],
    ] as const)
      await throwsCode('ERR_INVALID_ARGUMENT', shown, () => normal.sampleSync(3, bad(options)));
    normal.sampleSync(3, Object.create(null)).close();
  },
);

onEveryDevice('A sum whose result overlaps a part of an operand is refused; a sum in place is not.', async (device) => {
  const memory = Float32Array.from({ length: 8 }, (_, i) => i);
  const [a, shifted] = [Vector.from(memory.subarray(0, 6)), Vector.from(memory.subarray(2, 8))];
  await throwsCode('ERR_INVALID_ARGUMENT', 'overlaps', () => device.commandBuffer().sum(a, a, shifted));
  await throwsCode('ERR_INVALID_ARGUMENT', 'overlaps', () => device.commandBuffer().sum(shifted, a, a));
  device.commandBuffer().sum(a, a, a).commitSync();
  assert.equal([...memory], [0, 2, 4, 6, 8, 10, 6, 7]);
});

test('The shape of a matrix, a vector or a volume cannot be changed.', () => {
  const matrix = Matrix.from([[1, 2]]);
  assert.throws(() => {
    (matrix as { rows: number }).rows = 1e8;
  }, TypeError);
  assert.throws(() => {
    (matrix as { columns: number }).columns = 1;
  }, TypeError);
  assert.throws(() => {
    (Vector.from([1]) as { length: number }).length = 9;
  }, TypeError);
});

onEveryDevice('Properties of a distribution, a kernel or a device cannot be assigned.', (device) => {
  const covariance = [[1]];
  const [covariances, scales] = [[covariance], [covariance]];
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  using student = MultivariateStudentT.fromScaleSync({ device, scale: covariance, degreesOfFreedom: 3 });
  using batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances });
  using students = MultivariateStudentTBatch.fromScaleSync({ device, scales, degreesOfFreedom: 3 });
  using mixture = MultivariateNormalMixture.fromCovarianceSync({ device, covariances, weights: [1] });
  for (const each of [device, normal, student, batch, students, mixture, new Moments(1)] as object[]) {
    const names = Object.keys(each);
    assert.ok(names.length > 0);
    for (const name of [...names, 'other'])
      assert.throws(() => {
        (each as { [name: string]: unknown })[name] = 1e8;
      }, TypeError);
  }
  assert.is(mixture.sampleSync(2).rows, 2);
});

onEveryDevice('An empty vector is finite.', (device) => {
  using empty = device.vector(0);
  device.commandBuffer().requireFinite(empty).commitSync();
});

onEveryDevice('Memory that is detached between recording and commit is refused.', async (device) => {
  const values = new Float32Array([1, 2]);
  using out = device.vector(2);
  const commands = device.commandBuffer().copy(Vector.from(values), out);
  structuredClone(null, { transfer: [values.buffer] });
  await throwsCode('ERR_CLOSED', 'Float32Array of 0', () => commands.commitSync());
  const others = device.commandBuffer().requireFinite(out);
  out.close();
  await throwsCode('ERR_CLOSED', 'detached or closed', () => others.commit());
});

onEveryDevice('Rows that grow while they are read are refused.', async (device) => {
  const rows: number[][] = [[1, 0]];
  Object.defineProperty(rows[0], 1, {
    get: () => {
      rows.push([0, 1]);
      return 0;
    },
  });
  await throwsCode('ERR_SHAPE', '(1)', () => MultivariateNormal.fromCovarianceSync({ device, covariance: rows }));
});

test.run();
