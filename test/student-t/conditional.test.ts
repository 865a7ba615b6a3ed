// Marginals, conditionals and affine images of a Student-t, compared with each other and with identities of
// densities.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, MultivariateNormal, MultivariateStudentT, type RealDtype } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Some {
  readonly location: number[];
  readonly scale: number[][];
  readonly x: number[];
  readonly degreesOfFreedom: number;
  /** m of n coordinates, in any order. */
  readonly given: number[];
}

const some: fc.Arbitrary<Some> = fc
  .record({
    n: fc.integer({ min: 2, max: 7 }),
    seed: fc.nat(),
    degreesOfFreedom: fc.oneof(fc.double({ min: 0.3, max: 200, noNaN: true }), fc.constant(Number.POSITIVE_INFINITY)),
  })
  .chain(({ n, seed, degreesOfFreedom }) =>
    fc
      .shuffledSubarray(
        Array.from({ length: n }, (_, i) => i),
        { minLength: 1, maxLength: n - 1 },
      )
      .map((given) => {
        let state = seed >>> 0;
        const next = () => {
          state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
          return state / 2 ** 31 - 1;
        };
        const row = () => Array.from({ length: n }, next);
        const a = Array.from({ length: n }, row);
        const scale = a.map((p, i) =>
          a.map((q, j) => p.reduce((sum, value, k) => sum + value * q[k]!, i === j ? 0.5 : 0)),
        );
        return { location: row(), scale, x: row().map((value) => 5 * value), degreesOfFreedom, given };
      }),
  );

function forSome(device: Device, check: (each: Some, dtype: RealDtype, tolerance: number) => void): void {
  for (const dtype of device.dtypes as RealDtype[])
    fc.assert(
      fc.property(some, (each) => check(each, dtype, dtype === 'float32' ? 1e-4 : 1e-11)),
      { numRuns: 20 },
    );
}

onEveryDevice(
  'a joint density is the marginal density of some coordinates times the conditional density of the others.',
  (device) => {
    forSome(device, ({ location, scale, x, degreesOfFreedom, given }, dtype, tolerance) => {
      const others = location.map((_, i) => i).filter((i) => !given.includes(i));
      using joint = MultivariateStudentT.fromScaleSync({ device, location, scale, degreesOfFreedom, dtype });
      const values = given.map((i) => x[i]!);
      using marginal = joint.marginalSync(given);
      using conditional = joint.conditionalSync({ given, values });
      assert.is(marginal.degreesOfFreedom, degreesOfFreedom);
      assert.is(conditional.degreesOfFreedom, degreesOfFreedom + given.length);
      const product = marginal.logPdfSync(values).get(0) + conditional.logPdfSync(others.map((i) => x[i]!)).get(0);
      near([product], [joint.logPdfSync(x).get(0)], tolerance);
    });
  },
);

onEveryDevice('a marginal of a conditional is the conditional of a marginal.', (device) => {
  forSome(device, ({ location, scale, x, degreesOfFreedom, given }, dtype, tolerance) => {
    using joint = MultivariateStudentT.fromScaleSync({ device, location, scale, degreesOfFreedom, dtype });
    const values = given.map((i) => x[i]!);
    using conditional = joint.conditionalSync({ given, values });
    using one = conditional.marginalSync([conditional.dimension - 1]);
    const last = location.map((_, i) => i).findLast((i) => !given.includes(i))!;
    using fewer = joint.marginalSync([last, ...given]);
    using other = fewer.conditionalSync({ given: given.map((_, i) => i + 1), values });
    same(one, other, tolerance);
  });
});

onEveryDevice('given nothing, it is unchanged; conditioning in two steps equals conditioning in one.', (device) => {
  forSome(device, ({ location, scale, x, degreesOfFreedom, given }, dtype, tolerance) => {
    using joint = MultivariateStudentT.fromScaleSync({ device, location, scale, degreesOfFreedom, dtype });
    using itself = joint.conditionalSync({ given: [], values: [] });
    same(itself, joint, tolerance);
    using whole = joint.marginalSync(location.map((_, i) => i));
    same(whole, joint, tolerance);
    if (given.length < 2) return;
    const [first, ...then] = given as [number, ...number[]];
    using once = joint.conditionalSync({ given, values: given.map((i) => x[i]!) });
    using half = joint.conditionalSync({ given: [first], values: [x[first]!] });
    using twice = half.conditionalSync({
      given: then.map((i) => (i > first ? i - 1 : i)),
      values: then.map((i) => x[i]!),
    });
    same(twice, once, 10 * tolerance);
  });
});

