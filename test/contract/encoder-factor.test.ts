import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';
import { choleskyMatrices } from '../harness/cholesky-matrices.ts';
import { type Bench, onEveryBackend } from '../harness/every-backend.ts';
import { dotOf, guarded, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

/** factor factor', with `above` over the diagonal if it is given. */
function squareOf(factor: Float64Array, n: number, above?: number): Float64Array {
  const a = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k <= j; k++) sum += factor[i * n + k]! * factor[j * n + k]!;
      a[i * n + j] = sum;
      a[j * n + i] = i === j ? sum : (above ?? sum);
    }
  return a;
}

const squares = new Map<string, Float64Array>();

/** A positive definite matrix of n columns, whose factor is lowerFactor(n, n); made once for all backends. */
function squareFor(n: number, above?: number): Float64Array {
  const made = squares.get(`${n} ${above}`) ?? squareOf(lowerFactor(n, n), n, above);
  squares.set(`${n} ${above}`, made);
  return made;
}

function factored({ run, real }: Bench, a: ArrayLike<number>, n: number, where: 'auto' | 'gpu' = 'auto'): Real {
  const out = guarded(real(a));
  run((encoder) => encoder.cholesky(out.view, n, where));
  out.isIntact(`cholesky of ${n}`);
  return out.view;
}

onEveryBackend(
  'a Cholesky factor gives the matrix back; entries over the diagonal are not read and become 0.',
  (bench) => {
    for (const n of [1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 255, 256, 257, 300, 384, 385, 450]) {
      const a = bench.real(squareFor(n, Number.NaN));
      const factor = factored(bench, a, n);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          if (j > i) {
            if (!Object.is(factor[i * n + j], 0)) assert.unreachable(`(${i}, ${j}) of ${n} is not cleared`);
            continue;
          }
          const product = dotOf(j + 1, factor, i * n, factor, j * n);
          // Higham, theorem 10.3: the factor is exact for a matrix that differs by at most n + 1 roundings.
          isNear(a[i * n + j]!, product, n + 2, bench.eps, () => `${n}: (${i}, ${j})`);
        }
    }
  },
);

onEveryBackend("LAPACK's test matrices have their factors, or the pivot that is zero.", async (bench) => {
  const { dtype, eps, real, backend } = bench;
  const isGpu = backend.kind === 'metal' || backend.kind === 'cuda';
  const smallest = dtype === 'float32' ? 2 ** -126 : 2 ** -1022;
  // A GPU factors 512 columns and more by blocks.
  const sizes = [...[1, 2, 10, 50, 130].map((n) => [n, 'auto'] as const), ...(isGpu ? [[513, 'gpu'] as const] : [])];
  for (const [n, where] of sizes)
    for (const { name, entries, pivot } of choleskyMatrices(n, eps, smallest)) {
      const a = real(entries);
      const made = () => factored(bench, a, n, where);
      if (pivot !== undefined) {
        const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', made);
        assert.is(error.pivot, pivot, `${n} columns, ${name}: ${error.message}`);
        continue;
      }
      const factor = made();
      // Twice the bound above: near underflow, products that are flushed to zero count too.
      for (let i = 0; i < n; i++)
        for (let j = 0; j <= i; j++) {
          const product = dotOf(j + 1, factor, i * n, factor, j * n);
          isNear(a[i * n + j]!, product, 2 * n + 4, eps, () => `${n} columns, ${name}: (${i}, ${j})`);
        }
    }
});

