// Kernels of few columns with any shape and any threadgroups, launched by themselves and compared with plain float64
// loops. The sizes are those around the borders of tiles, panels and groups more often than others.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import type { Values } from '../../lib/dtype.ts';
import { openGpuBackend } from '../harness/gpu-backend.ts';
import { launch } from '../harness/launch.ts';
import { counterOf, dotOf, guarded, isNear, lowerFactor, scattered, whitenedSquare } from '../harness/naive.ts';
import fc, { sizeTo } from '../harness/properties.ts';
import { onMetal } from './on-metal.ts';

const eps = 2 ** -24;

/** Factors of models one after another, with NaN above their diagonals, and the models' means. */
function modelsOf(models: number, n: number): { readonly factors: Float32Array; readonly means: Float32Array } {
  const factors = new Float32Array(models * n * n);
  for (let b = 0; b < models; b++) factors.set(lowerFactor(n, 3 * n + b, Number.NaN), b * n * n);
  return { factors, means: Float32Array.from(scattered(models * n, n)) };
}

/** What a kernel writes into `length` numbers, between two margins that it must not touch. */
function writtenBy(
  device: Backend,
  kernel: string,
  operands: (out: Float32Array) => readonly Values[],
  length: number,
  groups: number,
  lanes: number,
): Float32Array {
  const out = guarded(new Float32Array(length).fill(Number.NaN));
  launch(device, kernel, operands(out.view as Float32Array), [groups * lanes, 1, 1], [lanes, 1, 1]);
  out.isIntact(kernel);
  return out.view as Float32Array;
}

function normalsOf(device: Backend, counter: Uint32Array, count: number): Float32Array {
  const z = new Float32Array(count);
  const encoder = device.encoder();
  encoder.fillNormal(z, counter);
  encoder.commitSync();
  return z;
}

/** The rows are mean + factor z, or with `inverse` mean + x where factor x = z. */
function areDraws(rows: Float32Array, factor: Float32Array, mean: Float32Array, z: Float32Array, inverse = false) {
  const n = mean.length;
  rows.forEach((value, at) => {
    const [r, i] = [Math.floor(at / n), at % n];
    const place = () => `(${r}, ${i}) of ${rows.length / n} x ${n}`;
    if (!inverse) {
      isNear(value, dotOf(i + 1, factor, i * n, z, r * n, mean[i]!), n + 2, eps, place);
      return;
    }
    // Higham, theorem 8.5, and the rounding of the mean's addition, which is relative to the size of the terms.
    const sum = { value: 0, size: 0 };
    for (let j = 0; j <= i; j++) {
      const [entry, x, m] = [factor[i * n + j]!, rows[r * n + j]!, mean[j]!];
      sum.value += entry * (x - m);
      sum.size += Math.abs(entry) * (Math.abs(x) + Math.abs(m));
    }
    isNear(z[at]!, sum, 2 * n + 6, eps, place);
  });
}

/** A kernel, its shapes, and the check of one shape. */
interface Property<Shape> {
  readonly kernel: string;
  readonly shape: fc.Arbitrary<Shape>;
  readonly check: (device: Backend, shape: Shape) => void;
}

const property = <Shape>(kernel: string, shape: fc.Arbitrary<Shape>, check: (device: Backend, shape: Shape) => void) =>
  ({ kernel, shape, check }) as Property<unknown>;

const [seed, stream] = [7, 2 ** 32 - 2];
const first = fc.oneof(fc.nat(9), fc.integer({ min: 2 ** 34 - 300, max: 2 ** 34 + 3 }));
const lanes = fc.constantFrom(1, 31, 32, 64);
const flag = fc.constantFrom(0, 1);

const densities = (kernel: string, min: number, max: number) =>
  property(
    kernel,
    fc.record({
      n: sizeTo(max).filter((n) => n >= min),
      models: fc.integer({ min: 1, max: 3 }),
      rows: sizeTo(130),
      perGroup: sizeTo(130),
      lanes,
      shared: flag,
      inverse: flag,
    }),
    (device, { n, models, rows, perGroup, lanes, shared, inverse }) => {
      const { factors, means } = modelsOf(models, n);
      const x = Float32Array.from(scattered((shared ? 1 : models) * rows * n, 4), (value) => 3 * value);
      const constants = Float32Array.from(scattered(models, 9));
      const params = Uint32Array.of(models, rows, n, shared, inverse, perGroup);
      const operands = (out: Float32Array) => [factors, means, x, constants, out, params];
      const groups = models * Math.ceil(rows / perGroup);
      writtenBy(device, kernel, operands, models * rows, groups, lanes).forEach((value, at) => {
        const [b, r] = [Math.floor(at / rows), at % rows];
        const row = x.subarray((shared ? r : at) * n);
        const d = Float64Array.from({ length: n }, (_, j) => row[j]! - means[b * n + j]!);
        const expected = whitenedSquare(factors.subarray(b * n * n), d, inverse === 1);
        // The factor is well conditioned: n roundings of each of n entries, with room for its condition.
        const sum = { value: constants[b]! - expected / 2, size: Math.abs(constants[b]!) + expected };
        isNear(value, sum, 8 * (n + 2), eps, () => `row ${r} of model ${b}, n = ${n}`);
      });
    },
  );

