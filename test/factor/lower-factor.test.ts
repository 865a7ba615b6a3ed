import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backendOf } from '../../lib/backend-handle.ts';
import { Matrix, MultivariateNormal, openDevice, type RealDtype } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { hasSameBytes, scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice(
  'a factor that has made many draws of a few rows gives the same bits, and its memory is closed with it.',
  async (device) => {
    const before = device.memory().liveBytes;
    for (const dtype of device.dtypes as RealDtype[])
      for (const n of [128, 131]) {
        const covariance = Array.from({ length: n }, (_, i) =>
          Array.from({ length: n }, (_, j) => (i === j ? 2 : 1 / (1 + Math.abs(i - j)))),
        );
        // An entry of -0 stays -0 until a product is added.
        const mean = scattered(n, 3).map((value, i) => (i % 5 === 0 ? -0 : value));
        const make = () => MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance });
        using fresh = make();
        using used = make();
        const { liveBytes } = device.memory();
        for (let draw = 0; draw < 40; draw++) used.sampleSync(1, { seed: draw }).close();
        if (device.kind === 'cpu') assert.ok(device.memory().liveBytes > liveBytes, 'nothing is laid out for few rows');
        for (const count of [1, 2, 3, 4, 5]) {
          const place = `${dtype}, ${count} x ${n}`;
          using draws = await fresh.sample(count, { seed: 7, firstRow: 3 });
          using again = await used.sample(count, { seed: 7, firstRow: 3 });
          hasSameBytes(again.data, draws.data, place);
          const z = Matrix.from(scattered(count * n, count), { columns: n, dtype });
          using moved = fresh.transformSync(z);
          using movedAgain = used.transformSync(z);
          hasSameBytes(movedAgain.data, moved.data, `transform, ${place}`);
        }
        used.close();
        await throwsCode('ERR_CLOSED', `${n}`, () => used.sampleSync(1));
      }
    assert.is(device.memory().liveBytes, before);
  },
);

test('Without memory to lay out a factor by columns, draws go on with the plain factor.', async () => {
  using device = openDevice('cpu');
  const n = 256;
  using normal = MultivariateNormal.fromDiagonalSync({ device, variances: new Float64Array(n).fill(4) });
  using whole = MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', factor: normal.factorSync() });
  using expected = whole.sampleSync(1, { seed: 3 });
  const backend = backendOf(device);
  let refused = 0;
  const allocate = () => {
    refused += 1;
    throw Object.assign(new Error('(no memory)'), { code: 'ERR_OUT_OF_MEMORY' });
  };
  Object.defineProperty(backend, 'allocate', { value: allocate, configurable: true });
  for (let draw = 0; draw < 80; draw++) whole.sampleSync(1, { seed: 3 });
  hasSameBytes(whole.sampleSync(1, { seed: 3 }).data, expected.data, 'without memory');
  assert.ok(refused > 0 && refused < 10, `${refused} attempts`);
  delete (backend as { allocate?: unknown }).allocate;
  const { liveBytes } = device.memory();
  for (let draw = 0; draw < 40; draw++) whole.sampleSync(1, { seed: 3 });
  assert.ok(device.memory().liveBytes > liveBytes, 'nothing is laid out once there is memory');
});

test.run();
