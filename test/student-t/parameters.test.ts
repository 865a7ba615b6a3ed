// A Student-t from the parts of its scale: diagonal, eigen-decomposition, low rank, correlation. Log determinants and
// distances are compared with 60-digit answers (test/answers/ways-in.json).
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Distribution, MultivariateNormal, MultivariateStudentT, openDevice, Vector } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Answer {
  readonly covariance: number[][];
  readonly x: number[];
  readonly logDeterminant: number;
  readonly mahalanobis: number;
}
interface LowRankAnswer extends Omit<Answer, 'covariance'> {
  readonly factor: number[][];
  readonly diagonal: number[];
}
const answers: { readonly wide: Answer; readonly hilbert4: Answer; readonly lowRank: readonly LowRankAnswer[] } =
  JSON.parse(readFileSync(new URL('../answers/ways-in.json', import.meta.url), 'utf8'));

const diagonalOf = (entries: readonly number[]) => entries.map((d, i) => entries.map((_, j) => (i === j ? d : 0)));

/** ln Gamma(1 + n / 2), computed from its product. */
function logGammaOfHalf(n: number): number {
  let product = n % 2 === 0 ? 1 : Math.sqrt(Math.PI);
  for (let half = n / 2; half > 0; half--) product *= half;
  return Math.log(product);
}

/** Asserts that a Student-t with two degrees of freedom gives the 60-digit answers. */
function answersAs(
  student: MultivariateStudentT,
  { x, logDeterminant, mahalanobis }: Omit<Answer, 'covariance'>,
  tolerance: number,
): void {
  const n = x.length;
  const decay = (1 + n / 2) * Math.log1p(mahalanobis ** 2 / 2);
  const logPdf = logGammaOfHalf(n) - (n * Math.log(2 * Math.PI) + logDeterminant) / 2 - decay;
  near([student.logDeterminant], [logDeterminant], tolerance, 'log determinant');
  near(student.mahalanobisSync(x).data, [mahalanobis], tolerance, 'distance');
  near(student.logPdfSync(x).data, [logPdf], tolerance, 'log density');
}

/** Asserts that two Student-ts with the same scale give the same draws, densities and conditionals. */
async function areAlike(one: MultivariateStudentT, other: MultivariateStudentT, tolerance: number): Promise<void> {
  const rows = other.sampleSync(9, { seed: 5, stream: 2, firstRow: 3 });
  near((await one.sample(9, { seed: 5, stream: 2, firstRow: 3 })).data, rows.data, 8 * tolerance, 'draws');
  near((await one.logPdf(rows)).data, other.logPdfSync(rows).data, 10 * one.dimension * tolerance, 'log densities');
  near((await one.scoreInput(rows)).data, other.scoreInputSync(rows).data, 8 * tolerance, 'gradients');
  near((await one.scale()).data, other.scaleSync().data, tolerance, 'scale');
  near((await one.factor()).data, other.factorSync().data, tolerance, 'factor');
  near(one.location.data, other.location.data, 0, 'location');
  near([one.logDeterminant, one.entropy, one.rank], [other.logDeterminant, other.entropy, other.rank], 8 * tolerance);
  if (one.dimension === 1) return;
  using part = await one.conditional({ given: [0], values: [0.5] });
  using same = other.conditionalSync({ given: [0], values: [0.5] });
  near(part.scaleSync().data, same.scaleSync().data, 8 * tolerance, 'scale given one');
  near(part.location.data, same.location.data, 8 * tolerance, 'location given one');
}