onEveryBackend('a bad pivot is named by its index in the whole matrix, wherever it is.', async (bench) => {
  const all = [0, 1, 2, 31, 127, 128, 129, 255, 256, 299];
  for (const [n, pivots] of [
    ...[1, 2, 33, 129, 256, 300].map((n) => [n, [...all.filter((at) => at < n - 1), n - 1]] as const),
    // A late pivot takes the time of a whole factor: of a larger matrix only new cases are tested.
    [520, [0, 129, 383, 511, 512, 519]],
  ] as const) {
    const factor = lowerFactor(n, n);
    const good = squareFor(n);
    for (const pivot of pivots) {
      const a = Float64Array.from(good);
      const at = pivot * n + pivot;
      // At its turn the entry has become -1, or -1/8 at the last pivot, and so at any later one.
      a[at] = good[at]! - factor[at]! ** 2 - 1;
      a[n * n - 1] = Math.min(a[n * n - 1]!, good[n * n - 1]! - factor[n * n - 1]! ** 2 - 1 / 8);
      const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => factored(bench, a, n));
      assert.is(error.pivot, pivot, `n = ${n}: ${error.message}`);
      assert.ok(error.message.includes(`(${pivot})`), error.message);
    }
  }
});

onEveryBackend('a pivot that is NaN, infinite or zero is refused, and so is a NaN beside it.', async (bench) => {
  for (const n of [1, 5, 130, 300, 513]) {
    const good = squareFor(n);
    for (const pivot of [0, 3, 129, 256, n - 1].filter((at) => at < n)) {
      const bad = [[pivot, Number.NaN]];
      if (pivot > 0) bad.push([0, Number.NaN], [pivot - 1, Number.POSITIVE_INFINITY]);
      // Other values at late pivots of the largest matrix would test nothing new, and take a whole factor each.
      if (n < 513 || pivot < 256) {
        for (const value of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0]) bad.push([pivot, value]);
        if (pivot > 0) bad.push([pivot - 1, Number.NaN]);
      }
      for (const [column, value] of bad) {
        const a = Float64Array.from(good);
        a[pivot * n + column!] = value!;
        const error = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => factored(bench, a, n));
        assert.is(error.pivot, pivot, `(${pivot}, ${column}) of ${n} is (${value}): ${error.message}`);
      }
    }
  }
});

onEveryBackend(
  'the timings say where the factor of a commit was made; a commit without one has none.',
  async (bench) => {
    const { backend, real } = bench;
    const a = real([4]);
    for (const where of ['auto', 'cpu'] as const) {
      const encoder = backend.encoder();
      encoder.cholesky(a, 1, where);
      const { factor } = encoder.commitSync();
      assert.ok(factor === 'cpu' || (factor === 'gpu' && where === 'auto'), `(${where}) is made on (${factor})`);
      encoder.reset();
      encoder.sum(a, a, a);
      assert.is(encoder.commitSync().factor, undefined);
      const later = backend.encoder();
      later.cholesky(a, 1, where);
      later.sum(a, a, a);
      assert.is((await later.commit()).factor, factor);
    }
  },
);

onEveryBackend(
  'a factor on the GPU is made there, or refused when it is recorded if there is no GPU.',
  async ({ backend, real }) => {
    const a = real([4, Number.NaN, 2, 5]);
    const encoder = backend.encoder();
    const refusedAt = async (where: 'gpu' | 'mps'): Promise<void> => {
      const error = await throwsCode('ERR_UNSUPPORTED', () => encoder.cholesky(a, 2, where));
      assert.match(error.message, new RegExp(`\\(${backend.kind}\\) .*\\(factor: '${where}'\\)`));
    };
    if (backend.kind !== 'metal') await refusedAt('mps');
    if (backend.kind !== 'metal' && backend.kind !== 'cuda') {
      await refusedAt('gpu');
      assert.is(encoder.commitSync().factor, undefined, 'and nothing is recorded');
      return;
    }
    encoder.cholesky(a, 2, 'gpu');
    assert.is(encoder.commitSync().factor, 'gpu');
    assert.equal([...a], [2, 0, 1, 2]);
  },
);

