import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Device,
  type Distribution,
  MultivariateNormal,
  MultivariateStudentT,
  openDevice,
  type RealDtype,
} from '../../lib/index.ts';
import { cellChecks } from '../harness/cell-checks.ts';
import { kindsHere, onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { answers, eps } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Case {
  readonly location: readonly number[];
  readonly scale: readonly (readonly number[])[];
  readonly rows: readonly (readonly number[])[];
  readonly logDeterminant: number;
  readonly mahalanobis: readonly number[];
  /** null stands for infinite degrees of freedom. */
  readonly answers: readonly {
    readonly degreesOfFreedom: number | null;
    readonly logPdf: readonly number[];
    readonly logPdfSciPy: readonly number[];
    readonly logPdfMvtnorm: readonly number[];
    readonly entropy: number;
  }[];
}
const { cases, quantilesOfStudent }: { cases: Case[]; quantilesOfStudent: Edges[] } = JSON.parse(
  readFileSync(new URL('../answers/student-t.json', import.meta.url), 'utf8'),
);
interface Edges {
  readonly degreesOfFreedom: number;
  readonly edges: readonly number[];
}
const alarm = 1e-5;
const location = [1, -2];
const scale = [
  [2, 0.5],
  [0.5, 1],
];

onEveryDevice("densities, distances and entropy equal mpmath's, and so do SciPy's and mvtnorm's.", async (device) => {
  for (const dtype of device.dtypes as RealDtype[])
    for (const { location, scale, rows, logDeterminant, mahalanobis, answers } of cases)
      for (const { degreesOfFreedom, logPdf, logPdfSciPy, logPdfMvtnorm, entropy } of answers) {
        const nu = degreesOfFreedom ?? Number.POSITIVE_INFINITY;
        using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: nu, dtype });
        // Relative; the square of a distance of n float32 terms is off by about n ulps.
        const tolerance = dtype === 'float32' ? 1e-5 : 1e-13;
        near((await student.logPdf(rows)).toArray(), logPdf, tolerance);
        // SciPy and mvtnorm compute a difference of logarithms that grow with nu.
        for (const theirs of [logPdfSciPy, logPdfMvtnorm])
          near(student.logPdfSync(rows).toArray(), theirs, Math.max(tolerance, 1e-9));
        for (const [row, density] of student.pdfSync(rows).toArray().entries()) {
          const wanted = Math.exp(logPdf[row]!);
          const allowed = 3 * tolerance * (1 + Math.abs(logPdf[row]!)) * wanted;
          assert.ok(Math.abs(density - wanted) <= allowed + 1e-37, `pdf of row ${row} is ${density}, not ${wanted}`);
        }
        near(student.mahalanobisSync(rows).toArray(), mahalanobis, tolerance);
        near([student.entropy, student.logDeterminant], [entropy, logDeterminant], tolerance);
        near((await student.scale()).toArray().flat(), scale.flat(), tolerance);
        assert.equal([student.dimension, student.degreesOfFreedom, student.dtype], [location.length, nu, dtype]);
      }
});

onEveryDevice(
  'ill-conditioned scales have the densities, entropies and gradients of 60-digit answers.',
  async (device) => {
    for (const dtype of device.dtypes as RealDtype[])
      for (const { name, mean, factor, rows, mahalanobis, student: wanted } of answers.densities) {
        const { degreesOfFreedom } = wanted;
        using student = MultivariateStudentT.fromCholeskySync({
          device,
          dtype,
          degreesOfFreedom,
          location: mean,
          factor,
        });
        const tolerance = 64 * eps(dtype);
        const what = `${name}, ${dtype}`;
        const n = mean.length;
        near([student.entropy], [wanted.entropy], () => tolerance * n, `${what}: entropy`);
        near(
          (await student.logPdf(rows)).data,
          wanted.logPdf,
          (i) => tolerance * (n + Math.abs(wanted.logPdf[i])),
          what,
        );
        near(
          (await student.mahalanobis(rows)).data,
          mahalanobis,
          (i) => tolerance * mahalanobis[i],
          `${what}: distance`,
        );
        // Each entry in the unit of its coordinate.
        const spread = factor.map((row: number[]) => Math.hypot(...row));
        const sizes = wanted.score.map((row: number[]) => Math.hypot(...row.map((value, j) => value * spread[j]!)));
        const allowed = (at: number) => (tolerance * sizes[Math.floor(at / n)]!) / spread[at % n]!;
        near((await student.scoreInput(rows)).data, wanted.score.flat(), allowed, `${what}: gradient`);
      }
  },
);

