// Bounds as LAPACK's own test suite states them (LAPACK Working Note 41): a residual over n eps times the norm, and the
// distance of V V' from the identity over n eps, are at most 30.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';
import { type Bench, onEveryBackend } from '../harness/every-backend.ts';
import { guarded, scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const threshold = 30;

/** op(a) (m x k) op(b) (k x n), in float64. */
function times(a: ArrayLike<number>, b: ArrayLike<number>, m: number, n: number, k: number): Float64Array {
  return new Float64Array(m * n).map((_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let p = 0; p < k; p++) sum += a[i * k + p]! * b[p * n + j]!;
    return sum;
  });
}

function transposed(a: ArrayLike<number>, rows: number, columns: number): Float64Array {
  return new Float64Array(rows * columns).map((_, at) => a[(at % rows) * columns + Math.floor(at / rows)]!);
}

const norm = (a: ArrayLike<number>): number => Math.hypot(...Array.from(a));

function isClose(a: ArrayLike<number>, b: ArrayLike<number>, bound: number, what: string): void {
  const apart = norm(Array.from(a, (value, at) => value - b[at]!));
  if (!(apart <= bound)) assert.unreachable(`${what}: apart by (${apart}), and (${bound}) is allowed`);
}

/** Asserts that `rows` (count x n) are orthonormal. */
function areOrthonormal({ eps }: Bench, rows: ArrayLike<number>, count: number, n: number, what: string): void {
  const products = times(rows, transposed(rows, count, n), count, count, n);
  const identity = products.map((_, at) => (at % (count + 1) === 0 ? 1 : 0));
  isClose(products, identity, threshold * n * eps, `${what}: orthonormal rows`);
}

/** Matrices with properties that random ones lack: low rank, graded by 10^12, zeros. */
function shapes(m: number, n: number, seed: number): readonly (readonly [string, Float64Array])[] {
  const random = scattered(m * n, seed);
  const rank = Math.max(1, Math.min(m, n) >> 1);
  const low = times(scattered(m * rank, seed + 1), scattered(rank * n, seed + 2), m, n, rank);
  const graded = random.map((value, at) => value * 10 ** ((-12 * Math.floor(at / n)) / m));
  return [
    ['random', random],
    ['of low rank', low],
    ['graded', graded],
    ['zeros', new Float64Array(m * n)],
  ];
}

/** Runs on every backend that decomposes; the others must refuse. */
function withLapack(sentence: string, check: (bench: Bench) => void): void {
  onEveryBackend(sentence, async (bench) => {
    const { lacksDecompositions } = bench.backend;
    if (lacksDecompositions === '') return check(bench);
    console.log(`skipped  ${sentence} (${lacksDecompositions})`);
    const decompose = () => bench.run((encoder) => encoder.lq(bench.zeros(1), bench.zeros(1), 1, 1));
    assert.match((await throwsCode('ERR_UNSUPPORTED', decompose)).message, /lacks the LAPACK routine/);
  });
}

const orders = [1, 2, 3, 33, 70];

withLapack(
  'eigenvectors are orthonormal, and give the matrix with their values; its upper half is not read.',
  (bench) => {
    for (const n of orders)
      for (const [name, a] of shapes(n, n, n)) {
        const what = `${name}, ${n}`;
        const symmetric = bench.real(
          a.map((_, at) => (at % n <= Math.floor(at / n) ? a[at]! : a[(at % n) * n + Math.floor(at / n)]!)),
        );
        const given = symmetric.map((value, at) => (at % n > Math.floor(at / n) ? Number.NaN : value));
        const [vectors, values] = [guarded(given), guarded(bench.zeros(n))];
        bench.run((encoder) => encoder.symmetricEigen(vectors.view, values.view, n, true));
        vectors.isIntact(what);
        values.isIntact(what);
        areOrthonormal(bench, vectors.view, n, n, what);
        for (let i = 1; i < n; i++) assert.ok(values.view[i - 1]! <= values.view[i]!, `${what} rises`);
        const scaled = Float64Array.from(vectors.view, (value, at) => value * values.view[Math.floor(at / n)]!);
        const again = times(transposed(vectors.view, n, n), scaled, n, n, n);
        isClose(again, symmetric, threshold * n * bench.eps * norm(symmetric), what);
        const [lost, alone] = [guarded(given), guarded(bench.zeros(n))];
        bench.run((encoder) => encoder.symmetricEigen(lost.view, alone.view, n, false));
        lost.isIntact(what);
        alone.isIntact(what);
        isClose(alone.view, values.view, threshold * n * bench.eps * norm(symmetric), `${what}, values alone`);
      }
  },
);

