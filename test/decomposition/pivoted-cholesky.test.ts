import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runAllSync } from '../../lib/command/task.ts';
import { pivotedCholesky as pivotedCholeskyOn } from '../../lib/decomposition/pivoted-cholesky.ts';
import { rootOf } from '../../lib/decomposition/semidefinite-root.ts';
import type { Device } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const eps = Number.EPSILON;

const pivotedCholesky = (device: Device, matrix: Float64Array, n: number, tolerance: number) =>
  runAllSync(pivotedCholeskyOn(device, matrix, n, tolerance));

/** a (m x k) times b' (b is n x k). */
function timesTransposed(a: ArrayLike<number>, b: ArrayLike<number>, m: number, n: number, k: number): Float64Array {
  return new Float64Array(m * n).map((_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let p = 0; p < k; p++) sum += a[i * k + p]! * b[j * k + p]!;
    return sum;
  });
}

onEveryDevice('a pivoted factor has the right rank in any units, and leaves no remainder.', (device) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 }), fc.nat(1000), (n, most, seed) => {
      const rank = Math.min(n, most);
      const units = scattered(n, seed + 1).map((value) => 10 ** (6 * value));
      const a = scattered(n * rank, seed).map((value, at) => value * units[Math.floor(at / rank)]!);
      const matrix = timesTransposed(a, a, n, n, rank);
      const found = pivotedCholesky(device, matrix, n, 16 * n * eps);
      assert.ok(found.rank <= rank, `rank (${found.rank}) of (${rank})`);
      const again = timesTransposed(found.root, found.root, n, n, found.rank);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          const size = Math.sqrt(matrix[i * (n + 1)]! * matrix[j * (n + 1)]!);
          assert.ok(Math.abs(again[i * n + j]! - matrix[i * n + j]!) <= 64 * n * eps * size, `(${i}, ${j})`);
        }
    }),
  );
  assert.is(pivotedCholesky(device, new Float64Array(4), 2, 1e-12).rank, 0);
  assert.equal([...pivotedCholesky(device, Float64Array.of(4), 1, 1e-15).root], [2]);
});

onEveryDevice(
  'the remainder shows an indefinite matrix: on the diagonal, off it, or beside a zero.',
  async (device) => {
    const worst = (...entries: number[]) =>
      pivotedCholesky(device, Float64Array.from(entries), Math.sqrt(entries.length), 1e-13).worst;
    assert.equal(worst(1, 2, 2, 1), { row: 1, column: 1, value: -3 });
    assert.equal(worst(1, 1, 1, 1, 1, -1, 1, -1, 1), { row: 2, column: 1, value: -2 });
    assert.is(worst(1, 1, 1, 1).value, 0);
    const refused =
      (...entries: number[]) =>
      () =>
        runAllSync(rootOf(device, Float64Array.from(entries), 2, 'pivoted', 'float64', 'Covariance'));
    assert.is((await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(0, 1)', refused(0, 1, 1, 1))).pivot, 0);
    assert.is((await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(-4)', refused(-4, 0, 0, 1))).pivot, 0);
  },
);

test.run();
