// Every way to make a normal but the plain ones, on every device: diagonal, eigen, low rank, correlation, singular.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rankTolerance } from '../../lib/decomposition/semidefinite-root.ts';
import { type MatrixInput, MultivariateNormal, Vector } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { lowerFactor, scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const answers = JSON.parse(readFileSync(new URL('../answers/ways-in.json', import.meta.url), 'utf8'));

interface Answer {
  readonly covariance: number[][];
  readonly x: number[];
  readonly logDeterminant: number;
  readonly mahalanobis: number;
  readonly logPdf: number;
}

/** That a normal answers as the 60 digits do. */
function answersAs(normal: MultivariateNormal, answer: Omit<Answer, 'covariance'>, tolerance: number): void {
  near([normal.logDeterminant], [answer.logDeterminant], tolerance, 'log determinant');
  near(normal.logPdfSync(answer.x).toArray(), [answer.logPdf], tolerance, 'log density');
  near(normal.mahalanobisSync(answer.x).toArray(), [answer.mahalanobis], tolerance, 'distance');
}

/** That two normals of one covariance draw, transform and judge alike. */
async function areAlike(one: MultivariateNormal, other: MultivariateNormal, tolerance: number): Promise<void> {
  const n = one.dimension;
  const rows = other.sampleSync(9, { seed: 5, stream: 2, firstRow: 3 });
  near((await one.sample(9, { seed: 5, stream: 2, firstRow: 3 })).toArray().flat(), rows.toArray().flat(), tolerance);
  const z = Array.from({ length: 3 }, (_, r) => Array.from(scattered(n, r)));
  near((await one.transform(z)).toArray().flat(), other.transformSync(z).toArray().flat(), tolerance);
  near((await one.logPdf(rows)).toArray(), other.logPdfSync(rows).toArray(), 10 * n * tolerance);
  near((await one.covariance()).toArray().flat(), other.covarianceSync().toArray().flat(), tolerance);
  near((await one.factor()).toArray().flat(), other.factorSync().toArray().flat(), tolerance);
  near([one.logDeterminant, one.entropy, one.rank], [other.logDeterminant, other.entropy, n], n * tolerance);
}

const diagonalOf = (variances: readonly number[]) =>
  variances.map((v, i) => variances.map((_, j) => (i === j ? v : 0)));

onEveryType('a diagonal normal is the dense one of the same variances.', async (device, dtype, tolerance) => {
  for (const variances of [[4], [1, 4, 9], Array.from({ length: 70 }, (_, i) => 1 + i / 7)]) {
    const mean = variances.map((_, i) => i - 1);
    using diagonal = await MultivariateNormal.fromDiagonal({ device, dtype, mean, variances });
    using dense = MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance: diagonalOf(variances) });
    await areAlike(diagonal, dense, tolerance);
    assert.equal(diagonal.sampleSync(0).rows, 0);
    assert.ok(diagonal.timings.wallMs >= 0);
  }
  using same = MultivariateNormal.fromDiagonalSync({ device, dtype, variances: 4, dimension: 3 });
  using listed = MultivariateNormal.fromDiagonalSync({ device, dtype, variances: Vector.from([4, 4, 4]) });
  assert.equal(same.sampleSync(5, { seed: 1 }).data, listed.sampleSync(5, { seed: 1 }).data);
  assert.is(MultivariateNormal.fromDiagonalSync({ device, dtype, variances: 2, mean: [0, 1] }).dimension, 2);
});

onEveryType('variances that span 10^12 make no normal singular.', async (device, dtype, tolerance) => {
  const wide = answers.wide as Answer;
  const variances = wide.covariance.map((row, i) => row[i]!);
  const { covariance } = wide;
  const vectors = diagonalOf(variances.map(() => 1));
  for (const normal of [
    await MultivariateNormal.fromDiagonal({ device, dtype, variances }),
    await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular: 'pivoted' }),
    await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular: 'eigen' }),
    await MultivariateNormal.fromEigen({ device, dtype, values: variances, vectors }),
    await MultivariateNormal.fromCovariance({ device, dtype, covariance, jitter: true }),
  ]) {
    assert.is(normal.rank, 7);
    answersAs(normal, wide, tolerance);
    normal.close();
  }
});

