import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runSync } from '../../lib/command/task.ts';
import {
  Matrix,
  type MixtureFitOptions,
  type MixtureOptions,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  openDevice,
  Vector,
} from '../../lib/index.ts';
import { fitMixture } from '../../lib/normal/mixture.ts';
import { hasBatchBits } from '../harness/batch-bits.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const fits: readonly ((
  options: MixtureFitOptions,
) => MultivariateNormalMixture | Promise<MultivariateNormalMixture>)[] = [
  MultivariateNormalMixture.fit,
  MultivariateNormalMixture.fitSync,
];

const makings: readonly ((
  options: MixtureOptions,
) => MultivariateNormalMixture | Promise<MultivariateNormalMixture>)[] = [
  MultivariateNormalMixture.fromCovariance,
  MultivariateNormalMixture.fromCovarianceSync,
];

const weights = [1, 3, 4]; // of sum 8
const means = [[0, 0], [10, 0], [0, 12]]; // biome-ignore format: rows
const covariances = [
  [[1, 0.5], [0.5, 1]],
  [[4, -1], [-1, 2]],
  [[0.5, 0], [0, 3]],
]; // biome-ignore format: matrices
const parts = { weights, means, covariances };

onEveryType('densities and responsibilities are those of the weighted sum.', async (device, dtype, tolerance) => {
  const rows = [[0, 0], [9, 1], [1, 11], [5, 5], [-3, 40]]; // biome-ignore format: rows
  const normals = means.map((mean, k) =>
    MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance: covariances[k]! }),
  );
  const scores = normals.map((normal) => Array.from(normal.logPdfSync(rows).data));
  for (const normal of normals) normal.close();
  for (const making of makings) {
    using mixture = await making({ device, dtype, ...parts });
    assert.equal([mixture.dimension, mixture.dtype, mixture.components.size, mixture.report], [2, dtype, 3, undefined]);
    assert.equal([...mixture.weights], [0.125, 0.375, 0.5]);
    const found = await mixture.logPdf(rows);
    const shares = await mixture.responsibilities(rows);
    assert.equal(mixture.logPdfSync(rows).data, found.data);
    assert.equal(mixture.responsibilitiesSync(rows).data, shares.data);
    assert.equal([found.length, shares.rows, shares.columns], [5, 5, 3]);
    for (let r = 0; r < rows.length; r++) {
      const terms = scores.map((score, k) => score[r]! + Math.log(weights[k]! / 8));
      const largest = Math.max(...terms);
      const total = largest + Math.log(terms.reduce((sum, term) => sum + Math.exp(term - largest), 0));
      assert.ok(Math.abs(found.data[r]! - total) <= tolerance * (10 + Math.abs(total)), `row (${r})`);
      for (const [k, term] of terms.entries())
        assert.ok(Math.abs(shares.get(r, k) - Math.exp(term - total)) <= tolerance * 100, `share (${r}, ${k})`);
      const sum = [0, 1, 2].reduce((all, k) => all + shares.get(r, k), 0);
      assert.ok(Math.abs(sum - 1) < 1e-5, `row (${r}) has sum (${sum})`);
    }
    for (const one of [rows[3]!, Vector.from(rows[3]!)]) assert.is(mixture.logPdfSync(one).data[0], found.data[3]);
    assert.is(mixture.logPdfSync(Matrix.from([], { columns: 2 })).length, 0);
  }
});

onEveryType('any rows of a sample can be drawn alone, and each comes from its component.', async (device, dtype) => {
  using mixture = MultivariateNormalMixture.fromCovarianceSync({ device, dtype, ...parts });
  const count = 4000;
  const draws = await mixture.sample(count, { seed: 5, stream: 3 });
  assert.equal([draws.rows, draws.columns, draws.dtype], [count, 2, dtype]);
  hasBatchBits(device.kind, mixture.sampleSync(count, { seed: 5, stream: 3 }).data, draws.data, 'synchronous draws');
  const later = mixture.sampleSync(50, { seed: 5, stream: 3, firstRow: 1000 }).data;
  hasBatchBits('metal', later, draws.data.subarray(2000, 2100), 'later rows');
  assert.is(mixture.sampleSync(0).rows, 0);
  // The components lie far apart: the nearest mean is that of the row's component.
  const counts = [0, 0, 0];
  for (const row of draws) {
    const far = means.map((mean) => Math.hypot(row[0]! - mean[0]!, row[1]! - mean[1]!));
    counts[far.indexOf(Math.min(...far))]!++;
  }
  // Five standard errors of a binomial.
  for (const [k, found] of counts.entries()) {
    const share = weights[k]! / 8;
    const error = Math.sqrt(share * (1 - share) * count);
    assert.ok(Math.abs(found - share * count) < 5 * error, `component (${k}): ${found}`);
  }
});

