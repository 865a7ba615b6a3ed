// Memory over a long run: resident memory stays flat, the counters return to zero, and impossible sizes are refused
// before it is touched. Needs --expose-gc, as test/run.ts gives it, to tell what is lost from what is not collected
// yet.
import { totalmem } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { runChild } from '../harness/child.ts';
import { onNative } from '../harness/on-native.ts';

const mebibyte = 2 ** 20;
const allowedMebibytes = 64;

async function residentMebibytes(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc?.();
    await setImmediate();
  }
  return process.memoryUsage().rss / mebibyte;
}

/** `cycle` over and over leaves resident memory where it was after a tenth of them. */
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

onNative('The counters of memory return to zero, and what is kept for reuse is used again.', async () => {
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

for (const [mebibytes, rounds] of [
  [64, Math.ceil((1.5 * totalmem()) / 2 ** 26)],
  [400, 40],
] as const)
  onNative(
    `A synchronous loop that forgets (${rounds}) results of (${mebibytes}) MiB holds at most 3 GiB.`,
    async () => {
      // Finalizers wait for a turn of the event loop, which never comes. Touched in part, so that it takes no minute.
      const { code, signal, stdout, stderr } = await runChild(`
      const device = open(2);
      let peak = 0;
      for (let i = 0; i < ${rounds}; i++) {
        new Uint8Array(device.allocate(${mebibytes * mebibyte}), 0, 2 ** 20).fill(1);
        peak = Math.max(peak, device.memory().liveBytes + process.memoryUsage().arrayBuffers);
      }
      console.log(peak);`);
      assert.equal([code, signal], [0, null], stderr.slice(0, 1000));
      console.log(
        `${rounds} forgotten results of ${mebibytes} MiB: at most ${(Number(stdout) / 2 ** 30).toFixed(1)} GiB`,
      );
      assert.ok(Number(stdout) < 3 * 2 ** 30, `${stdout} bytes`);
    },
  );

onNative("Memory at and beyond 4 GiB, where Node's own buffers end, is given or refused, and works.", async () => {
  const sizes = [2 ** 32 - 4096, 2 ** 32, 2 ** 32 + 4096, 5e9].filter((size) => size < 0.5 * totalmem());
  if (sizes.length < 4) console.log(`memory has (${totalmem()}) bytes: tried up to (${sizes.at(-1)})`);
  for (const size of sizes) {
    const { code, signal, stdout, stderr } = await runChild(`
      const device = open(1);
      try {
        const memory = device.allocate(${size});
        new Uint8Array(memory, ${size} - 1)[0] = 1;
        const encoder = device.encoder();
        encoder.fillNormal(new Float32Array(memory, 0, 100), new Uint32Array(6));
        encoder.commitSync();
        console.log(memory.byteLength);
      } catch ({ code }) {
        console.log(code === 'ERR_OUT_OF_MEMORY' || code === 'ERR_TOO_LARGE' ? ${size} : code);
      }`);
    assert.equal([code, signal, stdout], [0, null, String(size)], stderr.slice(0, 1000));
  }
});

onNative(
  'More memory than the machine has is refused before it is touched, whatever is allocated already.',
  async () => {
    const sizes = [2 ** 53 - 1, 1e15, 2 ** 42, 8 * totalmem(), 1.01 * totalmem()].map(Math.ceil);
    const gibibytes = Math.ceil((0.3 * totalmem()) / 2 ** 30); // beyond one results are V8's own memory
    for (const held of [[], [2 ** 20], Array(gibibytes).fill(2 ** 30)]) {
      const { code, signal, stdout, stderr } = await runChild(`
      const device = open(1);
      globalThis.held = ${JSON.stringify(held)}.map((size) => device.allocate(size));
      const before = process.memoryUsage.rss();
      for (const size of ${JSON.stringify(sizes)}) {
        try {
          device.allocate(size);
          console.log('given', size);
        } catch ({ code, message }) {
          if (code !== 'ERR_OUT_OF_MEMORY' || !message.includes('(' + size + ')')) console.log(code, message);
        }
      }
      if (process.memoryUsage.rss() - before > 2 ** 26) console.log('touched');
      new Uint8Array(device.allocate(4096)).fill(1);`);
      assert.equal([code, signal, stdout], [0, null, ''], `${held.length} held: ${stderr.slice(0, 1000)}`);
    }
  },
);

test.run();
