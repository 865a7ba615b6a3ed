// Decompositions that our threads share by blocks (objc/cpu/blocked.cc), from order 192 on: errors are within the
// bounds of LAPACK's own test suite, and the bits are the same for any number of threads.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend, Encoder } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { openCpuBackend } from '../harness/cpu-backend.ts';
import { guarded, scattered } from '../harness/naive.ts';
import { onNative } from '../harness/on-native.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
const threshold = 30;
// Whole blocks; and one column more than a block of LU, of reflections and of a share.
const orders = [192, 257];

interface Numbers {
  readonly dtype: 'float32' | 'float64';
  readonly eps: number;
  real(values: ArrayLike<number>): Real;
}

const types: readonly Numbers[] = [
  { dtype: 'float32', eps: 2 ** -23, real: (values) => Float32Array.from(values) },
  { dtype: 'float64', eps: 2 ** -52, real: (values) => Float64Array.from(values) },
];

/** a (m x k) times the transpose of b (n x k), in float64. */
function timesTransposed(
  left: ArrayLike<number>,
  right: ArrayLike<number>,
  m: number,
  n: number,
  k: number,
): Float64Array {
  const [a, b, out] = [Float64Array.from(left), Float64Array.from(right), new Float64Array(m * n)];
  // Three sums side by side, since each addition waits for the previous one; the last column may be computed twice.
  for (let j = 0; j < n; j += 3) {
    const [second, third] = [Math.min(j + 1, n - 1), Math.min(j + 2, n - 1)];
    for (let i = 0; i < m; i++) {
      let [sum, sum2, sum3] = [0, 0, 0];
      for (let p = 0; p < k; p++) {
        const value = a[i * k + p]!;
        sum += value * b[j * k + p]!;
        sum2 += value * b[second * k + p]!;
        sum3 += value * b[third * k + p]!;
      }
      out[i * n + j] = sum;
      out[i * n + second] = sum2;
      out[i * n + third] = sum3;
    }
  }
  return out;
}

const transposed = (a: ArrayLike<number>, rows: number, columns: number): Float64Array =>
  new Float64Array(rows * columns).map((_, at) => a[(at % rows) * columns + Math.floor(at / rows)]!);

/** The Frobenius norm, without overflow or underflow. */
function norm(a: ArrayLike<number>): number {
  let [largest, sum] = [0, 0];
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]!));
  if (largest > 0) for (let i = 0; i < a.length; i++) sum += (a[i]! / largest) ** 2;
  return largest * Math.sqrt(sum);
}

function isClose(a: ArrayLike<number>, b: ArrayLike<number>, bound: number, what: string): void {
  const apart = norm(Array.from(a, (value, at) => value - b[at]!));
  if (!(apart <= bound)) assert.unreachable(`${what}: apart by (${apart}), and (${bound}) is allowed`);
}

function areOrthonormal(rows: ArrayLike<number>, count: number, n: number, eps: number, what: string): void {
  const identity = new Float64Array(count * count).map((_, at) => (at % (count + 1) === 0 ? 1 : 0));
  isClose(timesTransposed(rows, rows, count, count, n), identity, threshold * n * eps, `${what}: orthonormal rows`);
}

/** Random numbers; of low rank; rows graded by 10^12; zeros. */
function shapes(m: number, n: number): readonly (readonly [string, Float64Array])[] {
  const random = scattered(m * n, m + n);
  if (Math.min(m, n) > 192) return [['random', random]];
  return [
    ['random', random],
    ['of low rank', timesTransposed(scattered(m * 5, m), scattered(n * 5, n), m, n, 5)],
    ['graded', random.map((value, at) => value * 10 ** ((-12 * Math.floor(at / n)) / m))],
    ['zeros', new Float64Array(m * n)],
  ];
}

function run(backend: Backend, record: (encoder: Encoder) => void): void {
  const encoder = backend.encoder();
  record(encoder);
  encoder.commitSync();
}

