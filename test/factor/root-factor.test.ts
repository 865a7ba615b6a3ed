// A Student-t whose scale is singular, or gets jitter: on its support it is a Student-t with as many dimensions as
// its rank.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, MultivariateStudentT, type RealDtype, type SingularCovariance } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

// x = location + A y, where y has two dimensions: A'A = [[6, 2], [2, 3]] has the determinant 14.
const location = [1, -2, 0.5];
const root = [
  [1, 1],
  [2, 1],
  [1, -1],
];
const scale = root.map((a) => root.map((b) => a[0]! * b[0]! + a[1]! * b[1]!));
const nu = 3.5;
const inside = [
  [0, 0],
  [0.5, -1],
  [40, 25],
];
const rows = inside.map(([p, q]) => location.map((centre, i) => centre + root[i]![0]! * p! + root[i]![1]! * q!));

for (const singular of ['pivoted', 'eigen'] as SingularCovariance[])
  onEveryDevice(
    `densities, distances and gradients on the support of a singular scale: ${singular}.`,
    async (device) => {
      for (const dtype of device.dtypes as RealDtype[]) {
        const tolerance = dtype === 'float32' ? 1e-5 : 1e-12;
        const options = { device, dtype, degreesOfFreedom: nu, location, scale, singular };
        using student = await MultivariateStudentT.fromScale(options);
        using alike = MultivariateStudentT.fromScaleSync(options);
        const unit = [
          [1, 0],
          [0, 1],
        ];
        using plane = MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom: nu, scale: unit });
        const volume = Math.log(14);
        assert.equal([student.rank, student.dimension, alike.rank, student.jitter], [2, 3, 2, undefined]);
        near([student.logDeterminant], [volume], () => 8 * tolerance, 'pseudo-determinant');
        near([student.entropy], [plane.entropy + volume / 2], () => 8 * tolerance, 'entropy');
        const wanted = plane
          .logPdfSync(inside)
          .toArray()
          .map((value) => value - volume / 2);
        near((await student.logPdf(rows)).data, wanted, (i) => tolerance * (8 + Math.abs(wanted[i]!)), 'log density');
        const lengths = inside.map(([p, q]) => Math.hypot(p!, q!));
        near(student.mahalanobisSync(rows).data, lengths, (i) => 8 * tolerance * (1 + lengths[i]!), 'distance');
        const off = rows.map(([x, y, z]) => [x!, y!, z! + 0.25 * (1 + Math.abs(z!))]);
        assert.equal(
          student.logPdfSync(off).toArray(),
          off.map(() => Number.NEGATIVE_INFINITY),
        );
        assert.equal(
          student.pdfSync(off).toArray(),
          off.map(() => 0),
        );
        // The gradient along the support: A' score(x) is the score of y.
        const score = (await student.scoreInput(rows)).toArray();
        const along = score.flatMap((row) =>
          [0, 1].map((k) => row.reduce((sum, value, i) => sum + value * root[i]![k]!, 0)),
        );
        near(along, plane.scoreInputSync(inside).data, () => 20 * tolerance, 'gradient');
        near((await student.scale()).data, scale.flat(), () => 8 * tolerance, 'scale');
        assert.equal([student.factorSync().rows, student.factorSync().columns], [3, 2]);
      }
    },
  );

onEveryDevice(
  'far out, and in any unit, a row is found to be on the support of a singular scale or off it.',
  (device) => {
    for (const dtype of device.dtypes as RealDtype[])
      for (const unit of [1e-12, 1, 1e12]) {
        const shared = { device, dtype, degreesOfFreedom: nu, singular: 'pivoted' } as const;
        const wide = scale.map((row) => row.map((entry) => entry * unit * unit));
        using student = MultivariateStudentT.fromScaleSync({ ...shared, scale: wide });
        // Beyond the square root of the type's largest number, in standard deviations.
        const far = dtype === 'float32' ? 1e21 : 1e170;
        const on = root.map(([p, q]) => unit * far * (3 * p! - 10 * q!));
        const [distance] = student.mahalanobisSync([on]).toArray() as [number];
        assert.ok(Math.abs(distance / (far * Math.sqrt(109)) - 1) < 1e-4, `${dtype}, ${unit}: ${distance}`);
        assert.ok(Number.isFinite(student.logPdfSync([on]).get(0)));
        for (const size of [unit, unit * far]) {
          const off = [size, size, size];
          assert.is(student.logPdfSync([off]).get(0), Number.NEGATIVE_INFINITY, `${dtype}, ${unit}, ${size}`);
          assert.is(student.mahalanobisSync([off]).get(0), Number.POSITIVE_INFINITY);
        }
      }
  },
);

