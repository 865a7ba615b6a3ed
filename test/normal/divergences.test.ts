import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bhattacharyya,
  bhattacharyyaSync,
  crossEntropy,
  crossEntropySync,
  type Device,
  hellinger,
  hellingerSync,
  klDivergence,
  klDivergenceSync,
  MultivariateNormal,
  openDevice,
  type RealDtype,
  renyiDivergence,
  renyiDivergenceSync,
  wasserstein,
  wassersteinSync,
} from '../../lib/index.ts';
import { kindsHere, onEveryDevice } from '../harness/every-device.ts';
import { onNative } from '../harness/on-native.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Given {
  readonly mean: number[];
  readonly factor: number[][];
}

interface Answer {
  readonly name: string;
  readonly p: Given;
  readonly q: Given;
  readonly kl: number;
  readonly klBack: number;
  readonly crossEntropy: number;
  readonly bhattacharyya: number;
  readonly hellinger: number;
  readonly renyi: { readonly alpha: number; readonly value: number | null }[];
  readonly wasserstein: number;
}

const answers: Answer[] = JSON.parse(
  readFileSync(new URL('../answers/normal-questions.json', import.meta.url), 'utf8'),
).distances;

// The answers are for exactly these numbers, so float32 is compared only if they are float32 numbers.
const exactDtypes = (device: Device, { p, q }: Pick<Answer, 'p' | 'q'>) =>
  (device.dtypes as RealDtype[]).filter(
    (dtype) =>
      dtype === 'float64' ||
      [p, q].every((each) => [each.mean, ...each.factor].flat().every((x) => Math.fround(x) === x)),
  );

onEveryDevice('distances equal the textbook formulas, computed with 60 digits.', async (device) => {
  let compared = 0;
  for (const answer of answers)
    for (const dtype of exactDtypes(device, answer)) {
      compared++;
      using p = MultivariateNormal.fromCholeskySync({ device, dtype, ...answer.p });
      using q = MultivariateNormal.fromCholeskySync({ device, dtype, ...answer.q });
      const at = `${answer.name}, ${dtype}`;
      // The error is relative even if p and q are nearly equal: Hilbert's matrix has a condition of 1.5e7, its factor
      // the square root of that.
      near(await klDivergence(p, q), answer.kl, 1e-12, at, rounding(answer.kl));
      near(await klDivergence(q, p), answer.klBack, 1e-12, at, rounding(answer.klBack));
      near(await crossEntropy(p, q), answer.crossEntropy, 1e-12, at);
      near(await bhattacharyya(p, q), answer.bhattacharyya, 1e-12, at, rounding(answer.bhattacharyya));
      near(await hellinger(p, q), answer.hellinger, 1e-12, at, 2 ** -50);
      near(await wasserstein(p, q), answer.wasserstein, 1e-12, at, 2 ** -50 * size(answer));
      for (const { alpha, value } of answer.renyi)
        if (value === null) assert.is(await renyiDivergence(p, q, alpha), Number.POSITIVE_INFINITY);
        else near(await renyiDivergence(p, q, alpha), value, 1e-12, `${at}, order ${alpha}`, rounding(value));
    }
  assert.ok(compared >= 3, `pairs are compared (${compared})`);
});

onEveryDevice(
  'a distribution has distance 0 from itself, in each type, and from one made of the same numbers.',
  async (device) => {
    for (const dtype of device.dtypes as RealDtype[])
      for (const { p: given } of answers) {
        using p = MultivariateNormal.fromCholeskySync({ device, dtype, ...given });
        using same = MultivariateNormal.fromCholeskySync({ device, dtype, ...given });
        for (const other of [p, same]) {
          const all = [klDivergenceSync, bhattacharyyaSync, hellingerSync, wassersteinSync].map((f) => f(p, other));
          assert.equal(
            [...all, renyiDivergenceSync(p, other, 0.25), renyiDivergenceSync(p, other, 3)],
            [0, 0, 0, 0, 0, 0],
          );
          assert.ok(Math.abs(crossEntropySync(p, other) - p.entropy) <= 1e-15 * Math.abs(p.entropy));
        }
      }
  },
);