withLapack(
  'rows are L times orthonormal rows, each to its own rounding; L is lower with a non-negative diagonal.',
  (bench) => {
    for (const [m, n] of [
      [1, 1],
      [1, 5],
      [5, 1],
      [2, 3],
      [33, 33],
      [20, 45],
      [45, 20],
    ] as const)
      for (const [name, a] of shapes(m, n, m + n)) {
        const what = `${name}, ${m} x ${n}`;
        const k = Math.min(m, n);
        const given = bench.real(a);
        const [lower, q] = [guarded(given), guarded(bench.zeros(k * n))];
        const alone = bench.real(a);
        bench.run((encoder) => {
          encoder.lq(lower.view, q.view, m, n);
          encoder.lq(alone, bench.zeros(0), m, n);
        });
        lower.isIntact(what);
        q.isIntact(what);
        assert.equal([...alone], [...lower.view], `${what}: L without Q`);
        areOrthonormal(bench, q.view, k, n, what);
        for (let i = 0; i < m; i++) {
          const row = lower.view.subarray(i * n, (i + 1) * n);
          for (let j = 0; j < n; j++) if (j > i || j >= k) assert.ok(row[j] === 0, `${what}: (${i}, ${j})`);
          if (i < k) assert.ok(row[i]! >= 0, `${what}: pivot ${i}`);
          const wanted = given.subarray(i * n, (i + 1) * n);
          isClose(
            times(row.subarray(0, k), q.view, 1, n, k),
            wanted,
            threshold * n * bench.eps * norm(wanted),
            `${what}: row ${i}`,
          );
        }
      }
  },
);

withLapack(
  'an echelon has the products of its rows, and a pivot for each row that is independent of those before.',
  (bench) => {
    for (const [m, n] of [
      [1, 1],
      [3, 2],
      [2, 3],
      [33, 33],
      [40, 70],
      [65, 130],
      [12, 5],
    ] as const) {
      const random = scattered(m * n, m);
      // Of the last rows of many, squares vanish in float32.
      const unlike = random.map((entry, at) => entry * 2 ** -Math.floor(at / n));
      // Every third row is a sum of the two before it.
      const dependent = random.slice();
      for (let i = 2; i < m; i += 3)
        for (let j = 0; j < n; j++) dependent[i * n + j] = dependent[(i - 1) * n + j]! + dependent[(i - 2) * n + j]!;
      for (const [name, a] of [
        ['random', random],
        ['unlike', unlike],
        ['dependent', dependent],
      ] as const) {
        const what = `${name}, ${m} x ${n}`;
        const given = bench.real(a);
        const [rows, pivots] = [guarded(given), guarded(bench.zeros(m))];
        bench.run((encoder) => encoder.echelon(rows.view, pivots.view, n, 64 * n * bench.eps));
        rows.isIntact(what);
        pivots.isIntact(what);
        let rank = 0;
        for (let i = 0; i < m; i++) {
          const isFree = rank < n && (name !== 'dependent' || i % 3 !== 2);
          assert.is(pivots.view[i], isFree ? rank : -1, `${what}: pivot ${i}`);
          if (isFree) assert.ok(rows.view[i * n + rank++]! > 0, `${what}: pivot ${i} is positive`);
          for (let j = rank; j < n; j++) assert.ok(rows.view[i * n + j] === 0, `${what}: (${i}, ${j})`);
        }
        const products = (of: Real) => times(of, transposed(of, m, n), m, m, n);
        // Each row in a unit of its own.
        const lengths = Array.from({ length: m }, (_, i) => norm(given.subarray(i * n, (i + 1) * n)));
        const inUnits = (of: Real) =>
          products(Float64Array.from(of, (entry, at) => entry / lengths[Math.floor(at / n)]!));
        isClose(inUnits(rows.view), inUnits(given), 4 * threshold * n * bench.eps, what);
      }
    }
  },
);