onEveryType('calls of several commits keep their rows, and name the entry that overflows.', async (device, dtype) => {
  const mixture = MultivariateNormalMixture.fromCovarianceSync({ device, dtype, ...parts });
  const count = 70_000;
  const given = Matrix.from(scattered(2 * count, 3), { columns: 2, dtype });
  const wanted = mixture.logPdfSync(given).data.slice();
  const shares = mixture.responsibilitiesSync(given).data.slice();
  const pending = [mixture.logPdf(given), mixture.responsibilities(given)] as const;
  given.close();
  hasBatchBits(device.kind, (await pending[0]).data, wanted, 'densities');
  hasBatchBits(device.kind, (await pending[1]).data, shares, 'responsibilities');
  if (dtype === 'float32') {
    const large = scattered(2 * count, 3);
    large[2 * 69_000 + 1] = 1e300;
    const error = await throwsCode('ERR_NOT_FINITE', '(69000, 1)', () =>
      mixture.logPdf(Matrix.from(large, { columns: 2 })),
    );
    assert.equal([error.row, error.column], [69_000, 1]);
  }
  const late = mixture.logPdf(Matrix.from(scattered(2 * count, 3), { columns: 2 }));
  mixture.close();
  hasBatchBits(device.kind, (await late).data, wanted, 'densities after its close');
  await throwsCode('ERR_CLOSED', '(3) normals', () => mixture.logPdf(given));
});

onEveryType('the choices of a stream are independent of the normals of the next.', (device, dtype) => {
  const halves = { weights: [1, 1], means: [[0], [100]], covariances: [[[1]], [[1]]] };
  using mixture = MultivariateNormalMixture.fromCovarianceSync({ device, dtype, ...halves });
  const count = 2000;
  const choices = mixture.sampleSync(count, { seed: 4 }).data;
  const next = mixture.sampleSync(count, { seed: 4, stream: 1 }).data;
  let agreeing = 0;
  for (let row = 0; row < count; row++) {
    const normal = next[row]! - (next[row]! > 50 ? 100 : 0);
    if (normal > 0 === choices[row]! > 50) agreeing++;
  }
  // Five standard errors of a binomial.
  assert.ok(Math.abs(agreeing - count / 2) < 2.5 * Math.sqrt(count), `${agreeing} of ${count}`);
  assert.is(mixture.sampleSync(1, { stream: 2n ** 64n - 1n }).rows, 1);
});

onEveryDevice('rows are clustered in slices.', (device) => {
  const count = 20_000;
  const tasks = fitMixture({ device, rows: Matrix.from(scattered(2 * count, 3), { columns: 2 }), components: 2 });
  let slices = 0;
  let most = 0;
  for (let step = tasks.next(); !step.done; step = tasks.next()) {
    slices = step.value === undefined ? slices + 1 : 0;
    most = Math.max(most, slices);
    if (step.value !== undefined) runSync(step.value);
    else if (most > 700) break;
  }
  // Between two commits: ten iterations of k-means, each of 78 slices.
  assert.ok(most > 700, `(${most}) slices`);
  tasks.return(undefined as never);
});

