// Fits with weights, missing values, a fixed mean and shrinkage, and normals from moments.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FitOptions, Matrix, Moments, MultivariateNormal } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { cases } from '../harness/moment-cases.ts';
import { throwsCode } from '../harness/throws-code.ts';

const small = cases.find(({ name }) => name === 'plain')!.rows;

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what = ''): void {
  const scale = Math.max(...Array.from(expected, Math.abs));
  assert.is(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++)
    assert.ok(Math.abs(actual[i]! - expected[i]!) <= tolerance * scale, `${what} (${i}): ${actual[i]}, ${expected[i]}`);
}

onEveryDevice(
  'A float32 normal of float64 rows far from 0 has the covariance of the rows, not of rounded ones.',
  async (device) => {
    const rows = small.map((row) => row.map((entry) => entry + 1e8));
    using here = await MultivariateNormal.fit({ device, rows: small });
    for (const input of [rows, Matrix.from(rows, { dtype: 'float64' })]) {
      using far = await MultivariateNormal.fit({ device, rows: input, dtype: 'float32' });
      assert.is(far.dtype, 'float32');
      near(far.covarianceSync().data, here.covarianceSync().data, 1e-6);
    }
  },
);

onEveryDevice('fits of every kind equal those of NumPy and scikit-learn, in each type.', async (device) => {
  for (const dtype of ['float32', 'float64'] as const) {
    if (!device.dtypes.includes(dtype)) continue;
    const tolerance = dtype === 'float32' ? 1e-6 : 1e-13;
    let fitted = 0;
    for (const { name, rows, ddof, weights, frequencies, fixedMean, ...expected } of cases) {
      const n = rows[0]!.length;
      const options: FitOptions = { device, dtype, rows, ddof, weights, frequencies, mean: fixedMean };
      const mean = fixedMean ?? expected.mean;
      if (rows.length > n) {
        using plain = await MultivariateNormal.fit({ ...options, missing: 'drop' });
        near(plain.mean.toArray(), mean, tolerance, name);
        near(plain.covarianceSync().data, expected.covariance.flat(), tolerance, name);
        fitted += 1;
      }
      if (expected.ledoitWolf === 0) continue;
      const trace = expected.covariance.reduce((sum, row, i) => sum + row[i]!, 0);
      const shrunk = expected.covariance.map((row, i) =>
        row.map((v, j) => (1 - expected.ledoitWolf) * v + (i === j ? (expected.ledoitWolf * trace) / n : 0)),
      );
      using normal = MultivariateNormal.fitSync({ ...options, shrinkage: 'ledoit-wolf' });
      near(normal.covarianceSync().data, shrunk.flat(), tolerance, `${name}, shrunk`);
      assert.is(normal.dtype, dtype);
      fitted += 1;
    }
    assert.ok(fitted > 20);
  }
});

onEveryDevice('moments give the same normal as their rows, added at once or in parts.', async (device) => {
  const whole = new Moments(3, { device });
  whole.addSync(small);
  const parts = new Moments(3);
  for (const row of small) await parts.add(row);
  using fitted = MultivariateNormal.fitSync({ device, rows: small });
  for (const moments of [whole, parts]) {
    using normal = await MultivariateNormal.fromMoments({ device, moments });
    near(normal.mean.toArray(), fitted.mean.toArray(), 1e-6);
    near(normal.covarianceSync().data, fitted.covarianceSync().data, 1e-6);
    assert.is(normal.timings.factor !== undefined, true);
  }
  using shrunk = MultivariateNormal.fromMomentsSync({
    device,
    moments: whole,
    shrinkage: 0.5,
    mean: [1, 2, 3],
    ddof: 1,
  });
  near(shrunk.mean.toArray(), [1, 2, 3], 0);
  using other = MultivariateNormal.fitSync({ device, rows: small, shrinkage: 0.5, mean: [1, 2, 3], ddof: 1 });
  assert.equal(shrunk.covarianceSync().data, other.covarianceSync().data);
});

onEveryDevice('a shrinkage alone gives the same as with weights of 1.', async (device) => {
  if (!device.dtypes.includes('float64')) return console.log(`skipped  ${device.kind}: it has no float64.`);
  const rows = Matrix.from(small, { dtype: 'float64' });
  const weights = small.map(() => 1);
  for (const [shrinkage, ddof] of [
    [0.3, 1],
    [1, 0],
  ] as const) {
    using alone = await MultivariateNormal.fit({ device, rows, shrinkage, ddof });
    using weighted = MultivariateNormal.fitSync({ device, rows, shrinkage, ddof, weights });
    near(alone.covarianceSync().data, weighted.covarianceSync().data, 1e-14);
    near(alone.mean.data, weighted.mean.data, 1e-14);
  }
  const holed = Matrix.from(
    [
      [1, 2],
      [3, Number.NaN],
      [5, 7],
    ],
    { dtype: 'float64' },
  );
  await throwsCode('ERR_NOT_FINITE', '(1, 1)', () => MultivariateNormal.fit({ device, rows: holed, shrinkage: 0.5 }));
  // Its trace overflows.
  const huge = Matrix.from(
    [
      [1e200, 2],
      [-1e200, 3],
    ],
    { dtype: 'float64' },
  );
  await throwsCode('ERR_OUT_OF_RANGE', 'sum of squares', () =>
    MultivariateNormal.fit({ device, rows: huge, shrinkage: 0.5 }),
  );
});