onEveryDevice('an affine image changes location and scale, but not the degrees of freedom.', async (device) => {
  const matrix = [
    [1, 2, 0],
    [0, -1, 3],
  ];
  const scale = [
    [2, 0.5, 0],
    [0.5, 1, 0.25],
    [0, 0.25, 4],
  ];
  using student = await MultivariateStudentT.fromScale({ device, location: [1, 2, 3], scale, degreesOfFreedom: 3 });
  using image = await student.affine({ matrix, offset: [10, 20] });
  near(image.location.toArray(), [15, 27], 1e-6);
  // By hand: A S A'.
  near((await image.scale()).toArray().flat(), [8, -1, -1, 35.5], 1e-5);
  assert.is(image.degreesOfFreedom, 3);
  same(student.affineSync({ matrix, offset: [10, 20] }), image, 1e-6);
  using picked = student.affineSync({
    matrix: [
      [0, 0, 1],
      [1, 0, 0],
    ],
  });
  same(picked, student.marginalSync([2, 0]), 1e-5);
  same(await student.marginal([2, 0]), picked, 1e-5);
  same(
    await student.conditional({ given: [1], values: [0] }),
    student.conditionalSync({ given: [1], values: new Float64Array(1) }),
    1e-6,
  );
  using normal = await MultivariateNormal.fromCovariance({ device, mean: [1, 2, 3], covariance: scale });
  using likewise = normal.conditionalSync({ given: [1], values: [0] });
  using conditional = student.conditionalSync({ given: [1], values: [0] });
  near(conditional.location.toArray(), likewise.mean.toArray(), 1e-6);
  // d^2 = 4: (3 + 4) / (3 + 1).
  near(
    conditional.scaleSync().data,
    likewise.covarianceSync().data.map((entry) => (7 / 4) * entry),
    1e-5,
  );
  using far = student.conditionalSync({ given: [1], values: [1e30] });
  assert.ok(far.logPdfSync([0, 0]).toArray().every(Number.isFinite));
});

onEveryDevice('results release their memory, and invalid calls are refused.', async (device) => {
  using student = await MultivariateStudentT.fromScale({
    device,
    scale: [
      [2, 0.5],
      [0.5, 1],
    ],
    degreesOfFreedom: 3,
  });
  const before = device.memory().liveBytes;
  for (const made of [
    await student.marginal([1]),
    await student.conditional({ given: [1], values: [2] }),
    await student.affine({ matrix: [[1, 1]] }),
  ])
    made.close();
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => student.marginal([2]));
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => student.marginal([1, 1]));
  await throwsCode('ERR_SHAPE', '(0)', () => student.marginal([]));
  await throwsCode('ERR_SHAPE', '(2)', () => student.conditional({ given: [0, 1], values: [0, 0] }));
  await throwsCode('ERR_SHAPE', '(2)', () => student.conditional({ given: [0], values: [0, 0] }));
  await throwsCode('ERR_NOT_FINITE', 'NaN', () => student.conditionalSync({ given: [0], values: [Number.NaN] }));
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', () =>
    student.affineSync({
      matrix: [
        [1, 1],
        [2, 2],
      ],
    }),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', '(noise)', () =>
    // @ts-expect-error A sum of a Student-t and a normal is neither.
    student.affine({ matrix: [[1, 1]], noise: [[1]] }),
  );
  assert.is(device.memory().liveBytes, before);
  student.close();
  await throwsCode('ERR_CLOSED', '2', () => student.marginal([0]));
  await throwsCode('ERR_CLOSED', '2', () => student.conditional({ given: [0], values: [0] }));
  await throwsCode('ERR_CLOSED', '2', () => student.affine({ matrix: [[1, 1]] }));
});

function same(one: MultivariateStudentT, other: MultivariateStudentT, tolerance: number): void {
  near([one.degreesOfFreedom], [other.degreesOfFreedom], 1e-12);
  near(one.location.data, other.location.data, tolerance);
  near(one.scaleSync().data, other.scaleSync().data, tolerance);
}

