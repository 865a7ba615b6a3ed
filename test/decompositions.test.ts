// The decompositions that ways in are made of, in float64 on the host: lq-decomposition, eigen-decomposition,
// pivoted-cholesky.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eigenDecomposition } from '../lib/decomposition/eigen-decomposition.ts';
import { lqDecomposition, solveLower } from '../lib/decomposition/lq-decomposition.ts';
import { pivotedCholesky } from '../lib/decomposition/pivoted-cholesky.ts';
import { scattered } from './harness/naive.ts';
import fc from './harness/properties.ts';

const { spectra } = JSON.parse(readFileSync(new URL('./answers/ways-in.json', import.meta.url), 'utf8'));
const eps = Number.EPSILON;

/** a (m x k) times b' (b is n x k). */
function timesTransposed(a: ArrayLike<number>, b: ArrayLike<number>, m: number, n: number, k: number): Float64Array {
  return new Float64Array(m * n).map((_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let p = 0; p < k; p++) sum += a[i * k + p]! * b[j * k + p]!;
    return sum;
  });
}

function square(n: number, entry: (i: number, j: number) => number): Float64Array<ArrayBuffer> {
  return new Float64Array(n * n).map((_, at) => entry(Math.floor(at / n), at % n));
}

function isIdentity(product: Float64Array, n: number, tolerance: number, what: string): void {
  product.forEach((value, at) => {
    const wanted = at % (n + 1) === 0 ? 1 : 0;
    if (!(Math.abs(value - wanted) <= tolerance)) assert.unreachable(`${what}: entry (${at}) is (${value})`);
  });
}

/** That V diag(values) V' is the matrix to rounding of its largest eigenvalue, and that V is orthogonal. */
function isSpectrumOf(matrix: Float64Array, n: number, what: string): Float64Array {
  const { values, vectors } = eigenDecomposition(matrix, n);
  isIdentity(timesTransposed(vectors, vectors, n, n, n), n, 30 * n * eps, what);
  const largest = Math.max(...values.map(Math.abs));
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += vectors[k * n + i]! * values[k]! * vectors[k * n + j]!;
      if (!(Math.abs(sum - matrix[i * n + j]!) <= 30 * n * eps * largest))
        assert.unreachable(`${what}: entry (${i}, ${j}) is (${sum}), not (${matrix[i * n + j]})`);
    }
  for (let i = 1; i < n; i++) assert.ok(values[i - 1]! >= values[i]!, `${what} is sorted`);
  return values;
}

for (const name of ['hilbert8', 'kahan12'])
  test(`Eigenvalues of ${name} are those of 60 digits.`, () => {
    const { matrix, values } = spectra[name] as { matrix: number[][]; values: number[] };
    const n = matrix.length;
    const found = isSpectrumOf(Float64Array.from(matrix.flat()), n, name);
    found.forEach((value, i) => {
      if (!(Math.abs(value - values[i]!) <= 4 * n * eps * values[0]!))
        assert.unreachable(`(${i}) is (${value}), not (${values[i]})`);
    });
  });

test('Eigenvalues that repeat, vanish, or span 10^12 are found, and of all ones, where others fail.', () => {
  isSpectrumOf(
    square(8, (i, j) => (i === j ? 2 : 1)),
    8,
    'repeated',
  );
  const ones = isSpectrumOf(new Float64Array(100 * 100).fill(1), 100, 'ones');
  assert.ok(Math.abs(ones[0]! - 100) < 1e-11 && Math.abs(ones[1]!) < 1e-12);
  assert.equal([...eigenDecomposition(new Float64Array(9), 3).values], [0, 0, 0]);
  assert.equal([...eigenDecomposition(Float64Array.of(-3), 1).values], [-3]);
  const wide = Array.from({ length: 13 }, (_, i) => 10 ** (6 - i));
  const diagonal = square(13, (i, j) => (i === j ? wide[12 - i]! : 0));
  assert.equal([...eigenDecomposition(diagonal, 13).values], wide);
  for (const scale of [1e-290, 1e290]) {
    const { values } = eigenDecomposition(
      square(4, (i, j) => scale * (i === j ? 2 : 1)),
      4,
    );
    assert.ok(Math.abs(values[0]! / scale - 5) < 1e-14 && Math.abs(values[3]! / scale - 1) < 1e-14, `${scale}`);
  }
  // A graded matrix: each eigenvalue to its own rounding, by way of its determinant.
  const graded = eigenDecomposition(Float64Array.of(1e12, 1e5, 1e5, 1), 2).values;
  assert.ok(Math.abs((graded[0]! * graded[1]!) / (1e12 - 1e10) - 1) < 1e-14);
});

