// Draws and large factors by tiles have the bits of the CPU's own products, and a bad pivot is found anywhere.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import type { Encoder } from '../../lib/backend.ts';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { dotOf, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import fc from '../harness/properties.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onSoftMetal } from './on-metal.ts';

/** Positive definite, and without a pattern that would hide a misplaced entry. */
function covarianceOf(n: number): Float32Array[] {
  return Array.from({ length: n }, (_, i) =>
    Float32Array.from({ length: n }, (_, j) => (i === j ? 2 + (i % 7) : 1 / (1 + Math.abs(i - j) ** 2))),
  );
}

onSoftMetal('Draws have the bits of the CPU, by short rows and by tiles.', async (soft) => {
  using metal = openDevice('metal');
  using cpu = openDevice('cpu');
  for (const [n, count, kernel] of [
    [3, 1001, 'sample_narrow'],
    [70, 300, 'sample_narrow'],
    [92, 75, 'sample_narrow'],
    [93, 75, 'sample_tiles'],
    [300, 150, 'sample_tiles'],
  ] as const) {
    const options = { mean: Float32Array.from({ length: n }, (_, i) => i / 8), covariance: covarianceOf(n) };
    using one = await MultivariateNormal.fromCovariance({ device: metal, ...options });
    using other = await MultivariateNormal.fromCovariance({ device: cpu, ...options });
    soft.reset();
    using drawn = await one.sample(count, { seed: 5, firstRow: 3 });
    using expected = await other.sample(count, { seed: 5, firstRow: 3 });
    assert.is(soft.count(`dispatches ${kernel}`), 1, `n = ${n}`);
    hasSameBytes(drawn.data as Float32Array, expected.data as Float32Array, `n = ${n}`);
  }
});

type Record = (encoder: Encoder, rows: Float32Array) => void;

/** The rows after the commands of `record`, which work in place. */
function solvedOn(kind: 'metal' | 'cpu', rows: Float32Array, record: Record, opened = () => {}): Float32Array {
  const device = loadAddon().addon!.openDevice(kind, { threads: 2 });
  opened();
  const memory = device.allocate(rows.byteLength);
  const inPlace = new Float32Array(memory);
  inPlace.set(rows);
  const encoder = device.encoder();
  record(encoder, inPlace);
  encoder.commitSync();
  const result = inPlace.slice();
  device.release(memory);
  device.close();
  return result;
}

onSoftMetal('Forward solves by tiles have the bits of the CPU; backward solves are right.', async (soft) => {
  for (const [n, count] of [
    [2, sanitized ? 1000 : 40_000],
    [64, 600],
    [127, 130],
    [128, 257],
    [129, 128],
    [300, 300],
  ] as const) {
    const factor = Float32Array.from(lowerFactor(n, 3, Number.NaN));
    const rows = Float32Array.from({ length: count * n }, (_, i) => Math.sin(i * 1.7) * (i % 11));
    for (const [name, record] of [
      ['forwards', (encoder, inPlace) => encoder.triangularSolve(factor, inPlace, n, false)],
      ['backwards', (encoder, inPlace) => encoder.triangularSolve(factor, inPlace, n, true)],
      ['both', (encoder, inPlace) => encoder.choleskySolve(factor, inPlace, n)],
    ] as const satisfies readonly (readonly [string, Record])[]) {
      const solved = solvedOn('metal', rows, record, () => soft.reset());
      assert.is(soft.count('dispatches solve_tiles'), name === 'both' ? 2 : 1, `${name}, n = ${n}`);
      const expected = solvedOn('cpu', rows, record);
      // In backward solves the CPU computes some products in another order.
      if (name === 'forwards') hasSameBytes(solved, expected, `${name}, n = ${n}`);
      else near(solved, expected, 1e-5, `${name}, n = ${n}`);
    }
  }
});

onSoftMetal(
  'Triangular products of more than 8 rows have the bits of the CPU, without a copy of the factor.',
  (soft) => {
    for (const [n, count] of [
      [2, 20_000],
      [65, 9],
      [128, 257],
      [300, 150],
    ] as const) {
      const factor = Float32Array.from(lowerFactor(n, 3, Number.NaN));
      const rows = Float32Array.from({ length: count * n }, (_, i) => Math.sin(i * 1.7) * (i % 11));
      const record: Record = (encoder, inPlace) => encoder.triangularProduct(factor, inPlace, n, false);
      const product = solvedOn('metal', rows, record, () => soft.reset());
      assert.is(soft.count('dispatches sample_tiles'), 1, `n = ${n}`);
      assert.is(soft.count('dispatches copy_lower') + soft.count('MPSMatrixMultiplication'), 0, `n = ${n}`);
      hasSameBytes(product, solvedOn('cpu', rows, record), `n = ${n}`);
    }
  },
);