onEveryDevice(
  'a distribution given by its covariance and the same one given by its precision differ by rounding.',
  (device) => {
    const dtype = device.dtypes.includes('float64') ? 'float64' : 'float32';
    const eps = dtype === 'float64' ? 2 ** -52 : 2 ** -23;
    for (const { p: given } of answers.filter(({ name }) => /dimension/.test(name))) {
      using p = MultivariateNormal.fromCholeskySync({ device, dtype, ...given });
      using again = MultivariateNormal.fromCovarianceSync({
        device,
        dtype,
        mean: p.mean,
        covariance: p.covarianceSync(),
      });
      for (const f of [klDivergenceSync, bhattacharyyaSync]) {
        const value = f(p, again);
        assert.ok(value >= 0 && value <= (100 * eps) ** 2, `${value}`);
      }
      for (const f of [hellingerSync, wassersteinSync]) {
        const value = f(p, again);
        assert.ok(value >= 0 && value <= 100 * eps, `${value}`);
      }
    }
  },
);

test('Distributions on different devices and of different types are compared.', async () => {
  const [{ p: a, q: b, kl, wasserstein: moved }] = answers.slice(1) as [Answer];
  for (const first of kindsHere)
    for (const second of kindsHere) {
      using one = openDevice(first);
      using two = openDevice(second);
      using p = MultivariateNormal.fromCholeskySync({ device: one, dtype: 'float32', ...a });
      const dtype = two.dtypes.includes('float64') ? 'float64' : 'float32';
      using q = MultivariateNormal.fromCholeskySync({ device: two, dtype, ...b });
      near(await klDivergence(p, q), kl, 1e-12, `${first}, ${second}`);
      near(wassersteinSync(p, q), moved, 1e-12, `${first}, ${second}`);
      using same = MultivariateNormal.fromCholeskySync({ device: two, dtype, ...a });
      assert.is(hellingerSync(p, same), 0);
    }
});

const normals = (n: number) =>
  fc.record({
    mean: fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: n, maxLength: n }),
    diagonal: fc.array(fc.double({ min: -6, max: 6, noNaN: true }), { minLength: n, maxLength: n }),
    below: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: n * n, maxLength: n * n }),
  });

const pairs = fc.integer({ min: 1, max: 6 }).chain((n) => fc.tuple(normals(n), normals(n)));

test('For any two normals, no distance is negative or NaN, divergences grow with their order, and symmetric ones are symmetric.', () => {
  using device = openDevice('reference');
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const made = [a, b].map(({ mean, diagonal, below }) => {
        const n = mean.length;
        const factor = diagonal.map((size, i) =>
          diagonal.map((_, j) => 10 ** size * (i === j ? 1 : i > j ? below[i * n + j]! : 0)),
        );
        return MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
      });
      using p = made[0]!;
      using q = made[1]!;
      const kl = klDivergenceSync(p, q);
      const close = bhattacharyyaSync(p, q);
      const share = hellingerSync(p, q);
      const moved = wassersteinSync(p, q);
      for (const value of [kl, close, share, moved]) assert.ok(value >= 0, `${value}`);
      assert.ok(share <= 1);
      near(bhattacharyyaSync(q, p), close, 1e-9, 'bhattacharyya', rounding(close));
      near(hellingerSync(q, p), share, 1e-9, 'hellinger', 2 ** -50);
      near(wassersteinSync(q, p), moved, 1e-9, 'wasserstein', 2 ** -50 * 1e7);
      // Renyi's divergence grows with its order, and half of that of order 1/2 is Bhattacharyya's distance.
      const rising = [0, 0.2, 0.5, 0.8, 1, 1.5, 4].map((alpha) => renyiDivergenceSync(p, q, alpha));
      for (let k = 1; k < rising.length; k++) assert.ok(rising[k]! >= rising[k - 1]! * (1 - 1e-12), `${rising}`);
      assert.is(rising[2], 2 * close);
      assert.is(rising[4], kl);
    }),
    { numRuns: 200, seed: 7 },
  );
});

test('The KL divergence of the whole is that of a marginal plus the mean of that of the conditionals.', () => {
  using device = openDevice('reference');
  fc.assert(
    fc.property(normals(4), ({ mean, below }) => {
      const factor = mean.map((_, i) => mean.map((_, j) => (i === j ? 1 : i > j ? below[i * 4 + j]! / 4 : 0)));
      using p = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
      using q = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', factor });
      using pa = p.marginalSync([0]);
      using qa = q.marginalSync([0]);
      // With equal covariances, the divergence of the conditionals is half the square of a linear function of a, here
      // a constant, so its mean is its value at the mean.
      using pb = p.conditionalSync({ given: [0], values: [mean[0]!] });
      using qb = q.conditionalSync({ given: [0], values: [mean[0]!] });
      near(klDivergenceSync(pa, qa) + klDivergenceSync(pb, qb), klDivergenceSync(p, q), 1e-10, 'chain');
    }),
    { numRuns: 100, seed: 8 },
  );
});