withLapack('singular vectors are orthonormal, and give the matrix with their values.', (bench) => {
  for (const [m, n] of [
    [1, 1],
    [1, 4],
    [4, 1],
    [2, 2],
    [33, 33],
    [20, 33],
    [33, 20],
  ] as const)
    for (const [name, a] of shapes(m, n, 3 * m + n))
      for (const isGraded of m <= n ? [false, true] : [false]) {
        const what = `${name}, ${m} x ${n}, ${isGraded}`;
        const k = Math.min(m, n);
        const given = bench.real(a);
        const [u, values, v] = [guarded(bench.zeros(m * k)), guarded(bench.zeros(k)), guarded(bench.zeros(k * n))];
        const alone = bench.zeros(k);
        bench.run((encoder) => {
          encoder.svd(given.slice(), u.view, values.view, v.view, m, n, isGraded);
          encoder.svd(given.slice(), bench.zeros(0), alone, bench.zeros(0), m, n, false);
        });
        for (const part of [u, values, v]) part.isIntact(what);
        areOrthonormal(bench, transposed(u.view, m, k), k, m, `${what}: u`);
        areOrthonormal(bench, v.view, k, n, `${what}: v`);
        for (let i = 1; i < k; i++) assert.ok(values.view[i - 1]! >= values.view[i]!, `${what} falls`);
        const scaled = Float64Array.from(v.view, (value, at) => value * values.view[Math.floor(at / n)]!);
        const bound = threshold * Math.max(m, n) * bench.eps * norm(given);
        isClose(times(u.view, scaled, m, n, k), given, bound, what);
        isClose(alone, values.view, bound, `${what}: values alone`);
      }
});

withLapack('small singular values of graded rows are as exact as large ones.', (bench) => {
  // Rows of an orthonormal basis, times lengths: the lengths are the values.
  const n = 33;
  const basis = bench.real(scattered(n * n, 5));
  const q = bench.zeros(n * n);
  bench.run((encoder) => encoder.lq(basis, q, n, n));
  const reach = bench.dtype === 'float32' ? 16 : 120;
  const lengths = Array.from({ length: n }, (_, i) => 10 ** ((-reach * i) / n));
  const a = q.map((value, at) => value * lengths[Math.floor(at / n)]!);
  const [u, values, v] = [bench.zeros(n * n), bench.zeros(n), bench.zeros(n * n)];
  bench.run((encoder) => encoder.svd(a, u, values, v, n, n, true));
  values.forEach((value, i) => {
    if (!(Math.abs(value / lengths[i]! - 1) <= threshold * n * bench.eps)) assert.unreachable(`(${i}): ${value}`);
  });
});