onEveryType('a fit finds the mixture from which its rows were drawn.', async (device, dtype) => {
  using mixture = MultivariateNormalMixture.fromCovarianceSync({ device, dtype, ...parts });
  const rows = mixture.sampleSync(6000, { seed: 9 });
  for (const making of fits) {
    using fitted = await making({ device, dtype, rows, components: 3, seed: 1 });
    const { iterations, converged, logLikelihood } = fitted.report!;
    assert.ok(converged && iterations > 1 && iterations < 200, `${iterations} iterations`);
    const own = Array.from(mixture.logPdfSync(rows).data).reduce((sum, value) => sum + value, 0);
    // The maximum is above the likelihood of the true parameters, by half a chi-squared of 17 degrees of freedom.
    assert.ok(logLikelihood > own - 5 && logLikelihood < own + 40, `(${logLikelihood}) beside (${own})`);
    for (let k = 0; k < 3; k++) {
      const centre = fitted.components.at(k).mean.toArray();
      const far = means.map((mean) => Math.hypot(centre[0]! - mean[0]!, centre[1]! - mean[1]!));
      const nearest = far.indexOf(Math.min(...far));
      assert.ok(far[nearest]! < 0.3, `mean (${centre})`);
      assert.ok(Math.abs(fitted.weights[k]! - weights[nearest]! / 8) < 0.03, `weight (${fitted.weights[k]})`);
      const found = fitted.components.at(k).covarianceSync().toArray().flat();
      for (const [i, value] of covariances[nearest]!.flat().entries())
        assert.ok(Math.abs(found[i]! - value) < 0.4, `covariance (${found}) of component (${nearest})`);
    }
  }
  using one = MultivariateNormalMixture.fitSync({ device, dtype, rows, components: 1 });
  using alone = MultivariateNormal.fitSync({ device, dtype, rows, ddof: 0 });
  const [found, wanted] = [one.components.at(0).covarianceSync().data, alone.covarianceSync().data];
  for (let i = 0; i < 4; i++) assert.ok(Math.abs(found[i]! - wanted[i]!) < 1e-4 * Math.abs(wanted[0]!), `entry (${i})`);
});

