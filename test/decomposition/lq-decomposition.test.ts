import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lqDecomposition, solveLower } from '../../lib/decomposition/lq-decomposition.ts';
import { runToEnd } from '../../lib/work.ts';
import { scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
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

test('L Q has the rows of the matrix in their order, and Q has orthonormal rows.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(12), fc.nat(1000), (m, more, seed) => {
      const n = m + more;
      // Rows of very different lengths, and nearly parallel ones.
      const a = scattered(m * n, seed).map((value, at) => (value + 1e4) * 10 ** (3 * Math.floor(at / n) - 9));
      const { order, lower, rows } = runToEnd(lqDecomposition(a, m, n));
      assert.equal(
        [...order].sort((x, y) => x - y),
        Array.from({ length: m }, (_, i) => i),
      );
      // If only rounding errors remain of a row, the other rows determine it.
      const isNew = Array.from({ length: m }, (_, i) => lower[i * (m + 1)]! > 0);
      assert.ok(isNew[0] && isNew.every((is, i) => is || lower[i * (m + 1)] === 0));
      timesTransposed(rows, rows, m, m, n).forEach((value, at) => {
        const wanted = at % (m + 1) === 0 && isNew[at % m] ? 1 : 0;
        if (!(Math.abs(value - wanted) <= 20 * n * eps)) assert.unreachable(`Q: entry (${at}) is (${value})`);
      });
      for (let k = 0; k < n; k++) {
        const size = Math.max(...Array.from({ length: m }, (_, i) => Math.abs(a[i * n + k]!)));
        for (let i = 0; i < m; i++) {
          let sum = 0;
          for (let j = 0; j <= i; j++) sum += lower[i * m + j]! * rows[j * n + k]!;
          assert.ok(Math.abs(sum - a[order[i]! * n + k]!) <= 10 * n * eps * size, `(${i}, ${k})`);
        }
      }
    }),
  );
});

test('The longest row goes first; a row that the others determine has a zero on the diagonal; solves undo products.', () => {
  const { order, lower, rows } = runToEnd(lqDecomposition(Float64Array.of(1, 2, 2, 2, 4, 4, 0, 0, 1), 3, 3));
  assert.equal(order, [1, 2, 0]);
  assert.equal([...lower.subarray(0, 3)], [6, 0, 0]);
  near(lower.subarray(6), [3, 0, 0], 4 * eps);
  assert.equal([lower[8], ...rows.subarray(6)], [0, 0, 0, 0]);
  const triangle = Float64Array.of(2, 0, 3, 4);
  const right = Float64Array.of(2, 4, 11, 22);
  runToEnd(solveLower(triangle, right, 2, 2, false));
  assert.equal([...right], [1, 2, 2, 4]);
  const left = Float64Array.of(8, 16, 8, 4);
  runToEnd(solveLower(triangle, left, 2, 2, true));
  assert.equal([...left], [1, 6.5, 2, 1]);
});

test.run();