withLapack('The vectors of graded rows on one side are those of both sides.', (bench) => {
  for (const [m, n] of [
    [1, 1],
    [1, 9],
    [2, 2],
    [3, 7],
    [33, 33],
    [40, 65],
    [64, 64],
  ] as const) {
    // biome-ignore format: sizes
    // Nearly orthogonal rows, whose squares a type holds beside each other, or does not.
    for (const reach of bench.dtype === 'float32' ? [0, 7, 16] : [0, 60, 120]) {
      const what = `${m} x ${n} over 10^${reach}`;
      const q = bench.zeros(m * n);
      bench.run((encoder) => encoder.lq(bench.real(scattered(m * n, 5)), q, m, n));
      const turned = scattered(m * m, 6).map((value, at) => (at % (m + 1) === 0 ? 1 : value / (4 * m)));
      const length = (at: number) => 10 ** ((-reach * Math.floor(at / n)) / m);
      const a = bench.real(times(turned, q, m, n, m).map((value, at) => value * length(at)));
      const [wanted, both] = [bench.zeros(m), bench.zeros(m * n)];
      const [values, v] = [guarded(bench.zeros(m)), guarded(bench.zeros(m * n))];
      bench.run((encoder) => {
        encoder.svd(a.slice(), bench.zeros(m * m), wanted, both, m, n, true);
        encoder.svd(a.slice(), bench.zeros(0), values.view, v.view, m, n, true);
      });
      for (const part of [values, v]) part.isIntact(what);
      areOrthonormal(bench, v.view, m, n, what);
      values.view.forEach((value, i) => {
        if (!(Math.abs(value / wanted[i]! - 1) <= threshold * n * bench.eps)) assert.unreachable(`${what}: (${i})`);
        assert.ok(i === 0 || value <= values.view[i - 1]!, `${what}: falls`);
      });
      // What the vectors leave of each row is rounding of its length.
      const along = times(times(a, transposed(v.view, m, n), m, m, n), v.view, m, n, m);
      for (let i = 0; i < m; i++) {
        const row = (of: ArrayLike<number>) => Array.from({ length: n }, (_, j) => of[i * n + j]! / length(i * n));
        isClose(row(along), row(a), threshold * n * bench.eps, `${what}: row ${i}`);
      }
    }
  }
});

withLapack('a pivoted root gives the matrix back, and has as many variables as its rank.', (bench) => {
  for (const n of orders)
    for (const rank of new Set([n, Math.max(1, n >> 1)])) {
      const what = `${n} of rank ${rank}`;
      const factor = scattered(n * rank, n + rank).map((value, at) => (at % (rank + 1) === 0 ? value + 4 : value));
      const a = bench.real(times(factor, transposed(factor, n, rank), n, n, rank));
      const given = a.map((value, at) => (at % n > Math.floor(at / n) ? Number.NaN : value));
      const [root, order] = [guarded(given), guarded(bench.zeros(n))];
      bench.run((encoder) => encoder.pivotedCholesky(root.view, order.view, n, n * bench.eps * norm(a)));
      root.isIntact(what);
      order.isIntact(what);
      const taken = Array.from(order.view).filter((variable) => variable >= 0);
      assert.is(taken.length, rank, what);
      assert.is(new Set(taken).size, rank, what);
      taken.forEach((variable, k) => {
        for (let j = k + 1; j < n; j++) assert.is(root.view[variable * n + j], 0, `${what}: (${variable}, ${j})`);
      });
      isClose(times(root.view, transposed(root.view, n, n), n, n, n), a, threshold * n * bench.eps * norm(a), what);
    }
});

onEveryBackend(
  'solutions by LU satisfy their equations; a singular matrix is refused with its pivot.',
  async (bench) => {
    for (const n of orders)
      for (const count of [0, 1, 7]) {
        const a = bench.real(scattered(n * n, n));
        const right = bench.real(scattered(n * count, n + 1));
        const [triangles, pivots, rows] = [guarded(a.slice()), guarded(bench.zeros(n)), guarded(right.slice())];
        bench.run((encoder) => {
          encoder.lu(triangles.view, pivots.view, n);
          encoder.luSolve(triangles.view, pivots.view, rows.view, n);
        });
        for (const part of [triangles, pivots, rows]) part.isIntact(`${n}`);
        const bound = threshold * n * bench.eps * norm(a) * norm(rows.view);
        isClose(times(rows.view, transposed(a, n, n), count, n, n), right, bound, `${n}, ${count}`);
      }
    const [a, pivots] = [bench.real([1, 2, 2, 4]), bench.zeros(2)];
    const solve = () =>
      bench.run((encoder) => {
        encoder.lu(a, pivots, 2);
        encoder.luSolve(a, pivots, bench.real([1, 1]), 2);
      });
    const error = await throwsCode('ERR_SINGULAR', solve);
    assert.ok(error.message.includes('(1)'), error.message);
    assert.is(error.pivot, 1);
    // The determinant: the product of the diagonal, its sign changed with each swap.
    const [b, swaps] = [bench.real([0, 2, 3, 0]), bench.zeros(2)];
    bench.run((encoder) => encoder.lu(b, swaps, 2));
    const sign = Array.from(swaps).reduce((product, to, i) => (to === i ? product : -product), 1);
    assert.is(sign * b[0]! * b[3]!, -6);
  },
);