onEveryType('Hilbert matrices of every way in have the densities of 60 digits.', async (device, dtype) => {
  // Their condition is 1.6e4 (n = 4) and 1.5e10 (n = 8).
  for (const [name, tolerance] of [
    ['hilbert4', dtype === 'float32' ? 2e-2 : 1e-11],
    ['hilbert8', dtype === 'float32' ? 0 : 1e-5],
  ] as const) {
    if (tolerance === 0) continue; // beyond float32
    const answer = answers[name] as Answer;
    const { covariance } = answer;
    for (const singular of ['error', 'pivoted', 'eigen'] as const) {
      using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
      answersAs(normal, answer, tolerance);
    }
  }
});

onEveryType('a Kahan matrix keeps its rank, or loses what float32 cannot hold.', (device, dtype) => {
  const { matrix, values } = answers.spectra.kahan12 as { matrix: number[][]; values: number[] };
  for (const singular of ['pivoted', 'eigen'] as const) {
    using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: matrix, singular });
    assert.ok(normal.rank <= 12 && normal.rank >= (dtype === 'float64' ? 12 : 10), `${singular}: ${normal.rank}`);
    near(normal.covarianceSync().toArray().flat(), matrix.flat(), dtype === 'float64' ? 1e-13 : 1e-5);
    if (normal.rank === 12) {
      const logDeterminant = values.reduce((sum, value) => sum + Math.log(value), 0);
      near([normal.logDeterminant], [logDeterminant], dtype === 'float64' ? 1e-9 : 1e-2);
    }
  }
});

onEveryType('low rank plus a diagonal has the densities of 60 digits.', async (device, dtype, tolerance) => {
  for (const { factor, diagonal, ...answer } of answers.lowRank) {
    using normal = await MultivariateNormal.fromLowRank({ device, dtype, factor, diagonal });
    answersAs(normal, answer, dtype === 'float32' ? 2e-3 : 1e-11);
    const n = diagonal.length;
    const covariance = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) =>
        factor[i].reduce((sum: number, f: number, k: number) => sum + f * factor[j][k], i === j ? diagonal[i] : 0),
      ),
    );
    near(normal.covarianceSync().toArray().flat(), covariance.flat(), tolerance);
    const draws = normal.sampleSync(100_000, { seed: 8 });
    for (let i = 0; i < n; i++)
      for (let j = 0; j <= i; j++) {
        let sum = 0;
        for (let r = 0; r < draws.rows; r++) sum += draws.data[r * n + i]! * draws.data[r * n + j]!;
        const spread = Math.sqrt(covariance[i]![i]! * covariance[j]![j]!);
        assert.ok(Math.abs(sum / draws.rows - covariance[i]![j]!) < 0.025 * spread, `covariance (${i}, ${j})`);
      }
    // A row that was transformed is as far as its z is long, and any rows can be drawn alone.
    const z = Array.from(scattered(n, 4));
    near(
      normal.mahalanobisSync(normal.transformSync(z)).toArray(),
      [Math.sqrt(z.reduce((sum, value) => sum + value * value, 0))],
      dtype === 'float32' ? 1e-3 : 1e-11,
    );
    near(normal.sampleSync(2, { seed: 8, firstRow: 500 }).data, draws.data.slice(500 * n, 502 * n), 10 * tolerance);
  }
  using one = MultivariateNormal.fromLowRankSync({ device, dtype, factor: [[1], [2]], diagonal: 3 });
  near(one.covarianceSync().data, [4, 2, 2, 7], tolerance);
  near(one.factorSync().data, [2, 0, 1, Math.sqrt(6)], tolerance);
});