onEveryType(
  'a diagonal scale equals the dense one, and keeps 12 orders of magnitude.',
  async (device, dtype, tolerance) => {
    const shared = { device, dtype, degreesOfFreedom: 4.5 };
    for (const variances of [[4], [1, 4, 9], Array.from({ length: 70 }, (_, i) => 1 + i / 7)]) {
      const location = variances.map((_, i) => i - 1);
      using diagonal = await MultivariateStudentT.fromDiagonal({ ...shared, location, diagonal: variances });
      using dense = await MultivariateStudentT.fromScale({ ...shared, location, scale: diagonalOf(variances) });
      await areAlike(diagonal, dense, tolerance);
    }
    using same = MultivariateStudentT.fromDiagonalSync({ ...shared, diagonal: 4, dimension: 3 });
    using listed = MultivariateStudentT.fromDiagonalSync({ ...shared, diagonal: Vector.from([4, 4, 4]) });
    assert.equal(same.sampleSync(5, { seed: 1 }).data, listed.sampleSync(5, { seed: 1 }).data);
    assert.is(MultivariateStudentT.fromDiagonalSync({ ...shared, diagonal: 2, location: [0, 1] }).dimension, 2);
    const { covariance, ...wide } = answers.wide;
    const variances = covariance.map((row, i) => row[i]!);
    using far = await MultivariateStudentT.fromDiagonal({ device, dtype, degreesOfFreedom: 2, diagonal: variances });
    answersAs(far, wide, tolerance);
  },
);

onEveryType(
  'a scale of low rank plus a diagonal has the densities of 60-digit answers.',
  async (device, dtype, tolerance) => {
    const shared = { device, dtype, degreesOfFreedom: 2 };
    for (const { factor, diagonal, ...answer } of answers.lowRank) {
      using student = await MultivariateStudentT.fromLowRank({ ...shared, factor, diagonal });
      answersAs(student, answer, dtype === 'float32' ? 2e-3 : 1e-11);
      using alike = MultivariateStudentT.fromLowRankSync({ ...shared, factor, diagonal });
      assert.equal((await alike.sample(7, { seed: 3 })).data, student.sampleSync(7, { seed: 3 }).data);
    }
    using one = MultivariateStudentT.fromLowRankSync({ ...shared, location: [1, 5], factor: [[1], [2]], diagonal: 3 });
    near(one.scaleSync().data, [4, 2, 2, 7], tolerance);
    near(one.mean.data, [1, 5], 0);
  },
);

onEveryType('an eigen-decomposition and a correlation matrix give the scale.', async (device, dtype, tolerance) => {
  // A turn by the angle whose cosine is 0.6: the scale is [[3.72, 0.96], [0.96, 4.28]] / 2 for the values 2.5 and 1.5.
  const vectors = [
    [0.6, -0.8],
    [0.8, 0.6],
  ];
  const scale = [
    [2.5 * 0.36 + 1.5 * 0.64, 0.48],
    [0.48, 2.5 * 0.64 + 1.5 * 0.36],
  ];
  const shared = { device, dtype, degreesOfFreedom: 4.5, location: [1, -1] };
  using dense = await MultivariateStudentT.fromScale({ ...shared, scale });
  using turned = await MultivariateStudentT.fromEigen({ ...shared, values: [2.5, 1.5], vectors });
  using alsoTurned = MultivariateStudentT.fromEigenSync({ ...shared, values: [2.5, 1.5], vectors });
  const standardDeviations = [Math.sqrt(scale[0]![0]!), Math.sqrt(scale[1]![1]!)];
  const r = 0.48 / (standardDeviations[0]! * standardDeviations[1]!);
  const correlation = [
    [1, r],
    [r, 1],
  ];
  using correlated = await MultivariateStudentT.fromCorrelation({ ...shared, correlation, scales: standardDeviations });
  using alsoCorrelated = MultivariateStudentT.fromCorrelationSync({
    ...shared,
    correlation,
    scales: standardDeviations,
  });
  for (const student of [turned, alsoTurned, correlated, alsoCorrelated]) await areAlike(student, dense, tolerance);
  // Singular ones: their support is a line.
  using line = await MultivariateStudentT.fromEigen({ ...shared, values: [25], vectors: [[0.6], [0.8]] });
  const ones = [
    [1, 1],
    [1, 1],
  ];
  const flat = { ...shared, correlation: ones, scales: [3, 4] };
  using pivoted = await MultivariateStudentT.fromCorrelation({ ...flat, singular: 'pivoted' });
  for (const student of [line, pivoted]) {
    assert.is(student.rank, 1);
    near([student.logDeterminant], [Math.log(25)], tolerance);
    near(student.mahalanobisSync([7, 7]).data, [2], tolerance);
    assert.equal(student.logPdfSync([7, 8]).toArray(), [Number.NEGATIVE_INFINITY]);
  }
  using shaken = await MultivariateStudentT.fromCorrelation({ ...flat, jitter: true });
  assert.ok(shaken.rank === 2 && shaken.jitter!.amount > 0);
  // Hilbert's matrix, with a condition number of 1.6e4.
  const { covariance, ...hilbert } = answers.hilbert4;
  const deviations = covariance.map((row, i) => Math.sqrt(row[i]!));
  using steep = await MultivariateStudentT.fromCorrelation({
    ...{ device, dtype, degreesOfFreedom: 2, scales: deviations },
    correlation: covariance.map((row, i) => row.map((x, j) => (i === j ? 1 : x / deviations[i]! / deviations[j]!))),
  });
  answersAs(steep, hilbert, dtype === 'float32' ? 2e-2 : 1e-11);
});