onEveryDevice('distributions that cannot be compared are refused.', async (device) => {
  using p = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
  const q = MultivariateNormal.fromCovarianceSync({
    device,
    covariance: [
      [1, 0],
      [0, 1],
    ],
  });
  const all = [klDivergence, crossEntropy, bhattacharyya, hellinger, wasserstein];
  for (const f of all) {
    await throwsCode('ERR_SHAPE', '(2)', () => f(p, q));
    await throwsCode('ERR_INVALID_ARGUMENT', 'Object', () => f(p, {} as MultivariateNormal));
  }
  for (const alpha of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    await throwsCode('ERR_OUT_OF_RANGE', `${alpha}`, () => renyiDivergence(p, p, alpha));
  q.close();
  for (const f of all) await throwsCode('ERR_CLOSED', '2', () => f(p, q));
});

onEveryDevice('Nearly equal normals whose deviations are 1e8 apart have a small distance.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const of = (factor: number[][]) => MultivariateNormal.fromCholeskySync({ device, factor, dtype: 'float64' });
  const rows = (change: number) => [
    [1, 0, 0],
    [0.25, 1 + change, 0],
    [3e7, -5e7, 1e8],
  ];
  using p = of(rows(0));
  using q = of(rows(1e-10));
  // The least over all orthogonal U is at most what the identity gives.
  assert.ok(wassersteinSync(p, q) <= 1.01e-10, `${wassersteinSync(p, q)}`);
  assert.ok(wassersteinSync(p, q) >= 0);
});

onEveryDevice(
  "Renyi's divergence of a small order is its order times that of a larger one, and never below 0.",
  (device) => {
    if (!device.dtypes.includes('float64')) return;
    const of = (covariance: number[][]) =>
      MultivariateNormal.fromCovarianceSync({ device, covariance, dtype: 'float64' });
    using q = of([[1, 0.25], [0.25, 2]]); // biome-ignore format: short
    for (const scale of [0.01, 0.1, 0.9, 1.001, 1.5, 4, 1e6]) {
      using p = of([[scale, 0.25 * Math.sqrt(scale)], [0.25 * Math.sqrt(scale), 2.5]]); // biome-ignore format: short
      // To first order in alpha it is alpha times the Kullback-Leibler divergence of q from p.
      for (const alpha of [1e-300, 1e-100, 1e-30, 1e-20, 1e-17, 1e-15, 1e-12, 1e-10])
        near(
          renyiDivergenceSync(p, q, alpha) / alpha,
          klDivergenceSync(q, p),
          1e-12 + 1e4 * alpha,
          `${scale} ${alpha}`,
        );
    }
    const sizes = [[1, 0.1], [1, 1e-9], [1e9, 1], [1e-9, 1]] as const; // biome-ignore format: short
    for (const [scale, size] of sizes) {
      const factor = (seed: number, scale: number) =>
        joined(blocks(1, size, seed)).factor.map((row) => row.map((entry) => entry * scale));
      using p = MultivariateNormal.fromCholeskySync({ device, factor: factor(1, scale), dtype: 'float64' });
      using q = MultivariateNormal.fromCholeskySync({ device, factor: factor(2, 1), dtype: 'float64' });
      for (const alpha of [1e-250, 1e-50, 1e-30, 1e-20, 1e-16, 1e-12]) {
        const back = klDivergenceSync(q, p);
        near(renyiDivergenceSync(p, q, alpha) / alpha, back, 1e-12 + alpha * back, `${scale} ${size} ${alpha}`);
      }
    }
  },
);

// An order, and by mpmath with 1,500 digits the divergences of `one` from `other`, of `other` from `one`, of a
// deviation of 1e200 from one of 1, and of 1 from 1e200.
const hardDivergences: readonly (readonly [number, ...number[]])[] = [
  [1e-12, 44.49105411163996, 9.95456605727716, 4.600170185992689e-10, 446.7015080408311],
  [0.0001, 53.70390176671526, 21.475061158825465, 0.04600629998971321, 455.9113878497461],
  [0.1, 60.31867727961224, 34.53709426116338, 51.11002400228001, 459.2378046582569],
  [0.3, 70.08371029139504, 53.68934397736987, 197.10966872524767, 459.6570380242906],
  [0.5, 86.90266768615403, 86.90266768615403, 459.8238714182492, 459.8238714182492],
  [0.7, 125.27513594719636, 163.5286573465884, 1072.5330887233445, 459.92256035891126],
  [0.9, 310.8338483504705, 542.8680955165103, 4133.140241924313, 459.99021602052],
];