onEveryType('a singular normal has its rank, its pseudo-determinant and its support.', async (device, dtype) => {
  const tolerance = dtype === 'float32' ? 1e-4 : 1e-11;
  for (const { covariance, rank, ...answer } of answers.singular as (Answer & { rank: number })[]) {
    const n = covariance.length;
    for (const singular of ['pivoted', 'eigen'] as const) {
      using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
      assert.is(normal.rank, rank);
      answersAs(normal, answer, tolerance);
      const root = normal.factorSync();
      assert.equal([root.rows, root.columns], [n, rank]);
      const scale = covariance.map((row, i) => Math.sqrt(row[i]!));
      const product = normal.covarianceSync();
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++)
          assert.ok(Math.abs(product.get(i, j) - covariance[i]![j]!) <= tolerance * scale[i]! * scale[j]!);
      // Each draw is on the support, and a step of a hundredth of a deviation off it in one variable is not.
      const draws = normal.sampleSync(300, { seed: 3 });
      assert.ok(normal.logPdfSync(draws).toArray().every(Number.isFinite));
      for (let i = 0; i < n; i++) {
        const off = answer.x.map((value, k) => (k === i ? value + 0.01 * scale[i]! : value));
        assert.equal(normal.logPdfSync(off).toArray(), [Number.NEGATIVE_INFINITY], `${singular}, variable ${i}`);
        assert.equal(normal.mahalanobisSync(off).toArray(), [Number.POSITIVE_INFINITY]);
        assert.equal(normal.pdfSync(off).toArray(), [0]);
      }
      near(draws.row(7), normal.sampleSync(1, { seed: 3, firstRow: 7 }).data, tolerance);
      near(normal.sampleSync(2, { seed: 3 }).data, draws.data.slice(0, 2 * n), tolerance);
      // One normal less for each missing dimension.
      const z = Array.from(scattered(rank, 9));
      near(
        normal.mahalanobisSync(normal.transformSync(z)).toArray(),
        [Math.sqrt(z.reduce((sum, value) => sum + value * value, 0))],
        10 * tolerance,
      );
    }
  }
});

onEveryType('offsets beside the deviations are rounding, not another support.', (device, dtype) => {
  const covariance = [
    [1, 1],
    [1, 1],
  ];
  const mean = [1e6, 0];
  using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance, singular: 'pivoted' });
  assert.ok(
    normal
      .logPdfSync(normal.sampleSync(200, { seed: 2 }))
      .toArray()
      .every(Number.isFinite),
  );
  assert.equal(normal.logPdfSync([1e6 + 1, 3]).toArray(), [Number.NEGATIVE_INFINITY]);
});

onEveryType('variables that do not vary are their means; a covariance of zeros is a point.', async (device, dtype) => {
  for (const singular of ['pivoted', 'eigen'] as const) {
    const covariance = diagonalOf([0, 4]);
    using flat = await MultivariateNormal.fromCovariance({ device, dtype, mean: [3, 0], covariance, singular });
    assert.is(flat.rank, 1);
    assert.ok(
      flat
        .sampleSync(4)
        .toArray()
        .every(([x]) => x === 3),
    );
    assert.equal(flat.logPdfSync([3.01, 0]).toArray(), [Number.NEGATIVE_INFINITY]);
    near(flat.logPdfSync([3, 0]).toArray(), [-Math.log(8 * Math.PI) / 2], 1e-6);
    const nothing = diagonalOf([0, 0]);
    using point = await MultivariateNormal.fromCovariance({
      device,
      dtype,
      mean: [3, 4],
      covariance: nothing,
      singular,
    });
    assert.equal([point.rank, point.logDeterminant, point.entropy], [0, 0, 0]);
    assert.equal(point.sampleSync(2).toArray(), [
      [3, 4],
      [3, 4],
    ]);
    assert.equal(point.factorSync().toArray(), [[0], [0]]);
    assert.equal(
      point
        .logPdfSync([
          [3, 4],
          [3, 5],
        ])
        .toArray(),
      [0, Number.NEGATIVE_INFINITY],
    );
  }
});

onEveryType('what is clearly indefinite is refused by every way.', async (device, dtype) => {
  const of = (covariance: number[][], singular: 'error' | 'pivoted' | 'eigen') => () =>
    MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
  for (const covariance of [
    [
      [1, 2],
      [2, 1],
    ],
    [
      [1, 1, 1],
      [1, 1, -1],
      [1, -1, 1],
    ],
    [
      [0, 1],
      [1, 1],
    ],
    diagonalOf([1, -0.01]),
  ]) {
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'not positive definite', of(covariance, 'error'));
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'not positive semidefinite', of(covariance, 'pivoted'));
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'not positive semidefinite', of(covariance, 'eigen'));
  }
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'pivot (1)', of([[1, 2], [2, 1]], 'pivoted')); // biome-ignore format: a matrix
  await throwsCode('ERR_NOT_SYMMETRIC', '(1, 0)', of([[1, 2], [0, 1]], 'eigen')); // biome-ignore format: a matrix
  await throwsCode('ERR_NOT_FINITE', '(0, 0)', of([[Number.NaN]], 'pivoted'));
  await throwsCode('ERR_INVALID_ARGUMENT', '(maybe)', of([[1]], 'maybe' as 'error'));
});