onEveryDevice(
  'rows whose squares the type does not hold are refused for that, not as a constant column.',
  async (device) => {
    for (const dtype of device.dtypes as ('float32' | 'float64')[])
      for (const scale of dtype === 'float32' ? [1e-21, 1e-22, 1e-25, 1e21] : [1e-157, 1e-160, 1e-300, 1e156, 1e300]) {
        const rows = Matrix.from(
          small.map((row) => row.map((entry) => entry * scale)),
          { dtype },
        );
        const weights = small.map((_, i) => i + 1);
        for (const options of [{}, { shrinkage: 0.5 }, { weights }])
          await throwsCode('ERR_OUT_OF_RANGE', '', () => MultivariateNormal.fit({ device, dtype, rows, ...options }));
      }
    const constant = Matrix.from(
      small.map((row) => [1e-200, row[1]!]),
      { dtype: device.dtypes[0]! },
    );
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'the same in all rows', () =>
      MultivariateNormal.fit({ device, rows: constant }),
    );
  },
);

onEveryDevice('fewer rows than dimensions need shrinkage.', async (device) => {
  const { rows } = cases.find(({ name }) => name === 'more dimensions than rows')!;
  await throwsCode('ERR_SHAPE', '(6) rows, but a normal of dimension (10)', () =>
    MultivariateNormal.fit({ device, rows }),
  );
  await throwsCode('ERR_SHAPE', '(6) rows with a weight', () =>
    MultivariateNormal.fit({ device, rows, shrinkage: 'none' }),
  );
  await throwsCode('ERR_SHAPE', 'at least (10)', () => MultivariateNormal.fitSync({ device, rows, mean: rows[0]! }));
  await throwsCode(
    'ERR_SHAPE',
    'Ledoit-Wolf shrinkage comes out as (0)',
    () =>
    MultivariateNormal.fit({ device, rows: [[1, 2], [2, 4]], shrinkage: 'ledoit-wolf' }), // biome-ignore format: short
  );
  for (const shrinkage of ['ledoit-wolf', 0.1, 1] as const) {
    using normal = MultivariateNormal.fitSync({ device, rows, shrinkage });
    assert.ok(Number.isFinite(normal.logDeterminant));
  }
  // About a known mean one row is enough.
  using one = MultivariateNormal.fitSync({ device, rows: [[3]], mean: [1] });
  near(one.covarianceSync().data, [4], 1e-6);
});

onEveryDevice('rows with a NaN are refused or dropped.', async (device) => {
  const rows = [...small, [Number.NaN, 0, 0]];
  for (const options of [{}, { shrinkage: 0.1 }, { missing: 'error' } as const])
    await throwsCode(
      'ERR_NOT_FINITE',
      "`rows` entry (12, 0) is (NaN), not a finite number. Pass `missing` 'drop'",
      () => MultivariateNormal.fit({ device, rows, ...options }),
    );
  using dropped = await MultivariateNormal.fit({ device, rows, missing: 'drop' });
  using fitted = await MultivariateNormal.fit({ device, rows: small });
  near(dropped.covarianceSync().data, fitted.covarianceSync().data, 1e-6);
});

onEveryDevice(
  'a row of weight 0 has no effect, however far it lies, but must not have missing numbers.',
  async (device) => {
    for (const dtype of (['float32', 'float64'] as const).filter((each) => device.dtypes.includes(each))) {
      const tolerance = dtype === 'float32' ? 1e-6 : 1e-13;
      const weights = small.map((_, r) => 1 + (r % 3));
      using fitted = MultivariateNormal.fitSync({ device, dtype, rows: small, weights });
      for (const value of [1e15, -1e30]) {
        const far = small[0]!.map(() => value);
        for (const given of [[far, ...small, far], Matrix.from([far, ...small, far], { dtype: 'float32' })]) {
          using normal = await MultivariateNormal.fit({ device, dtype, rows: given, weights: [0, ...weights, 0] });
          const isRounded = given instanceof Matrix;
          near(normal.mean.data, fitted.mean.data, isRounded ? 1e-6 : tolerance, `${value}`);
          near(normal.covarianceSync().data, fitted.covarianceSync().data, isRounded ? 1e-6 : tolerance, `${value}`);
        }
      }
      const holed = Matrix.from([...small, small[0]!.map(() => Number.NaN)], { dtype });
      await throwsCode('ERR_NOT_FINITE', '(12, 0)', () =>
        MultivariateNormal.fit({ device, dtype, rows: holed, weights: [...weights, 0] }),
      );
    }
  },
);