onEveryBackend('the Hilbert matrix has its known factor.', (bench) => {
  // L_ij = sqrt(2 j - 1) (i - 1)!^2 / ((i - j)! (i + j - 1)!), i and j from 1 (M.-D. Choi, Tricks or treats with the
  // Hilbert matrix, American Mathematical Monthly 90, 1983). The condition number grows as (1 + sqrt 2)^(4 n).
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  for (const n of bench.dtype === 'float64' ? [2, 4, 6, 8, 10] : [2, 4]) {
    const hilbert = new Float64Array(n * n).map((_, at) => 1 / (Math.floor(at / n) + (at % n) + 1));
    const factor = factored(bench, hilbert, n);
    const bound = n * bench.eps * (1 + Math.SQRT2) ** (4 * n);
    for (let i = 1; i <= n; i++)
      for (let j = 1; j <= i; j++) {
        const exact = (Math.sqrt(2 * j - 1) * factorial(i - 1) ** 2) / (factorial(i - j) * factorial(i + j - 1));
        const actual = factor[(i - 1) * n + j - 1]!;
        assert.ok(Math.abs(actual - exact) <= bound * exact, `(${i}, ${j}) of ${n} is (${actual}), not (${exact})`);
      }
  }
});

onEveryBackend('the first entry that is not finite, row by row, is found.', async ({ run, real }) => {
  const columns = 7;
  for (const count of [0, 1, 33, 9363, 30000]) {
    const good = real(scattered(count * columns, 1));
    run((encoder) => encoder.requireFinite(good, columns));
    for (const at of [0, 5, 4095, 4096, 65535, 65536, good.length - 1].filter(
      (place) => place >= 0 && place < good.length,
    )) {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const bad = real(good);
        bad[at] = value;
        bad[bad.length - 1] = value; // a later one
        const check = () => run((encoder) => encoder.requireFinite(bad, columns));
        const { row, column } = await throwsCode('ERR_NOT_FINITE', check);
        assert.equal([row, column], [Math.floor(at / columns), at % columns]);
      }
    }
  }
});

onEveryBackend('a matrix is symmetric within its tolerance, or the first pair of entries is named.', async (bench) => {
  const { run, real } = bench;
  for (const n of [1, 2, 15, 16, 17, 64, 65, 130]) {
    const good = real(squareOf(lowerFactor(n, n), n));
    run((encoder) => encoder.requireSymmetric(good, n, 0));
    for (const [i, j] of [
      [1, 0],
      [15, 3],
      [16, 15],
      [64, 1],
      [n - 1, n - 2],
    ] as const) {
      if (j < 0 || i >= n) continue;
      const size = Math.sqrt(good[i * n + i]! * good[j * n + j]!); // the larger of the two measures: diagonals dominate
      const nearly = real(good);
      nearly[i * n + j] = good[j * n + i]! + size * 2 ** -12;
      run((encoder) => encoder.requireSymmetric(nearly, n, 2 ** -11));
      nearly[n * n - n] = good[n - 1]! + 1; // in the last row, a later pair unless it is this one
      const check = () => run((encoder) => encoder.requireSymmetric(nearly, n, 2 ** -13));
      const { row, column } = await throwsCode('ERR_NOT_SYMMETRIC', check);
      assert.equal([row, column], i === n - 1 ? [i, 0] : [i, j]);
    }
  }
});

onEveryBackend('an infinite entry is not symmetric to a finite one, nor to its negative.', async ({ run, real }) => {
  const infinite = Number.POSITIVE_INFINITY;
  for (const n of [2, 40])
    for (const [upper, lower] of [
      [infinite, 0.5],
      [0.5, infinite],
      [infinite, -infinite],
      [infinite, infinite],
      [Number.NaN, 0.5],
    ] as const) {
      const a = real(squareOf(lowerFactor(n, n), n));
      a[1] = upper;
      a[n] = lower;
      const check = () => run((encoder) => encoder.requireSymmetric(a, n, 1e-6));
      const { row, column } = await throwsCode('ERR_NOT_FINITE', check);
      assert.equal([row, column], upper === 0.5 ? [1, 0] : [0, 1]);
    }
});

onEveryBackend('a device still works after a refused matrix.', async (bench) => {
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => factored(bench, [-1], 1));
  hasSameBytes(factored(bench, [4, 0, 2, 10], 2), bench.real([2, 0, 1, 3]), 'factor');
});

test.run();
