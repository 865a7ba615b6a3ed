import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { klDivergence, Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import { answers, answersAs } from '../harness/same-normal.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryType('low rank plus a diagonal has the densities of 60-digit answers.', async (device, dtype, tolerance) => {
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
    // The distance of a transformed row is the length of its z, and any rows can be drawn alone.
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

onEveryType('A small diagonal costs distances, densities and gradients no digits.', (device, dtype, tolerance) => {
  for (const d of dtype === 'float32' ? [1e-6, 1e-12, 1e-20] : [1e-6, 1e-12, 1e-20, 1e-40, 1e-60]) {
    using normal = MultivariateNormal.fromLowRankSync({ device, dtype, factor: [[1]], diagonal: [d] });
    const variance = 1 + d;
    near(normal.mahalanobisSync([[1]]).data, [1 / Math.sqrt(variance)], tolerance);
    near(normal.logPdfSync([[1]]).data, [-0.5 * Math.log(2 * Math.PI * variance) - 0.5 / variance], tolerance);
    near(normal.scoreInputSync([[1]]).data, [-1 / variance], tolerance);
  }
});

test('A marginal and a sum of 100,000 coordinates take no square of them.', async () => {
  using device = openDevice('reference');
  const n = 100_000;
  const [a, b] = [0, 1].map((k) => Float64Array.from({ length: n }, (_, i) => Math.sin(i + k)));
  const factor = Matrix.from(
    Float64Array.from({ length: 2 * n }, (_, at) => (at % 2 === 0 ? a! : b!)[at >> 1]!),
    { columns: 2 },
  );
  const mean = Float64Array.from({ length: n }, (_, i) => i);
  using normal = await MultivariateNormal.fromLowRank({ device, mean, factor, diagonal: 0.5 });
  const between = (i: number, j: number) => a![i]! * a![j]! + b![i]! * b![j]! + (i === j ? 0.5 : 0);
  const places = [99_999, 3, 50_000];
  using part = await normal.marginal(places);
  assert.equal(part.mean.toArray(), places);
  near(
    part.covarianceSync().data,
    places.flatMap((i) => places.map((j) => between(i, j))),
    1e-14,
  );
  const weights = [1, -2, 3].map((weight) => weight / n);
  const matrix = Matrix.from(
    Float64Array.from({ length: 2 * n }, (_, at) => (at < n ? 1 / n : (weights[at % 3] ?? 0))),
    { columns: n },
  );
  using image = await normal.affine({
    matrix,
    noise: [
      [1, 0],
      [0, 2],
    ],
    offset: [5, 6],
  });
  const row = (r: number) => Array.from({ length: n }, (_, i) => matrix.at(r, i));
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>) => Array.from(x).reduce((sum, v, i) => sum + v * y[i]!, 0);
  const rows = [row(0), row(1)];
  near(
    image.mean.data,
    rows.map((x, i) => dot(x, mean) + 5 + i),
    1e-9,
  );
  const expected = rows.flatMap((x, i) =>
    rows.map((y, j) => dot(x, a!) * dot(y, a!) + dot(x, b!) * dot(y, b!) + 0.5 * dot(x, y) + (i === j ? 1 + i : 0)),
  );
  near(image.covarianceSync().data, expected, 1e-13);
});

onEveryType(
  'Marginals, conditionals and images are those of the dense covariance.',
  async (device, dtype, tolerance) => {
    for (const diagonal of [
      [0.5, 0.25, 1, 2],
      [1e-6, 1, 1e-3, 1e-9],
    ]) {
      // More columns than a marginal has coordinates.
      const factor = [
        [1, 0.5, -1],
        [2, 1, 0.25],
        [0, -1, 1],
        [0.5, 0, 1],
      ];
      using normal = await MultivariateNormal.fromLowRank({ device, dtype, factor, diagonal, mean: [1, 2, 3, 4] });
      const covariance = factor.map((x, i) =>
        factor.map((y, j) => x.reduce((sum, v, k) => sum + v * y[k]!, i === j ? diagonal[i]! : 0)),
      );
      for (const places of [[2], [3, 1], [0, 1, 2], [3, 2, 1, 0]]) {
        using part = await normal.marginal(places);
        assert.equal(
          part.mean.toArray(),
          places.map((i) => i + 1),
        );
        near(
          part.covarianceSync().data,
          places.flatMap((i) => places.map((j) => covariance[i]![j]!)),
          8 * tolerance,
        );
      }
      const matrix = [
        [1, 1, 0, -1],
        [0, 2, 0, 1],
      ];
      using image = await normal.affine({ matrix, offset: [1, 1] });
      near(image.mean.data, [0, 9], tolerance);
      const expected = matrix.flatMap((x) =>
        matrix.map((y) =>
          x.reduce((sum, v, i) => sum + y.reduce((inner, w, j) => inner + v * w * covariance[i]![j]!, 0), 0),
        ),
      );
      near(image.covarianceSync().data, expected, 32 * tolerance);
      using two = await normal.marginal([1, 2]);
      using given = await two.conditional({ given: [0], values: [3] });
      const share = covariance[1]![2]! / covariance[1]![1]!;
      near(given.mean.data, [3 + share], 8 * tolerance);
      near(given.variancesSync().data, [covariance[2]![2]! - share * covariance[1]![2]!], 64 * tolerance);
    }
  },
);

