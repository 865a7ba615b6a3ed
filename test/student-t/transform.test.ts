// Quantiles and ellipsoids of a Student-t, compared with closed forms, with its own marginals, conditionals and
// draws, and with the normal.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, MultivariateStudentT, openDevice } from '../../lib/index.ts';
import { studentQuantile } from '../../lib/probability/f-quantile.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { answers, normals } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

const { quantilesOfStudent }: { quantilesOfStudent: { degreesOfFreedom: number; edges: number[] }[] } = JSON.parse(
  readFileSync(new URL('../answers/student-t.json', import.meta.url), 'utf8'),
);
const location = [1, -2];
const factor = [
  [2, 0],
  [1, 3],
];

onEveryType("quantiles in one dimension equal SciPy's t.ppf.", async (device, dtype, tolerance) => {
  for (const { degreesOfFreedom, edges } of quantilesOfStudent) {
    using student = MultivariateStudentT.fromCholeskySync({
      device,
      dtype,
      degreesOfFreedom,
      location: [5],
      factor: [[2]],
    });
    const levels = edges.map((_, k) => [(k + 1) / (edges.length + 1)]);
    const wanted = edges.map((edge) => 5 + 2 * edge);
    // With half a degree of freedom, SciPy's quantile at 14/64 is 2.2e-9 off: mpmath gives -2.07925274188484, as we
    // do.
    const bound = Math.max(tolerance, 1e-8);
    near((await student.quantile(levels)).data, wanted, bound, `nu = ${degreesOfFreedom}`);
    near(student.quantileSync(levels[9]!).data, [wanted[9]!], bound);
  }
});

onEveryType(
  'quantiles equal those computed by hand, from the algebraic forms for two and four degrees of freedom.',
  async (device, dtype, tolerance) => {
    using student = await MultivariateStudentT.fromCholesky({ device, dtype, degreesOfFreedom: 2, location, factor });
    // With two degrees, t = (2 p - 1) / sqrt(2 p (1 - p)); with three, at 0.8, it is 0.978472312363...
    const t = 0.5 / Math.sqrt(2 * 0.75 * 0.25);
    const ofThree = 0.9784723123633045;
    const next = Math.sqrt((2 + t * t) / 3) * ofThree;
    const made = await student.quantile([
      [0.5, 0.5],
      [0.75, 0.5],
      [0.75, 0.8],
      [0.25, 0.2],
    ]);
    near(
      made.data,
      [1, -2, 1 + 2 * t, t - 2, 1 + 2 * t, t + 3 * next - 2, 1 - 2 * t, -t - 3 * next - 2],
      tolerance,
      'by hand',
    );
  },
);

test('Property: each coordinate is the quantile of its conditional, given those before it.', async () => {
  using device = openDevice('reference');
  const probability = fc.double({ min: 1e-4, max: 0.9999, noNaN: true });
  await fc.assert(
    fc.asyncProperty(
      normals,
      fc.double({ min: 0.5, max: 60, noNaN: true }),
      fc.array(probability, { minLength: 6, maxLength: 6 }),
      async ({ mean, factor, scales }, degreesOfFreedom, chances) => {
        const n = mean.length;
        using student = MultivariateStudentT.fromCholeskySync({
          ...{ device, dtype: 'float64', degreesOfFreedom },
          location: mean,
          factor,
        });
        const row = student.quantileSync([chances.slice(0, n)]).toArray()[0]!;
        for (let k = 0; k < n; k++) {
          using before = student.marginalSync(Array.from({ length: k + 1 }, (_, i) => i));
          const given = Array.from({ length: k }, (_, i) => i);
          using one = k === 0 ? undefined : before.conditionalSync({ given, values: row.slice(0, k) });
          const { location, degreesOfFreedom } = one ?? before;
          const spread = (one ?? before).factorSync().get(0, 0);
          const wanted = location.get(0) + spread * studentQuantile(chances[k]!, degreesOfFreedom);
          const reach = Math.max(...row.map((x, i) => Math.abs(x - mean[i]!) / scales[i]!), 10) * scales[k]!;
          assert.ok(Math.abs(row[k]! - wanted) <= 1e-11 * reach, `${k} of ${n}: ${row[k]}, not ${wanted}`);
        }
      },
    ),
    { numRuns: 60 },
  );
});

onEveryDevice(
  'evenly spread probabilities become draws, whose distances have the right distribution.',
  async (device) => {
    using student = await MultivariateStudentT.fromCholesky({ device, degreesOfFreedom: 3.5, location, factor });
    const side = 200;
    const grid = Array.from({ length: side * side }, (_, at) => [
      ((at % side) + 0.5) / side,
      (Math.floor(at / side) + 0.5) / side,
    ]);
    const distances = student.mahalanobisSync(await student.quantile(grid)).data;
    for (const probability of [0.1, 0.5, 0.9, 0.95]) {
      const { radius } = await student.ellipsoid({ probability });
      const share = distances.filter((distance) => distance <= radius).length / grid.length;
      assert.ok(Math.abs(share - probability) < 0.002, `${probability}: ${share}`);
    }
  },
);

onEveryType('quantiles far out are infinite if the type does not hold them, and never NaN.', async (device, dtype) => {
  const options = { device, dtype, degreesOfFreedom: 0.01, location };
  const diagonal = [
    [2, 0],
    [0, 3],
  ];
  using student = await MultivariateStudentT.fromCholesky({ ...options, factor: diagonal });
  const made = student.quantileSync([
    [1e-10, 0.5],
    [0.5, 1 - 1e-10],
    [1e-200, 1e-20],
  ]);
  const infinity = Number.POSITIVE_INFINITY;
  assert.equal(made.toArray(), [
    [-infinity, -2],
    [1, made.get(1, 1)],
    [-infinity, -infinity],
  ]);
  // Given that the first is at its location, the second has 1.01 degrees of freedom.
  assert.ok(made.get(1, 1) > 1e6 && made.get(1, 1) < 1e12);
});

