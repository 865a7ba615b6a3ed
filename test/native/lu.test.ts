// Our own LU decomposition (objc/cpu/simd/lu.inc) at every order up to a few halves, with each instruction set.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend, Encoder } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { Matrix, openDevice, Vector } from '../../lib/index.ts';
import { openReference } from '../../lib/reference/device.ts';
import { noLesser, openCpuBackend, withLesser } from '../harness/cpu-backend.ts';
import { dot, guarded, hasSameBytes, isNear, scattered } from '../harness/naive.ts';
import { onNative } from '../harness/on-native.ts';

const types = [
  { dtype: 'float32', eps: 2 ** -24, real: (values: ArrayLike<number>): Real => Float32Array.from(values) },
  { dtype: 'float64', eps: 2 ** -53, real: (values: ArrayLike<number>): Real => Float64Array.from(values) },
] as const;
const sets = (['', 'avx2', 'baseline'] as const).filter((set) => set === '' || noLesser(set) === '');
const orders = [...Array.from({ length: 70 }, (_, at) => at + 1), 100, 191];

function run(backend: Backend, record: (encoder: Encoder) => void): void {
  const encoder = backend.encoder();
  record(encoder);
  encoder.commitSync();
}

function decomposed(backend: Backend, a: Real, n: number): readonly [triangles: Real, pivots: Real] {
  const [triangles, pivots] = [guarded(a), guarded(a.slice(0, n))];
  run(backend, (encoder) => encoder.lu(triangles.view, pivots.view, n));
  triangles.isIntact(`triangles of ${n}`);
  pivots.isIntact(`pivots of ${n}`);
  return [triangles.view, pivots.view];
}

function withSets(check: (backend: Backend, set: string) => void): void {
  for (const set of sets) {
    const backend = set === '' ? openCpuBackend(1) : withLesser(set, () => openCpuBackend(1));
    try {
      check(backend, set);
    } finally {
      backend.close();
    }
  }
}

// The columns of a, swapped as the steps swapped them, are what the triangles give.
function isProduct(a: Real, triangles: Real, pivots: Real, n: number, eps: number, what: string): void {
  const columns = Array.from({ length: n }, (_, at) => at);
  pivots.forEach((pivot, k) => {
    [columns[k], columns[pivot]] = [columns[pivot]!, columns[k]!];
  });
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n; i++) {
      const depth = Math.min(i, j) + 1;
      const unit = (k: number) => (k === i ? 1 : triangles[k * n + i]!);
      const sum = dot(depth, (k) => triangles[j * n + k]!, unit);
      isNear(a[j * n + columns[i]!]!, sum, depth + 1, eps, () => `${what}: (${j}, ${i})`);
    }
}

