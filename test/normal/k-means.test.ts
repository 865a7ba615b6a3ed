import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clusters } from '../../lib/normal/k-means.ts';
import { runToEnd } from '../../lib/work.ts';

/** The number of rows in each cluster. */
function sizes(values: Float64Array, variances: Float64Array, size: number, seed: number): number[] {
  return runToEnd(clusters(values, variances, size, seed)).map((shares) =>
    shares.reduce((sum, share) => sum + share, 0),
  );
}

test('clusters that lie apart are found with any seed.', () => {
  const [size, each] = [8, 40];
  // Rings of radius 1 whose centres are 10 apart. From the first row that is drawn for a centre, 5 of these 50 seeds
  // would end with two centres in one ring.
  const values = Float64Array.from({ length: size * each * 2 }, (_, at) => {
    const [row, angle] = [Math.floor(at / 2), ((Math.floor(at / 2) % each) / each) * 2 * Math.PI];
    const ring = Math.floor(row / each);
    return at % 2 === 0 ? (ring % 3) * 10 + Math.cos(angle) : Math.floor(ring / 3) * 10 + Math.sin(angle);
  });
  for (let seed = 0; seed < 50; seed++)
    assert.equal(sizes(values, Float64Array.of(66, 66), size, seed), Array(size).fill(each), `seed ${seed}`);
});

test('each row is in one cluster, also where squared distances overflow, and where all rows are the same.', () => {
  for (const values of [Float64Array.of(1e200, -1e200, 0, 1e200, 5), new Float64Array(5).fill(3)])
    assert.is(
      sizes(values, Float64Array.of(1), 2, 1).reduce((sum, count) => sum + count),
      5,
    );
});

test.run();