const properties = [
  property(
    'sample_narrow',
    fc.record({ n: sizeTo(92), count: sizeTo(260), first, perGroup: sizeTo(260) }),
    (device, { n, count, first, perGroup }) => {
      const { factors: factor, means: mean } = modelsOf(1, n);
      const counter = counterOf(seed, stream, first);
      const operands = (out: Float32Array) => [factor, mean, out, Uint32Array.of(...counter, count, n, perGroup, 0)];
      const drawn = writtenBy(device, 'sample_narrow', operands, count * n, Math.ceil(count / perGroup), 128);
      areDraws(drawn, factor, mean, normalsOf(device, counter, count * n));
    },
  ),
  property(
    'sample_rows',
    fc.record({ n: sizeTo(64), count: sizeTo(130), first, perGroup: sizeTo(30), lanes, inverse: flag }),
    (device, { n, count, first, perGroup, lanes, inverse }) => {
      const { factors: factor, means: mean } = modelsOf(1, n);
      const counter = counterOf(seed, stream, first);
      const params = Uint32Array.of(...counter, count, n, perGroup, inverse);
      const operands = (out: Float32Array) => [factor, mean, out, params];
      const drawn = writtenBy(device, 'sample_rows', operands, count * n, Math.ceil(count / perGroup), lanes);
      areDraws(drawn, factor, mean, normalsOf(device, counter, count * n), inverse === 1);
    },
  ),
  property(
    'sample_batch',
    fc.record({
      n: sizeTo(64),
      models: fc.integer({ min: 1, max: 4 }),
      rows: sizeTo(64),
      perGroup: sizeTo(30),
      first,
      lanes,
    }),
    (device, { n, models, rows, perGroup, first, lanes }) => {
      const { factors, means } = modelsOf(models, n);
      const params = Uint32Array.of(...counterOf(seed, stream, first), models, rows, n, perGroup);
      const operands = (out: Float32Array) => [factors, means, out, params];
      const groups = models * Math.ceil(rows / perGroup);
      const drawn = writtenBy(device, 'sample_batch', operands, models * rows * n, groups, lanes);
      for (let b = 0; b < models; b++) {
        const z = normalsOf(device, counterOf(seed, stream + b, first), rows * n);
        const mean = means.subarray(b * n, (b + 1) * n);
        areDraws(drawn.subarray(b * rows * n, (b + 1) * rows * n), factors.subarray(b * n * n), mean, z);
      }
    },
  ),
  property(
    'multiply_lower',
    fc.record({ n: sizeTo(257), count: fc.integer({ min: 1, max: 9 }), lanes: fc.constantFrom(1, 32, 33, 256) }),
    (device, { n, count, lanes }) => {
      const { factors: factor, means: mean } = modelsOf(1, n);
      const rows = Float32Array.from(scattered(count * n, 4));
      const operands = (out: Float32Array) => [factor, mean, rows, out, Uint32Array.of(count, n, 1)];
      const groups = n * Math.ceil(count / 4);
      areDraws(writtenBy(device, 'multiply_lower', operands, count * n, groups, lanes), factor, mean, rows);
    },
  ),
  densities('densities', 1, 12),
  densities('densities_by_columns', 13, 64),
  property(
    'cholesky_batch',
    fc.record({
      n: sizeTo(64),
      models: fc.integer({ min: 1, max: 9 }),
      abreast: fc.integer({ min: 1, max: 9 }),
      lanes,
    }),
    (device, { n, models, abreast, lanes }) => {
      // The threadgroup's memory is 32,768 bytes.
      const perGroup = Math.min(abreast, Math.floor(8191 / (n * ((n | 1) + 1) + 1)));
      const matrices = new Float32Array(models * n * n);
      const { factors } = modelsOf(models, n);
      for (let b = 0; b < models; b++)
        for (let i = 0; i < n; i++)
          for (let j = 0; j <= i; j++) {
            const { value } = dotOf(j + 1, factors, (b * n + i) * n, factors, (b * n + j) * n);
            matrices[(b * n + i) * n + j] = value;
            matrices[(b * n + j) * n + i] = value;
          }
      const failed = new Uint32Array(models).fill(9);
      const params = Uint32Array.of(models, n, perGroup, 0);
      const operands = (out: Float32Array) => {
        out.set(matrices);
        return [out, failed, params];
      };
      const made = writtenBy(device, 'cholesky_batch', operands, matrices.length, Math.ceil(models / perGroup), lanes);
      assert.equal([...failed], new Array(models).fill(0));
      made.forEach((value, at) => {
        const [row, j] = [Math.floor(at / n), at % n];
        const i = row % n;
        if (j > i) assert.is(value, 0);
        // Higham, theorem 10.3: the factor is exact for a matrix that differs by at most n + 1 roundings.
        else isNear(matrices[at]!, dotOf(j + 1, made, row * n, made, (row - i + j) * n), n + 2, eps, `(${i}, ${j})`);
      });
    },
  ),
];

for (const { kernel, shape, check } of properties)
  onMetal(`${kernel} is right for any numbers of models, rows and columns, however they are shared out.`, () => {
    const device = openGpuBackend('metal');
    fc.assert(
      fc.property(shape, (each) => check(device, each)),
      { numRuns: 40 },
    );
    device.close();
  });

test.run();
