// The distribution function and box probabilities of a normal and of a Student-t on a device: what
// test/probability/box-probability.test.ts proves, through the public methods.

import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, Matrix, MultivariateNormal, MultivariateStudentT, openDevice, Vector } from '../../lib/index.ts';
import { cdf, quantile } from '../../lib/probability/standard-normal.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const { NEGATIVE_INFINITY: below, POSITIVE_INFINITY: above } = Number;

// As ?pmvnorm of R's mvtnorm, which gives 0.5800 for it (test/answers/pmvnorm.json: 0.580048 +- 4e-7).
const five = Array.from({ length: 5 }, (_, i) => Array.from({ length: 5 }, (_, j) => (i === j ? 1 : 0.5)));

// The extra term is for the rounding of float32.
const near = (value: number, wanted: number, error: number) =>
  assert.ok(Math.abs(value - wanted) <= error + 1e-6, `${value}, not ${wanted}`);

onEveryDevice("a box probability equals that of mvtnorm's example, in both ways to ask for it.", async (device) => {
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: five });
  const box = { lower: [-1, -1, -1, -1, -1], upper: Vector.from([3, 3, 3, 3, 3]) };
  const answer = await normal.boxProbability(box);
  near(answer.probability, 0.580048, 2 * answer.error);
  assert.ok(answer.error > 0 && answer.error <= 1e-5 && answer.points > 1000, JSON.stringify(answer));
  assert.equal(normal.boxProbabilitySync(box), answer);
  const other = normal.boxProbabilitySync({ ...box, seed: 1n });
  assert.is.not(other.probability, answer.probability);
  near(other.probability, answer.probability, 2 * (answer.error + other.error));
  const rough = normal.boxProbabilitySync({ ...box, absoluteError: 1e-3 });
  assert.ok(rough.points < answer.points && rough.error <= 1e-3);
  assert.is(normal.boxProbabilitySync({ ...box, absoluteError: 0, maxPoints: 5000 }).points, 3072);
  assert.is(normal.boxProbabilitySync({}).probability, 1);
  near(normal.boxProbabilitySync({ lower: [0, 0, 0, 0, 0] }).probability, 1 / 6, 2e-5);
  near(normal.boxProbabilitySync({ upper: [0, 0, 0, 0, 0] }).probability, 1 / 6, 2e-5);
});

onEveryDevice('the distribution function takes one row or many, in every form of rows.', async (device) => {
  const mean = [1, -2];
  const covariance = [
    [4, -1],
    [-1, 1],
  ];
  using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance });
  const orthant = 0.25 + Math.asin(-0.5) / (2 * Math.PI);
  const rows = [mean, [3, above], [above, -1], [above, above], [below, 0]];
  const wanted = [orthant, cdf(1), cdf(1), 1, 0];
  for (const input of [rows, Matrix.from(rows), Float64Array.from(rows.flat())]) {
    const probabilities = await normal.cdf(input);
    assert.is(probabilities.dtype, 'float64');
    assert.is(probabilities.length, 5);
    for (const [i, probability] of probabilities.toArray().entries()) near(probability, wanted[i]!, 0);
    assert.equal(normal.cdfSync(input).toArray(), probabilities.toArray());
  }
  for (const one of [mean, Vector.from(mean), Float32Array.from(mean)])
    near((await normal.cdf(one)).get(0), orthant, 0);
  assert.is((await normal.cdf(Matrix.from([], { columns: 2 }))).length, 0);
});

test('The distribution function of one or two coordinates has the bits of the box below the row, also far out.', () => {
  using device = openDevice('reference');
  const far = [below, above, -40, 40, -9, 9, 0.3, -0.3, 0];
  for (const r of [0, 0.3, -0.5, 0.924, 0.926, -0.95, 0.9999999, 1 - 2 ** -52, 1, -1]) {
    const covariance = [
      [4, 2 * r],
      [2 * r, 1],
    ];
    using two = MultivariateNormal.fromCovarianceSync({
      ...{ device, dtype: 'float64', mean: [1, -2], covariance },
      singular: 'eigen',
    });
    const rows = far.flatMap((h) => far.map((k) => [h, k]));
    const boxes = rows.map((upper) => two.boxProbabilitySync({ upper }).probability);
    assert.equal(two.cdfSync(rows).toArray(), boxes, `${r}`);
  }
  using one = MultivariateNormal.fromCovarianceSync({ device, dtype: 'float64', mean: [1], covariance: [[4]] });
  const rows = far.map((h) => [h]);
  assert.equal(
    one.cdfSync(rows).toArray(),
    rows.map((upper) => one.boxProbabilitySync({ upper }).probability),
  );
});

