import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pivotedCholesky } from '../../lib/decomposition/pivoted-cholesky.ts';
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
