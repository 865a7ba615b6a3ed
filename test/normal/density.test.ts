import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, MultivariateNormalBatch, MultivariateStudentT } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { answers, conditionals, eps, identity, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice('the score is -covariance^-1 (x - mean), and the slope of the log density.', async (device) => {
  // covariance^-1 = [[1, -0.5], [-0.5, 2]] / 1.75.
  for (const way of ['covariance', 'precision'] as const) {
    const mean = [1, -1];
    const normal =
      way === 'covariance'
        ? MultivariateNormal.fromCovarianceSync({
            device,
            mean,
            covariance: [
              [2, 0.5],
              [0.5, 1],
            ],
          })
        : MultivariateNormal.fromPrecisionSync({
            device,
            mean,
            precision: [
              [1 / 1.75, -0.5 / 1.75],
              [-0.5 / 1.75, 2 / 1.75],
            ],
          });
    const rows = [
      [1, -1],
      [2, -1],
      [1, 1],
      [0, -2],
    ];
    const wanted = [0, 0, -1, 0.5, 1, -4, 0.5, 1.5].map((value) => value / 1.75);
    near((await normal.scoreInput(rows)).data, wanted, () => 1e-5, way);
    near(normal.scoreInputSync(rows[2]!).data, wanted.slice(4, 6), () => 1e-5, way);
    normal.close();
  }
  const dtype = realDtypes(device).at(-1)!;
  const { mean, factor } = conditionals[1]!;
  using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean, factor });
  const h = dtype === 'float64' ? 1e-5 : 1e-2;
  const x = mean.map((value, i) => value + Math.cos(i));
  const score = normal.scoreInputSync(x).data;
  for (const [i] of x.entries()) {
    const moved = [h, -h].map((step) => x.map((value, j) => (i === j ? value + step : value)));
    const [up, down] = normal.logPdfSync(moved).toArray() as [number, number];
    near([(up - down) / (2 * h)], [score[i]!], () => (dtype === 'float64' ? 1e-9 : 1e-3), 'slope');
  }
  assert.is(normal.scoreInputSync(Matrix.from([], { columns: mean.length })).rows, 0);
});

onEveryDevice('densities, distances, entropies and gradients agree with 60-digit answers.', async (device) => {
  for (const dtype of realDtypes(device))
    for (const { name, mean, factor, rows, logDeterminant, entropy, mahalanobis, logPdf, score } of answers.densities) {
      using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean, factor });
      const what = `${name}, ${dtype}`;
      // A triangular solve is exact to a few roundings, however ill-conditioned the factor; rounding the factor and
      // the rows to the type is an error of the same size.
      const tolerance = 32 * eps(dtype);
      near([normal.logDeterminant, normal.entropy], [logDeterminant, entropy], () => tolerance * factor.length, what);
      near((await normal.mahalanobis(rows)).data, mahalanobis, (i) => tolerance * mahalanobis[i], `${what}: distance`);
      near(
        (await normal.logPdf(rows)).data,
        logPdf,
        (i) => tolerance * (1 + Math.abs(logPdf[i])),
        `${what}: log density`,
      );
      near(
        (await normal.pdf(rows)).data,
        logPdf.map(Math.exp),
        (i) => 2 * tolerance * pdfSize(logPdf[i]),
        `${what}: density`,
      );
      // Each entry in the unit of its coordinate.
      const spread = factor.map((row: number[]) => Math.hypot(...row));
      const sizes = score.map((row: number[]) => Math.hypot(...row.map((value, j) => value * spread[j]!)));
      const n = mean.length;
      const allowed = (at: number) => (tolerance * sizes[Math.floor(at / n)]!) / spread[at % n]!;
      near((await normal.scoreInput(rows)).data, score.flat(), allowed, `${what}: gradient`);
    }
});

// The effect of an error of the logarithm on a density.
const pdfSize = (logarithm: number) => (1 + Math.abs(logarithm)) * Math.exp(logarithm);