for (const { dtype, eps, real } of types) {
  onNative(`${dtype}: the triangles are those of the matrix, and the pivots those of plain loops.`, () => {
    const plain = openReference();
    for (const n of orders) {
      const a = real(scattered(n * n, n));
      const [, wanted] = decomposed(plain, a, n);
      let fused: Real | undefined;
      withSets((backend, set) => {
        const what = `${n}, ${set || 'the best set'}`;
        const [triangles, pivots] = decomposed(backend, a, n);
        hasSameBytes(pivots, wanted, what);
        for (let k = 0; k < n; k++)
          for (let i = k + 1; i < n; i++) assert.ok(Math.abs(triangles[k * n + i]!) <= 1, `${what}: (${k}, ${i})`);
        isProduct(a, triangles, pivots, n, eps, what);
        if (set === 'baseline') return;
        // AVX-512 and AVX2 have fused multiply-adds, and the same bits.
        fused ??= triangles;
        hasSameBytes(triangles, fused, what);
      });
    }
  });

  onNative(`${dtype}: the pivot is the first of the largest numbers, wherever it is.`, () => {
    const n = 70;
    withSets((backend, set) => {
      for (let at = 0; at < n; at++) {
        const a = real(scattered(n * n, at));
        for (let i = 0; i < n; i++) a[i] = i < at ? 1.5 : i % 3 === at % 3 ? -2 : 1;
        assert.is(decomposed(backend, a, n)[1][0], at, `${at} ${set}`);
      }
    });
  });

  onNative(`${dtype}: a row of zeros gives a pivot of 0 in its place; NaN and infinity touch no other memory.`, () => {
    withSets((backend, set) => {
      for (const n of [1, 2, 5, 16, 17, 33, 50, 70])
        for (const row of [0, n >> 1, n - 1]) {
          const what = `${n}, ${row}, ${set}`;
          const a = real(scattered(n * n, n));
          a.fill(0, row * n, (row + 1) * n);
          const [triangles, pivots] = decomposed(backend, a, n);
          for (let k = 0; k < n; k++) assert.is(triangles[k * (n + 1)] === 0, k === row, `${what}: pivot ${k}`);
          assert.is(pivots[row], row, what);
          for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_VALUE])
            for (const [from, to] of [
              [row * n, (row + 1) * n],
              [row, row + 1],
              [n * n - 1, n * n],
            ] as const) {
              const [, chosen] = decomposed(backend, real(scattered(n * n, n)).fill(value, from, to), n);
              for (let k = 0; k < n; k++) assert.ok(chosen[k]! >= k && chosen[k]! < n, `${what}: ${value}`);
            }
        }
    });
  });

  onNative(
    `${dtype}: a matrix of subnormal numbers has the pivots of ordinary ones, and columns of them count.`,
    () => {
      const tiny = dtype === 'float32' ? 2 ** -128 : 2 ** -1026;
      withSets((backend, set) => {
        for (const n of [3, 17, 50]) {
          // Numbers of few digits, which are exact as subnormal ones too.
          const a = real(scattered(n * n, n).map((value) => Math.round(value * 64) / 64));
          const all = real(a.map((value) => value * tiny));
          hasSameBytes(decomposed(backend, all, n)[1], decomposed(backend, a, n)[1], `${n} ${set}`);
          const some = real(a.map((value, at) => ((at % n) % 3 === 0 ? value * tiny : value)));
          isProduct(some, ...decomposed(backend, some, n), n, 2 ** -14, `${n} ${set}`);
        }
      });
    },
  );

  onNative(`${dtype}: solutions satisfy their equations, for one column and for many.`, () => {
    withSets((backend, set) => {
      for (const n of orders)
        for (const count of [1, 3, 5, 40]) {
          const a = real(scattered(n * n, n).map((value, at) => (at % (n + 1) === 0 ? value + 2 : value / n)));
          const right = real(scattered(n * count, n + 1));
          const rows = guarded(right);
          const [triangles, pivots] = [a.slice() as Real, a.slice(0, n) as Real];
          run(backend, (encoder) => {
            encoder.lu(triangles, pivots, n);
            encoder.luSolve(triangles, pivots, rows.view, n);
          });
          rows.isIntact(`${n}, ${count}`);
          for (let r = 0; r < count; r++)
            for (let i = 0; i < n; i++) {
              const sum = dot(
                n,
                (k) => a[i * n + k]!,
                (k) => rows.view[r * n + k]!,
              );
              isNear(right[r * n + i]!, sum, 8 * n, eps, () => `${n}, ${count}: (${r}, ${i}) ${set}`);
            }
        }
    });
  });
}

onNative('Solutions and determinants have the same bits with and without LAPACK.', () => {
  const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
  const { COVARIUM_BLAS: before } = env;
  const n = 50;
  const found = ['none', 'own'].map((library) => {
    env.COVARIUM_BLAS = library;
    using device = openDevice('cpu');
    const a = Matrix.from(Float32Array.from(scattered(n * n, 1)), { columns: n });
    const x = a.solveSync(Vector.from(Float32Array.from(scattered(n, 2))), { device });
    return [...(x.data as Real), a.detSync({ device })];
  });
  if (before === undefined) delete env.COVARIUM_BLAS;
  else env.COVARIUM_BLAS = before;
  assert.equal(found[0], found[1]);
});

test.run();