onEveryType('radii equal those of the F distribution, and half-axes those of the normal.', async (device, dtype) => {
  for (const { name, factor, lengths } of answers.ellipsoids) {
    const n = factor.length;
    if (dtype === 'float32' && (name === 'wide' || name === 'Hilbert')) continue;
    const root = { device, dtype, factor };
    using normal = MultivariateNormal.fromCholeskySync(root);
    const same = normal.ellipsoidSync({ probability: 0.9 });
    for (const degreesOfFreedom of [2, 1e30, Number.POSITIVE_INFINITY]) {
      using student = MultivariateStudentT.fromCholeskySync({ ...root, degreesOfFreedom });
      const { axes, radius, centre, probability } = await student.ellipsoid({ probability: 0.9 });
      assert.equal([axes.rows, axes.columns, probability], [n, n, 0.9]);
      assert.equal(centre.toArray(), student.location.toArray());
      // With two degrees of freedom d^2 / (d^2 + 2) is beta with n / 2 and 1: its quantile is p^(2 / n).
      const x = 0.9 ** (2 / n);
      const wanted = degreesOfFreedom === 2 ? Math.sqrt((2 * x) / (1 - x)) : same.radius;
      near([radius / wanted], [1], 1e-13, `${name}: radius`);
      near(
        axes.data.map((entry) => entry / radius),
        same.axes.data.map((entry) => entry / same.radius),
        1e-13,
        name,
      );
      const found = lengths.map((_: number, k: number) => Math.hypot(...axes.toArray().map((row) => row[k]! / radius)));
      near(
        found.map((length: number, k: number) => length / lengths[k]),
        lengths.map(() => 1),
        dtype === 'float32' ? 1e-6 : 1e-12,
      );
    }
  }
});

onEveryDevice('an ellipsoid holds its share of the draws, of a singular scale on its support.', async (device) => {
  const options = { device, degreesOfFreedom: 1.5, location: [1, 2, 3] };
  const rows = [
    [1, 2, 3],
    [2, 5, 7],
    [3, 7, 10],
  ];
  using regular = MultivariateStudentT.fromDiagonalSync({ ...options, diagonal: [1, 4, 9] });
  using singular = MultivariateStudentT.fromScaleSync({ ...options, scale: rows, singular: 'pivoted' });
  for (const student of [regular, singular]) {
    const distances = student.mahalanobisSync(student.sampleSync(100_000, { seed: 4 })).data;
    for (const probability of [0.05, 0.5, 0.95]) {
      const { radius, axes } = await student.ellipsoid({ probability });
      assert.equal([axes.rows, axes.columns], [3, student.rank]);
      const share = distances.filter((distance) => distance <= radius).length / distances.length;
      assert.ok(Math.abs(share - probability) < 5 * Math.sqrt((probability * (1 - probability)) / 1e5), `${share}`);
    }
  }
  assert.equal([regular.rank, singular.rank], [3, 2]);
  assert.is((await singular.quantile([[0.5, 0.5]])).rows, 1);
  near(singular.quantileSync([0.5, 0.5]).data, options.location, 0);
});

onEveryType(
  'with infinitely many degrees of freedom quantiles equal those of the normal, to the bit.',
  (device, dtype) => {
    const degreesOfFreedom = Number.POSITIVE_INFINITY;
    using student = MultivariateStudentT.fromCholeskySync({ device, dtype, degreesOfFreedom, location, factor });
    using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean: location, factor });
    const rows = [
      [0.1, 0.9],
      [0.975, 1e-9],
    ];
    assert.equal(student.quantileSync(rows).data, normal.quantileSync(rows).data);
    assert.equal(student.ellipsoidSync({ probability: 0.7 }), normal.ellipsoidSync({ probability: 0.7 }));
  },
);

onEveryDevice('an invalid probability, and a radius that overflows, are refused.', async (device) => {
  const student = MultivariateStudentT.fromCholeskySync({ device, degreesOfFreedom: 3, factor });
  for (const p of [0, 1, -1, 2, Number.NaN]) {
    await throwsCode('ERR_OUT_OF_RANGE', `${p}`, () => student.quantile([[0.5, p]]));
    await throwsCode('ERR_OUT_OF_RANGE', `${p}`, () => student.quantileSync([[0.5, p]]));
    await throwsCode('ERR_OUT_OF_RANGE', `${p}`, () => student.ellipsoid({ probability: p }));
  }
  await throwsCode('ERR_SHAPE', '3', () => student.quantile([0.5, 0.5, 0.5]));
  await throwsCode('ERR_UNKNOWN_OPTION', 'share', () => student.ellipsoid({ share: 0.5 } as never));
  using heavy = MultivariateStudentT.fromCholeskySync({ device, degreesOfFreedom: 1e-3, factor });
  await throwsCode('ERR_OUT_OF_RANGE', '(0.001)', () => heavy.ellipsoidSync({ probability: 0.9 }));
  using point = MultivariateStudentT.fromScaleSync({
    ...{ device, degreesOfFreedom: 3, singular: 'pivoted' },
    scale: [[0]],
  });
  await throwsCode('ERR_SHAPE', 'Student-t of rank (0)', () => point.ellipsoid({ probability: 0.5 }));
  student.close();
  await throwsCode('ERR_CLOSED', '2', () => student.quantile([0.5, 0.5]));
  await throwsCode('ERR_CLOSED', '2', () => student.ellipsoid({ probability: 0.5 }));
});

test.run();