for (const [dtype, sizes, tolerance] of [
  ['float32', [2e19, 1e30, 3e-23, 1e-30], 1e-6],
  ['float64', [2e154, 1e300, 1e-163, 1e-200], 1e-15],
] as const)
  onEveryDevice(
    `${dtype} distances are right if their squares do not fit; densities of far rows are not NaN.`,
    (device) => {
      if (!device.dtypes.includes(dtype)) return;
      using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: [[1, 0.5], [0.5, 1]] }); // biome-ignore format: short
      for (const size of sizes) {
        const [distance] = normal.mahalanobisSync([[size, size]]).data;
        assert.ok(Math.abs(distance! / (size * Math.sqrt(4 / 3)) - 1) < tolerance, `${size}: ${distance}`);
      }
      for (const row of [
        [3e38, -3e38],
        [3e38, 3e38],
        [-1e30, 2e38],
      ]) {
        // biome-ignore format: short
        const [logarithm] = normal.logPdfSync(dtype === 'float32' ? row : row.map((x) => x * 1e200)).data;
        assert.is(logarithm, Number.NEGATIVE_INFINITY);
      }
      assert.is(normal.mahalanobisSync([[0, 0]]).data[0], 0);
    },
  );

onEveryDevice(
  'A float32 density is finite as long as its logarithm fits, though the square of the distance does not.',
  async (device) => {
    const far = (value: number, logarithm: number) =>
      assert.ok(Math.abs(value / logarithm - 1) < 1e-6, `${value}, not ${logarithm}`);
    using normal = MultivariateNormal.fromCovarianceSync({ device, dtype: 'float32', covariance: [[1]] });
    using batch = MultivariateNormalBatch.fromCovarianceSync({ device, dtype: 'float32', covariances: [[[4]], [[1]]] });
    using wide = MultivariateNormal.fromCholeskySync({ device, dtype: 'float32', mean: [3e38], factor: [[1e37]] });
    // More rows than one commit measures again.
    const rows = Matrix.from(new Float32Array(10_000).fill(2e19), { columns: 1 });
    const { data } = await normal.logPdf(rows);
    for (const logarithm of [data[0], data[9999], normal.logPdfSync(rows).data[5000]]) far(logarithm!, -2e38);
    const { data: each } = await batch.logPdf(rows);
    far(each[9999]!, -0.5e38);
    far(each[19_999]!, -2e38);
    const own = await batch.logPdfEach([[4e19], [2e19]]);
    far(own.data[0]!, -2e38);
    far(own.data[1]!, -2e38);
    // The difference of row and mean overflows, the distance does not.
    far(wide.logPdfSync([[-3e38]]).data[0]!, -1800 - Math.log(1e37) - Math.log(2 * Math.PI) / 2);
    far(wide.mahalanobisSync([[-3e38]]).data[0]!, 60);
  },
);

onEveryDevice('Far and near rows among many are measured as they are alone.', async (device) => {
  for (const dtype of realDtypes(device)) {
    const [huge, minute] = dtype === 'float32' ? [2 ** 100, 2 ** -100] : [2 ** 800, 2 ** -800];
    using normal = MultivariateNormal.fromDiagonalSync({ device, dtype, variances: [1] });
    using student = MultivariateStudentT.fromDiagonalSync({ device, dtype, degreesOfFreedom: 3, diagonal: [1] });
    using batch = MultivariateNormalBatch.fromCovarianceSync({ device, dtype, covariances: [[[1]], [[1]]] });
    for (const entries of [[], [huge], [minute], [0, minute, -huge, -minute]]) {
      // So many that the device, or the CPU beside a GPU, looks for such rows.
      const count = device.kind === 'metal' || device.kind === 'cuda' ? 70_000 : 5000;
      const rows = Matrix.from(new Float64Array(count).fill(3), { columns: 1, dtype: 'float64' });
      for (const [i, entry] of entries.entries()) rows.data[1234 * i + 7] = entry;
      const alone = (measured: (row: number[]) => number) => {
        const known = new Map([...new Set(rows.data)].map((entry) => [entry, measured([entry])]));
        return Array.from(rows.data, (entry) => known.get(entry)!);
      };
      const distances = Array.from(rows.data, Math.abs);
      assert.equal(Array.from(normal.mahalanobisSync(rows).data), distances);
      assert.equal(Array.from((await student.mahalanobis(rows)).data), distances);
      const log = alone((row) => normal.logPdfSync(row).data[0]!);
      near((await normal.logPdf(rows)).data, log, 4 * eps(dtype), dtype);
      near(batch.logPdfSync(rows).data, [...log, ...log], 4 * eps(dtype), dtype);
      const students = alone((row) => student.logPdfSync(row).data[0]!);
      near(student.logPdfSync(rows).data, students, 4 * eps(dtype), dtype);
      assert.equal(
        Array.from(normal.scoreInputSync(rows).data),
        Array.from(rows.data, (entry) => 0 - entry),
      );
    }
  }
});