onEveryDevice(
  'a precision has the probabilities of its inverse, and one dimension those of the formula.',
  async (device) => {
    const precision = [
      [1, 0.5],
      [0.5, 1],
    ];
    // The correlation is -1/2.
    using inverse = await MultivariateNormal.fromPrecision({ device, precision });
    near(inverse.cdfSync([0, 0]).get(0), 1 / 6, 0);
    using one = await MultivariateNormal.fromCovariance({ device, mean: [3], covariance: [[4]] });
    const at = [0.025, 0.5, 0.999];
    const values = await one.cdf(at.map((p) => [3 + 2 * quantile(p)]));
    for (const [i, p] of at.entries()) near(values.get(i), p, 0);
    assert.is((await one.boxProbability({ lower: [3] })).probability, 0.5);
  },
);

onEveryDevice('an invalid box, accuracy or row is refused.', async (device) => {
  using normal = await MultivariateNormal.fromCovariance({
    device,
    covariance: five.slice(0, 3).map((r) => r.slice(0, 3)),
  });
  const upper = [1, 1, 1];
  for (const [code, value, options] of [
    ['ERR_SHAPE', '2', { upper: [1, 1] }],
    ['ERR_NOT_FINITE', '(0, 2)', { upper: [1, 1, Number.NaN] }],
    ['ERR_OUT_OF_RANGE', '(1)', { upper, lower: [0, 2, 0] }],
    ['ERR_OUT_OF_RANGE', '-1', { upper, seed: -1 }],
    ['ERR_OUT_OF_RANGE', '-0.5', { upper, absoluteError: -0.5 }],
    ['ERR_OUT_OF_RANGE', 'NaN', { upper, relativeError: Number.NaN }],
    ['ERR_OUT_OF_RANGE', '100', { upper, maxPoints: 100 }],
    ['ERR_OUT_OF_RANGE', '100000000', { upper, maxPoints: 1e8 }],
    ['ERR_INVALID_ARGUMENT', 'much', { upper, absoluteError: 'much' as unknown as number }],
    ['ERR_INVALID_ARGUMENT', 'infinite', { upper: 'infinite' as unknown as number[] }],
    ['ERR_UNKNOWN_OPTION', 'high', { high: upper } as object],
  ] as const) {
    await throwsCode(code, value, () => normal.boxProbability(options));
    await throwsCode(code, value, () => normal.boxProbabilitySync(options));
  }
  await throwsCode('ERR_SHAPE', '2', () => normal.cdf([[1, 2]]));
  await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => normal.cdf([upper, [Number.NaN, 0, 0]]));
  await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => normal.cdfSync([upper, [Number.NaN, 0, 0]]));
  await throwsCode('ERR_INVALID_ARGUMENT', 'undefined', () => normal.boxProbability(undefined as unknown as object));
  await throwsCode('ERR_INVALID_ARGUMENT', 'null', () => normal.cdf(upper, null as unknown as object));
  await throwsCode('ERR_UNKNOWN_OPTION', 'lower', () => normal.cdf(upper, { lower: upper } as object));
  await throwsCode('ERR_UNKNOWN_OPTION', 'signal', () => normal.cdfSync(upper, { signal: undefined } as object));
  normal.close();
  await throwsCode('ERR_CLOSED', '3', () => normal.cdf(upper));
  await throwsCode('ERR_CLOSED', '3', () => normal.boxProbabilitySync({ upper }));
});

function hard(device: Device): MultivariateNormal {
  const n = 40;
  const covariance = Float64Array.from({ length: n * n }, (_, at) => 0.9 ** Math.abs(Math.floor(at / n) - (at % n)));
  return MultivariateNormal.fromCovarianceSync({ device, covariance, dtype: 'float64' });
}

test('A long call does not block the event loop, and a signal ends it.', async () => {
  using device = openDevice('reference');
  using normal = hard(device);
  // Ended at the third turn of the event loop, on any machine: a call that left the loop no turn would not be ended.
  let turns = 0;
  const controller = new AbortController();
  const timer = setInterval(() => ++turns === 3 && controller.abort(new Error('too slow')), 1);
  const { signal } = controller;
  const options = { absoluteError: 0, maxPoints: 12 << 20, signal };
  await throwsCode('ERR_ABORTED', 'too slow', () => normal.boxProbability({ upper: new Float64Array(40), ...options }));
  clearInterval(timer);
  await throwsCode('ERR_ABORTED', 'too slow', () => normal.cdf(new Float64Array(40), options));
  await throwsCode('ERR_INVALID_ARGUMENT', 'now', () =>
    normal.cdf(new Float64Array(40), { signal: 'now' as unknown as AbortSignal }),
  );
});