// Of rank 2, by minors of two rows of A (n x 2), which lose no digits whatever the units: the determinant of A'A is the
// sum of their squares (Cauchy and Binet), and (A'A)^-1 that of (q, -p) (q, -p)' over rows (p, q), divided by it.
function byMinors(a: readonly (readonly number[])[], z: readonly number[]) {
  const minor = ([p, q]: readonly number[], [r, s]: readonly number[]) => p! * s! - q! * r!;
  let determinant = 0;
  for (const [i, row] of a.entries()) for (const other of a.slice(i + 1)) determinant += minor(row, other) ** 2;
  const along = (row: readonly number[], x: readonly number[]) =>
    a.reduce((sum, other) => sum + minor(other, x) * minor(other, row), 0) / determinant;
  const unit = (row: readonly number[]) => Math.hypot(along(row, [1, 0]), along(row, [0, 1]));
  return { logDeterminant: Math.log(determinant), score: a.map((row) => -along(row, z)), sizes: a.map(unit) };
}

onEveryType(
  'the determinant and gradient of a singular normal keep their digits in units of any size.',
  (device, dtype) => {
    const [tolerance, most] = dtype === 'float32' ? [2e-6, 4] : [2e-14, 10];
    for (let seed = 1; seed <= 40; seed++) {
      // Two rows of three are far from parallel, the first has a zero, and no product is rounded.
      const angles = scattered(3, seed).map((value, i) => i * 1.05 + 0.3 * value);
      const a = [...scattered(3, seed + 100)].map((value, i) => {
        const unit = 2 ** Math.round(most * Math.log2(10) * value - 4);
        return [Math.cos, Math.sin].map((of) => unit * Math.round(16 * of(angles[i]! - angles[0]!)));
      });
      const covariance = a.map((row) => a.map((other) => row[0]! * other[0]! + row[1]! * other[1]!));
      const { logDeterminant, score, sizes } = byMinors(a, [1, -2]);
      for (const singular of ['pivoted', 'eigen'] as const) {
        using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance, singular });
        const what = `${dtype}, ${singular}, seed ${seed}`;
        near([normal.logDeterminant], [logDeterminant], 1e-13, `${what}: determinant`);
        const row = a.map(([p, q]) => p! - 2 * q!);
        near(normal.scoreInputSync([row]).data, score, (i) => tolerance * sizes[i]!, `${what}: gradient`);
      }
    }
  },
);

onEveryDevice('draws of a singular scale are those of its normal, scaled from the location.', async (device) => {
  const singular = 'pivoted';
  using student = await MultivariateStudentT.fromScale({ device, degreesOfFreedom: nu, location, scale, singular });
  using normal = await MultivariateNormal.fromCovariance({ device, mean: location, covariance: scale, singular });
  const which = { seed: 5, stream: 2 };
  const [there, here] = [student.sampleSync(200, which), normal.sampleSync(200, which)];
  for (let row = 0; row < 200; row++) {
    const [far, close] = [there, here].map((draws) => location.map((centre, i) => draws.get(row, i) - centre));
    const stretch = Math.hypot(...far!) / Math.hypot(...close!);
    near(
      far!,
      close!.map((value) => stretch * value),
      () => 1e-4 * (1 + Math.hypot(...far!)),
      'direction',
    );
  }
  assert.ok(student.logPdfSync(there).toArray().every(Number.isFinite));
  assert.equal((await student.sample(10, { ...which, firstRow: 190 })).data, there.data.slice(570));
});