onEveryDevice('Many rows are measured on the support of a singular normal, or are off it.', (device) => {
  for (const dtype of realDtypes(device)) {
    const covariance = [[1, 2], [2, 4]]; // biome-ignore format: a matrix
    using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance, singular: 'pivoted' });
    const rows = Matrix.from(Array.from({ length: 5000 }, (_, i) => (i === 99 ? [1, 1] : [i % 4, 2 * (i % 4)])));
    const distances = Array.from({ length: 5000 }, (_, i) => (i === 99 ? Number.POSITIVE_INFINITY : i % 4));
    near(normal.mahalanobisSync(rows).data, distances, (i) => (i === 99 ? 0 : 1e-5), dtype);
    const atMean = normal.logPdfSync([0, 0]).data[0]!;
    near(normal.logPdfSync(rows).data, distances.map((distance) => atMean - distance ** 2 / 2), 1e-5); // biome-ignore format: short
  }
});

onEveryDevice('scoreInput refuses a row with a NaN, and a closed normal.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
  await throwsCode('ERR_NOT_FINITE', 'NaN', () => normal.scoreInput([[0, Number.NaN, 0]]));
  normal.close();
  await throwsCode('ERR_CLOSED', '3', () => normal.scoreInput([0, 0, 0]));
});

onEveryDevice(
  'The score of a row whose products overflow is right in the entries that the type holds.',
  async (device) => {
    for (const dtype of realDtypes(device)) {
      const far = 1.9 * (dtype === 'float32' ? 2 ** 127 : 2 ** 1023);
      using normal = await MultivariateNormal.fromPrecision({
        device,
        dtype,
        precision: [
          [2, 0.5],
          [0.5, 1],
        ],
      });
      const rows = [
        [far, -far],
        [far / 4, far / 4],
        [1, 1],
      ];
      const scores = (await normal.scoreInput(rows)).toArray();
      assert.is(scores[0]![0], Number.NEGATIVE_INFINITY);
      near([scores[0]![1]! / far], [0.5], () => 1e-5, dtype);
      near([scores[1]![0]! / far, scores[1]![1]! / far], [-0.625, -0.375], () => 1e-5, dtype);
      near(scores[2]!, [-2.5, -1.5], () => 1e-5, dtype);
    }
  },
);

onEveryDevice('An entry that float32 does not hold is shown as it was given.', async (device) => {
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 1], dtype: 'float32' });
  const student = MultivariateStudentT.fromDiagonalSync({
    device,
    diagonal: [1, 1],
    degreesOfFreedom: 3,
    dtype: 'float32',
  });
  const batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances: [identity(2)], dtype: 'float32' });
  const rows = [
    [1, 2],
    [3, 1e200],
  ];
  const calls = {
    logPdf: () => normal.logPdf(rows),
    mahalanobis: () => normal.mahalanobis(rows),
    scoreInput: () => normal.scoreInput(rows),
    student: () => student.scoreInput(rows),
    batch: () => batch.logPdf(rows),
    means: () => normal.sample(2, { means: rows }),
    transform: () => normal.transform(rows),
  };
  for (const call of Object.values(calls))
    await throwsCode('ERR_NOT_FINITE', 'entry (1, 1) is (1e+200), which is infinite in float32', call);
  await throwsCode('ERR_NOT_FINITE', 'entry (1, 1) is (Infinity)', () =>
    normal.logPdf([
      [1, 2],
      [3, Number.POSITIVE_INFINITY],
    ]),
  );
  for (const each of [normal, student, batch]) each.close();
});

onEveryDevice('a score is finite where the difference from the mean overflows.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const covariance = [[2 ** 1000, 0], [0, 1]]; // biome-ignore format: a matrix
  const mean = [2 ** 1023, 0];
  using normal = MultivariateNormal.fromCovarianceSync({ device, dtype: 'float64', mean, covariance });
  const score = normal.scoreInputSync([[-(2 ** 1023), 0], [-(2 ** 1023), 48]]); // biome-ignore format: a matrix
  assert.equal(score.toArray(), [[2 ** 24, 0], [2 ** 24, -48]]); // biome-ignore format: a matrix
});

test.run();