withLapack(
  'matrices with subnormal numbers have the decompositions of the same matrices scaled to near 1.',
  (bench) => {
    const power = bench.dtype === 'float32' ? 2 ** -118 : 2 ** -1014;
    // LAPACK decomposes order 5, our own blocks order 192; plain TypeScript has no blocks.
    for (const n of bench.backend.kind === 'reference' ? [5, 24] : [5, 192]) {
      const near = bench.real(scattered(n * n, n).map((value, at) => (at % (n + 1) === 0 ? value + 1 : value / n)));
      const positive = bench.real(times(near, transposed(near, n, n), n, n, n));
      // Small enough that the solution does not overflow.
      const right = bench.real(scattered(3 * n, 1).map((value) => value * 2 ** -20));
      const made = (scale: number) => {
        const given = (a: Real) => bench.real(Float64Array.from(a, (value) => value * scale));
        const [lower, symmetric, values] = [given(near), given(positive), given(near)];
        const [rows, pivoted, triangles, graded] = [given(near), given(positive), given(near), given(near)];
        const [q, u, v, w] = [bench.zeros(n * n), bench.zeros(n * n), bench.zeros(n * n), bench.zeros(n * n)];
        const [eigenvalues, singular, ofGraded] = [bench.zeros(n), bench.zeros(n), bench.zeros(n)];
        const solved = right.slice();
        bench.run((encoder) => {
          encoder.lq(lower, q, n, n);
          encoder.symmetricEigen(symmetric, eigenvalues, n, true);
          encoder.svd(values, u, singular, v, n, n, false);
          encoder.svd(graded, bench.zeros(n * n), ofGraded, w, n, n, true);
          encoder.echelon(rows, bench.zeros(n), n, 0);
          encoder.pivotedCholesky(pivoted, bench.zeros(n), n, 0);
          const swaps = bench.zeros(n);
          encoder.lu(triangles, swaps, n);
          encoder.luSolve(triangles, swaps, solved, n);
        });
        const back = (a: Real, by: number) => Float64Array.from(a, (value) => value / by);
        for (const [what, rows] of Object.entries({ symmetric, u: transposed(u, n, n), v, w }))
          areOrthonormal(bench, rows, n, n, `${n}, ${scale}: ${what}`);
        return {
          q,
          lower: back(lower, scale),
          rows: back(rows, scale),
          pivoted: back(pivoted, Math.sqrt(scale)),
          eigenvalues: back(eigenvalues, scale),
          singular: back(singular, scale),
          graded: back(ofGraded, scale),
          solved: back(solved, 1 / scale),
        };
      };
      const wanted = Object.entries(made(1));
      const found = Object.values(made(power));
      for (const [index, [what, numbers]] of wanted.entries())
        isClose(found[index]!, numbers, threshold * n * bench.eps * norm(numbers), `${n}: ${what}`);
    }
  },
);

withLapack('a transpose swaps rows and columns.', (bench) => {
  for (const [m, n] of [
    [0, 3],
    [1, 1],
    [1, 7],
    [5, 2],
    [33, 65],
  ] as const) {
    const a = bench.real(scattered(m * n, m));
    const out = guarded(bench.zeros(m * n));
    bench.run((encoder) => encoder.transpose(a, out.view, m, n));
    out.isIntact(`${m} x ${n}`);
    assert.equal([...out.view], [...transposed(a, m, n)]);
  }
});

test.run();
