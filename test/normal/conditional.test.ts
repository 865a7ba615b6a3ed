import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { conditionals, eps, identity, normals, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice('a conditional equals the textbook formula, computed with 60 digits.', async (device) => {
  for (const dtype of realDtypes(device))
    for (const { name, mean, factor, given, values, ...wanted } of conditionals) {
      // Rounding the factor of Hilbert's matrix to float32 moves its conditionals by more than their size.
      if (name === 'Hilbert' && dtype === 'float32') continue;
      using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean, factor });
      using rest = await normal.conditional({ given, values });
      assert.equal([rest.dimension, rest.dtype, rest.device], [mean.length - given.length, dtype, device]);
      const spread = deviations(wanted.covariance);
      const tolerance = name === 'Hilbert' ? 1e-8 : 64 * eps(dtype);
      const scale = wanted.conditionalMean.map((x, i) => Math.abs(x) + spread[i]!);
      near(rest.mean.data, wanted.conditionalMean, (i) => tolerance * scale[i]!, `${name}: mean`);
      const m = spread.length;
      near(
        rest.factorSync().data,
        wanted.factorOfCovariance,
        (at) => tolerance * spread[Math.floor(at / m)]!,
        `${name}: factor`,
      );
      // The same means, as one row of many.
      const means = normal.conditionalMeansSync({ given, rows: [values, values.map(() => 0), values] });
      assert.equal([means.rows, means.columns, means.dtype], [3, m, dtype]);
      for (const row of [0, 2]) {
        // In float32 the values are rounded too, and wide ones have terms larger than their sum.
        const size = (i: number) => (dtype === 'float32' && name === 'wide' ? 16 : 1) * 4 * tolerance * scale[i]!;
        near(means.row(row), wanted.conditionalMean, size, `${name}: means`);
      }
    }
});

onEveryDevice(
  'a marginal has the means and covariances of its coordinates, in the requested order.',
  async (device) => {
    for (const dtype of realDtypes(device))
      for (const { name, mean, factor } of conditionals) {
        using normal = MultivariateNormal.fromCholeskySync({ device, dtype, mean, factor });
        const n = mean.length;
        const covariance = normal.covarianceSync().toArray();
        const orders = [
          [n - 1],
          Array.from({ length: n }, (_, i) => n - 1 - i),
          [1, 0],
          Array.from({ length: n }, (_, i) => i),
        ];
        for (const chosen of orders) {
          using part = await normal.marginal(chosen);
          assert.equal(
            part.mean.toArray(),
            chosen.map((i) => normal.mean.get(i)),
          );
          const wanted = chosen.flatMap((i) => chosen.map((j) => covariance[i]![j]!));
          const m = chosen.length;
          const size = (at: number) => Math.sqrt(wanted[Math.floor(at / m) * (m + 1)]! * wanted[(at % m) * (m + 1)]!);
          near(part.covarianceSync().data, wanted, (at) => 16 * eps(dtype) * size(at), name);
          assert.ok(
            part
              .factorSync()
              .toArray()
              .every((row, i) => row[i]! > 0),
            'its factor is the Cholesky factor',
          );
        }
        using whole = normal.marginalSync(orders[3]!);
        assert.equal(
          whole.factorSync().toArray(),
          normal.factorSync().toArray(),
          'all of them, in order: the same factor',
        );
      }
  },
);

onEveryDevice('a normal given by its precision has marginals and conditionals.', async (device) => {
  // precision [[2, -1], [-1, 2]]: covariance [[2, 1], [1, 2]] / 3; the conditional's precision is 2, its mean half of
  // the given value.
  using normal = await MultivariateNormal.fromPrecision({
    device,
    precision: [
      [2, -1],
      [-1, 2],
    ],
  });
  near(normal.marginalSync([1]).covarianceSync().data, [2 / 3], () => 1e-6, 'marginal');
  using rest = await normal.conditional({ given: [0], values: [3] });
  near(rest.covarianceSync().data, [0.5], () => 1e-6, 'conditional');
  near(rest.mean.data, [1.5], () => 1e-6, 'mean');
});