test('A random symmetric matrix is its spectrum.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(1000), fc.integer({ min: -8, max: 8 }), (n, seed, power) => {
      const a = scattered(n * n, seed);
      isSpectrumOf(
        square(n, (i, j) => (a[i * n + j]! + a[j * n + i]!) * 10 ** power),
        n,
        `${n}, ${seed}`,
      );
    }),
  );
});

test('L Q is the matrix, row by row, and Q has orthonormal rows.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(12), fc.nat(1000), (m, more, seed) => {
      const n = m + more;
      // Rows of very different lengths, and nearly parallel ones.
      const a = scattered(m * n, seed).map((value, at) => (value + 1e4) * 10 ** (3 * Math.floor(at / n) - 9));
      const { lower, rows } = lqDecomposition(a, m, n);
      isIdentity(timesTransposed(rows, rows, m, m, n), m, 20 * n * eps, 'Q');
      for (let i = 0; i < m; i++) {
        let length = 0;
        for (let k = 0; k < n; k++) length += a[i * n + k]! ** 2;
        for (let k = 0; k < n; k++) {
          let sum = 0;
          for (let j = 0; j <= i; j++) sum += lower[i * m + j]! * rows[j * n + k]!;
          assert.ok(Math.abs(sum - a[i * n + k]!) <= 10 * n * eps * Math.sqrt(length), `(${i}, ${k})`);
        }
        assert.ok(lower[i * (m + 1)]! > 0);
      }
    }),
  );
});

test('A row that the others give has a zero on the diagonal; solves undo products.', () => {
  const { lower, rows } = lqDecomposition(Float64Array.of(1, 2, 2, 2, 4, 4, 0, 0, 1), 3, 3);
  assert.equal([...lower.subarray(3, 6)], [6, 0, 0]);
  assert.equal([...rows.subarray(3, 6)], [0, 0, 0]);
  const triangle = Float64Array.of(2, 0, 3, 4);
  const right = Float64Array.of(2, 4, 11, 22);
  solveLower(triangle, right, 2, 2, false);
  assert.equal([...right], [1, 2, 2, 4]);
  const left = Float64Array.of(8, 16, 8, 4);
  solveLower(triangle, left, 2, 2, true);
  assert.equal([...left], [1, 6.5, 2, 1]);
});

test('A pivoted factor has the rank, whatever the units, and nothing is left.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 }), fc.nat(1000), (n, most, seed) => {
      const rank = Math.min(n, most);
      const units = scattered(n, seed + 1).map((value) => 10 ** (6 * value));
      const a = scattered(n * rank, seed).map((value, at) => value * units[Math.floor(at / rank)]!);
      const matrix = timesTransposed(a, a, n, n, rank);
      const found = pivotedCholesky(matrix, n, 16 * n * eps);
      assert.ok(found.rank <= rank, `rank (${found.rank}) of (${rank})`);
      const again = timesTransposed(found.root, found.root, n, n, found.rank);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          const size = Math.sqrt(matrix[i * (n + 1)]! * matrix[j * (n + 1)]!);
          assert.ok(Math.abs(again[i * n + j]! - matrix[i * n + j]!) <= 64 * n * eps * size, `(${i}, ${j})`);
        }
    }),
  );
  assert.is(pivotedCholesky(new Float64Array(4), 2, 1e-12).rank, 0);
  assert.equal([...pivotedCholesky(Float64Array.of(4), 1, 1e-15).root], [2]);
});

test('What is left tells an indefinite matrix: on the diagonal, beside it, or beside a zero.', () => {
  const worst = (...entries: number[]) =>
    pivotedCholesky(Float64Array.from(entries), Math.sqrt(entries.length), 1e-13).worst;
  assert.equal(worst(1, 2, 2, 1), { row: 1, column: 1, value: -3 });
  assert.equal(worst(1, 1, 1, 1, 1, -1, 1, -1, 1), { row: 2, column: 1, value: -2 });
  assert.is(worst(0, 1, 1, 1).value, Number.NEGATIVE_INFINITY);
  assert.is(worst(-4, 0, 0, 1).value, -1);
  assert.is(worst(1, 1, 1, 1).value, 0);
});

test.run();