// The first two coordinates determine both factors, f1 = 2 x1 - x2 and f2 = x2 - x1, so the third is f1 - f2 plus its
// own noise: d^2 = f1^2 + f2^2 + (x3 - 3 x1 + 2 x2)^2.
onEveryType('A diagonal over many decades loses no factor.', (device, dtype, tolerance) => {
  const factor = [
    [1, 1],
    [1, 2],
    [1, -1],
  ];
  const order = [2, 0, 1];
  for (const diagonal of dtype === 'float32'
    ? [[1e-30, 1e-15, 1]]
    : [
        [1e-30, 1e-30, 1],
        [1e-90, 1e-40, 1],
      ])
    for (const turned of [[0, 1, 2], order]) {
      const inOrder = <T>(values: readonly T[]) => turned.map((i) => values[i]!);
      using normal = MultivariateNormal.fromLowRankSync({
        device,
        dtype,
        factor: inOrder(factor),
        diagonal: inOrder(diagonal),
      });
      const rows = [inOrder([1, 0, 0]), inOrder([0, 0, 1])];
      near(normal.mahalanobisSync(rows).data, [Math.sqrt(14), 1], tolerance);
      near(normal.scoreInputSync(rows).data, [...inOrder([-14, 9, 3]), ...inOrder([3, -2, -1])], 4 * tolerance);
      const draws = normal.sampleSync(20_000, { seed: 3 });
      const at = (name: number) => turned.indexOf(name);
      let noise = 0;
      let factors = 0;
      for (let r = 0; r < draws.rows; r++) {
        const [x1, x2, x3] = [draws.at(r, at(0)), draws.at(r, at(1)), draws.at(r, at(2))];
        noise += (x3 - 3 * x1 + 2 * x2) ** 2;
        factors += (2 * x1 - x2) ** 2 + (x2 - x1) ** 2;
      }
      near([noise / draws.rows, factors / draws.rows], [1, 2], 0.05);
    }
});

// Answers by rational arithmetic. If each input is perturbed by a rounding, they change by less than 1e-13.
test('Distances and gradients are right, however many decades the diagonal spans.', () => {
  using device = openDevice('reference');
  const three = [
    [3.375, -1.875, -3.25],
    [0.625, 1.75, -0.25],
    [-0.625, 3.5, -1.625],
  ];
  const four = [
    [-0.125, 1.875, -1.625],
    [3, 3.75, 2.625],
    [-3.375, -1.5, 3.375],
    [2.875, -2.875, -0.5],
  ];
  const others = [
    [-0.625, -3.625, 1.25],
    [3.375, 1.875, 1.375],
    [2.625, 1.875, 4],
  ];
  const five = [
    [0.375, 0.5, -2],
    [-3.375, 1.25, -1.625],
    [-3.875, 0.25, 0.25],
    [1, 2, 0.5],
    [-1, 0.5, 3],
  ];
  for (const [factor, diagonal, row, distance, gradient] of [
    [
      three,
      [1e-60, 1e-60, 1],
      [1, 1, 1],
      0.6379654820083756,
      [-0.030380412824780285, -0.4959091134816889, 0.11928957007229024],
    ],
    [
      four,
      [1e-100, 1, 1e-100, 1],
      [2, 2, 0.5, 1],
      5.7097016276400545,
      [-11.192071547695825, -1.0134835495715944, -5.37578953776838, -5.501687713256459],
    ],
    [
      others,
      [1e-83, 1e-22, 1e-97],
      [0.5, 0, 0.5],
      0.1966131204455266,
      [-0.022340310919138618, 0.048942060147142495, -0.054973127343515685],
    ],
    [
      five,
      [1e-280, 1e-150, 1e-280, 0.001, 1],
      [0, 0.5, 1, 0, -1],
      68.47813553534675,
      [-8849.557988935176, 8825.240300645815, -9101.791628645109, -2165.258215962441, 0.0835680751173709],
    ],
  ] as const) {
    using normal = MultivariateNormal.fromLowRankSync({ device, dtype: 'float64', factor, diagonal });
    near(normal.mahalanobisSync([[...row]]).data, [distance], 1e-11);
    near(normal.scoreInputSync([[...row]]).data, gradient, 1e-11);
  }
});

