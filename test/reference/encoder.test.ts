// Results of the reference device: some computed by hand, and the edges of its own blocks.
// test/contract/encoder*.test.ts tests the shapes that are awkward on every device.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Encoder, Timings } from '../../lib/backend.ts';
import { openReference } from '../../lib/reference/device.ts';
import { counterOf, dot, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';

function run(record: (encoder: Encoder) => void): Timings {
  const device = openReference();
  const encoder = device.encoder();
  record(encoder);
  const timings = encoder.commitSync();
  device.close();
  return timings;
}

test('Every command gives the result computed by hand.', () => {
  const factor = Float64Array.of(0.5, Number.NaN, 0.25, 2);
  const [mean, covariance] = [new Float64Array(2), new Float64Array(4)];
  const [rows, row, norms, densities] = [
    Float64Array.of(1, 2, 3, 4),
    Float64Array.of(10, 20),
    new Float64Array(2),
    new Float64Array(2),
  ];
  const [plain, transposed] = [Float64Array.of(2, 4), Float64Array.of(2, 4)];
  const [solved, solvedTransposed] = [Float64Array.of(1, 8.5), Float64Array.of(2, 8)];
  const [gram, triangle, flipped] = [
    Float64Array.of(1, 1, 1, 1),
    Float64Array.of(1, 2, 3, 4),
    Float64Array.of(1, 2, 3, 4),
  ];
  const cholesky = Float64Array.of(4, 99, 2, 5);
  const timings = run((encoder) => {
    encoder.product(rows, rows, gram, 2, 2, 2, true, false, 2, -1);
    encoder.meanAndCovariance(rows, mean, covariance, 1);
    encoder.triangularProduct(factor, plain, 2, false);
    encoder.triangularProduct(factor, transposed, 2, true);
    encoder.triangularSolve(factor, solved, 2, false);
    encoder.triangularSolve(factor, solvedTransposed, 2, true);
    encoder.zeroUpper(triangle, 2);
    encoder.antitranspose(flipped, 2);
    encoder.cholesky(cholesky, 2, 'auto');
    encoder.addRow(rows, row, -0.5);
    encoder.squaredNorms(rows, norms, 2);
    encoder.logDensity(factor, Float64Array.of(-4, -8), rows, densities, true, 1);
    encoder.requireFinite(rows, 2);
    encoder.requireSymmetric(gram, 2, 0);
  });
  assert.equal([...gram], [19, 27, 27, 39]);
  assert.equal([...mean, ...covariance], [2, 3, 2, 2, 2, 2]);
  assert.equal([...plain, ...transposed], [1, 8.5, 2, 8]);
  assert.equal([...solved, ...solvedTransposed], [2, 4, 2, 4]);
  assert.equal([...triangle, ...flipped], [1, 0, 3, 4, 4, 2, 3, 1]);
  assert.equal([...cholesky], [2, 0, 1, 2]);
  assert.equal([...rows, ...norms], [-4, -8, -2, -6, 80, 40]);
  // The rows minus their mean are (0, 0) and (2, 2); factor (2, 2) = (1, 4.5).
  assert.equal([...densities], [1, 1 - 21.25 / 2]);
  assert.ok(
    timings.encodeMs >= 0 && timings.deviceMs > 0 && timings.wallMs >= timings.deviceMs,
    JSON.stringify(timings),
  );
});

test('Rows of a sample do not depend on the panel in which they are.', () => {
  for (const [n, count] of [
    [1, 20_000],
    [3, 20_000],
    [100, 700],
    [1000, 70],
  ] as const) {
    const [factor, mean] = [lowerFactor(n, n, Number.NaN), scattered(n, 1)];
    const first = Math.floor(count / 3) + 1;
    const [whole, part] = [new Float64Array(count * n), new Float64Array((count - first) * n)];
    for (const inverse of [false, true]) {
      run((encoder) => {
        encoder.sample(factor, mean, whole, inverse, counterOf(1, 2, 0));
        encoder.sample(factor, mean, part, inverse, counterOf(1, 2, first * n));
      });
      hasSameBytes(part, whole.subarray(first * n), `${count} x ${n}`);
    }
  }
});

test('A product is right beyond one block in each of its dimensions.', () => {
  const [m, n, k] = [258, 261, 515];
  const [a, b, c] = [scattered(m * k, 1), scattered(k * n, 2), scattered(m * n, 3)];
  const out = c.slice();
  run((encoder) => encoder.product(a, b, out, m, n, k, true, true, 0.5, 2));
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      const left = (l: number) => 0.5 * a[l * m + i]!;
      const sum = dot(k, left, (l) => b[j * k + l]!, 2 * c[i * n + j]!);
      isNear(out[i * n + j]!, sum, k + 3, 2 ** -52, `(${i}, ${j})`);
    }
});

test.run();