test('Writing into the arrays after the call changes nothing.', async () => {
  using device = openDevice('reference');
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: five, dtype: 'float64' });
  const [lower, upper] = [new Float64Array(5).fill(-1), new Float64Array(5).fill(3)];
  const wanted = normal.boxProbabilitySync({ lower, upper });
  const pending = normal.boxProbability({ lower, upper });
  lower.fill(3);
  upper.fill(4);
  assert.equal(await pending, wanted);
});

interface Case {
  readonly name: string;
  readonly mean: readonly number[];
  readonly covariance: readonly number[];
  readonly lower: readonly (number | string)[];
  readonly upper: readonly (number | string)[];
  readonly degreesOfFreedom: number;
  readonly probability: number;
  readonly error: number;
}

const answers: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../answers/pmvnorm.json', import.meta.url), 'utf8'),
);

// Tukey's contrasts are a singular scale, which has no Cholesky factor.
const cases = answers.cases.filter(({ degreesOfFreedom, name }) => degreesOfFreedom > 0 && !/Tukey/.test(name));

const location = [1, -2, 0.5];

const scale = [
  [4, 1, 0],
  [1, 2, 0.5],
  [0, 0.5, 1],
];

onEveryDevice(
  "a Student-t: box probabilities equal those of mvtnorm's pmvt, wherever the centre is.",
  async (device) => {
    assert.ok(cases.length >= 3);
    const dtype = device.dtypes.includes('float64') ? 'float64' : 'float32';
    for (const { name, covariance, lower, upper, degreesOfFreedom, probability, error } of cases) {
      const n = lower.length;
      const centre = Array.from({ length: n }, (_, i) => i - 1.5);
      const moved = (limits: readonly (number | string)[]) => limits.map((limit, i) => Number(limit) + centre[i]!);
      using student = await MultivariateStudentT.fromScale({
        device,
        dtype,
        degreesOfFreedom,
        location: centre,
        scale: Matrix.from(Float64Array.from(covariance), { columns: n }),
      });
      const box = { lower: moved(lower), upper: moved(upper), seed: 2, maxPoints: 12 << 14 };
      const answer = await student.boxProbability(box);
      const off = Math.abs(answer.probability - probability);
      // Estimates of three standard errors, and the rounding of float32.
      assert.ok(off <= 2 * answer.error + error + (dtype === 'float32' ? 1e-6 : 0), `${name}: (${off}) off`);
      assert.ok(answer.error < 1e-4, `${name}: an error of (${answer.error}) says little`);
      assert.equal(student.boxProbabilitySync(box), answer);
    }
  },
);

onEveryDevice('a Student-t: the distribution function is a box without lower limits, in each row.', async (device) => {
  using student = await MultivariateStudentT.fromScale({ device, degreesOfFreedom: 2.5, location, scale });
  const rows = [location, [3, 0, 1], [above, 0, above], [above, above, above], [-above, 0, 0]];
  const options = { seed: 5n, maxPoints: 12 << 10 };
  const probabilities = await student.cdf(rows, options);
  assert.equal([probabilities.dtype, probabilities.length], ['float64', rows.length]);
  assert.equal(student.cdfSync(Matrix.from(rows), options).toArray(), probabilities.toArray());
  for (const [row, upper] of rows.entries())
    assert.is(probabilities.get(row), student.boxProbabilitySync({ upper, ...options }).probability);
  assert.equal(probabilities.toArray().slice(3), [1, 0]);
  // With one degree of freedom: 1/2 + atan(t) / pi.
  using cauchy = MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom: 1, location: [2], scale: [[9]] });
  assert.ok(Math.abs(cauchy.cdfSync([5]).get(0) - 0.75) < 1e-6);
});

onEveryDevice("infinitely many degrees of freedom have the normal's probabilities, to the bit.", async (device) => {
  using student = await MultivariateStudentT.fromScale({ device, degreesOfFreedom: above, location, scale });
  using normal = await MultivariateNormal.fromCovariance({ device, mean: location, covariance: scale });
  const box = { lower: [-1, -3, 0], upper: [2, above, 3], maxPoints: 12 << 8 };
  assert.equal(await student.boxProbability(box), await normal.boxProbability(box));
  const rows = [location, [3, 0, above]];
  assert.equal((await student.cdf(rows)).data, (await normal.cdf(rows)).data);
  using tails = await MultivariateStudentT.fromScale({ device, degreesOfFreedom: 1, location, scale });
  assert.ok(tails.boxProbabilitySync(box).probability < 0.9 * normal.boxProbabilitySync(box).probability);
});

