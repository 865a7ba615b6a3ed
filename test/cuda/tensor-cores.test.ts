// float64 on tensor cores: products of tiles, solves and factors have the bits of the CPU, and a GPU where they do not,
// or which does not run them, makes them on its lanes.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onSoftCuda } from './on-cuda.ts';

// The first shapes of a tile, an edge in each direction, and several tiles; products of more than one block of terms.
const work = `
  const { openDevice, Matrix, MultivariateNormal } = covarium;
  const numbers = (length) => Float64Array.from({ length }, (_, i) => Math.sin(i) + (i % 7) / 3);
  const bitsOf = ({ data }) => Buffer.from(data.slice().buffer).toString('base64');
  const lowerOf = (n) => Matrix.from(
    numbers(n * n).map((value, at) => (at % n === Math.floor(at / n) ? 3 : at % n < at / n ? value / n : 0)), { columns: n });
  const cpu = openDevice('cpu'), gpu = openDevice('cuda');
  for (const [n, count] of [[97, 130], [128, 129], [163, 300], [258, 70], [300, 1]]) {
    const draws = [cpu, gpu].map((device) => {
      const normal = MultivariateNormal.fromCholeskySync({ device, mean: numbers(n), factor: lowerOf(n) });
      return bitsOf(normal.sampleSync(count, { seed: 7, firstRow: 5 }));
    });
    if (draws[0] !== draws[1]) console.log('draws differ', n, count);
  }
  for (const [m, k, n] of [[130, 70, 129], [257, 300, 128], [128, 1025, 200]]) {
    const [a, b] = [Matrix.from(numbers(m * k), { columns: k }), Matrix.from(numbers(k * n), { columns: n })];
    const products = [cpu, gpu].map((device) => bitsOf(a.multiplySync(b, { device })));
    if (products[0] !== products[1]) console.log('products differ', m, k, n);
  }
  const covarianceOf = (n) => Matrix.from(
    numbers(n * n).map((_, at) => (at % (n + 1) === 0 ? 3 : 1 / (1 + Math.abs(Math.floor(at / n) - (at % n))))), { columns: n });
  for (const [n, count] of [[15, 130], [65, 128], [129, 257], [291, 140]]) {
    const solves = [cpu, gpu].map((device) =>
      bitsOf(MultivariateNormal.fromPrecisionSync({ device, mean: numbers(n), precision: covarianceOf(n) }).sampleSync(count, { seed: 9 })));
    if (solves[0] !== solves[1]) console.log('solves differ', n, count);
    const factors = [cpu, gpu].map((device) => {
      const a = device.matrix(n, n, { dtype: 'float64' });
      a.data.set(covarianceOf(n).data);
      device.commandBuffer().cholesky(a).commitSync();
      return bitsOf(a);
    });
    if (factors[0] !== factors[1]) console.log('factors differ', n);
  }
  cpu.close();
  gpu.close();`;

const settings: readonly [sentence: string, setting: Record<string, string>, products: 'some' | 'none'][] = [
  ['of compute capability 9.0', {}, 'some'],
  ['of compute capability 8.0', { SOFTCUDA_MAJOR: '8' }, 'none'],
  ['that is slow in float64', { SOFTCUDA_FLOAT64: '64' }, 'none'],
  ['whose driver does not read them', { SOFTCUDA_TARGET: '89' }, 'none'],
  ['that adds in another order', { SOFTCUDA_MATRIX: 'down' }, 'some'],
];
for (const [sentence, setting, products] of settings)
  onSoftCuda(
    `Draws, products, solves and factors of float64 on a GPU ${sentence} have the bits of the CPU.`,
    async () => {
      const { code, stdout, stderr } = await besideCuda(work, { COVARIUM_BLAS: 'none', ...setting });
      assert.equal([code, stdout], [0, ''], stderr);
      assert.match(stderr, `softcuda: products on tensor cores: ${products}`);
      assert.match(stderr, 'softcuda: blocks 0, pinned 0, streams 0, events 0, modules 0, contexts 0');
    },
  );

test.run();
