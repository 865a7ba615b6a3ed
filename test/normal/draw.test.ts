import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryType('each row may have its own mean, with the same normals as without.', async (device, dtype, tolerance) => {
  const covariance = [
    [4, 2],
    [2, 3],
  ];
  const means = [
    [1, 2],
    [30, -4],
    [0, 0],
  ];
  using normal = await MultivariateNormal.fromCovariance({ device, dtype, mean: [7, 8], covariance });
  const plain = normal.sampleSync(3, { seed: 4 }).toArray();
  const wanted = plain.flatMap(([x, y], r) => [x! - 7 + means[r]![0]!, y! - 8 + means[r]![1]!]);
  near((await normal.sample(3, { seed: 4, means })).toArray().flat(), wanted, tolerance);
  near(normal.sampleSync(3, { seed: 4, means }).toArray().flat(), wanted, tolerance);
  assert.equal(normal.sampleSync(3, { seed: 4, means: undefined }).toArray(), plain);
  await throwsCode('ERR_SHAPE', '(3) rows', () => normal.sample(2, { means }));
  await throwsCode('ERR_SHAPE', '(1) columns', () => normal.sample(1, { means: [[1]] }));
  await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => normal.sample(2, { means: [[0, 0], [Number.NaN, 0]] })); // biome-ignore format: a matrix
  const out = normal.sampleSync(3);
  await throwsCode('ERR_INVALID_ARGUMENT', 'overlaps', () => normal.sample(3, { means: out, out }));
});

test.run();