onEveryDevice('conditioning on nothing gives the same distribution, on everything is refused.', async (device) => {
  const { mean, factor } = conditionals[1]!;
  using normal = MultivariateNormal.fromCholeskySync({ device, mean, factor });
  using same = await normal.conditional({ given: [], values: [] });
  assert.equal(same.mean.toArray(), normal.mean.toArray());
  assert.equal(same.factorSync().toArray(), normal.factorSync().toArray());
  assert.equal(same.sampleSync(5, { seed: 3 }).toArray(), normal.sampleSync(5, { seed: 3 }).toArray());
  const all = [0, 1, 2, 3, 4];
  await throwsCode('ERR_SHAPE', '(5)', () => normal.conditional({ given: all, values: all }));
  await throwsCode('ERR_SHAPE', '(5)', () => normal.conditionalMeans({ given: all, rows: [all] }));
  await throwsCode('ERR_SHAPE', '(0)', () => normal.conditionalMeans({ given: [], rows: [] }));
  // A mistake in `given` is reported first, because `given` determines how many columns the rows have.
  await throwsCode('ERR_OUT_OF_RANGE', '`given[0]` is (7)', () =>
    normal.conditionalMeans({ given: [7], rows: [[1, 2]] }),
  );
  await throwsCode('ERR_SHAPE', '(0)', () => normal.marginal([]));
});

test('The precision of a conditional is a block of the precision, in dimension 60 and any order.', () => {
  using device = openDevice('reference');
  const n = 60;
  const precision = identity(n).map((row, i) => row.map((x, j) => x * (2 + (i % 5)) + Math.cos(i * j + i + j) / 60));
  using whole = MultivariateNormal.fromPrecisionSync({ device, dtype: 'float64', precision });
  for (const step of [7, 11, 59]) {
    // Every coordinate once, far from its place; then the last, and the first.
    const order = Array.from({ length: n }, (_, i) => (i * step) % n);
    for (const given of [order.slice(0, 20), order.slice(10), [n - 1, n - 2], [0, 1]]) {
      const others = identity(n).flatMap((_, i) => (given.includes(i) ? [] : [i]));
      using rest = whole.conditionalSync({ given, values: given.map(() => 0) });
      const block = others.map((i) => others.map((j) => precision[i]![j]!));
      using wanted = MultivariateNormal.fromPrecisionSync({ device, dtype: 'float64', precision: block });
      near(rest.factorSync().data, wanted.factorSync().data, () => 1e-14, `${step}, ${given.length}`);
      using part = whole.marginalSync(given);
      near([part.logDeterminant + rest.logDeterminant], [whole.logDeterminant], () => 1e-12, 'determinants');
    }
  }
});

test('log p(a, b) = log p(a) + log p(b | a), for scales that span 10^12.', () => {
  using device = openDevice('reference');
  fc.assert(
    fc.property(normals, ({ mean, factor, given, at }) => {
      using whole = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
      const others = mean.map((_, i) => i).filter((i) => !given.includes(i));
      const values = given.map((i) => at[i]!);
      using a = whole.marginalSync(given);
      using b = whole.conditionalSync({ given, values });
      const sum = a.logPdfSync(values).get(0) + b.logPdfSync(others.map((i) => at[i]!)).get(0);
      near([sum], [whole.logPdfSync(at).get(0)], () => 1e-9, 'chain rule');
      near([a.logDeterminant + b.logDeterminant], [whole.logDeterminant], () => 1e-9, 'determinants');
    }),
    { numRuns: 300, seed: 11 },
  );
});