onEveryType('with infinitely many degrees of freedom every way gives the normal, to the bit.', (device, dtype) => {
  const shared = { device, dtype };
  const t = { ...shared, degreesOfFreedom: Number.POSITIVE_INFINITY, location: [3, 4] };
  const normal = { ...shared, mean: [3, 4] };
  const diagonal = [2, 5];
  const lowRank = { factor: [[1], [2]], diagonal: [2, 3] };
  const eigen = { values: [2], vectors: [[0.6], [0.8]] };
  const correlation = [
    [1, 0.5],
    [0.5, 1],
  ];
  const scales = [2, 3];
  const pairs: [Distribution, Distribution][] = [
    [
      MultivariateStudentT.fromDiagonalSync({ ...t, diagonal }),
      MultivariateNormal.fromDiagonalSync({ ...normal, variances: diagonal }),
    ],
    [
      MultivariateStudentT.fromLowRankSync({ ...t, ...lowRank }),
      MultivariateNormal.fromLowRankSync({ ...normal, ...lowRank }),
    ],
    [MultivariateStudentT.fromEigenSync({ ...t, ...eigen }), MultivariateNormal.fromEigenSync({ ...normal, ...eigen })],
    [
      MultivariateStudentT.fromCorrelationSync({ ...t, correlation, scales }),
      MultivariateNormal.fromCorrelationSync({ ...normal, correlation, standardDeviations: scales }),
    ],
  ];
  for (const [one, other] of pairs) {
    const draws = one.sampleSync(9, { seed: 6 });
    assert.equal(draws.data, other.sampleSync(9, { seed: 6 }).data);
    assert.equal(one.logPdfSync(draws).data, other.logPdfSync(draws).data);
  }
  for (const each of pairs.flat()) each.close();
});

