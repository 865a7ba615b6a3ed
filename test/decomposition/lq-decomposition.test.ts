import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lqDecomposition, solveLower } from '../../lib/decomposition/lq-decomposition.ts';
import { runToEnd } from '../../lib/work.ts';
import { scattered } from '../harness/naive.ts';
import fc from '../harness/properties.ts';

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

function isIdentity(product: Float64Array, n: number, tolerance: number, what: string): void {
  product.forEach((value, at) => {
    const wanted = at % (n + 1) === 0 ? 1 : 0;
    if (!(Math.abs(value - wanted) <= tolerance)) assert.unreachable(`${what}: entry (${at}) is (${value})`);
  });
}

test('L Q is the matrix, row by row, and Q has orthonormal rows.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(12), fc.nat(1000), (m, more, seed) => {
      const n = m + more;
      // Rows of very different lengths, and nearly parallel ones.
      const a = scattered(m * n, seed).map((value, at) => (value + 1e4) * 10 ** (3 * Math.floor(at / n) - 9));
      const { lower, rows } = runToEnd(lqDecomposition(a, m, n));
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
  const { lower, rows } = runToEnd(lqDecomposition(Float64Array.of(1, 2, 2, 2, 4, 4, 0, 0, 1), 3, 3));
  assert.equal([...lower.subarray(3, 6)], [6, 0, 0]);
  assert.equal([...rows.subarray(3, 6)], [0, 0, 0]);
  const triangle = Float64Array.of(2, 0, 3, 4);
  const right = Float64Array.of(2, 4, 11, 22);
  runToEnd(solveLower(triangle, right, 2, 2, false));
  assert.equal([...right], [1, 2, 2, 4]);
  const left = Float64Array.of(8, 16, 8, 4);
  runToEnd(solveLower(triangle, left, 2, 2, true));
  assert.equal([...left], [1, 6.5, 2, 1]);
});

test.run();