onEveryDevice('the same distribution comes from a scale, its factor and its inverse.', async (device) => {
  const factor = [
    [2, Number.NaN],
    [1, 0.5],
  ];
  const product = [
    [4, 2],
    [2, 1.25],
  ];
  const inverse = [
    [1.25, -2],
    [-2, 4],
  ];
  const rows = [
    [0, 0],
    [1, -2],
    [30, 5],
  ];
  const shared = { device, degreesOfFreedom: 3, location };
  using whole = await MultivariateStudentT.fromScale({ ...shared, scale: product });
  using root = await MultivariateStudentT.fromCholesky({ ...shared, factor });
  using precise = await MultivariateStudentT.fromPrecision({ ...shared, precision: inverse });
  using alsoRoot = MultivariateStudentT.fromCholeskySync({ ...shared, factor });
  using alsoPrecise = MultivariateStudentT.fromPrecisionSync({ ...shared, precision: inverse });
  for (const student of [whole, root, precise, alsoRoot, alsoPrecise]) {
    near(student.logPdfSync(rows).toArray(), whole.logPdfSync(rows).toArray(), 1e-5);
    near(student.factorSync().toArray().flat(), [2, 0, 1, 0.5], 1e-6);
    near((await student.factor()).toArray().flat(), [2, 0, 1, 0.5], 1e-6);
    near(student.scaleSync().toArray().flat(), product.flat(), 1e-6);
    near((await student.covariance()).toArray().flat(), [12, 6, 6, 3.75], 1e-6);
    near(student.location.toArray(), location, 0);
    near(student.mean.toArray(), location, 0);
    near([student.entropy], [whole.entropy], 1e-6);
    assert.ok(student.timings.wallMs >= 0);
  }
});

onEveryDevice('infinitely many degrees of freedom give the normal, to the bit.', async (device) => {
  for (const dtype of device.dtypes as RealDtype[]) {
    using student = await MultivariateStudentT.fromScale({
      device,
      location,
      scale,
      degreesOfFreedom: Number.POSITIVE_INFINITY,
      dtype,
    });
    using normal = await MultivariateNormal.fromCovariance({ device, mean: location, covariance: scale, dtype });
    const rows = normal.sampleSync(100, { seed: 1 });
    assert.equal(student.sampleSync(100, { seed: 1 }).data, rows.data);
    assert.equal((await student.logPdf(rows)).data, normal.logPdfSync(rows).data);
    assert.equal(student.mahalanobisSync(rows).data, normal.mahalanobisSync(rows).data);
    assert.equal(student.covarianceSync().data, normal.covarianceSync().data);
    near([student.entropy], [normal.entropy], 1e-15);
    // So many that all scales are 1, but computed by the code for finite degrees.
    using many = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 1e40, dtype });
    near(many.sampleSync(100, { seed: 1 }).data, rows.data, dtype === 'float32' ? 1e-6 : 1e-15);
    near(many.logPdfSync(rows).data, normal.logPdfSync(rows).data, dtype === 'float32' ? 1e-6 : 1e-15);
    near([many.entropy], [normal.entropy], 1e-15);
  }
});

onEveryDevice('each coordinate of a draw is a Student-t, and the draws agree with the density.', async (device) => {
  for (const { degreesOfFreedom, edges } of quantilesOfStudent) {
    using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom });
    const count = 200_000;
    using draws = await student.sample(count, { seed: 20261121 });
    const values = draws.data;
    const column = (j: number) =>
      Float64Array.from({ length: count }, (_, r) => (values[2 * r + j]! - location[j]!) / Math.sqrt(scale[j]![j]!));
    const [first, second] = [column(0), column(1)];
    // The second coordinate without the part that the first explains: uncorrelated with it, and a Student-t too.
    const correlation = 0.5 / Math.SQRT2;
    const rest = second.map((y, r) => (y - correlation * first[r]!) / Math.sqrt(1 - correlation ** 2));
    for (const [what, draw] of Object.entries({ first, second, rest }))
      for (const { name, p } of cellChecks(draw, edges))
        assert.ok(p > alarm, `${what}, ${degreesOfFreedom} degrees: ${name} has p (${p})`);
    if (degreesOfFreedom < 4) continue;
    // The mean of -ln density is the entropy.
    const densities = student.logPdfSync(draws).data;
    let sum = 0;
    for (const density of densities) sum -= density / count;
    assert.ok(Math.abs(sum - student.entropy) < 0.02, `${sum} and ${student.entropy}`);
  }
});