onEveryDevice('a Student-t: an invalid box, accuracy or row is refused, and a signal stops a call.', async (device) => {
  using student = await MultivariateStudentT.fromScale({ device, degreesOfFreedom: 3, location, scale });
  for (const [code, value, options] of [
    ['ERR_SHAPE', '(2)', { upper: [1, 1] }],
    ['ERR_NOT_FINITE', '(0, 2)', { upper: [1, 1, Number.NaN] }],
    ['ERR_OUT_OF_RANGE', '(1)', { upper: [1, 1, 1], lower: [0, 2, 0] }],
    ['ERR_OUT_OF_RANGE', '(-1)', { seed: -1 }],
    ['ERR_UNKNOWN_OPTION', 'degreesOfFreedom', { degreesOfFreedom: 2 } as object],
  ] as const) {
    await throwsCode(code, value, () => student.boxProbability(options));
    await throwsCode(code, value, () => student.boxProbabilitySync(options));
  }
  for (const [code, value, rows] of [
    ['ERR_SHAPE', '(2)', [[1, 2]]],
    ['ERR_NOT_FINITE', '(1, 0)', [location, [Number.NaN, 0, 0]]],
  ] as const) {
    await throwsCode(code, value, () => student.cdf(rows));
    await throwsCode(code, value, () => student.cdfSync(rows));
  }
  await throwsCode('ERR_INVALID_ARGUMENT', 'undefined', () => student.boxProbability(undefined as unknown as object));
  await throwsCode('ERR_UNKNOWN_OPTION', 'lower', () => student.cdf(location, { lower: location } as object));
  const signal = AbortSignal.abort(new Error('enough'));
  await throwsCode('ERR_ABORTED', 'enough', () => student.cdf(location, { signal }));
  await throwsCode('ERR_ABORTED', 'enough', () => student.boxProbability({ signal }));
  await throwsCode('ERR_UNKNOWN_OPTION', 'signal', () => student.cdfSync(location, { signal } as object));
  student.close();
  await throwsCode('ERR_CLOSED', '(3)', () => student.cdf(location));
  await throwsCode('ERR_CLOSED', '(3)', () => student.boxProbabilitySync({ upper: location }));
});

onEveryDevice('a probability is the same in any unit, even if float64 does not hold the variances.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const factor = [
    [1, 0, 0],
    [1, 1, 0],
    [0.5, 0, 2],
  ];
  const answers = ([a, b, c]: readonly [number, number, number]) => {
    const units = [a, b, c];
    const root = factor.map((row, i) => row.map((entry) => entry * units[i]!));
    const options = { device, dtype: 'float64', factor: root } as const;
    using normal = MultivariateNormal.fromCholeskySync(options);
    using pair = normal.marginalSync([1, 0]);
    using student = MultivariateStudentT.fromCholeskySync({ ...options, location: units, degreesOfFreedom: 3 });
    const box = { lower: units.map((unit) => -unit), upper: [a, 2 * b, above] };
    return [
      ...pair.cdfSync([[b, 0]]).data,
      pair.boxProbabilitySync({ lower: [-b, -a], upper: [b, a] }).probability,
      normal.boxProbabilitySync(box).probability,
      student.boxProbabilitySync(box).probability,
    ];
  };
  const wanted = answers([1, 1, 1]);
  for (const units of [
    [2 ** -560, 2 ** -560, 1],
    [2 ** 530, 2 ** -530, 2 ** 530],
  ] as const)
    answers(units).forEach((answer, i) => {
      assert.ok(Math.abs(answer - wanted[i]!) < 1e-14, `${units}: ${answer}, not ${wanted[i]}`);
    });
  using diagonal = MultivariateNormal.fromDiagonalSync({ device, dtype: 'float64', variances: [1e-310] });
  assert.is(diagonal.cdfSync([0]).get(0), 0.5);
});

test('The event loop turns during a call, for any degrees of freedom.', async () => {
  using device = openDevice('reference');
  for (const degreesOfFreedom of [1e9, 1e13]) {
    using student = MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom, location, scale });
    // Ended at the third turn, on any machine: a call that left the loop no turn would not be ended.
    let turns = 0;
    const controller = new AbortController();
    const timer = setInterval(() => ++turns === 3 && controller.abort(new Error('too slow')), 1);
    const options = { upper: [1, 1, 1], absoluteError: 0, maxPoints: 12 << 20, signal: controller.signal };
    await throwsCode('ERR_ABORTED', 'too slow', () => student.boxProbability(options));
    clearInterval(timer);
  }
});

test.run();
