// The reference device's own parts: its queue and its memory. test/contract/encoder*.test.ts tests its arithmetic
// with that of every device.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend, Encoder } from '../../lib/backend.ts';
import { openReference } from '../../lib/reference/device.ts';
import { counterOf } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const counter = counterOf(1, 2, 0);
const long = new Float32Array(1 << 23); // many slices: over 100 ms of normals on a fast machine

function onDevice(sentence: string, check: (device: Backend) => Promise<void> | void): void {
  test(sentence, async () => {
    const device = openReference();
    try {
      await check(device);
    } finally {
      device.close();
    }
  });
}

function recorded(device: Backend, record: (encoder: Encoder) => void): Encoder {
  const encoder = device.encoder();
  record(encoder);
  return encoder;
}

const longWork = (device: Backend): Encoder => recorded(device, (encoder) => encoder.fillNormal(long, counter));
const double = (device: Backend, x: Float64Array): Encoder => recorded(device, (encoder) => encoder.sum(x, x, x));
const minusOne = (device: Backend): Encoder =>
  recorded(device, (encoder) => encoder.cholesky(Float64Array.of(-1), 1, 'auto'));

onDevice('The device describes itself.', (device) => {
  const { kind, name, threads, dtypes } = device;
  assert.equal(
    { kind, name, threads, dtypes },
    {
      kind: 'reference',
      name: 'plain TypeScript',
      threads: 1,
      dtypes: ['float32', 'float64'],
    },
  );
});

onDevice('Commits run in order, and a synchronous one first runs those before it.', async (device) => {
  const x = Float64Array.of(1);
  const settled: number[] = [];
  const commits = [longWork(device), double(device, x), recorded(device, (encoder) => encoder.addRow(x, x, 2))].map(
    (encoder, i) => encoder.commit().then(() => settled.push(i)),
  );
  assert.is(x[0], 1, 'nothing runs within commit()');
  double(device, x).commitSync();
  assert.is(x[0], 12);
  assert.equal(settled, [], 'promises settle later');
  await Promise.all(commits);
  assert.equal(settled, [0, 1, 2]);
});

onDevice('An earlier commit that fails does not fail a synchronous one.', async (device) => {
  const x = Float64Array.of(1);
  const failing = throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => minusOne(device).commit());
  double(device, x).commitSync();
  assert.is(x[0], 2);
  assert.is((await failing).pivot, 0);
});

onDevice('A failed commit runs no further command, and the queue goes on.', async (device) => {
  const [x, y] = [Float64Array.of(1), Float64Array.of(1)];
  const encoder = minusOne(device);
  encoder.sum(x, x, x);
  const endings = await Promise.allSettled([encoder.commit(), double(device, y).commit()]);
  assert.equal(
    endings.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  assert.equal([x[0], y[0]], [1, 2]);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => minusOne(device).commitSync());
});

onDevice('The event loop turns while a long commit runs.', async (device) => {
  let running = true;
  const commit = longWork(device)
    .commit()
    .finally(() => {
      running = false;
    });
  let turns = 0;
  for (; running; turns++) await setImmediate();
  await commit;
  assert.ok(turns > 2, `the event loop turns (${turns}) times`);
});

onDevice('A commit can be cancelled while it runs, while it waits, or before it is committed.', async (device) => {
  const x = Float64Array.of(1);
  const order: string[] = [];
  const first = longWork(device);
  for (let i = 0; i < 20; i++) first.fillNormal(long, counter);
  const [second, third, fourth] = [double(device, x), double(device, x), double(device, x)];
  fourth.cancel();
  const endings = Object.entries({ first, second, third, fourth }).map(([name, encoder]) =>
    encoder.commit().then(
      () => order.push(`${name} ran`),
      (error) => order.push(`${name}: ${error.code}`),
    ),
  );
  second.cancel();
  await setTimeout(15);
  assert.equal(order, ['second: ERR_ABORTED', 'fourth: ERR_ABORTED'], 'they do not wait for their turn');
  first.cancel();
  await Promise.all(endings);
  assert.equal(order.slice(2), ['first: ERR_ABORTED', 'third ran']);
  assert.is(x[0], 2);
  third.cancel();
  double(device, x).commitSync();
  assert.is(x[0], 4);
});

onDevice('Memory is detached when it is released, once.', (device) => {
  const [memory, foreign] = [device.allocate(800), new ArrayBuffer(8)];
  const view = new Float64Array(memory);
  assert.equal(device.memory(), { liveBytes: 800, pooledBytes: 0 });
  for (const _ of [1, 2]) {
    device.release(memory);
    device.release(foreign);
    assert.is(view.length, 0);
    assert.is(device.memory().liveBytes, 0);
  }
  assert.is(foreign.byteLength, 8, 'memory of others is not touched');
});

onDevice('Memory in flight outlives its release, and later commits do not keep it.', async (device) => {
  const x = new Float64Array(device.allocate(8)).fill(1);
  const commit = double(device, x).commit();
  device.release(x.buffer);
  device.release(x.buffer);
  const later = longWork(device).commit();
  assert.equal([x.length, device.memory().liveBytes], [1, 8]);
  await commit;
  assert.equal([x.length, device.memory().liveBytes], [0, 0]);
  let ended = false;
  later.then(() => {
    ended = true;
  });
  await setImmediate();
  assert.not(ended, 'the later commit was in flight');
  await later;
});

onDevice('A waiting commit that is cancelled does not free what an earlier one uses.', async (device) => {
  const memory = device.allocate(8 << 20);
  const first = recorded(device, (encoder) => encoder.fillNormal(new Float64Array(memory), counter));
  const second = double(device, new Float64Array(memory));
  const commits = [first.commit(), second.commit()];
  device.release(memory);
  second.cancel();
  await throwsCode('ERR_ABORTED', () => commits[1]);
  assert.is(memory.byteLength, 8 << 20);
  await commits[0];
  assert.is(memory.byteLength, 0);
});

onDevice('Memory that cannot be allocated is refused, with its size.', async (device) => {
  const error = await throwsCode('ERR_OUT_OF_MEMORY', () => device.allocate(2 ** 52));
  assert.match(error.message, `(${2 ** 52})`);
  assert.is(device.memory().liveBytes, 0);
});

onDevice('It launches no kernels, and an encoder commits once.', async (device) => {
  const encoder = device.encoder();
  await throwsCode('ERR_UNSUPPORTED', () => encoder.launch('fill_normal', [], [1, 1, 1], [1, 1, 1]));
  assert.is(encoder.commitSync().encodeMs, 0);
  for (const again of [() => encoder.commit(), () => encoder.commitSync(), () => encoder.copy(long, long)])
    await throwsCode('ERR_CLOSED', again);
});

test('A closed device cancels work in flight and refuses every call; remaining memory can be released.', async () => {
  const device = openReference();
  const [kept, used] = [device.allocate(64), device.allocate(64)];
  const unused = device.encoder();
  const commits = [longWork(device), double(device, new Float64Array(used))].map((encoder) => encoder.commit());
  device.release(used);
  device.close();
  device.close();
  for (const commit of commits) await throwsCode('ERR_ABORTED', () => commit);
  assert.is(used.byteLength, 0);
  for (const call of [
    () => device.allocate(64),
    () => device.encoder(),
    () => device.memory(),
    () => unused.fillNormal(long, counter),
    () => unused.commit(),
    () => unused.commitSync(),
  ])
    await throwsCode('ERR_CLOSED', call);
  unused.cancel();
  device.release(kept);
  assert.is(kept.byteLength, 0);
});

test.run();
