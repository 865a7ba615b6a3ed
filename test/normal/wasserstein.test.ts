import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decompositionsOf } from '../../lib/command/float64.ts';
import { type Device, MultivariateNormal, type RealDtype, wassersteinSync } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';

const n = 50;

/** A triangle with a given diagonal, of numbers that float32 holds. */
function triangle(seed: number, diagonal: (i: number) => number): number[][] {
  const below = (i: number, j: number) => (((7 * i + 13 * j + 5 * seed) % 17) - 8) / 128;
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => (i === j ? diagonal(i) : j < i ? below(i, j) : 0)),
  );
}

const slowly = (i: number) => 2 ** -Math.floor((12 * i) / n);
const falling = (i: number) => 2 ** -Math.floor((20 * i) / n);
const steeply = (i: number) => 2 ** -Math.floor((40 * i) / n);
const lastIsTiny = (i: number) => (i === n - 1 ? 2 ** -40 : 1);

// Diagonals of two factors, and the distance by mpmath with 60 digits. Covariances have conditions of up to 1e24.
const hard: Readonly<Record<string, readonly [(i: number) => number, (i: number) => number, number]>> = {
  'nearly alike': [() => 1, (i) => 1 + (i % 3) / 4, 2.662184219077028],
  'well-conditioned': [() => 1, (i) => 1 + i / 8, 25.089491051982684],
  'one less well-conditioned': [slowly, () => 1, 5.816906544365234],
  'both less well-conditioned': [slowly, (i) => 3 * slowly(i), 5.211119101219141],
  'one ill-conditioned': [falling, () => 1, 6.050313355722805],
  'both, in opposite orders': [falling, (i) => 2 * falling(n - 1 - i), 3.8854100950779165],
  'both alike': [falling, (i) => 3 * falling(i), 4.017530637827625],
  'both worse': [steeply, steeply, 0.7698208608542033],
  'one tiny variance': [lastIsTiny, (i) => 2 * lastIsTiny(i), 7.128240263605884],
};

const scaled = (rows: readonly (readonly number[])[], by: number) => rows.map((row) => row.map((entry) => entry * by));

onEveryDevice('a Wasserstein distance keeps 12 digits, however ill-conditioned the covariances are.', (device) => {
  for (const dtype of device.dtypes as RealDtype[])
    for (const [name, [ours, theirs, wanted]] of Object.entries(hard)) {
      const [a, b] = [triangle(1, ours), triangle(2, theirs)];
      for (const scale of dtype === 'float64' ? [1, 2 ** 498, 2 ** -498] : [1, 2 ** 60, 2 ** -60]) {
        using p = MultivariateNormal.fromCholeskySync({ device, dtype, factor: scaled(a, scale) });
        using q = MultivariateNormal.fromCholeskySync({ device, dtype, factor: scaled(b, scale) });
        for (const found of [wassersteinSync(p, q), wassersteinSync(q, p)])
          near(found / scale, wanted, 1e-12, `${name}, ${dtype}, ${scale}`);
      }
    }
});

/** A factor of two coordinates: a, b and c of [[a, 0], [b, c]]. */
type Pair = readonly [number, number, number];

/** Coordinate i and the one `pairs.length` after it are a pair, independent of the others. */
function ofPairs(device: Device, dtype: RealDtype, pairs: readonly Pair[]): MultivariateNormal {
  const count = pairs.length;
  const rows = (each: (pair: Pair) => readonly [number, number], i: number) =>
    Array.from({ length: 2 * count }, (_, j) =>
      j % count === i % count ? each(pairs[i % count]!)[Number(j >= count)]! : 0,
    );
  const made = (first: (pair: Pair) => readonly [number, number], second: (pair: Pair) => readonly [number, number]) =>
    Array.from({ length: 2 * count }, (_, i) => rows(i < count ? first : second, i));
  const factor = made(
    ([a]) => [a, 0],
    ([, b, c]) => [b, c],
  );
  if (pairs.every(([, , c]) => c !== 0)) return MultivariateNormal.fromCholeskySync({ device, dtype, factor });
  const covariance = made(
    ([a, b]) => [a * a, a * b],
    ([a, b, c]) => [a * b, b * b + c * c],
  );
  return MultivariateNormal.fromCovarianceSync({ device, dtype, covariance, singular: 'pivoted' });
}