onEveryType('an eigen-decomposition gives the normal of its covariance.', async (device, dtype, tolerance) => {
  const [c, s] = [Math.cos(0.3), Math.sin(0.3)];
  const vectors = [
    [c, -s],
    [s, c],
  ];
  // biome-ignore format: a matrix
  const covariance = [[9 * c * c + s * s, 8 * s * c], [8 * s * c, 9 * s * s + c * c]];
  using normal = await MultivariateNormal.fromEigen({ device, dtype, mean: [1, 2], values: [9, 1], vectors });
  using same = MultivariateNormal.fromCovarianceSync({ device, dtype, mean: [1, 2], covariance });
  await areAlike(normal, same, tolerance);
  // Singular by a value of 0, by rounding below it, or by a vector left out.
  for (const options of [
    { values: [9, 0], vectors },
    { values: [9, -1e-16], vectors },
    { values: [9], vectors: [[c], [s]] },
  ]) {
    using line = MultivariateNormal.fromEigenSync({ device, dtype, ...options });
    assert.is(line.rank, 1);
    near([line.logDeterminant], [Math.log(9)], tolerance);
    near(
      line
        .sampleSync(50, { seed: 1 })
        .toArray()
        .map(([x, y]) => x! * s - y! * c),
      new Array(50).fill(0),
      tolerance,
    );
    near(line.logPdfSync([3 * c, 3 * s]).toArray(), [-(Math.log(2 * Math.PI * 9) + 1) / 2], tolerance);
  }
  const of = (values: number[], given: MatrixInput) => () =>
    MultivariateNormal.fromEigen({ device, dtype, values, vectors: given });
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(-1)', of([9, -1], vectors));
  await throwsCode('ERR_INVALID_ARGUMENT', 'orthonormal', of([9, 1], [[1, 0.1], [0, 1]])); // biome-ignore format: a matrix
  await throwsCode('ERR_SHAPE', '(3) columns', of([1, 1], [[1, 0, 0]]));
  await throwsCode('ERR_SHAPE', '(2) columns', of([1, 1], [[1, 0]]));
  await throwsCode('ERR_NOT_FINITE', '(NaN)', of([Number.NaN], [[1]]));
});

onEveryType('correlations and standard deviations give the covariance.', async (device, dtype, tolerance) => {
  const correlation = [
    [1, 0.5],
    [0.5, 1],
  ];
  const standardDeviations = [2, 10];
  using normal = await MultivariateNormal.fromCorrelation({ device, dtype, correlation, standardDeviations });
  near(normal.covarianceSync().data, [4, 10, 10, 100], tolerance);
  const ones = [
    [1, 1],
    [1, 1],
  ];
  const options = { device, dtype, correlation: ones, standardDeviations: [2, 0] };
  using flat = MultivariateNormal.fromCorrelationSync({ ...options, singular: 'pivoted' });
  assert.is(flat.rank, 1);
  near(flat.covarianceSync().data, [4, 0, 0, 0], tolerance);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(0)', () => MultivariateNormal.fromCorrelation(options));
  await throwsCode('ERR_OUT_OF_RANGE', '(4)', () =>
    MultivariateNormal.fromCorrelation({ device, dtype, correlation: diagonalOf([4, 1]), standardDeviations }),
  );
  await throwsCode('ERR_SHAPE', '(1) columns', () =>
    MultivariateNormal.fromCorrelation({ device, dtype, correlation, standardDeviations: [1] }),
  );
});