onEveryDevice(
  'the same seed gives the same bytes, as a whole, in parts, in blocks, and into given memory.',
  async (device) => {
    for (const dtype of device.dtypes as RealDtype[]) {
      using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 2.5, dtype });
      const which = { seed: 42, stream: 3 };
      const whole = student.sampleSync(10_000, which).data;
      assert.equal((await student.sample(10_000, { seed: 42n, stream: 3n })).data, whole);
      assert.equal(student.sampleSync(10, { ...which, firstRow: 9990 }).data, whole.slice(19_980));
      const blocks: number[] = [];
      for await (const block of student.blocks(600, { ...which, firstRow: 9400, rowsPerBlock: 77 }))
        blocks.push(...block.data);
      assert.equal(blocks, Array.from(whole.slice(18_800)));
      const out = device.matrix(10_000, 2, { dtype });
      assert.is(await student.sample(10_000, { ...which, out }), out);
      assert.equal(out.data, whole);
      assert.is.not(student.sampleSync(1).get(0, 0), student.sampleSync(1).get(0, 0));
      assert.is(student.sampleSync(0).rows, 0);
      // Other degrees of freedom scale the same normals.
      using wider = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 0.7, dtype });
      const angle = (draws: typeof whole, row: number) =>
        Math.atan2(draws[2 * row]! - location[0]!, draws[2 * row + 1]! - location[1]!);
      const wide = wider.sampleSync(100, which).data;
      for (let row = 0; row < 100; row++) near([angle(wide, row)], [angle(whole, row)], 1e-3);
    }
  },
);

onEveryDevice('calls in flight outlive the distribution.', async (device) => {
  const student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 4 });
  const expected = student.sampleSync(1000, { seed: 1 }).data;
  const before = device.memory().liveBytes;
  const sampled = student.sample(1000, { seed: 1 });
  student.close();
  assert.equal((await sampled).data, expected);
  assert.ok(student.closed && device.memory().liveBytes < before);
  for (const ask of [
    () => student.sample(1),
    () => student.logPdf([0, 0]),
    () => student.scale(),
    () => student.covariance(),
    () => student.location,
    () => student.mean,
    () => student.factor(),
  ])
    await throwsCode('ERR_CLOSED', '2', ask);
});

onEveryDevice('a signal stops a sample and frees it, and leaving a loop early frees its blocks.', async (device) => {
  using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 4 });
  const before = device.memory().liveBytes;
  const reason = new Error('enough');
  const controller = new AbortController();
  const long = student.sample(20_000_000, { seed: 1, signal: controller.signal });
  controller.abort(reason);
  assert.is((await throwsCode('ERR_ABORTED', '(enough)', () => long)).cause, reason);
  for await (const block of student.blocks(1_000_000, { seed: 1, rowsPerBlock: 100_000 })) if (block.rows > 0) break;
  // A GPU keeps what the draws need of the distribution.
  const ofTheDistribution = device.kind === 'cuda' ? 65_536 : 0;
  assert.ok(device.memory().liveBytes - before <= ofTheDistribution);
});

onEveryDevice('densities and distances are finite even if a square overflows.', async (device) => {
  using student = await MultivariateStudentT.fromScale({ device, location, scale, degreesOfFreedom: 0.5 });
  const rows = [0, 15, 18, 25, 37].map((power) => [10 ** power, 0]);
  // d^2 = (1, 0) scale^-1 (1, 0)' x^2 = x^2 / 1.75, so far out that the location is negligible.
  const distances = student.mahalanobisSync(rows).toArray();
  near(
    distances.slice(1),
    rows.slice(1).map(([x]) => x! / Math.sqrt(1.75)),
    1e-6,
  );
  const atLocation = student.logPdfSync(location).get(0);
  const decay = (distance: number) => -1.25 * (2 * Math.log(distance) - Math.log(0.5));
  near(
    (await student.logPdf(rows)).toArray().slice(1),
    distances.slice(1).map((distance) => atLocation + decay(distance)),
    1e-6,
  );
  using tiny = await MultivariateStudentT.fromScale({ device, scale: [[1e-36]], degreesOfFreedom: 1 });
  near((await tiny.mahalanobis([[1e18], [1e19]])).toArray(), [1e36, 1e37], 1e-5);
  near((await tiny.mahalanobis([[3e-37]])).toArray(), [3e-19], 1e-24);
  // The densities of its own draws are finite, however heavy the tail.
  using heavy = await MultivariateStudentT.fromScale({ device, scale, degreesOfFreedom: 0.1 });
  const draws = heavy.sampleSync(10_000, { seed: 3 }).toArray();
  const finite = draws.filter((row) => row.every(Number.isFinite));
  assert.ok(draws.every((row) => !row.some(Number.isNaN)) && finite.length > 9000);
  assert.ok(finite.some(([x]) => Math.abs(x!) > 1e20));
  assert.ok((await heavy.logPdf(finite)).toArray().every(Number.isFinite));
  if (!device.dtypes.includes('float64')) return;
  using exact = await MultivariateStudentT.fromScale({ device, scale, degreesOfFreedom: 0.5, dtype: 'float64' });
  near(exact.mahalanobisSync([1e308, -1e308]).toArray(), [1e308 * Math.sqrt(4 / 1.75)], 1e-12);
  near(
    exact.logPdfSync([1e200, 0]).toArray(),
    [exact.logPdfSync([0, 0]).get(0) + decay(1e200 / Math.sqrt(1.75))],
    1e-12,
  );
});