onSoftMetal('Solves by tiles are right for any numbers of rows and columns.', async (soft) => {
  const shape = fc.tuple(fc.integer({ min: 65, max: 400 }), fc.integer({ min: 9, max: 300 }));
  fc.assert(
    fc.property(shape, ([n, count]) => {
      const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
      const rows = Float32Array.from(scattered(count * n, 4));
      const forwards: Record = (encoder, inPlace) => encoder.triangularSolve(factor, inPlace, n, false);
      const solved = solvedOn('metal', rows, forwards, () => soft.reset());
      assert.is(soft.count('dispatches solve_tiles'), 1);
      // Higham, theorem 8.5: the solution is exact for a factor that differs by at most n roundings.
      for (let r = 0; r < count; r++)
        for (let i = 0; i < n; i++) {
          const product = dotOf(i + 1, factor, i * n, solved, r * n);
          isNear(rows[r * n + i]!, product, n + 2, 2 ** -24, () => `(${r}, ${i}) of ${count} x ${n}`);
        }
    }),
    { numRuns: 6 },
  );
});

onSoftMetal('A factor by blocks is right for any number of columns.', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), (n) => {
      const covariance = Float32Array.from(covarianceOf(n).flatMap((row) => [...row]));
      const factor = solvedOn('metal', covariance, (encoder, inPlace) => encoder.cholesky(inPlace, n, 'gpu'));
      for (let i = 0; i < n; i++)
        for (let j = 0; j <= i; j++) {
          const product = dotOf(j + 1, factor, i * n, factor, j * n);
          isNear(covariance[i * n + j]!, product, n + 2, 2 ** -24, () => `(${i}, ${j}) of ${n}`);
        }
    }),
    { numRuns: 6 },
  );
});

onSoftMetal('Draws from a precision and densities of many columns are solves by tiles.', async (soft) => {
  using metal = openDevice('metal');
  using cpu = openDevice('cpu');
  for (const n of [65, 200]) {
    const [mean, covariance] = [Float32Array.from({ length: n }, (_, i) => i / 8), covarianceOf(n)];
    using one = await MultivariateNormal.fromPrecision({ device: metal, mean, precision: covariance });
    using other = await MultivariateNormal.fromPrecision({ device: cpu, mean, precision: covariance });
    soft.reset();
    using drawn = await one.sample(150, { seed: 5 });
    using expected = await other.sample(150, { seed: 5 });
    assert.is(soft.count('dispatches solve_tiles'), 1);
    assert.is(soft.count('dispatches add_row'), 0, 'the mean is added by the same kernel');
    hasSameBytes(drawn.data, expected.data, `n = ${n}`);
    using byCovariance = await MultivariateNormal.fromCovariance({ device: metal, mean, covariance });
    using onCpu = await MultivariateNormal.fromCovariance({ device: cpu, mean, covariance });
    soft.reset();
    using densities = await byCovariance.logPdf(drawn);
    assert.is(soft.count('dispatches solve_tiles'), 1);
    assert.is(soft.count('blitCopies') + soft.count('dispatches add_row') + soft.count('dispatches copy_lower'), 0);
    using right = await onCpu.logPdf(expected);
    near(densities.data, right.data, 1e-5 * n);
    // With an inverse factor they are products.
    for (const [count, kernel] of [
      [8, 'multiply_lower'],
      [150, 'sample_tiles'],
    ] as const) {
      const rows = (expected.data as Float32Array).subarray(0, count * n);
      soft.reset();
      using byProduct = await one.logPdf(rows);
      assert.equal([soft.count('dispatches less_mean'), soft.count(`dispatches ${kernel}`)], [1, 1]);
      assert.is(soft.count('blitCopies') + soft.count('dispatches add_row') + soft.count('dispatches copy_lower'), 0);
      using wanted = await other.logPdf(rows);
      near(byProduct.data, wanted.data, 1e-5 * n);
    }
  }
});

onSoftMetal("The GPU's factor is made by blocks, with the bits of the CPU.", async (soft) => {
  using device = openDevice('metal');
  for (const n of [1, 2, 17, 64, 127, 128, 129, 300, 512, 650]) {
    const covariance = covarianceOf(n);
    soft.reset();
    using byGpu = await MultivariateNormal.fromCovariance({ device, covariance, factor: 'gpu' });
    assert.is(byGpu.timings.factor, 'gpu');
    assert.is(soft.count('dispatches cholesky_update'), Math.ceil(n / 128));
    assert.is(soft.count('encoded MPSMatrixDecompositionCholesky'), 0);
    using byCpu = await MultivariateNormal.fromCovariance({ device, covariance, factor: 'cpu' });
    using one = byGpu.factorSync();
    using other = byCpu.factorSync();
    hasSameBytes(one.data as Float32Array, other.data as Float32Array, `n = ${n}`);
  }
});

onSoftMetal('A pivot that is not positive is named, whatever block it is in.', async () => {
  using device = openDevice('metal');
  const n = 520;
  for (const pivot of [0, 1, 6, 15, 18, 63, 64, 79, 127, 128, 300, 511, 519]) {
    const covariance = covarianceOf(n);
    covariance[pivot]![pivot] = -1;
    const made = () => MultivariateNormal.fromCovariance({ device, covariance, factor: 'gpu' });
    const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', `(${pivot})`, made);
    assert.is(error.pivot, pivot);
  }
});

test.run();