onEveryDevice(
  'marginals, images and conditionals of a singular scale equal those of its coordinates that vary.',
  async (device) => {
    for (const dtype of device.dtypes as RealDtype[]) {
      const tolerance = dtype === 'float32' ? 1e-4 : 1e-11;
      const shared = { device, dtype, degreesOfFreedom: nu };
      using student = await MultivariateStudentT.fromScale({ ...shared, location, scale, singular: 'pivoted' });
      const pair = scale.slice(0, 2).map((row) => row.slice(0, 2));
      using regular = await MultivariateStudentT.fromScale({ ...shared, location: location.slice(0, 2), scale: pair });
      using marginal = await student.marginal([0, 1]);
      assert.is(marginal.rank, 2);
      near(marginal.scaleSync().data, pair.flat(), () => tolerance, 'marginal');
      // Given one of three coordinates, of which two determine the third: a line.
      using line = await student.conditional({ given: [0], values: [3] });
      using expected = await regular.conditional({ given: [0], values: [3] });
      assert.equal([line.dimension, line.rank, line.degreesOfFreedom], [2, 1, nu + 1]);
      near(line.location.data.slice(0, 1), expected.location.data, () => tolerance, 'location given one');
      near([line.scaleSync().get(0, 0)], expected.scaleSync().data, () => tolerance, 'scale given one');
      // Given two, the third is known. Impossible values are refused.
      const known = rows[1]!;
      using point = await student.conditional({ given: [2, 0], values: [known[2]!, known[0]!] });
      assert.equal([point.rank, point.degreesOfFreedom], [0, nu + 2]);
      near(point.location.data, [known[1]!], () => tolerance, 'a point');
      using more = await MultivariateStudentT.fromScale({
        ...shared,
        location: [...location, 0],
        scale: [...scale.map((row) => [...row, 0]), [0, 0, 0, 2]],
        singular: 'pivoted',
      });
      using rest = await more.conditional({ given: [0, 1, 2], values: known });
      // The third coordinate adds nothing, so (nu + d^2) / (nu + 2) counts two: d^2 = 0.25 + 1.
      assert.is(rest.degreesOfFreedom, nu + 2);
      near(rest.scaleSync().data, [(2 * (nu + 1.25)) / (nu + 2)], () => 20 * tolerance, 'scale given three');
      await throwsCode('ERR_OUT_OF_RANGE', '(2)', () =>
        more.conditional({ given: [0, 1, 2], values: [known[0]!, known[1]!, known[2]! + 1] }),
      );
      // The rows are a sum and twice the sum.
      const matrix = [
        [1, 1, 0],
        [2, 2, 0],
      ];
      await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', () =>
        regular.affine({
          matrix: [
            [1, 1],
            [2, 2],
          ],
        }),
      );
      using image = await student.affine({ matrix, offset: [0, 1] });
      using same = await regular.affine({
        matrix: [
          [1, 1],
          [2, 2],
        ],
        offset: [0, 1],
        singular: true,
      });
      for (const each of [image, same]) {
        assert.is(each.rank, 1);
        near(each.scaleSync().data, [13, 26, 26, 52], () => 60 * tolerance, 'image');
      }
    }
  },
);

onEveryDevice('probabilities of a singular scale equal those of the coordinates that vary.', (device) => {
  const shared = { device, degreesOfFreedom: nu };
  const ones = [
    [1, 1],
    [1, 1],
  ];
  using twice = MultivariateStudentT.fromScaleSync({ ...shared, scale: ones, singular: 'pivoted' });
  using once = MultivariateStudentT.fromScaleSync({ ...shared, scale: [[1]] });
  for (const [x, y] of [
    [0.5, 2],
    [1, -0.25],
  ]) {
    const wanted = once.cdfSync([Math.min(x!, y!)]).get(0);
    near(twice.cdfSync([x!, y!]).data, [wanted], () => 2e-5, 'cdf');
  }
});

onEveryDevice(
  'jitter is added to a scale, and reported; invalid scales are refused with messages about the scale.',
  async (device) => {
    const shared = { device, degreesOfFreedom: 4 };
    const ones = [
      [1, 1],
      [1, 1],
    ];
    using shaken = await MultivariateStudentT.fromScale({ ...shared, scale: ones, jitter: true });
    assert.is(shaken.jitter!.attempts, 2);
    assert.is(shaken.rank, 2);
    near(shaken.scaleSync().data, ones.flat(), () => 1e-6, 'scale');
    const indefinite = [
      [1, 2],
      [2, 1],
    ];
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'singular', () =>
      MultivariateStudentT.fromScale({ ...shared, scale: ones }),
    );
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`scale`', () =>
      MultivariateStudentT.fromScale({ ...shared, scale: indefinite, jitter: true }),
    );
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', () =>
      MultivariateStudentT.fromScale({ ...shared, scale: indefinite, singular: 'pivoted' }),
    );
    await throwsCode('ERR_INVALID_ARGUMENT', '`jitter`', () =>
      MultivariateStudentT.fromScale({ ...shared, scale: ones, jitter: true, singular: 'eigen' }),
    );
  },
);

test.run();
