// Draws and large factors by tiles have the bits of the CPU's own products, and a bad pivot is named wherever it is.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { hasSameBytes } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onSoftMetal } from './on-metal.ts';

/** Positive definite, and without a pattern that a wrong place would keep. */
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

onSoftMetal('A factor of 512 columns or more is made by blocks, with the bits of the CPU.', async (soft) => {
  using device = openDevice('metal');
  for (const n of [512, 650]) {
    const covariance = covarianceOf(n);
    soft.reset();
    using byGpu = await MultivariateNormal.fromCovariance({ device, covariance, factor: 'gpu' });
    assert.is(byGpu.timings.factor, 'gpu');
    assert.is(soft.count('dispatches cholesky_diagonal'), Math.ceil(n / 128));
    assert.is(soft.count('encoded MPSMatrixDecompositionCholesky'), 0);
    using byCpu = await MultivariateNormal.fromCovariance({ device, covariance, factor: 'cpu' });
    using one = byGpu.factorSync();
    using other = byCpu.factorSync();
    hasSameBytes(one.data as Float32Array, other.data as Float32Array, `n = ${n}`);
  }
});

onSoftMetal('A pivot that is not positive is named, in whichever block it is.', async () => {
  using device = openDevice('metal');
  const n = 520;
  for (const pivot of [0, 127, 128, 300, 511, 519]) {
    const covariance = covarianceOf(n);
    covariance[pivot]![pivot] = -1;
    const made = () => MultivariateNormal.fromCovariance({ device, covariance, factor: 'gpu' });
    const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', `(${pivot})`, made);
    assert.is(error.pivot, pivot);
  }
});

test.run();