onEveryDevice('parts that do not give a scale are refused, with messages about a Student-t.', async (device) => {
  const t = { device, degreesOfFreedom: 3 };
  const vectors = diagonalOf([1, 1]);
  for (const degreesOfFreedom of [0, -1, Number.NaN]) {
    const none = { device, degreesOfFreedom };
    await throwsCode('ERR_OUT_OF_RANGE', `(${degreesOfFreedom})`, () =>
      MultivariateStudentT.fromDiagonal({ ...none, diagonal: [1] }),
    );
    await throwsCode('ERR_OUT_OF_RANGE', `(${degreesOfFreedom})`, () =>
      MultivariateStudentT.fromEigen({ ...none, values: [1, 1], vectors }),
    );
    await throwsCode('ERR_OUT_OF_RANGE', `(${degreesOfFreedom})`, () =>
      MultivariateStudentT.fromLowRank({ ...none, factor: [[1]], diagonal: 1 }),
    );
    await throwsCode('ERR_OUT_OF_RANGE', `(${degreesOfFreedom})`, () =>
      MultivariateStudentT.fromCorrelation({ ...none, correlation: vectors, scales: [1, 1] }),
    );
  }
  await throwsCode('ERR_UNKNOWN_OPTION', '(mean)', () =>
    // @ts-expect-error The mean is there for more than one degree of freedom only.
    MultivariateStudentT.fromDiagonal({ ...t, diagonal: [1], mean: [0] }),
  );
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`diagonal` entry (1)', () =>
    MultivariateStudentT.fromDiagonal({ ...t, diagonal: [1, 0] }),
  );
  await throwsCode('ERR_SHAPE', '`diagonal` is one number', () =>
    MultivariateStudentT.fromDiagonalSync({ ...t, diagonal: 1 }),
  );
  await throwsCode('ERR_SHAPE', '`location` has (1) entries', () =>
    MultivariateStudentT.fromDiagonal({ ...t, diagonal: [1, 1], location: [1] }),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '`diagonal` is too large', () =>
    MultivariateStudentT.fromDiagonal({ ...t, diagonal: [1e-90] }),
  );
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`values[1]` is (-1)', () =>
    MultivariateStudentT.fromEigen({ ...t, values: [1, -1], vectors }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', 'orthonormal', () =>
    MultivariateStudentT.fromEigen({ ...t, values: [1], vectors: [[2]] }),
  );
  await throwsCode('ERR_NOT_FINITE', '`location` entry (1)', () =>
    MultivariateStudentT.fromEigen({ ...t, values: [1, 1], vectors, location: [0, Number.NaN] }),
  );
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`diagonal` entry (0)', () =>
    MultivariateStudentT.fromLowRank({ ...t, factor: [[1], [2]], diagonal: [-1, 1] }),
  );
  await throwsCode('ERR_SHAPE', '`location`', () =>
    MultivariateStudentT.fromLowRank({ ...t, factor: [[1], [2]], diagonal: 1, location: [1, 2, 3] }),
  );
  const deviations = { scales: [1, 1] };
  await throwsCode('ERR_OUT_OF_RANGE', '(1, 1)', () =>
    MultivariateStudentT.fromCorrelation({ ...t, ...deviations, correlation: diagonalOf([1, 2]) }),
  );
  const indefinite = [
    [1, 2],
    [2, 1],
  ];
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`correlation`', () =>
    MultivariateStudentT.fromCorrelation({ ...t, ...deviations, correlation: indefinite, singular: 'eigen' }),
  );
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`correlation`', () =>
    MultivariateStudentT.fromCorrelation({ ...t, ...deviations, correlation: indefinite, jitter: true }),
  );
});

test('Property: the parts give the scale, with the coordinates in any order.', async () => {
  using device = openDevice('reference');
  const size = fc.double({ min: -3, max: 3, noNaN: true }).map((exponent) => 10 ** exponent);
  await fc.assert(
    fc.asyncProperty(
      fc.array(size, { minLength: 1, maxLength: 5 }),
      fc.double({ min: 0.5, max: 100, noNaN: true }),
      async (variances, degreesOfFreedom) => {
        const shared = { device, dtype: 'float64', degreesOfFreedom } as const;
        const n = variances.length;
        using diagonal = MultivariateStudentT.fromDiagonalSync({ ...shared, diagonal: variances });
        // Eigenvectors are the axes, in the reverse order.
        const vectors = variances.map((_, i) => variances.map((_, j) => Number(i + j === n - 1)));
        using eigen = MultivariateStudentT.fromEigenSync({ ...shared, values: variances.toReversed(), vectors });
        using lowRank = MultivariateStudentT.fromLowRankSync({
          ...shared,
          factor: variances.map((v, i) => [i === 0 ? Math.sqrt(v / 2) : 0]),
          diagonal: variances.map((v, i) => (i === 0 ? v / 2 : v)),
        });
        using correlation = MultivariateStudentT.fromCorrelationSync({
          ...shared,
          correlation: diagonalOf(variances.map(() => 1)),
          scales: variances.map(Math.sqrt),
        });
        for (const student of [eigen, lowRank, correlation]) await areAlike(student, diagonal, 1e-12);
      },
    ),
    { numRuns: 40 },
  );
});

onEveryDevice('Degrees of freedom whose half is not a normal number are refused.', async (device) => {
  const of = (degreesOfFreedom: number) =>
    MultivariateStudentT.fromDiagonalSync({ device, degreesOfFreedom, diagonal: 1, dimension: 2 });
  for (const nu of [5e-324, 2 ** -1022])
    await throwsCode('ERR_OUT_OF_RANGE', `\`degreesOfFreedom\` is (${nu}), not a positive number of at least`, () =>
      of(nu),
    );
  using least = of(2 ** -1021);
  for (const density of least.logPdfSync([0, 0]).data) assert.ok(Number.isFinite(density), `${density}`);
});

test.run();
