// The distribution function and box probabilities of a Student-t on a device: what test/box-probability.test.ts proves,
// through the face.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, MultivariateStudentT, openDevice } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

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

const { POSITIVE_INFINITY: above } = Number;
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

onEveryDevice("boxes are those of mvtnorm's pmvt, wherever the centre is.", async (device) => {
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
});

onEveryDevice('the distribution function is a box without lower limits, in each row.', async (device) => {
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

onEveryDevice('what is no box, no accuracy or no row is refused, as a signal asks too.', async (device) => {
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
  await throwsCode('ERR_UNKNOWN_OPTION', 'lower', () => student.cdf(location, { lower: location } as object));
  const signal = AbortSignal.abort(new Error('enough'));
  await throwsCode('ERR_ABORTED', 'enough', () => student.cdf(location, { signal }));
  await throwsCode('ERR_ABORTED', 'enough', () => student.boxProbability({ signal }));
  await throwsCode('ERR_UNKNOWN_OPTION', 'signal', () => student.cdfSync(location, { signal } as object));
  student.close();
  await throwsCode('ERR_CLOSED', '(3)', () => student.cdf(location));
  await throwsCode('ERR_CLOSED', '(3)', () => student.boxProbabilitySync({ upper: location }));
});

test('Any degrees of freedom leave the event loop its turns.', async () => {
  using device = openDevice('reference');
  for (const degreesOfFreedom of [1e9, 1e13]) {
    using student = MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom, location, scale });
    // Ended by the third turn, however fast the machine: an answer that left none would not be ended.
    let turns = 0;
    const controller = new AbortController();
    const timer = setInterval(() => ++turns === 3 && controller.abort(new Error('too slow')), 1);
    const options = { upper: [1, 1, 1], absoluteError: 0, maxPoints: 12 << 20, signal: controller.signal };
    await throwsCode('ERR_ABORTED', 'too slow', () => student.boxProbability(options));
    clearInterval(timer);
  }
});

test.run();
