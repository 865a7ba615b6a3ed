// Memory over a long run: resident memory does not grow, and the counters return to zero. Needs --expose-gc, which
// test/run.ts sets, to tell leaks from memory that is not collected yet.
import { setImmediate } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onNative } from '../harness/on-native.ts';
import { residentMebibytes } from '../harness/resident-memory.ts';

const allowedMebibytes = 64;

/** After a tenth of the cycles, repeating `cycle` does not increase resident memory. */
function staysFlat(
  sentence: string,
  cycles: number,
  cycle: (device: Device, normal: MultivariateNormal, i: number) => void | Promise<void>,
): void {
  onNative(`${cycles.toLocaleString('en')} ${sentence}`, async () => {
    using device = openDevice('cpu', { threads: 2 });
    const covariance = [
      [2, 0.5, 0.1, 0],
      [0.5, 1, 0, 0.1],
      [0.1, 0, 1, 0],
      [0, 0.1, 0, 1],
    ];
    {
      using normal = await MultivariateNormal.fromCovariance({ device, mean: [0, 1, 2, 3], covariance });
      let before = 0;
      for (let i = 0; i < cycles; i++) {
        if (i === cycles / 10) before = await residentMebibytes();
        const done = cycle(device, normal, i);
        if (done !== undefined) await done;
        if (i % 100 === 0) await setImmediate();
      }
      const after = await residentMebibytes();
      console.log(`${sentence} ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB after`);
      assert.ok(after - before < allowedMebibytes, `resident memory grew by ${after - before} MiB`);
    }
    assert.is(device.memory().liveBytes, 0);
  });
}

staysFlat('small samples are drawn and closed.', 100_000, (_, normal, i) => {
  normal.sampleSync(3, { seed: i }).close();
});

staysFlat('small samples are drawn without blocking, and closed.', 20_000, async (_, normal, i) => {
  const draws = await normal.sample(3, { seed: i });
  draws.close();
});

staysFlat('samples in device memory are drawn and closed.', 2000, (_, normal, i) => {
  normal.sampleSync(70_000 + 1000 * (i % 7), { seed: i }).close();
});

staysFlat('samples in device memory are forgotten.', 2000, async (_, normal, i) => {
  normal.sampleSync(70_000, { seed: i });
  await setImmediate();
});

staysFlat('objects of every kind are forgotten.', 100_000, (device, normal, i) => {
  if (i % 4 === 0) normal.sampleSync(2, { seed: i });
  else if (i % 4 === 1) device.commandBuffer();
  else if (i % 4 === 2) device.vector(5);
  else device.commandBuffer().fillNormal(device.matrix(2, 2), { seed: i });
});

staysFlat('commits are refused.', 20_000, async (device) => {
  const matrix = device.matrix(2, 2);
  await device
    .commandBuffer()
    .cholesky(matrix)
    .commit()
    .catch(() => {});
  matrix.close();
});

staysFlat('devices are opened, used and closed.', 1000, (_, __, i) => {
  const device = openDevice('cpu', { threads: 1 + (i % 3) });
  const vector = device.vector(300_000);
  device.commandBuffer().fillNormal(vector).commitSync();
  device.close();
});

onNative('The counters of memory return to zero, and pooled memory is used again.', async () => {
  using device = openDevice('cpu');
  const open = Array.from({ length: 20 }, (_, i) => device.vector((i + 1) * 100_000));
  const { liveBytes } = device.memory();
  assert.ok(liveBytes >= 20 * 21 * 200_000, 'all of it is counted');
  for (const vector of open) vector.close();
  const { liveBytes: left, pooledBytes } = device.memory();
  assert.is(left, 0);
  assert.ok(pooledBytes > 0 && pooledBytes <= liveBytes);
  device.vector(100_000).close();
  assert.is(device.memory().pooledBytes, pooledBytes);
});

test.run();