/** Runs `compute` with 1, 2 and 3 threads, whose results are the same in every bit. */
function onThreads(what: string, compute: (backend: Backend) => readonly Real[]): readonly Real[] {
  const all = [1, 2, 3].map((threads) => {
    const backend = openCpuBackend(threads);
    try {
      return compute(backend);
    } finally {
      backend.close();
    }
  });
  for (const other of all.slice(1))
    other.forEach((values, part) => {
      const bytes = (of: Real) => Buffer.from(of.buffer, of.byteOffset, of.byteLength);
      assert.is(Buffer.compare(bytes(values), bytes(all[0]![part]!)), 0, `${what}: bits depend on the threads`);
    });
  return all[0]!;
}

function symmetric(a: Float64Array, n: number): Float64Array {
  return a.map((value, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    return j <= i ? value : a[j * n + i]!;
  });
}

function checkEigen({ eps, dtype, real }: Numbers): void {
  // The type can't hold the squares of the last two.
  const reach = dtype === 'float32' ? 1e30 : 1e200;
  for (const n of orders)
    for (const [name, square] of shapes(n, n))
      for (const scale of name === 'random' ? [1, reach, 1 / reach] : [1]) {
        const what = `eigen, ${name}, ${n} ${dtype}, ${scale}`;
        const wanted = real(symmetric(square, n).map((value) => value * scale));
        const [vectors, values] = onThreads(what, (backend) => {
          const given = guarded(wanted.map((value, at) => (at % n > Math.floor(at / n) ? Number.NaN : value)));
          const found = guarded(real(new Float64Array(n)));
          run(backend, (encoder) => encoder.symmetricEigen(given.view, found.view, n, true));
          given.isIntact(what);
          found.isIntact(what);
          return [given.view, found.view];
        });
        areOrthonormal(vectors!, n, n, eps, what);
        for (let i = 1; i < n; i++) assert.ok(values![i - 1]! <= values![i]!, `${what} rises`);
        const columns = transposed(vectors!, n, n);
        const scaled = columns.map((value, at) => value * values![at % n]!);
        isClose(timesTransposed(scaled, columns, n, n, n), wanted, threshold * n * eps * norm(wanted), what);
      }
}

function checkSvd({ eps, dtype, real }: Numbers): void {
  const reach = dtype === 'float32' ? 1e30 : 1e200;
  for (const n of orders)
    for (const [name, square] of shapes(n, n))
      for (const scale of name === 'random' ? [1, reach, 1 / reach] : [1]) {
        const what = `svd, ${name}, ${n} ${dtype}, ${scale}`;
        const wanted = real(square.map((value) => value * scale));
        const [u, values, v] = onThreads(what, (backend) => {
          const parts = [wanted, ...[n * n, n, n * n].map((length) => real(new Float64Array(length)))].map(guarded);
          const [a, u, values, v] = parts.map(({ view }) => view) as [Real, Real, Real, Real];
          run(backend, (encoder) => encoder.svd(a, u, values, v, n, n, false));
          for (const part of parts) part.isIntact(what);
          return [u, values, v];
        });
        areOrthonormal(transposed(u!, n, n), n, n, eps, `${what}, u`);
        areOrthonormal(v!, n, n, eps, `${what}, v`);
        for (let i = 1; i < n; i++) assert.ok(values![i - 1]! >= values![i]!, `${what} falls`);
        assert.ok(values![n - 1]! >= 0, what);
        const scaled = Float64Array.from(u!, (value, at) => value * values![at % n]!);
        isClose(
          timesTransposed(scaled, transposed(v!, n, n), n, n, n),
          wanted,
          threshold * n * eps * norm(wanted),
          what,
        );
      }
}