onEveryType('a positive definite covariance is the same normal by every way.', async (device, dtype, tolerance) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.nat(1000), async (n, seed) => {
      const factor = Float64Array.from(lowerFactor(n, seed));
      const covariance = Array.from({ length: n }, (_, i) =>
        Array.from({ length: n }, (_, j) => {
          let sum = 0;
          for (let k = 0; k < n; k++) sum += factor[i * n + k]! * factor[j * n + k]!;
          return sum;
        }),
      );
      using plain = await MultivariateNormal.fromCovariance({ device, dtype, covariance });
      for (const singular of ['pivoted', 'eigen'] as const) {
        using same = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
        await areAlike(same, plain, 10 * tolerance);
      }
    }),
    { numRuns: 15 },
  );
});

onEveryType(
  'a random singular covariance, rounded to the type, keeps its draws on its support.',
  async (device, dtype) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(1000),
        async (n, most, seed) => {
          const rank = Math.min(n - 1, most);
          const a = scattered(n * rank, seed);
          const covariance = Array.from({ length: n }, (_, i) =>
            Array.from({ length: n }, (_, j) => {
              let sum = 0;
              for (let k = 0; k < rank; k++) sum += a[i * rank + k]! * a[j * rank + k]!;
              return sum;
            }),
          );
          for (const singular of ['pivoted', 'eigen'] as const) {
            using normal = await MultivariateNormal.fromCovariance({ device, dtype, covariance, singular });
            assert.ok(normal.rank <= rank + (dtype === 'float32' ? 1 : 0), `rank (${normal.rank}) of (${rank})`);
            const densities = normal.logPdfSync(normal.sampleSync(20, { seed }));
            assert.ok(densities.toArray().every(Number.isFinite), `${singular}, ${n}, ${rank}, ${seed}`);
          }
        },
      ),
      { numRuns: 25 },
    );
  },
);

onEveryDevice(
  'standard deviations that float32 does not hold, or whose inverses it does not, are refused.',
  async (device) => {
    for (const variance of [1e300, 1e-300, 1e-80]) {
      const refused = (work: () => unknown) => throwsCode('ERR_OUT_OF_RANGE', '(float32)', work);
      await refused(() => MultivariateNormal.fromDiagonal({ device, variances: [1, variance] }));
      await refused(() => MultivariateNormal.fromLowRank({ device, factor: [[1], [1]], diagonal: [1, variance] }));
      await refused(() => MultivariateNormal.fromEigen({ device, values: [variance], vectors: [[1], [0]] }));
    }
  },
);

onEveryDevice('what is no description of a normal is refused.', async (device) => {
  const { fromDiagonal, fromLowRank } = MultivariateNormal;
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(0)', () => fromDiagonal({ device, variances: [1, 0] }));
  await throwsCode('ERR_NOT_FINITE', '(Infinity)', () =>
    fromDiagonal({ device, variances: [Number.POSITIVE_INFINITY] }),
  );
  await throwsCode('ERR_SHAPE', '(2)', () => fromDiagonal({ device, variances: 2 }));
  await throwsCode('ERR_SHAPE', '(0) entries', () => fromDiagonal({ device, variances: [] }));
  await throwsCode('ERR_SHAPE', '(2) columns', () => fromDiagonal({ device, variances: [1, 2], mean: [1] }));
  await throwsCode('ERR_UNKNOWN_OPTION', '(variance)', () => fromDiagonal({ device, variance: 1 } as never));
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(-1)', () => fromLowRank({ device, factor: [[1]], diagonal: -1 }));
  await throwsCode('ERR_NOT_FINITE', '(0, 1)', () => fromLowRank({ device, factor: [[1, Number.NaN]], diagonal: 1 }));
  await throwsCode('ERR_SHAPE', '(2) columns', () => fromLowRank({ device, factor: [[1]], diagonal: [1, 2] }));
  const before = device.memory().liveBytes;
  const made = await fromLowRank({ device, factor: [[1], [2]], diagonal: 1 });
  made.close();
  await throwsCode('ERR_CLOSED', '(2)', () => made.sample(1));
  assert.is(device.memory().liveBytes, before);
});

test('What counts as zero is a few roundings, and grows with the dimension.', () => {
  assert.equal([rankTolerance(1, 'float64'), rankTolerance(100, 'float32')], [2 ** -49, 100 * 2 ** -23]);
});

test.run();