test('The marginal of a conditional is the conditional of the marginal.', () => {
  using device = openDevice('reference');
  fc.assert(
    fc.property(normals, ({ mean, factor, given, at, scales }) => {
      using whole = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
      const values = given.map((i) => at[i]!);
      const others = mean.map((_, i) => i).filter((i) => !given.includes(i));
      // The marginal of the last other coordinate: first from the conditional of all others, then as a conditional of
      // it alone.
      const last = others.length - 1;
      using all = whole.conditionalSync({ given, values });
      using first = all.marginalSync([last]);
      using named = whole.marginalSync([...given, others[last]!]);
      using second = named.conditionalSync({ given: given.map((_, k) => k), values });
      const scale = scales[others[last]!]!;
      near(first.mean.data, second.mean.data, () => 1e-10 * scale * mean.length, 'mean');
      near(first.factorSync().data, second.factorSync().data, () => 1e-10 * scale, 'deviation');
      // Conditioning step by step equals conditioning at once.
      using start = whole.conditionalSync({ given: [given[0]!], values: [values[0]!] });
      const rest = given.slice(1).map((i) => (i > given[0]! ? i - 1 : i));
      using end = start.conditionalSync({ given: rest, values: values.slice(1) });
      const size = (at: number) => 1e-9 * scales[others[Math.floor(at / others.length)]!]!;
      near(end.factorSync().data, all.factorSync().data, size, 'step by step');
      near(end.mean.data, all.mean.data, (i) => 1e-9 * scales[others[i]!]! * 10, 'mean, step by step');
    }),
    { numRuns: 300, seed: 12 },
  );
});

test('Conditional means are affine in the given values, and the residuals have the covariance of the conditional.', async () => {
  using device = openDevice('reference');
  const { mean, factor, given } = conditionals[1]!;
  using normal = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
  const draws = normal.sampleSync(50_000, { seed: 9 });
  const others = mean.map((_, i) => i).filter((i) => !given.includes(i));
  const rows = draws.toArray();
  const means = await normal.conditionalMeans({ given, rows: rows.map((row) => given.map((i) => row[i]!)) });
  // The residual of the regression does not depend on the given values.
  using rest = normal.conditionalSync({ given, values: [0, 0] });
  const spread = rest.covarianceSync();
  for (const [k, i] of others.entries())
    for (const [l, j] of [...others, ...given].entries()) {
      const left = (row: number, at: number, column: number) =>
        at < others.length ? rows[row]![column]! - means.get(row, at) : rows[row]![column]! - mean[column]!;
      let sum = 0;
      for (let row = 0; row < rows.length; row++) sum += (left(row, k, i) * left(row, l, j)) / rows.length;
      const wanted = l < others.length ? spread.get(k, l) : 0;
      assert.ok(Math.abs(sum - wanted) < 0.06, `(${i}, ${j}): ${sum}, not ${wanted}`);
    }
});

function deviations(covariance: readonly number[]): number[] {
  const n = Math.sqrt(covariance.length);
  return Array.from({ length: n }, (_, i) => Math.sqrt(covariance[i * (n + 1)]!));
}

onEveryDevice('Rows of float64 lose no digits to a large mean of float32.', (device) => {
  const mean = [1e4, 1, -1e5];
  const covariance = [
    [1, 0.9, 0.5],
    [0.9, 1, 0.3],
    [0.5, 0.3, 100],
  ];
  using normal = MultivariateNormal.fromCovarianceSync({ device, dtype: 'float32', mean, covariance });
  const values = [10000.123456, -100003.3];
  for (const rows of [[values], Float64Array.from(values)]) {
    const means = normal.conditionalMeansSync({ given: [0, 2], rows });
    near(means.data, [1.1161656], () => 4 * eps('float32'), 'means');
  }
});