onEveryDevice('fits that are not possible are refused.', async (device) => {
  const fit = (options: object) => () => MultivariateNormal.fit({ device, rows: small, ...options });
  const liveBefore = device.memory().liveBytes;
  await throwsCode('ERR_UNKNOWN_OPTION', '(weight)', fit({ weight: [] }));
  await throwsCode('ERR_SHAPE', '`weights` has (1) entries', fit({ weights: [1] }));
  await throwsCode('ERR_SHAPE', '`frequencies` has (1) entries', fit({ frequencies: [1] }));
  const many = fit({ frequencies: small.map(() => 2 ** 53) });
  await throwsCode('ERR_OUT_OF_RANGE', '(9007199254740992), not a whole number from 0 to 2^53 - 1', many);
  await throwsCode('ERR_INVALID_ARGUMENT', '`weights` entry (0)', fit({ weights: small.map(() => '1') }));
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', fit({ weights: small.map(() => -1) }));
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', fit({ shrinkage: 2 }));
  await throwsCode('ERR_SHAPE', '(2) entries', fit({ mean: [1, 2] }));
  await throwsCode('ERR_OUT_OF_RANGE', '(12) effective', fit({ missing: 'drop', ddof: 12 }));
  await throwsCode('ERR_INVALID_ARGUMENT', "('lapack')", fit({ shrinkage: 0.5, factor: 'lapack' }));
  await throwsCode('ERR_INVALID_ARGUMENT', "('float16')", fit({ shrinkage: 0.5, dtype: 'float16' }));
  await throwsCode('ERR_INVALID_ARGUMENT', '', fit({ missing: 'drop', device: undefined }));
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '', fit({ missing: 'drop', rows: small.map(([a, b]) => [a, b, 1]) }));
  await throwsCode('ERR_SHAPE', '`weights` leaves (0) rows', fit({ weights: small.map(() => 0) }));
  await throwsCode('ERR_SHAPE', '`rows` has a missing number in each row', () =>
    MultivariateNormal.fit({ device, rows: [[Number.NaN, 1]], missing: 'drop' }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', 'Moments', () => MultivariateNormal.fromMoments({ device } as never));
  await throwsCode('ERR_SHAPE', '(0) observations', () =>
    MultivariateNormal.fromMomentsSync({ device, moments: new Moments(2) }),
  );
  assert.is(device.memory().liveBytes, liveBefore, 'the memory of the unfinished fit is released');
});

onEveryDevice(
  'An offset of 1e14 standard deviations costs a plain fit no more digits than the rows have lost.',
  (device) => {
    if (!device.dtypes.includes('float64')) return;
    const offset = 1e14;
    // float64 holds multiples of 1 / 64 there.
    const rows = Array.from({ length: 999 }, (_, i) => [offset + ((i * 37) % 128) / 64, ((i * 53) % 128) / 64]);
    using fitted = MultivariateNormal.fitSync({ device, rows, dtype: 'float64' });
    const near0 = rows.map(([a, b]) => [a! - offset, b!]);
    using wanted = MultivariateNormal.fitSync({ device, rows: near0, dtype: 'float64' });
    const [ours, theirs] = [fitted.covarianceSync().data, wanted.covarianceSync().data];
    for (let i = 0; i < 4; i++) assert.ok(Math.abs(ours[i]! - theirs[i]!) < 1e-12, `${i}: ${ours[i]} ${theirs[i]}`);
  },
);

onEveryDevice(
  'a fit of a constant column names the column and the options that help, and they help.',
  async (device) => {
    const rows = [
      [1, 7, 2],
      [2, 7, 4],
      [3, 7, 5],
      [5, 7, 1],
    ];
    for (const options of [{}, { missing: 'drop' }, { shrinkage: 0 }] as const) {
      const fit = () => MultivariateNormal.fit({ device, rows, ...options });
      const { pivot } = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`rows` has column (1), which is the same', fit);
      assert.is(pivot, 1);
    }
    using accepted = await MultivariateNormal.fit({ device, rows, singular: 'pivoted' });
    assert.ok(
      accepted
        .sampleSync(5, { seed: 1 })
        .column(1)
        .every((value) => value === 7),
    );
    using shifted = MultivariateNormal.fitSync({ device, rows, jitter: true });
    assert.ok(shifted.jitter!.amount > 0);
    // Not more rows than columns: the rank is at most the number of rows minus one.
    using few = await MultivariateNormal.fit({ device, rows: rows.slice(0, 2), singular: 'eigen' });
    assert.is((await few.factor()).columns, 1);
    const both = { device, rows, singular: 'eigen', jitter: true } as const;
    await throwsCode('ERR_INVALID_ARGUMENT', 'pass only one', () => MultivariateNormal.fit(both));
    const moments = new Moments(3);
    moments.addSync(rows);
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`moments` has column (1)', () =>
      MultivariateNormal.fromMoments({ device, moments }),
    );
    using ofMoments = await MultivariateNormal.fromMoments({ device, moments, singular: 'pivoted' });
    assert.is(ofMoments.mean.at(1), 7);
    await throwsCode('ERR_SHAPE', '`rows` is flat', () => MultivariateNormal.fit({ device, rows: [1, 2, 3] as never }));
  },
);