onEveryDevice('a divergence loses no digits if one normal is nearly singular or very wide.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const of = (factor: number[][]) => MultivariateNormal.fromCholeskySync({ device, factor, dtype: 'float64' });
  using one = of([[1, 0, 0], [3e5, 1e-6, 0], [-2e5, 7e4, 1e-3]]); // biome-ignore format: short
  using other = of([[1e6, 0, 0], [0.5, 1e2, 0], [0.25, -0.5, 1e-5]]); // biome-ignore format: short
  using wide = of([[1e200]]);
  using unit = of([[1]]);
  const pairs = [[one, other], [other, one], [wide, unit], [unit, wide]] as const; // biome-ignore format: short
  for (const [order, ...wanted] of hardDivergences)
    for (const [at, [p, q]] of pairs.entries())
      near(renyiDivergenceSync(p, q, order), wanted[at]!, 1e-14, `pair ${at}, order ${order}`);
});

onEveryDevice('Far means and huge orders have the divergence that float64 holds.', (device) => {
  if (!device.dtypes.includes('float64')) return;
  const at = (x: number, variance: number) =>
    MultivariateNormal.fromDiagonalSync({ device, mean: [x], variances: [variance], dtype: 'float64' });
  near(renyiDivergenceSync(at(1e308, 1e300), at(-1e308, 1e300), 1e-10), 2e306, 1e-14, 'far');
  near(klDivergenceSync(at(0.8e308, 1e308), at(-0.8e308, 1e308)), 1.28e308, 1e-14, 'order 1');
  near(renyiDivergenceSync(at(0, 1), at(1e-150, 1), 1e300), 0.5, 1e-14, 'order 1e300');
});

function near(actual: number, wanted: number, tolerance: number, at: string, slack = 0): void {
  const isNear = actual === wanted || Math.abs(actual - wanted) <= tolerance * Math.abs(wanted) + slack;
  assert.ok(isNear, `${at}: ${actual}, not ${wanted}: ${Math.abs(actual / wanted - 1)}`);
}

// A divergence is a sum of squares of differences from 1, each of which is rounded as 1 is; a distance is the root of
// such a sum.
function rounding(divergence: number): number {
  return 2 ** -50 * Math.sqrt(divergence) + 2 ** -100;
}

// The norm of all entries of both factors, to which the rounding of a Wasserstein distance is relative.
function size({ p, q }: Pick<Answer, 'p' | 'q'>): number {
  return Math.hypot(...p.factor.flat(), ...q.factor.flat());
}

/** Blocks of 8 independent coordinates each, with entries of `size` beside those of a diagonal of 1. */
function blocks(count: number, size: number, seed: number): Given[] {
  let state = seed;
  const random = () => {
    state = (state * 48271) % 2147483647;
    return size * (2 * (state / 2147483647) - 1);
  };
  return Array.from({ length: count }, () => ({
    mean: Array.from({ length: 8 }, random),
    factor: Array.from({ length: 8 }, (_, i) =>
      Array.from({ length: 8 }, (_, j) => (j < i ? random() : j === i ? 1 + random() / 4 : 0)),
    ),
  }));
}

function joined(parts: readonly Given[]): Given {
  const n = 8 * parts.length;
  const factor = parts.flatMap((part, k) =>
    part.factor.map((row) => Array.from({ length: n }, (_, j) => (Math.floor(j / 8) === k ? row[j % 8]! : 0))),
  );
  return { mean: parts.flatMap(({ mean }) => mean), factor };
}

