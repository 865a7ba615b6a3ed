import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  correlationOf,
  MultivariateNormal,
  nearestPositiveDefinite,
  nearestPositiveDefiniteSync,
  openDevice,
} from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const { cases } = JSON.parse(readFileSync(new URL('../answers/nearest.json', import.meta.url), 'utf8')) as {
  cases: { matrix: number[][]; nearest: number[][]; correlation: number[][] }[];
};
const higham = [
  [1, 1, 0],
  [1, 1, 1],
  [0, 1, 1],
];

function near(actual: readonly number[][], expected: readonly number[][], tolerance: number): void {
  actual.flat().forEach((value, at) => {
    const wanted = expected.flat()[at]!;
    if (!(Math.abs(value - wanted) <= tolerance)) assert.unreachable(`entry (${at}) is (${value}), not (${wanted})`);
  });
}

test("The nearest correlation matrix equals Higham's.", () => {
  near(
    nearestPositiveDefiniteSync(higham, { correlation: true }).toArray(),
    [
      [1, 0.7607, 0.1573],
      [0.7607, 1, 0.7607],
      [0.1573, 0.7607, 1],
    ],
    5e-5,
  );
});

test("The nearest matrices equal those of R's nearPD, except for the eigenvalues that are raised.", () => {
  for (const { matrix, nearest, correlation } of cases) {
    // Eigenvalues of 1e-8 of the largest in place of 0.
    near(nearestPositiveDefiniteSync(matrix).toArray(), nearest, 1e-7);
    near(nearestPositiveDefiniteSync(matrix, { correlation: true }).toArray(), correlation, 1e-7);
  }
});

test('The nearest matrix is symmetric and positive definite, in either type; a positive definite matrix is its own nearest.', () => {
  using device = openDevice('reference');
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), fc.nat(1000), fc.boolean(), (n, seed, correlation) => {
      const a = scattered(n * n, seed);
      for (const dtype of ['float32', 'float64'] as const) {
        const found = nearestPositiveDefiniteSync(a, { correlation, dtype });
        assert.is(found.dtype, dtype);
        if (correlation)
          assert.equal(
            found.toArray().map((row, i) => row[i]),
            new Array(n).fill(1),
          );
        MultivariateNormal.fromCovarianceSync({ device, covariance: found, dtype }).close();
      }
    }),
    { numRuns: 60 },
  );
  const own = [
    [2, 0.5],
    [0.5, 1],
  ];
  near(nearestPositiveDefiniteSync(own).toArray(), own, 1e-15);
});

test('Each device finds the same nearest matrix, awaited or not.', async () => {
  const wanted = nearestPositiveDefiniteSync(higham, { correlation: true }).toArray();
  for (const kind of ['reference', 'auto'] as const) {
    using device = openDevice(kind);
    near((await nearestPositiveDefinite(higham, { device, correlation: true })).toArray(), wanted, 1e-9);
  }
  const closed = openDevice('reference');
  closed.close();
  await throwsCode('ERR_CLOSED', () => nearestPositiveDefinite(higham, { device: closed }));
});

test('Only a square matrix of finite numbers has a nearest positive definite one.', async () => {
  await throwsCode('ERR_SHAPE', '(1) rows', () => nearestPositiveDefiniteSync([[1, 2]]));
  await throwsCode('ERR_NOT_FINITE', '(0, 1)', () =>
    nearestPositiveDefiniteSync([
      [1, Number.NaN],
      [0, 1],
    ]),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '(1 x 1)', () => nearestPositiveDefiniteSync([[0]]));
  assert.equal(nearestPositiveDefiniteSync([[0]], { correlation: true }).toArray(), [[1]]);
  await throwsCode('ERR_UNKNOWN_OPTION', '(corr)', () => nearestPositiveDefiniteSync(higham, { corr: true } as object));
});