onEveryDevice('moments that do not exist are refused, and so are invalid distributions.', async (device) => {
  const of = (degreesOfFreedom: number) => MultivariateStudentT.fromScaleSync({ device, scale, degreesOfFreedom });
  using one = of(1);
  using two = of(2);
  await throwsCode('ERR_OUT_OF_RANGE', '(1)', () => one.mean);
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => two.covariance());
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => two.covarianceSync());
  assert.equal(two.mean.toArray(), [0, 0]);
  for (const wrong of [0, -1, Number.NaN, Number.NEGATIVE_INFINITY])
    await throwsCode('ERR_OUT_OF_RANGE', `(${wrong})`, () => of(wrong));
  await throwsCode('ERR_INVALID_ARGUMENT', 'undefined', () =>
    // @ts-expect-error Degrees of freedom have no default.
    MultivariateStudentT.fromScale({ device, scale }),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', '(covariance)', () =>
    // @ts-expect-error A scale is not a covariance.
    MultivariateStudentT.fromScale({ device, covariance: scale, degreesOfFreedom: 3 }),
  );
  const shared = { device, degreesOfFreedom: 3 };
  await throwsCode('ERR_SHAPE', '`scale`', () => MultivariateStudentT.fromScale({ ...shared, scale: [[1, 0]] }));
  await throwsCode('ERR_SHAPE', 'location', () => MultivariateStudentT.fromScale({ ...shared, scale, location: [1] }));
  await throwsCode('ERR_NOT_FINITE', '`location` entry (1)', () =>
    MultivariateStudentT.fromPrecision({ ...shared, precision: scale, location: [1, Number.NaN] }),
  );
  await throwsCode('ERR_SHAPE', '`location` has (0)', () =>
    MultivariateStudentT.fromCholesky({ ...shared, factor: scale, location: [] }),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '2^56', () => one.sample(2, { firstRow: 2n ** 56n - 1n }));
  await throwsCode('ERR_OUT_OF_RANGE', '(1.5)', () => one.sample(1.5));
  assert.ok(one.sampleSync(1, { firstRow: 2n ** 56n - 1n }).data.every(Number.isFinite));
  await throwsCode('ERR_NOT_FINITE', 'NaN', () => one.logPdf([Number.NaN, 0]));
});

test('Every device draws the Student-t that the reference device draws, up to rounding.', async () => {
  using reference = openDevice('reference');
  for (const kind of kindsHere.filter((each) => each !== 'reference')) {
    using device = openDevice(kind);
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.double({ min: 0.5, max: 50, noNaN: true }), async (seed, degreesOfFreedom) => {
        for (const dtype of device.dtypes as RealDtype[]) {
          const options = { scale, location, degreesOfFreedom, dtype };
          const [here, there] = [device, reference].map((each) => draw(each, options, seed));
          for (const [index, value] of here!.entries()) {
            const stretch = Math.hypot(...there!.slice(index & ~1, (index & ~1) + 2));
            const allowed = (dtype === 'float32' ? 1e-6 : 1e-14) * (4 + stretch);
            assert.ok(Math.abs(value - there![index]!) <= allowed, `${value} is not ${there![index]}`);
          }
        }
      }),
      { numRuns: 15 },
    );
  }
});

function draw(
  device: Device,
  options: Omit<Parameters<typeof MultivariateStudentT.fromScaleSync>[0], 'device'>,
  seed: number,
): number[] {
  using student: Distribution = MultivariateStudentT.fromScaleSync({ device, ...options });
  return Array.from(student.sampleSync(33, { seed, firstRow: seed }).data);
}

test.run();