onEveryDevice('A column that others determine is refused, whatever rounding errors remain.', async (device) => {
  for (let table = 1; table <= 40; table++) {
    const rows = Array.from({ length: 7 }, (_, i) => {
      const [a, b] = [Math.sin(7 * i * table + 1), 3 * Math.cos(i * i * table)];
      return [a, b, a + b];
    });
    const moments = new Moments(3);
    moments.addSync(rows);
    for (const options of [{}, { weights: [1, 2, 3, 4, 5, 6, 7] }, { shrinkage: 0 }]) {
      const { pivot } = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`rows` has column (2)', () =>
        MultivariateNormal.fit({ device, rows, ...options }),
      );
      assert.is(pivot, 2);
    }
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`moments` has column (2)', () =>
      MultivariateNormal.fromMoments({ device, moments }),
    );
  }
});

onEveryDevice('weights whose squares vanish are refused.', async (device) => {
  const rows = [[1], [2], [4]];
  const fitted = (weight: number) =>
    MultivariateNormal.fitSync({ device, rows, weights: rows.map(() => weight), dtype: 'float32' });
  using small = fitted(1e-140);
  assert.ok(Math.abs(small.covarianceSync().get(0, 0) - 7 / 3) < 1e-6);
  for (const weight of [1e-160, 1e-170])
    await throwsCode('ERR_OUT_OF_RANGE', '`weights` are too small', () => fitted(weight));
});

onEveryDevice('Jitter and shrinkage treat the rounding errors that remain of a column as 0.', async (device) => {
  for (let table = 1; table <= 20; table++) {
    const rows = Array.from({ length: 7 }, (_, i) => {
      const [a, b] = [Math.sin(7 * i * table + 1), 3 * Math.cos(i * i * table)];
      return [a, b, a + b];
    });
    const moments = new Moments(3);
    moments.addSync(rows);
    const options = { device, dtype: 'float32', jitter: 1e-3 } as const;
    // Also with one row fewer than needed, where the covariance is singular because of the number of rows.
    for (const normal of [
      MultivariateNormal.fitSync({ ...options, rows }),
      MultivariateNormal.fromMomentsSync({ ...options, moments }),
      MultivariateNormal.fitSync({ ...options, rows: rows.slice(0, 3) }),
    ]) {
      assert.ok(normal.jitter!.amount > 0, `${table}`);
      normal.close();
    }
    for (const shrinkage of [1e-300, 1e-17])
      for (const weights of [undefined, Array(7).fill(1)])
        await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`rows` has column (2)', () =>
          MultivariateNormal.fit({ device, rows, shrinkage, weights }),
        );
  }
  const flat = { device, rows: [[1, 5]], ddof: 0, jitter: true };
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '`rows` has the same numbers in all', () =>
    MultivariateNormal.fit(flat),
  );
});

onEveryDevice('a column too small to square is not taken for a constant one.', async (device) => {
  const rows = (size: number) => small.map(([a, b]) => [a! * size, b!]);
  const [weights, mean] = [small.map(() => 1), [0, 0]];
  const ways = [{ singular: 'pivoted' }, { singular: 'eigen' }, { jitter: true }, { weights }, { mean }] as const;
  for (const size of [1e-155, 1e-170])
    for (const options of ways)
      await throwsCode('ERR_OUT_OF_RANGE', '`rows` has column (0), whose numbers differ by', () =>
        MultivariateNormal.fit({ device, rows: rows(size), ...options }),
      );
  using constant = MultivariateNormal.fitSync({ device, rows: rows(0), singular: 'pivoted' });
  assert.is(constant.covarianceSync().get(0, 0), 0);
});

test.run();