onEveryDevice(
  'a divergence of many coordinates is the sum of those of independent blocks, however small.',
  (device) => {
    const dtype = device.dtypes.includes('float64') ? 'float64' : 'float32';
    const made = (given: Given) => MultivariateNormal.fromCholeskySync({ device, dtype, ...given });
    const sizes = dtype === 'float64' ? [1, 1e-3, 1e-9] : [1, 1e-3];
    for (const size of sizes) {
      const [p, q] = [blocks(5, size, 1), blocks(5, size, 2)];
      // One block where p's covariance is nearly singular beside q's, so that products of matrices would lose digits.
      const hard = blocks(1, size, 3)[0]!;
      const far = { ...hard, factor: hard.factor.map((row) => row.map((entry, j) => (j === 0 ? 2 ** 20 : entry))) };
      for (const [i, row] of far.factor.entries()) row.fill(0, i + 1);
      for (const [ps, qs] of [
        [p, q],
        [
          [...p, far],
          [...q, hard],
        ],
      ] as const)
        for (const order of [0.25, 0.5, 0.75, 0.999, 1, 1.01]) {
          using whole = made(joined(ps));
          using other = made(joined(qs));
          const value = renyiDivergenceSync(whole, other, order);
          let sum = 0;
          for (const [k, part] of ps.entries()) {
            using one = made(part);
            using two = made(qs[k]!);
            sum += renyiDivergenceSync(one, two, order);
          }
          if (sum === Number.POSITIVE_INFINITY) assert.is(value, sum);
          else assert.ok(Math.abs(value - sum) <= 1e-12 * sum, `${size}, order ${order}: ${value}, ${sum}`);
        }
    }
  },
);

onEveryDevice('a divergence of many coordinates equals that of the only one in which they differ.', (device) => {
  const dtype = device.dtypes.includes('float64') ? 'float64' : 'float32';
  const n = 25;
  const made = (scales: readonly number[], below = 0) => {
    const factor = scales.map((scale, i) => scales.map((_, j) => (j === i ? scale : i === 1 && j === 0 ? below : 0)));
    return MultivariateNormal.fromCholeskySync({ device, dtype, factor });
  };
  const ones = new Array<number>(n).fill(1);
  using standard = made(ones);
  using one = made([1, 1]);
  const largest = dtype === 'float64' ? 1e10 : 1e8;
  for (const scale of [1e4, 1e6, 1e8, largest, 0.7, 1.3, 1e-4, 1e-8, 1.6e-16].filter((m) => m <= largest))
    for (const order of [0.25, 0.5, 0.9]) {
      using whole = made(ones.map((value, i) => (i === 1 ? scale : value)));
      using part = made([1, scale]);
      using mixed = made(
        ones.map((value, i) => (i === 1 ? scale : value)),
        scale,
      );
      using mixedPart = made([1, scale], scale);
      for (const [p, q, few, other] of [
        [whole, standard, part, one],
        [standard, whole, one, part],
        [mixed, standard, mixedPart, one],
      ] as const) {
        const [value, wanted] = [renyiDivergenceSync(p, q, order), renyiDivergenceSync(few, other, order)];
        assert.ok(Math.abs(value - wanted) <= 1e-11 * wanted, `${scale}, order ${order}: ${value}, ${wanted}`);
      }
    }
  using wide = made(new Array<number>(n).fill(1e9));
  using narrow = made([1e9]);
  using unit = made([1]);
  const wanted = n * bhattacharyyaSync(narrow, unit);
  for (const value of [bhattacharyyaSync(wide, standard), bhattacharyyaSync(standard, wide)])
    assert.ok(Math.abs(value - wanted) <= 1e-12 * wanted, `${value}, ${wanted}`);
  assert.is(hellingerSync(wide, standard), 1);
});

// Both read copies in memory of the device, between turns of the event loop.
onNative('If the device or a normal is closed during a distance, the call is refused or right.', async () => {
  const covariance = (n: number, share: number) =>
    Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (i === j ? 2 : 0) + share ** Math.abs(i - j)),
    );
  for (const dtype of ['float32', 'float64'] as const)
    for (const [distance, n] of [
      [klDivergence, 300],
      [wasserstein, 60],
    ] as const) {
      let wanted: number | undefined;
      const outcomes = new Set<number | string>();
      for (let turns = 0; turns < 8; turns++)
        for (const closes of ['nothing', 'p', 'q', 'device'] as const) {
          using device = openDevice('cpu');
          const make = (share: number) =>
            MultivariateNormal.fromCovarianceSync({ device, covariance: covariance(n, share), dtype });
          const all = { p: make(0.5), q: make(0.6), device, nothing: { close: () => {} } };
          const found = distance(all.p, all.q).catch(({ code }: { code: string }) => code);
          for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
          all[closes].close();
          const outcome = await found;
          if (closes === 'nothing') wanted ??= outcome as number;
          outcomes.add(outcome);
        }
      const known = new Set<number | string>([wanted!, 'ERR_CLOSED', 'ERR_ABORTED']);
      assert.ok(outcomes.size > 1, 'some are refused');
      assert.equal(
        [...outcomes].filter((outcome) => !known.has(outcome)),
        [],
      );
    }
});

test.run();