function checkRows({ eps, dtype, real }: Numbers): void {
  for (const [m, n] of [...orders.map((n) => [n, n] as const), [200, 450], [450, 200]] as const)
    for (const [name, a] of shapes(m, n)) {
      const what = `rows, ${name}, ${m} x ${n} ${dtype}`;
      const k = Math.min(m, n);
      const wanted = real(a);
      const [lower, q, alone] = onThreads(what, (backend) => {
        const [lower, q] = [guarded(wanted), guarded(real(new Float64Array(k * n)))];
        const alone = wanted.slice() as Real;
        run(backend, (encoder) => {
          encoder.lq(lower.view, q.view, m, n);
          encoder.lq(alone, real([]), m, n);
        });
        lower.isIntact(what);
        q.isIntact(what);
        return [lower.view, q.view, alone];
      });
      assert.ok(
        alone!.every((value, at) => value === lower![at]),
        `${what}: L without Q`,
      );
      areOrthonormal(q!, k, n, eps, what);
      const first = new Float64Array(m * k).map((_, at) => lower![Math.floor(at / k) * n + (at % k)]!);
      const again = timesTransposed(first, transposed(q!, k, n), m, n, k);
      for (let i = 0; i < m; i++) {
        const row = wanted.subarray(i * n, (i + 1) * n);
        for (let j = i + 1; j < n; j++) if (lower![i * n + j] !== 0) assert.unreachable(`${what}: (${i}, ${j})`);
        if (i < k) assert.ok(lower![i * (n + 1)]! >= 0, `${what}: pivot ${i}`);
        isClose(again.subarray(i * n, (i + 1) * n), row, threshold * n * eps * norm(row), `${what}: row ${i}`);
      }
    }
}

function checkLu({ eps, dtype, real }: Numbers): void {
  for (const n of orders)
    for (const count of [1, 16, 129]) {
      const what = `LU, ${n} ${dtype}, ${count}`;
      const a = real(scattered(n * n, n));
      const right = real(scattered(n * count, n + 1));
      const [triangles, pivots, rows] = onThreads(what, (backend) => {
        const parts = [guarded(a), guarded(real(new Float64Array(n))), guarded(right)] as const;
        const [triangles, pivots, rows] = parts;
        run(backend, (encoder) => {
          encoder.lu(triangles.view, pivots.view, n);
          encoder.luSolve(triangles.view, pivots.view, rows.view, n);
        });
        for (const part of parts) part.isIntact(what);
        return parts.map(({ view }) => view);
      });
      const bound = threshold * n * eps * norm(a) * norm(rows!);
      isClose(timesTransposed(rows!, a, count, n, n), right, bound, what);
      // Each pivot is at least as large as the rest of its row.
      for (let i = 0; i < n; i++) {
        assert.ok(pivots![i]! >= i && pivots![i]! < n, `${what}: pivot ${i}`);
        for (let j = i + 1; j < n; j++) assert.ok(Math.abs(triangles![i * n + j]!) <= 1, `${what}: (${i}, ${j})`);
      }
    }
}

for (const library of ['', 'none', 'libopenblas.so.0'])
  for (const numbers of types) {
    const products = library === 'libopenblas.so.0' ? `the products of ${library}` : `our own products (${library})`;
    onNative(`${numbers.dtype}, ${products}: large decompositions are exact, and no bit depends on threads.`, () => {
      env.COVARIUM_BLAS = library;
      try {
        const { lacksDecompositions } = openCpuBackend(1);
        checkLu(numbers);
        if (lacksDecompositions !== '') return console.log(`skipped  blocks: ${lacksDecompositions}`);
        checkEigen(numbers);
        checkSvd(numbers);
        checkRows(numbers);
      } catch (error) {
        if (library === '' || (error as { code?: string }).code !== 'ERR_DEVICE_UNAVAILABLE') throw error;
        console.log(`skipped  ${library} is not here`);
      } finally {
        delete env.COVARIUM_BLAS;
      }
    });
  }

onNative('A large singular matrix is refused with the index of the first zero pivot.', () => {
  const backend = openCpuBackend(2);
  const n = 300;
  const a = scattered(n * n, 3).map((value, at) => (Math.floor(at / n) >= 250 ? 0 : value));
  const [triangles, pivots] = [Float64Array.from(a), new Float64Array(n)];
  const solve = () =>
    run(backend, (encoder) => {
      encoder.lu(triangles, pivots, n);
      encoder.luSolve(triangles, pivots, new Float64Array(20 * n), n);
    });
  try {
    assert.throws(
      solve,
      ({ code, pivot }: { code: string; pivot: number }) => code === 'ERR_SINGULAR' && pivot === 250,
    );
  } finally {
    backend.close();
  }
});

test.run();
