// Row r of a sample uses elements [r n, (r + 1) n) of the stream: any rows of a run can be drawn alone. The normals
// agree to the bit. y = mean + L z agrees to the bit if the cpu device's own kernels multiply (few columns), and to
// rounding if BLAS does, whose order of summation depends on the number of rows.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import type { Dtype, Real } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { firstElement, normalCounter } from '../../lib/stream/counter.ts';
import { cpuKernels, noCpu, openCpuBackend } from '../harness/cpu-backend.ts';
import { referenceNormals } from '../harness/reference-normals.ts';

const dimensions = [1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 100, 130];
const count = 1000;
const seed = 11;
const stream = 2n ** 40n;
// Whole rows across the place where the index of a block exceeds 32 bits.
const firstRowOf = (n: number): bigint => 2n ** 34n / BigInt(n) - 500n;
const splits = [[1000], [500, 500], [1, 999], [1, 2, 5, 16, 17, 40, 919], Array<number>(40).fill(25)];
const dtypes = ['float32', 'float64'] as const;

// Up to this number of columns the device multiplies with its own kernels in any instruction set, row by row in one
// order (objc/cpu/simd/narrow.inc).
function ownKernelsUpTo(dtype: Dtype): number {
  return (cpuKernels.startsWith('AVX') ? 32 : 16) / (dtype === 'float64' ? 2 : 1);
}

function real(dtype: Dtype, length: number): Real {
  return dtype === 'float32' ? new Float32Array(length) : new Float64Array(length);
}

// Any lower triangle; what is above the diagonal must not be read.
function factorOf(dtype: Dtype, n: number): Real {
  const factor = real(dtype, n * n).fill(Number.NaN);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) factor[i * n + j] = i === j ? 1 + (i % 5) : Math.sin(1 + i * n + j);
  return factor;
}

function identityOf(dtype: Dtype, n: number): Real {
  const factor = real(dtype, n * n);
  for (let i = 0; i < n; i++) factor[i * n + i] = 1;
  return factor;
}

function draw(
  backend: Backend,
  factor: Real,
  mean: Real,
  inverse: boolean,
  dtype: Dtype,
  split: readonly number[],
): Real {
  const n = mean.length;
  const out = real(dtype, count * n);
  let row = 0;
  for (const rows of split) {
    const counter = normalCounter(seed, stream, firstElement(firstRowOf(n) + BigInt(row), rows, n));
    const encoder = backend.encoder();
    encoder.sample(factor, mean, out.subarray(row * n, (row + rows) * n), inverse, counter);
    encoder.commitSync();
    row += rows;
  }
  return out;
}

// Samples by the device's own kernels with the first number of threads.
const anyThreads = new Map<string, Real>();

for (const threads of [1, 2, 8, 'reference'] as const) {
  const check = (sentence: string, body: (backend: Backend) => void) => {
    const name = `${threads === 'reference' ? threads : `cpu, ${cpuKernels}, ${threads} threads`}: ${sentence}`;
    if (threads !== 'reference' && noCpu !== '') return test.skip(name);
    test(name, () => {
      const backend = threads === 'reference' ? openReference() : openCpuBackend(threads);
      body(backend);
      backend.close();
    });
  };

  check('The normals of a sample equal those of the stream, to the bit, however it is split.', (backend) => {
    for (const dtype of dtypes)
      for (const n of dimensions) {
        const z = referenceNormals(dtype, count * n, seed, stream, firstRowOf(n) * BigInt(n));
        for (const inverse of [false, true])
          for (const split of splits)
            assert.equal(draw(backend, identityOf(dtype, n), real(dtype, n), inverse, dtype, split), z, `n = ${n}`);
      }
  });

  check(
    'Rows that are drawn alone equal the rows of the whole: to the bit for few columns, otherwise to rounding.',
    (backend) => {
      for (const dtype of dtypes)
        for (const n of dimensions) {
          const factor = factorOf(dtype, n);
          const mean = real(dtype, n).map((_, j) => j - 3);
          const z = referenceNormals(dtype, count * n, seed, stream, firstRowOf(n) * BigInt(n));
          const whole = draw(backend, factor, mean, false, dtype, [count]);
          requireClose(whole, factor, mean, z);
          if (threads !== 'reference' && n <= ownKernelsUpTo(dtype)) {
            const known = anyThreads.get(`${dtype} ${n}`) ?? whole;
            assert.equal(whole, known, `${dtype}, n = ${n}, as with other threads`);
            anyThreads.set(`${dtype} ${n}`, known);
          }
          for (const split of splits) {
            const parts = draw(backend, factor, mean, false, dtype, split);
            if (threads === 'reference' || n <= ownKernelsUpTo(dtype))
              assert.equal(parts, whole, `${dtype}, n = ${n}, rows ${split}`);
            else requireClose(parts, factor, mean, z);
          }
        }
    },
  );
}
if (noCpu !== '') console.log(`skipped  the cpu device's part: no cpu device: ${noCpu}`);

// A sum of n + 1 terms in any order is wrong by at most (n + 1) / 2 epsilon times the sum of their magnitudes (Higham,
// Accuracy and Stability of Numerical Algorithms, 2002, section 3.1); as much again for the double sum here, where the
// type is float64.
function requireClose(rows: Real, factor: Real, mean: Real, z: Real): void {
  const n = mean.length;
  const epsilon = rows instanceof Float32Array ? 2 ** -23 : 2 ** -52;
  for (let r = 0; r < count; r++)
    for (let i = 0; i < n; i++) {
      let exact = mean[i]!;
      let magnitude = Math.abs(exact);
      for (let k = 0; k <= i; k++) {
        const term = factor[i * n + k]! * z[r * n + k]!;
        exact += term;
        magnitude += Math.abs(term);
      }
      const found = rows[r * n + i]!;
      if (Math.abs(found - exact) <= (n + 1) * epsilon * magnitude) continue;
      assert.unreachable(`Row (${r}) of dimension (${n}) has (${found}) in column (${i}), not (${exact}).`);
    }
}

test.run();