onEveryDevice(
  'the gradient of the log density is its slope, and that of the normal with infinitely many degrees of freedom.',
  async (device) => {
    const location = [1, -1, 0.5];
    const scale = [
      [2, 0.5, 0.1],
      [0.5, 1, -0.2],
      [0.1, -0.2, 0.7],
    ];
    const rows = [location, [0, 0, 0], [3, -4, 2], [30, 10, -20]];
    for (const dtype of device.dtypes as RealDtype[]) {
      using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 2.5, dtype });
      const score = await student.scoreInput(rows);
      assert.equal(score.toArray(), student.scoreInputSync(rows).toArray());
      // Steps that are large enough for float32 give a slope with fewer digits.
      const [step, tolerance] = dtype === 'float64' ? [1e-5, 1e-8] : [0.03, 4e-3];
      rows.forEach((row, r) => {
        for (let i = 0; i < 3; i++) {
          const [after, before] = [step, -step].map(
            (by) => student.logPdfSync(row.map((value, j) => (i === j ? value + by : value))).data[0]!,
          );
          const slope = (after! - before!) / (2 * step);
          assert.ok(Math.abs(score.get(r, i) - slope) <= tolerance, `${dtype}, row ${r}: ${score.get(r, i)}, ${slope}`);
        }
      });
      const endless = { device, scale, dtype, degreesOfFreedom: Number.POSITIVE_INFINITY };
      using limit = await MultivariateStudentT.fromScale({ ...endless, location });
      using normal = await MultivariateNormal.fromCovariance({ device, mean: location, covariance: scale, dtype });
      assert.equal(limit.scoreInputSync(rows).toArray(), normal.scoreInputSync(rows).toArray());
    }
    using closed = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 1 });
    await throwsCode('ERR_NOT_FINITE', 'NaN', () => closed.scoreInput([[Number.NaN, 0, 0]]));
    await throwsCode('ERR_SHAPE', '2', () => closed.scoreInput([[0, 0]]));
    closed.close();
    await throwsCode('ERR_CLOSED', '3', () => closed.scoreInput(rows));
  },
);

onEveryDevice('conditional means of many rows are the locations of the conditionals.', async (device) => {
  const location = [1, -1, 0.5];
  const scale = [
    [2, 0.5, 0.1],
    [0.5, 1, -0.2],
    [0.1, -0.2, 0.7],
  ];
  using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 0.5 });
  const rows = [[0.2], [-3], [100]];
  const means = await student.conditionalMeans({ given: [1], rows });
  assert.equal(means.toArray(), student.conditionalMeansSync({ given: [1], rows }).toArray());
  rows.forEach((values, r) => {
    using rest = student.conditionalSync({ given: [1], values });
    rest.location.toArray().forEach((value, i) => {
      assert.ok(Math.abs(means.get(r, i) - value) <= 1e-5 * (1 + Math.abs(value)), `row ${r}: ${value}`);
    });
  });
});

onEveryDevice(
  'far out the gradient is (nu + n) (location - x) / |x - location|^2 of a sphere of any size.',
  (device) => {
    for (const dtype of device.dtypes as RealDtype[])
      for (const [variance, far] of dtype === 'float32'
        ? [
            [1, 1e25],
            [1e-12, 1e30],
            [1e12, 1e35],
          ]
        : [
            [1, 1e200],
            [1e-100, 1e250],
            [1e100, 1e300],
          ])
        for (const degreesOfFreedom of [0.5, 3, 1e6]) {
          const scale = [
            [variance!, 0],
            [0, variance!],
          ];
          using student = MultivariateStudentT.fromScaleSync({
            device,
            dtype,
            degreesOfFreedom,
            location: [1, 2],
            scale,
          });
          const [near, beyond] = student
            .scoreInputSync([
              [1, 2],
              [3 * far!, -4 * far!],
            ])
            .toArray() as [number[], number[]];
          assert.equal(near, [0, 0]);
          for (const [i, share] of [-3 / 25, 4 / 25].entries()) {
            const wanted = ((degreesOfFreedom + 2) * share) / far!;
            const allowed = (dtype === 'float32' ? 1e-5 : 1e-12) * Math.abs(wanted);
            assert.ok(
              Math.abs(beyond[i]! - wanted) <= allowed,
              `${dtype}, ${variance}, ${far}: ${beyond[i]}, ${wanted}`,
            );
          }
        }
  },
);

onEveryDevice('given many coordinates, their distance counts as given few.', async (device) => {
  const n = 72;
  const scale = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 4 : 0)));
  using student = await MultivariateStudentT.fromScale({ device, scale, degreesOfFreedom: 6 });
  const given = Array.from({ length: 70 }, (_, i) => i + 1);
  for (const size of [1, 1e12]) {
    using conditional = await student.conditional({ given, values: given.map(() => 2 * size) });
    assert.is(conditional.degreesOfFreedom, 76);
    // d^2 = 70 size^2: 4 (6 + d^2) / (6 + 70).
    const variance = (4 * (6 + 70 * size ** 2)) / 76;
    const scaled = (await conditional.scale()).toArray().flat();
    near(
      scaled.map((entry) => entry / variance),
      [1, 0, 0, 1],
      1e-5,
    );
  }
});

test.run();