/** Its square: of singular values s and t, (s + t)^2 is |M|^2 + 2 |det M|. */
function ofPair([a, b, c]: Pair, [d, e, f]: Pair): number {
  const sum = Math.sqrt(Math.hypot(a * d + b * e, b * f, c * e, c * f) ** 2 + 2 * a * c * d * f);
  return a * a + b * b + c * c + d * d + e * e + f * f - 2 * sum;
}

onEveryDevice(
  'a Wasserstein distance of independent pairs follows from those of the pairs, singular ones too.',
  (device) => {
    // Plain TypeScript takes minutes for 300 coordinates.
    const counts = decompositionsOf(device).kind === 'reference' ? [1, 20] : [1, 20, 150];
    const shapes: Readonly<Record<string, (i: number) => readonly [Pair, Pair]>> = {
      regular: (i) => [[1 + (i % 5) / 4, 0.5, 1], [3, (i % 7) / 8, 4]], // biome-ignore format: short
      singular: (i) => [[1 + (i % 5) / 4, 0.5, 0], [3, (i % 7) / 8, 4]], // biome-ignore format: short
      both: (i) => [[1 + (i % 5) / 4, 0.5, 0], [0.25, 2 + (i % 7) / 8, 0]], // biome-ignore format: short
      'ill-conditioned': (i) => [[1, 0.5, 2 ** -(i % 30)], [4, 0.25, 2 ** -(i % 20)]], // biome-ignore format: short
    };
    for (const dtype of device.dtypes as RealDtype[])
      for (const count of counts)
        for (const [name, shape] of Object.entries(shapes)) {
          const pairs = Array.from({ length: count }, (_, i) => shape(i));
          using p = ofPairs(device, dtype, pairs.map(([one]) => one)); // biome-ignore format: short
          using q = ofPairs(device, dtype, pairs.map(([, other]) => other)); // biome-ignore format: short
          const wanted = Math.sqrt(pairs.reduce((sum, pair) => sum + ofPair(...pair), 0));
          for (const found of [wassersteinSync(p, q), wassersteinSync(q, p)])
            near(
              found,
              wanted,
              dtype === 'float32' && name !== 'regular' ? 1e-6 : 1e-12,
              `${name}, ${count} pairs, ${dtype}`,
            );
        }
  },
);

// Two deviations, and the difference of the means.
const oneCoordinate = [[1, 5, 0], [5, 5 + 2 ** -20, 0], [3, 3, 7], [2 ** -20, 1, 0]] as const; // biome-ignore format: short

onEveryDevice('a Wasserstein distance in one coordinate is that of means and deviations, at any scale.', (device) => {
  for (const dtype of device.dtypes as RealDtype[])
    for (const scale of dtype === 'float64' ? [1, 2 ** 498, 2 ** -498] : [1, 2 ** 100, 2 ** -100])
      for (const [one, other, mean] of oneCoordinate) {
        using p = MultivariateNormal.fromCholeskySync({ device, dtype, factor: [[one * scale]] });
        using q = MultivariateNormal.fromCholeskySync({
          device,
          dtype,
          mean: [mean * scale],
          factor: [[other * scale]],
        });
        near(wassersteinSync(p, q) / scale, Math.hypot(one - other, mean), 1e-15, `${one}, ${other}, ${scale}`);
      }
});

onEveryDevice(
  'a Wasserstein distance of means that are far apart is infinite where it overflows, never NaN.',
  (device) => {
    if (!device.dtypes.includes('float64')) return;
    const at = (mean: number) =>
      MultivariateNormal.fromDiagonalSync({ device, dtype: 'float64', mean: [mean, 0], variances: [1e300, 1] });
    using left = at(-1e308);
    using right = at(1e308);
    using middle = at(5e307);
    assert.is(wassersteinSync(left, right), Number.POSITIVE_INFINITY);
    near(wassersteinSync(left, middle), 1.5e308, 1e-15, 'means that float64 holds');
  },
);

function near(actual: number, wanted: number, tolerance: number, at: string): void {
  const error = Math.abs(actual / wanted - 1);
  assert.ok(error <= tolerance, `${at}: ${actual}, not ${wanted}: ${error}`);
}

test.run();