onEveryDevice('Coordinates, values and options that cannot be conditioned on are refused.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
  await throwsCode('ERR_OUT_OF_RANGE', '(9007199254740992), not a whole number from 0 to 2.', () =>
    normal.conditional({ given: [2 ** 53], values: [0] }),
  );
  for (const given of [[3], [-1], [0.5], [Number.NaN]])
    await throwsCode('ERR_OUT_OF_RANGE', `${given[0]}`, () => normal.conditional({ given, values: [0] }));
  await throwsCode('ERR_INVALID_ARGUMENT', "('1')", () =>
    normal.conditional({ given: ['1'] as unknown as number[], values: [0] }),
  );
  await throwsCode('ERR_SHAPE', '(2)', () => normal.conditional({ given: [1], values: [0, 0] }));
  await throwsCode('ERR_SHAPE', '`rows` has (2) entries, but `given` has (1)', () =>
    normal.conditionalMeans({ given: [1], rows: [0, 0] as never }),
  );
  const missing = await throwsCode('ERR_NOT_FINITE', 'NaN', () =>
    normal.conditional({ given: [1, 2], values: [0, Number.NaN] }),
  );
  assert.equal([missing.row, missing.column], [0, 1]);
  const gap = await throwsCode('ERR_NOT_FINITE', 'NaN', () =>
    normal.conditionalMeans({ given: [1], rows: [[0], [Number.NaN]] }),
  );
  assert.equal([gap.row, gap.column], [1, 0]);
  // A value that float32 does not hold, as in other rows.
  const huge = await throwsCode('ERR_NOT_FINITE', '`rows` entry (1, 0) is (1e+300), which is infinite in', () =>
    normal.conditionalMeans({ given: [1], rows: [[0], [1e300]] }),
  );
  assert.equal([huge.row, huge.column], [1, 0]);
  await throwsCode('ERR_SHAPE', '`given` has all (3) coordinates', () =>
    normal.conditional({ given: [0, 1, 2], values: [0, 0, 0] }),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', 'value', () => normal.conditional({ given: [0], value: [0] } as never));
  normal.close();
  await throwsCode('ERR_CLOSED', '3', () => normal.conditional({ given: [0], values: [0] }));
  await throwsCode('ERR_CLOSED', '3', () => normal.conditionalMeans({ given: [0], rows: [[0]] }));
});

onEveryDevice(
  'A value that is far from its mean moves the means of others, or is named in the refusal.',
  async (device) => {
    if (!device.dtypes.includes('float64')) return;
    const covariance = [[1e300, 0, 1e300], [0, 1, 0], [1e300, 0, 4e300]]; // biome-ignore format: a matrix
    const mean = [1e308, 3, 0];
    using normal = MultivariateNormal.fromCovarianceSync({ device, dtype: 'float64', mean, covariance });
    using rest = await normal.conditional({ given: [2], values: [-1e308] });
    near(rest.mean.data, [7.5e307, 3], (i) => 4 * eps('float64') * mean[i]!, 'means');
    // The difference overflows, but not what a coordinate that is independent takes of it.
    using alone = await normal.marginalSync([0, 1]).conditional({ given: [0], values: [-1e308] });
    assert.equal(alone.mean.toArray(), [3]);
    const means = normal.conditionalMeansSync({ given: [2], rows: [[-1e308], [0]] });
    near(means.data, [7.5e307, 3, 1e308, 3], (at) => 4 * eps('float64') * mean[at % 2]!, 'means of rows');
    const far = normal.marginalSync([0, 1]).conditionalMeansSync({ given: [0], rows: [[-1e308]] });
    assert.equal(far.toArray(), [[3]]);
    await throwsCode('ERR_OUT_OF_RANGE', '`values` gives coordinate (2) the mean (-Infinity)', () =>
      normal.conditional({ given: [0], values: [-1e308] }),
    );
    await throwsCode(
      'ERR_OUT_OF_RANGE',
      '`matrix` gives coordinate (1) the mean (Infinity)',
      () =>
    normal.affine({ matrix: [[0, 1, 0], [2, 0, 0]] }), // biome-ignore format: a matrix
    );
    await throwsCode('ERR_OUT_OF_RANGE', '`offset` gives coordinate (0) the mean (Infinity)', () =>
      normal.affine({ matrix: [[1, 0, 0]], offset: [1.7e308] }),
    );
  },
);

onEveryDevice('A value that a singular normal cannot have is named, with its argument.', async (device) => {
  const covariance = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]; // biome-ignore format: a matrix
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance, singular: 'pivoted' });
  const one = await throwsCode(
    'ERR_OUT_OF_RANGE',
    '`values[1]` is (2), but the other given values make coordinate (0) (3): the distribution is singular.',
    () => normal.conditional({ given: [1, 0], values: [3, 2] }),
  );
  assert.equal([one.row, one.column], [0, 1]);
});

test.run();
