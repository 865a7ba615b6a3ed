// Run by kernel-shapes.test.ts in a process beside the stand-in for NVIDIA's driver.
import * as assert from 'uvu/assert';
import type { Encoder, Timings } from '../../lib/backend.ts';
import { openGpuBackend } from '../harness/gpu-backend.ts';
import { counterOf, dotOf, guarded, isNear, lowerFactor, scattered, transposeOf } from '../harness/naive.ts';
import fc, { sizeTo } from '../harness/properties.ts';

const device = openGpuBackend('cuda');

function run(record: (encoder: Encoder) => void): Timings {
  const encoder = device.encoder();
  record(encoder);
  return encoder.commitSync();
}

const flag = fc.boolean();
const products = fc.record({
  m: sizeTo(260),
  n: sizeTo(140),
  k: sizeTo(520),
  isDouble: flag,
  transposeA: flag,
  transposeB: flag,
  beta: fc.constantFrom(0, 3),
});
fc.assert(
  fc.property(products, ({ m, n, k, isDouble, transposeA, transposeB, beta }) => {
    const numbers = (length: number, seed: number) =>
      isDouble ? scattered(length, seed) : Float32Array.from(scattered(length, seed));
    const [a, b, c] = [numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3)];
    const out = guarded(c);
    run((encoder) => encoder.product(a, b, out.view, m, n, k, transposeA, transposeB, -0.5, beta));
    out.isIntact('c');
    const rows = transposeA ? transposeOf(a, k, m) : a;
    const columns = transposeB ? b : transposeOf(b, k, n);
    out.view.forEach((value, at) => {
      const [i, j, before] = [Math.floor(at / n), at % n, beta * c[at]!];
      const sum = dotOf(k, rows, i * k, columns, j * k);
      const whole = { value: before - sum.value / 2, size: Math.abs(before) + sum.size / 2 };
      isNear(value, whole, 2 * k + 8, isDouble ? 2 ** -53 : 2 ** -24, () => `(${i}, ${j})`);
    });
  }),
  { numRuns: 16 },
);

// sample_narrow makes up to 96 columns here; on metal at most 92.
const draws = fc.record({ n: fc.integer({ min: 90, max: 99 }), count: sizeTo(300), first: fc.nat(9) });
fc.assert(
  fc.property(draws, ({ n, count, first }) => {
    const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
    const mean = Float32Array.from(scattered(n, 9));
    const z = new Float32Array(count * n);
    const out = guarded(new Float32Array(count * n).fill(Number.NaN));
    const counter = counterOf(7, 3, first);
    run((encoder) => encoder.fillNormal(z, counter));
    run((encoder) => encoder.sample(factor, mean, out.view, false, counter));
    out.isIntact('draws');
    out.view.forEach((value, at) => {
      const [r, i] = [Math.floor(at / n), at % n];
      isNear(value, dotOf(i + 1, factor, i * n, z, r * n, mean[i]!), n + 2, 2 ** -24, () => `(${r}, ${i})`);
    });
  }),
  { numRuns: 12 },
);

const batches = fc.record({
  n: sizeTo(66),
  models: fc.integer({ min: 1, max: 4 }),
  rows: sizeTo(64),
  first: fc.nat(9),
  isDouble: flag,
});
fc.assert(
  fc.property(batches, ({ n, models, rows, first, isDouble }) => {
    const real = (values: Float64Array) => (isDouble ? values : Float32Array.from(values));
    const factors = real(lowerFactor(n, n, Number.NaN));
    const all = real(new Float64Array(models * n * n));
    for (let b = 0; b < models; b++) all.set(factors, b * n * n);
    const means = real(scattered(models * n, 9));
    const z = real(new Float64Array(rows * n));
    const out = guarded(real(new Float64Array(models * rows * n).fill(Number.NaN)));
    const ran = run((encoder) => encoder.sampleBatch(all, means, out.view, n, counterOf(7, 3, first)));
    assert.is(ran.ranOn, n > 64 ? 'cpu' : 'gpu', `${n} columns`);
    out.isIntact('draws of a batch');
    for (let b = 0; b < models; b++) {
      run((encoder) => encoder.fillNormal(z, counterOf(7, 3 + b, first)));
      for (let at = 0; at < rows * n; at++) {
        const [r, i] = [Math.floor(at / n), at % n];
        const expected = dotOf(i + 1, factors, i * n, z, r * n, means[b * n + i]!);
        const value = out.view[b * rows * n + at]!;
        isNear(value, expected, n + 2, isDouble ? 2 ** -53 : 2 ** -24, () => `model ${b}, (${r}, ${i})`);
      }
    }
  }),
  { numRuns: 16 },
);
device.close();
console.log('all are right');
