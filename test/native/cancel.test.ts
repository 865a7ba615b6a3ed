import { setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend, Encoder, Timings } from '../../lib/backend.ts';
import { openCpuBackend } from '../harness/cpu-backend.ts';
import { counterOf, lowerFactor } from '../harness/naive.ts';
import { onNative } from '../harness/on-native.ts';
import { throwsCode } from '../harness/throws-code.ts';

type Record = (encoder: Encoder) => void;

const counter = counterOf(1, 2, 0);
const long = new Float32Array(1 << 22);
const n = 256;
const rows = long.length / n;
const [factor, mean] = [Float32Array.from(lowerFactor(n, n)), new Float32Array(n)];
const [narrowFactor, narrowMean] = [Float32Array.from(lowerFactor(4, 4)), new Float32Array(4)];

/**
 * Asserts that work cancelled after a tenth of its time ends long before its normal end. It compares with the same
 * work's time, because seconds would depend on the machine. A shared machine stalls at times, so one of three tries
 * must succeed.
 */
async function stopsSoon(name: string, run: () => { encoder: Encoder; done: Promise<Timings> }): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && least >= 0.7; attempt++) {
    const { deviceMs } = await run().done;
    const begin = performance.now();
    const { encoder, done } = run();
    await setTimeout(deviceMs / 10);
    encoder.cancel();
    await throwsCode('ERR_ABORTED', () => done);
    const share = (performance.now() - begin) / deviceMs;
    console.log(`${name}: of ${deviceMs.toFixed(0)} ms ${(100 * share).toFixed(0)} % ran, cancelled after a tenth`);
    least = Math.min(least, share);
  }
  assert.ok(least < 0.7, `${name} went on for ${least} of its time`);
}

async function repeatedStopsSoon(device: Backend, name: string, record: Record): Promise<void> {
  const run = (repeats: number) => {
    const encoder = device.encoder();
    for (let repeat = 0; repeat < repeats; repeat++) record(encoder);
    return { encoder, done: encoder.commit() };
  };
  await run(1).done; // touches its pages
  const once = (await run(1).done).deviceMs;
  const repeats = Math.ceil(200 / once); // enough for the precision of timers
  await stopsSoon(name, () => run(repeats));
  assert.ok((await run(1).done).deviceMs > 0, 'a later commit runs');
}

const works: { readonly [name: string]: Record } = {
  normals: (encoder) => encoder.fillNormal(long, counter),
  'narrow sample': (encoder) => encoder.sample(narrowFactor, narrowMean, long, false, counter),
  'wide sample': (encoder) => encoder.sample(factor, mean, long, false, counter),
  'inverse sample': (encoder) => encoder.sample(factor, mean, long, true, counter),
  'log densities': (encoder) => encoder.logDensity(factor, mean, long, new Float32Array(rows), false, 0),
  moments: (encoder) => encoder.meanAndCovariance(long, new Float32Array(n), new Float32Array(n * n), 1),
  'launched map': (encoder) =>
    encoder.launch('fill_normal', [long, Uint32Array.of(...counter, long.length)], [1 << 20, 1, 1], [256, 1, 1]),
};

for (const [name, record] of Object.entries(works))
  onNative(`cancel() stops a commit soon: ${name}.`, async () => {
    const device = openCpuBackend(2);
    await repeatedStopsSoon(device, name, record);
    device.close();
  });

onNative('cancel() stops one launch in its middle.', async () => {
  const device = openCpuBackend(2);
  // 1,024 fibers for each of 4,096 rows: one command that is long on any machine.
  const operands = [long, new Float32Array(4096), Uint32Array.of(4096, 1024)];
  const launch = () => {
    const encoder = device.encoder();
    encoder.launch('squared_norms', operands, [4096 * 1024, 1, 1], [1024, 1, 1]);
    return { encoder, done: encoder.commit() };
  };
  await stopsSoon('one launch', launch);
  device.close();
});

onNative(
  'A commit that waits, or is not committed yet, can be cancelled; cancelling a finished one does nothing.',
  async () => {
    const device = openCpuBackend(2);
    const record = (repeats: number) => {
      const encoder = device.encoder();
      for (let repeat = 0; repeat < repeats; repeat++) encoder.fillNormal(long, counter);
      return encoder;
    };
    const [first, second, third] = [record(20), record(1), record(1)];
    third.cancel();
    const commits = Promise.allSettled([first.commit(), second.commit(), third.commit()]);
    second.cancel();
    const endings = (await commits).map((ending) => (ending.status === 'rejected' ? ending.reason.code : 'ran'));
    assert.equal(endings, ['ran', 'ERR_ABORTED', 'ERR_ABORTED']);
    first.cancel();
    await record(1).commit();
    const fourth = record(1);
    fourth.cancel();
    await throwsCode('ERR_ABORTED', () => fourth.commitSync());
    record(1).commitSync();
    device.close();
  },
);

onNative('A cancelled sample frees its memory.', async () => {
  const device = openCpuBackend(2);
  const memory = device.allocate(1 << 24);
  const encoder = device.encoder();
  for (let repeat = 0; repeat < 20; repeat++) encoder.sample(factor, mean, new Float32Array(memory), true, counter);
  const done = encoder.commit();
  device.release(memory);
  await setTimeout(2);
  encoder.cancel();
  await throwsCode('ERR_ABORTED', () => done);
  assert.is(device.memory().liveBytes, 0);
  device.close();
});

test.run();