test('Correlations and deviations give the covariance back.', async () => {
  const { correlation, standardDeviations } = correlationOf([
    [4, 3, 0],
    [3, 9, 0],
    [0, 0, 0],
  ]);
  assert.equal(correlation.toArray(), [
    [1, 0.5, 0],
    [0.5, 1, 0],
    [0, 0, 1],
  ]);
  assert.equal(standardDeviations.toArray(), [2, 3, 0]);
  const tiny = correlationOf([
    [1e-300, 5e-301],
    [5e-301, 1e-300],
  ]);
  assert.ok(Math.abs(tiny.correlation.get(0, 1) - 0.5) < 1e-15);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(-1)', () => correlationOf([[-1]]));
  const none = [
    [0, 1],
    [1, 9],
  ];
  assert.is((await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(0, 1)', () => correlationOf(none))).pivot, 0);
  await throwsCode('ERR_NOT_FINITE', '(Infinity)', () => correlationOf([[Number.POSITIVE_INFINITY]]));
  await throwsCode('ERR_SHAPE', '(1) rows', () => correlationOf([[1, 2]]));
});

test('A matrix that is not a covariance has no correlations.', async () => {
  const of = (upper: number, lower: number) => () =>
    correlationOf([
      [1, upper],
      [lower, 1],
    ]);
  await throwsCode('ERR_NOT_SYMMETRIC', '`covariance` is not symmetric: entry (1, 0) is (0.3)', of(0.2, 0.3));
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`covariance` entry (0, 1) is (-2), a correlation of', of(-2, -2));
  const { correlation } = of(1 + 1e-12, 1 + 2e-12)();
  assert.is(correlation.get(0, 1), correlation.get(1, 0));
});

onEveryDevice('the nearest matrix is correct even near the largest and the smallest numbers.', async (device) => {
  for (const size of [1e308, 1e-280, 1e-300]) {
    const given = [
      [size, 2 * (size / 2)],
      [size, size],
    ];
    const found = nearestPositiveDefiniteSync(given, { device });
    for (const each of found.data) assert.ok(Math.abs(each / size - 1) < 1e-7, `${each}`);
    // Its variances may be that small.
    if (size > 1e-292) MultivariateNormal.fromCovarianceSync({ device, covariance: found, dtype: 'float64' }).close();
  }
  // It has an eigenvalue of 2.4e308.
  const beyond = [
    [1.7e308, 1.7e308],
    [1.7e308, -1.7e308],
  ];
  await throwsCode('ERR_OUT_OF_RANGE', 'too large', () => nearestPositiveDefinite(beyond, { device }));
  const positive = [
    [2, 1],
    [1, 2],
  ];
  assert.equal(nearestPositiveDefiniteSync(positive, { device }).toArray(), positive);
});

onEveryDevice('the nearest correlation matrix depends only on the entries off the diagonal.', async (device) => {
  // The first steps from a diagonal below 0 look converged, and 1e-8 of 1e9 is more than any eigenvalue.
  for (const diagonal of [1, 0, -5, -1e9, 1e9, 1e200])
    for (const [given, wanted] of [
      [0.5, 0.5],
      [2, 1],
    ] as const) {
      const matrix = [
        [diagonal, given],
        [given, diagonal],
      ];
      const found = nearestPositiveDefiniteSync(matrix, { device, correlation: true });
      near(
        found.toArray(),
        [
          [1, wanted],
          [wanted, 1],
        ],
        2e-8,
      );
    }
  const far = [
    [1, 2e8],
    [2e8, 1],
  ];
  await throwsCode('ERR_OUT_OF_RANGE', '`matrix` entry (0, 1) is (200000000)', () =>
    nearestPositiveDefinite(far, { device, correlation: true }),
  );
});

onEveryDevice('a nearest matrix that the type would round to zeros is refused.', async (device) => {
  const tiny = [
    [1, 0],
    [0, 1e-60],
  ];
  await throwsCode('ERR_OUT_OF_RANGE', 'too small for float32', () =>
    nearestPositiveDefinite(tiny, { device, dtype: 'float32' }),
  );
  await throwsCode('ERR_OUT_OF_RANGE', 'variance (0) is (5e-324), too small for float64', () =>
    nearestPositiveDefinite([[Number.MIN_VALUE]], { device }),
  );
  assert.ok(Math.abs(nearestPositiveDefiniteSync(tiny, { device }).get(1, 1) / 1e-60 - 1) < 1e-14);
});

test('A correlation is symmetric to the last bit.', () => {
  const { correlation } = correlationOf([
    [3, 0.3 * Math.sqrt(21)],
    [0.3 * Math.sqrt(21), 7],
  ]);
  assert.is(correlation.get(0, 1), correlation.get(1, 0));
});

test.run();