// Cauchy and Binet: det(D + F F') is a sum of positive terms, the products of entries of D and of squared minors of F.
test('The log determinant is right if the diagonal spans 100 decades.', () => {
  using device = openDevice('reference');
  const factor = [
    [0.5, -0.25],
    [0.125, 1],
    [-0.75, 0.5],
    [1, 0.0625],
  ];
  for (let round = 0; round < 50; round++) {
    const diagonal = factor.map((_, i) => 10 ** -((round * (37 + 11 * i)) % 101));
    const terms: number[] = [];
    const log = (left: readonly number[]) =>
      diagonal.reduce((sum, d, i) => sum + (left.includes(i) ? 0 : Math.log(d)), 0);
    terms.push(log([]));
    factor.forEach(([a, b], i) => {
      terms.push(log([i]) + Math.log(a! * a! + b! * b!));
      for (let j = 0; j < i; j++) {
        const minor = a! * factor[j]![1]! - b! * factor[j]![0]!;
        terms.push(log([i, j]) + 2 * Math.log(Math.abs(minor)));
      }
    });
    const most = Math.max(...terms);
    const wanted = most + Math.log(terms.reduce((sum, term) => sum + Math.exp(term - most), 0));
    using normal = MultivariateNormal.fromLowRankSync({ device, dtype: 'float64', factor, diagonal });
    const atMean = normal.logPdfSync([[0, 0, 0, 0]]).data[0]!;
    near([-2 * atMean - 4 * Math.log(2 * Math.PI)], [wanted], 1e-12);
  }
});

onEveryDevice(
  'a factor may have many more columns than rows: it once allocated the square of their number.',
  (device) => {
    const k = 100_000;
    const factor = Matrix.from(
      Float64Array.from({ length: 2 * k }, (_, at) => (at < k ? 1 : 1 + (at % 2))),
      { columns: k },
    );
    const dtype = device.dtypes.includes('float64') ? 'float64' : 'float32';
    using normal = MultivariateNormal.fromLowRankSync({ device, dtype, factor, diagonal: [1, 2] });
    const expected = [k + 1, 1.5 * k, 1.5 * k, 2.5 * k + 2];
    near(normal.covarianceSync().data, expected, dtype === 'float64' ? 1e-12 : 1e-6);
    const determinant = expected[0]! * expected[3]! - expected[1]! ** 2;
    near([normal.logDeterminant], [Math.log(determinant)], dtype === 'float64' ? 1e-12 : 1e-5);
  },
);

onEveryDevice('numbers whose squares are beyond float64 are refused: the call once never returned.', async (device) => {
  for (const [factor, diagonal] of [
    [[[1e300], [1]], 1],
    [[[1e150], [1]], 1e-300],
  ] as const)
    await throwsCode('ERR_OUT_OF_RANGE', '`factor` with `diagonal` is too large or too small', () =>
      MultivariateNormal.fromLowRank({ device, factor, diagonal }),
    );
});

onEveryType(
  'low rank plus a diagonal of the size of rounding has exact factors, parts and distances.',
  async (device, dtype) => {
    const of = (diagonal: number) =>
      MultivariateNormal.fromLowRankSync({ device, dtype, factor: [[1], [1]], diagonal });
    const tolerance = dtype === 'float32' ? 1e-6 : 1e-13;
    for (const d of dtype === 'float32' ? [1e-6, 1e-10, 1e-14] : [1e-6, 1e-14, 1e-20, 1e-30]) {
      using normal = of(d);
      using twice = of(2 * d);
      using given = await normal.conditional({ given: [1], values: [0.5] });
      using factor = await normal.factor();
      using part = await normal.marginal([0]);
      near([given.factorSync().at(0, 0) ** 2 / d], [(2 + d) / (1 + d)], 2 * tolerance);
      near([factor.at(1, 1) ** 2 / d], [(2 + d) / (1 + d)], 2 * tolerance);
      near(part.covarianceSync().data, [1 + d], tolerance);
      const expected = (Math.log((4 * d + 4 * d * d) / (2 * d + d * d)) + (2 + d) / (2 + 2 * d) + 0.5 - 2) / 2;
      near([await klDivergence(normal, twice)], [expected], 10 * tolerance);
    }
  },
);

test.run();