onEveryDevice('what is invalid is refused, and leaves nothing behind.', async (device) => {
  const before = device.memory().liveBytes;
  const good = { device, ...parts };
  const rows = means.flatMap((mean) =>
    covariances.map((square) => [mean[0]! + square[0]![0]!, mean[1]! + 2 * square[1]![0]!]),
  );
  for (const [code, shown, options] of [
    ['ERR_INVALID_ARGUMENT', '`weights` is missing', { device, means, covariances } as unknown as MixtureOptions],
    ['ERR_INVALID_ARGUMENT', '`weights` is (0.5)', { ...good, weights: 0.5 } as unknown as MixtureOptions],
    ['ERR_SHAPE', '(2) entries', { ...good, weights: [1, 2] }],
    ['ERR_NOT_POSITIVE_DEFINITE', '(-1)', { ...good, weights: [1, -1, 1] }],
    ['ERR_OUT_OF_RANGE', '`weights` entry (1) is (1e-300)', { ...good, weights: [1e300, 1e-300, 1] }],
    ['ERR_NOT_FINITE', 'NaN', { ...good, weights: [1, Number.NaN, 1] }],
    ['ERR_NOT_POSITIVE_DEFINITE', 'Normal (0) ', { ...good, covariances: covariances.with(0, [[1, 2], [2, 1]]) }],
    ['ERR_UNKNOWN_OPTION', 'jitter', { ...good, jitter: true } as MixtureOptions],
  ] as const) // biome-ignore format: a row each
    for (const making of makings) {
      await throwsCode(code, shown, () => making(options));
      assert.is(device.memory().liveBytes, before, shown);
    }
  // One cluster has one value in its last column.
  const apart = rows.flatMap(([x, y], at) => [
    [x! / 100, y! / 100],
    [1000 + (at % 3), 1000],
  ]);
  const degenerate = { device, rows: apart, components: 2, regularization: 0, dtype: 'float32' } as const;
  // Squares of the first column are subnormal in all rows, or only in one component.
  const minute = { ...degenerate, rows: apart.map(([x, y], at) => [x! * 1e-164, y! + at]) };
  const narrow = apart.map(([x, y], at) => [at % 2 === 0 ? 1e-153 + x! * 1e-170 : x! * 1e-157, y! + at]);
  const fitting = { device, rows, components: 2 };
  for (const [code, shown, options] of [
    ['ERR_INVALID_ARGUMENT', '`components` is missing', { device, rows } as unknown as MixtureFitOptions],
    ['ERR_OUT_OF_RANGE', '(0)', { ...fitting, components: 0 }],
    ['ERR_SHAPE', '(9) rows, but (4) components', { ...fitting, components: 4 }],
    ['ERR_NOT_FINITE', 'NaN', { ...fitting, rows: rows.with(3, [Number.NaN, 1]) }],
    ['ERR_OUT_OF_RANGE', '`tolerance` is (-1)', { ...fitting, tolerance: -1 }],
    ['ERR_OUT_OF_RANGE', '`regularization` is (NaN)', { ...fitting, regularization: Number.NaN }],
    [
      'ERR_NOT_POSITIVE_DEFINITE',
      '`rows` column (1) is constant (0.1)',
      { ...fitting, rows: rows.map(([x]) => [x!, 0.1]) },
    ],
    ['ERR_NOT_POSITIVE_DEFINITE', '`rows` has column (1), which in component (0) is the same', degenerate],
    ['ERR_OUT_OF_RANGE', '`rows` has column (0), whose numbers differ by', minute],
    [
      'ERR_OUT_OF_RANGE',
      '`rows` has column (0), whose numbers in component (0) differ by',
      { ...minute, rows: narrow },
    ],
    ['ERR_OUT_OF_RANGE', '`regularization` is (1e+308)', { ...fitting, regularization: 1e308 }],
    ['ERR_OUT_OF_RANGE', '`seed`', { ...fitting, rows: rows.map(([x]) => [x!, 0.1]), seed: -1 }],
    ['ERR_UNSUPPORTED_DTYPE', 'int32', { ...fitting, rows: rows.map(([x]) => [x!, 0.1]), dtype: 'int32' as 'float32' }],
    ['ERR_OUT_OF_RANGE', '`maxIterations`', { ...fitting, maxIterations: 0 }],
    ['ERR_UNKNOWN_OPTION', 'k', { ...fitting, k: 3 } as MixtureFitOptions],
  ] as const)
    for (const making of fits) {
      await throwsCode(code, shown, () => making(options));
      assert.is(device.memory().liveBytes, before, shown);
    }
  using heavy = MultivariateNormalMixture.fromCovarianceSync({ ...good, weights: [1e308, 1e308, 1e308] });
  assert.equal([...heavy.weights], [1 / 3, 1 / 3, 1 / 3]);
  heavy.close();
  const mixture = MultivariateNormalMixture.fromCovarianceSync(good);
  await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => mixture.logPdf([[1, 2], [Number.NaN, 0]])); // biome-ignore format: rows
  if (mixture.dtype === 'float32')
    await throwsCode('ERR_NOT_FINITE', '`rows` entry (1, 0) is (1e+300), which', () => mixture.logPdf([[1, 2], [1e300, 0]])); // biome-ignore format: rows
  await throwsCode('ERR_SHAPE', '(1)', () => mixture.responsibilities([[1]]));
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', () => mixture.sample(-1));
  await throwsCode('ERR_OUT_OF_MEMORY', 'bytes', () => mixture.sample(2 ** 45));
  await throwsCode('ERR_TOO_LARGE', 'bytes', () => mixture.sampleSync(2 ** 51));
  await throwsCode('ERR_OUT_OF_RANGE', '2^64', () => mixture.sample(1, { firstRow: 2n ** 64n - 1n }));
  await throwsCode('ERR_UNKNOWN_OPTION', 'out', () => mixture.sample(1, { out: [] } as object));
  mixture.close();
  mixture.close();
  assert.ok(mixture.closed);
  assert.is(device.memory().liveBytes, before);
  for (const work of [
    () => mixture.sample(1),
    () => mixture.logPdf([[0, 0]]),
    () => mixture.responsibilities([[0, 0]]),
  ])
    await throwsCode('ERR_CLOSED', '(3)', work);
  const Mixture = MultivariateNormalMixture as unknown as new (given: unknown) => unknown;
  await throwsCode('ERR_INVALID_ARGUMENT', 'fit', () => new Mixture({}));
});

