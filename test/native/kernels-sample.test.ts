// sample_rows, the fused sampler of few columns: normals made in threadgroup memory, multiplied or solved there.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import { groupSizes, launch, onCpu } from '../harness/launch.ts';
import { counterOf, dot, guarded, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';

const eps = 2 ** -24;

interface Run {
  readonly first: number;
  readonly count: number;
  readonly rowsPerGroup: number;
  readonly inverse: boolean;
}

function sampleRows(
  device: Backend,
  factor: Float32Array,
  mean: Float32Array,
  { first, count, rowsPerGroup, inverse }: Run,
  lanes: number,
  groups = Math.ceil(count / rowsPerGroup),
): Float32Array {
  const n = mean.length;
  const out = guarded(new Float32Array(count * n).fill(Number.NaN));
  const params = Uint32Array.of(...counterOf(7, 3, first), count, n, rowsPerGroup, Number(inverse));
  launch(device, 'sample_rows', [factor, mean, out.view, params], [groups * lanes, 1, 1], [lanes, 1, 1]);
  out.isIntact('sample_rows');
  return out.view as Float32Array;
}

function normals(device: Backend, first: number, count: number): Float32Array {
  const z = new Float32Array(count);
  const encoder = device.encoder();
  encoder.fillNormal(z, counterOf(7, 3, first));
  encoder.commitSync();
  return z;
}

/** mean + factor z by row, in float64. */
function isProduct(actual: Float32Array, factor: Float32Array, mean: Float32Array, z: Float32Array): void {
  const n = mean.length;
  actual.forEach((value, at) => {
    const [r, i] = [Math.floor(at / n), at % n];
    const sum = dot(
      i + 1,
      (j) => factor[i * n + j]!,
      (j) => z[r * n + j]!,
      mean[i]!,
    );
    isNear(value, sum, n + 2, eps, `(${r}, ${i}) of ${n} columns`);
  });
}

/** factor (actual - mean) = z by row, in float64: a small residual is what forward substitution promises. */
function isSolution(actual: Float32Array, factor: Float32Array, mean: Float32Array, z: Float32Array): void {
  const n = mean.length;
  actual.forEach((_, at) => {
    const [r, i] = [Math.floor(at / n), at % n];
    const x = (j: number) => actual[r * n + j]! - mean[j]!;
    const sum = dot(i + 1, (j) => factor[i * n + j]!, x);
    // The rounding of the mean's addition counts too: it is relative to the size of the terms.
    const size = dot(
      i + 1,
      (j) => Math.abs(factor[i * n + j]!),
      (j) => Math.abs(actual[r * n + j]!) + Math.abs(mean[j]!),
    ).size;
    isNear(z[at]!, { value: sum.value, size }, 2 * n + 6, eps, `(${r}, ${i}) of ${n} columns, solved`);
  });
}

const firsts = [0, 1, 3, 2 ** 34 - 6, 2 ** 40 + 2];

onCpu('sample_rows gives mean + factor z, or solves, and reads nothing above the diagonal.', (device) => {
  for (const n of [1, 2, 3, 5, 8, 31, 32, 64]) {
    const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
    const mean = Float32Array.from(scattered(n, 9));
    for (const [count, rowsPerGroup] of [
      [0, 4],
      [1, 1],
      [1, 7],
      [29, 4],
      [29, 5],
      [64, 90],
    ] as const)
      for (const first of firsts)
        for (const inverse of [false, true]) {
          const run = { first, count, rowsPerGroup, inverse };
          const z = normals(device, first, count * n);
          (inverse ? isSolution : isProduct)(sampleRows(device, factor, mean, run, 33), factor, mean, z);
        }
  }
});

onCpu('sample_rows gives the same bits for any threadgroup, any rows to a group, and a grid too large.', (device) => {
  for (const n of [1, 3, 8, 17]) {
    const factor = Float32Array.from(lowerFactor(n, n, Number.NaN));
    const mean = Float32Array.from(scattered(n, 9));
    for (const inverse of [false, true]) {
      const run = { first: 2 ** 34 - 5, count: 61, inverse };
      const expected = sampleRows(device, factor, mean, { ...run, rowsPerGroup: 1 }, 1);
      for (const lanes of [...groupSizes, 3, 96])
        for (const rowsPerGroup of [2, 5, 16, 61, 400]) {
          const groups = Math.ceil(61 / rowsPerGroup) + (lanes % 3);
          const actual = sampleRows(device, factor, mean, { ...run, rowsPerGroup }, lanes, groups);
          hasSameBytes(actual, expected, `${n} columns, ${rowsPerGroup} rows to a group of ${lanes}`);
        }
    }
  }
});

onCpu('sample_rows fills the largest threadgroup memory.', (device) => {
  const factor = Float32Array.from(lowerFactor(64, 1));
  const mean = new Float32Array(64);
  for (const [inverse, most] of [
    [false, 95],
    [true, 94],
  ] as const) {
    const rows = (rowsPerGroup: number) =>
      sampleRows(device, factor, mean, { first: 3, count: 300, inverse, rowsPerGroup }, 64);
    hasSameBytes(rows(most), rows(1), `${most} rows of 64 columns to a group`);
    assert.throws(() => rows(most + 1), /threadgroup memory/);
  }
});

onCpu('With a unit factor and no mean, sample_rows gives the bytes of the stream, up to its end.', (device) => {
  for (const n of [1, 2, 5, 32]) {
    const unit = new Float32Array(n * n).map((_, at) => (at % (n + 1) === 0 ? 1 : 0));
    for (const first of firsts)
      for (const inverse of [false, true]) {
        const run = { first, count: 23, rowsPerGroup: 6, inverse };
        const actual = sampleRows(device, unit, new Float32Array(n), run, 32);
        hasSameBytes(actual, normals(device, first, 23 * n), `${n} columns from ${first}`);
      }
    // The last rows of the stream: element 2^64 - 1 is the last.
    const last = Uint32Array.of(7, 0, 3, 0, -23 * n, -1);
    const [out, expected] = [new Float32Array(23 * n), new Float32Array(23 * n)];
    const params = Uint32Array.of(...last, 23, n, 6, 0);
    launch(device, 'sample_rows', [unit, new Float32Array(n), out, params], [4 * 32, 1, 1], [32, 1, 1]);
    const encoder = device.encoder();
    encoder.fillNormal(expected, last);
    encoder.commitSync();
    hasSameBytes(out, expected, `${n} columns, the last of the stream`);
  }
});

onCpu('From 9 to 16 columns, sample_rows gives the same bytes as the cpu device.', (device) => {
  for (const n of [9, 12, 16]) {
    const factor = Float32Array.from(lowerFactor(n, n));
    const mean = Float32Array.from(scattered(n, 9));
    const expected = new Float32Array(100 * n);
    const encoder = device.encoder();
    encoder.sample(factor, mean, expected, false, counterOf(7, 3, 5));
    encoder.commitSync();
    const run = { first: 5, count: 100, rowsPerGroup: 16, inverse: false };
    hasSameBytes(sampleRows(device, factor, mean, run, 64), expected, `${n} columns`);
    assert.ok(expected.every((value) => Number.isFinite(value)));
  }
});

test.run();