onEveryType(
  'A row whose densities all underflow belongs to the nearest component, or is shared by equally near ones.',
  (device, dtype) => {
    const far = dtype === 'float32' ? 1e25 : 1e200;
    const identity = [[1, 0], [0, 1]]; // biome-ignore format: a matrix
    const [narrow, wide] = [identity, [[2, 0], [0, 1]]]; // biome-ignore format: matrices
    using mixture = MultivariateNormalMixture.fromCovarianceSync({
      device,
      dtype,
      weights: [1, 1, 2],
      covariances: [narrow, wide, wide],
    });
    const alike = [1 / (1 + 2), 2 / (1 + 2)];
    const shares = mixture.responsibilitiesSync([[far, 0], [0, 0], [far, far], [0, far]]).data; // biome-ignore format: rows
    const third = Math.SQRT2;
    const wanted = [
      ...[0, ...alike],
      ...[third / (third + 3), 1 / (third + 3), 2 / (third + 3)],
      ...[0, ...alike],
      ...[third / (third + 3), 1 / (third + 3), 2 / (third + 3)],
    ];
    for (const [at, share] of wanted.entries())
      assert.ok(Math.abs(shares[at]! - share) < 1e-6, `(${at}): (${shares[at]}) for (${share})`);
  },
);

test('JSON of a batch and of a mixture has the options that make them again.', async () => {
  using device = openDevice('reference');
  const covariances = [
    [
      [2, 0.5],
      [0.5, 1],
    ],
    [
      [1, 0],
      [0, 3],
    ],
  ];
  const options = {
    device,
    means: [
      [1, 2],
      [3, 4],
    ],
    covariances,
    dtype: 'float64',
  } as const;
  using batch = await MultivariateNormalBatch.fromCovariance(options);
  using again = await MultivariateNormalBatch.fromCovariance({ device, ...JSON.parse(JSON.stringify(batch)) });
  assert.is(again.dtype, 'float64');
  assert.equal(again.at(1).mean.toArray(), [3, 4]);
  const drawn = (of: MultivariateNormalBatch) => of.sampleSync(3, { seed: 1 }).map((each) => each.toArray());
  for (const [b, rows] of drawn(again).entries())
    for (const [r, row] of rows.entries())
      for (const [i, value] of row.entries()) assert.ok(Math.abs(value - drawn(batch)[b]![r]![i]!) < 1e-12);
  using mixture = await MultivariateNormalMixture.fromCovariance({ ...options, weights: [1, 3] });
  const json = JSON.parse(JSON.stringify(mixture));
  assert.equal([json.weights, json.means], [[0.25, 0.75], options.means]);
  using second = await MultivariateNormalMixture.fromCovariance({ device, ...json });
  assert.equal([...second.weights], [0.25, 0.75]);
});

onEveryType('responsibilities of rows far out have the sum 1, and keep the weights.', async (device, dtype) => {
  const same = { device, dtype, weights: [0.3, 0.7], covariances: [[[1]], [[1]]] };
  using mixture = await MultivariateNormalMixture.fromCovariance(same);
  const rows = [[10], [1e3], [1e5], [1e8], [1e15]];
  for (const [few, many] of (await mixture.responsibilities(rows)).toArray()) {
    assert.ok(Math.abs(few! - 0.3) < 1e-6, `${few}`);
    assert.ok(Math.abs(few! + many! - 1) < 1e-6, `${few}, ${many}`);
  }
});

onEveryDevice('responsibilities of float32 rows far out come from differences in float64.', async (device) => {
  const means = [[0], [2 ** -11]]; // biome-ignore format: rows
  const near = { device, dtype: 'float32', weights: [1, 1], means, covariances: [[[1]], [[1]]] } as const;
  using mixture = await MultivariateNormalMixture.fromCovariance(near);
  const rows = [[0.5], [30], [1000], [-1e4], [1e5]]; // biome-ignore format: rows
  const shares = (await mixture.responsibilities(rows)).toArray();
  for (const [r, [x]] of rows.entries()) {
    // Half the difference of the squares, without one.
    const log = Math.fround(x!) * 2 ** -11 - 2 ** -23;
    const wanted = 1 / (1 + Math.exp(log));
    assert.ok(Math.abs(shares[r]![0]! - wanted) <= 1e-5 * wanted, `(${x}): (${shares[r]}) for (${wanted})`);
    assert.ok(Math.abs(shares[r]![0]! + shares[r]![1]! - 1) < 1e-6, `(${x}): (${shares[r]})`);
  }
});

test.run();
