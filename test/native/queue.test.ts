import { pbkdf2 } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend, Encoder } from '../../lib/backend.ts';
import { openCpuBackend } from '../harness/cpu-backend.ts';
import { counterOf } from '../harness/naive.ts';
import { onNative } from '../harness/on-native.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';

const counter = counterOf(1, 2, 0);
const long = new Float32Array(1 << 22);

// The number of fills in one commit; with AVX-512 even a sanitized fill takes a few milliseconds.
const manyFills = sanitized ? 30 : 60;

/** Records work of some tenths of a second: much longer than a timer, a file or a cancelled block takes. */
function recordLong(encoder: Encoder, repeats = manyFills): Encoder {
  for (let repeat = 0; repeat < repeats; repeat++) encoder.fillNormal(long, counter);
  return encoder;
}

function onDevice(sentence: string, check: (device: Backend) => Promise<void>): void {
  onNative(sentence, async () => {
    const device = openCpuBackend(2);
    await check(device);
    device.close();
  });
}

onDevice('Commits run and settle in order, including synchronous ones.', async (device) => {
  const [total, one] = [Float64Array.of(1), Float64Array.of(1)];
  const settled: number[] = [];
  const commits: Promise<unknown>[] = [];
  let expected = 1;
  for (let i = 0; i < 300; i++) {
    const encoder = device.encoder();
    // Doubling and counting do not commute. 2^100 is far below the largest float64, and both sides round alike.
    encoder.sum(total, i % 3 === 0 ? total : one, total);
    expected = i % 3 === 0 ? 2 * expected : expected + 1;
    if (i % 50 === 49) encoder.commitSync();
    else commits.push(encoder.commit().then(() => settled.push(i)));
    if (i % 50 === 49) assert.is(total[0], expected, 'a synchronous commit waits for all before it');
  }
  await Promise.all(commits);
  assert.is(total[0], expected);
  assert.equal(
    settled,
    [...settled].sort((a, b) => a - b),
  );
  assert.is(settled.length, 294);
});

onDevice('Timers fire while a commit runs, and commit() returns before it has run.', async (device) => {
  let [ticks, running] = [0, true];
  const done = recordLong(device.encoder())
    .commit()
    .finally(() => {
      running = false;
    });
  for (; running; ticks++) await setTimeout(1);
  const timings = await done;
  console.log(`${ticks} turns of a 1 ms timer while a commit ran for ${timings.deviceMs.toFixed(0)} ms`);
  assert.ok(ticks >= 5, `${ticks} turns`);
  assert.ok(timings.wallMs >= timings.deviceMs && timings.deviceMs > 0 && timings.encodeMs >= 0);
});

onNative("64 commits at once do not block libuv's pool, which files and cryptography use.", async () => {
  const devices = Array.from({ length: 8 }, () => openCpuBackend(1));
  let left = 64;
  const commits = Array.from({ length: 64 }, (_, i) => {
    const [encoder, out] = [devices[i % 8]!.encoder(), new Float32Array(1 << 20)];
    for (let repeat = 0; repeat < manyFills; repeat++) encoder.fillNormal(out, counter);
    return encoder.commit().finally(() => --left);
  });
  const derive = promisify(pbkdf2);
  const path = fileURLToPath(import.meta.url);
  for (let i = 0; i < 16; i++) await Promise.all([derive('a', 'b', 10, 32, 'sha256'), readFile(path)]);
  console.log(`${left} of 64 commits were pending when 16 rounds of files and cryptography were done`);
  assert.ok(left > 0, 'the pool was not occupied');
  // The remaining commits are not needed.
  for (const device of devices) device.close();
  for (const ending of await Promise.allSettled(commits))
    if (ending.status === 'rejected') assert.is(ending.reason.code, 'ERR_ABORTED');
});

onDevice('A cancelled commit that has not begun ends at once, and those after it run.', async (device) => {
  const [out, later] = [Float64Array.of(0, 0), Float64Array.of(0)];
  const settled: string[] = [];
  const noted = (name: string, commit: Promise<unknown>) => commit.finally(() => settled.push(name));
  const first = noted('first', recordLong(device.encoder()).commit());
  const waiting = device.encoder();
  waiting.copy(Float64Array.of(1, 2), out);
  const cancelled = noted('cancelled', waiting.commit());
  const last = device.encoder();
  last.copy(Float64Array.of(3), later);
  const rest = noted('last', last.commit());
  waiting.cancel();
  waiting.cancel();
  await throwsCode('ERR_ABORTED', () => cancelled);
  assert.equal(settled, ['cancelled']);
  await Promise.all([first, rest]);
  assert.equal([settled, [...out], [...later]], [['cancelled', 'first', 'last'], [0, 0], [3]]);
});

onDevice('A synchronous commit runs once the last commit before it is cancelled.', async (device) => {
  const out = Float64Array.of(0);
  const running = recordLong(device.encoder(), 1).commit();
  const waiting = recordLong(device.encoder());
  const cancelled = waiting.commit();
  waiting.cancel();
  const encoder = device.encoder();
  encoder.copy(Float64Array.of(1), out);
  encoder.commitSync();
  assert.is(out[0], 1);
  await throwsCode('ERR_ABORTED', () => cancelled);
  await running;
});

onDevice('An error rejects its own commit and no other.', async (device) => {
  const [bad, out] = [Float32Array.of(1, 0, 0, -1), new Float32Array(3)];
  const settled = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) => {
      const encoder = device.encoder();
      if (i % 3 === 1) encoder.cholesky(Float32Array.from(bad), 2, 'auto');
      encoder.fillNormal(i % 3 === 1 ? long : out, counter);
      return encoder.commit();
    }),
  );
  settled.forEach((result, i) => {
    assert.is(result.status, i % 3 === 1 ? 'rejected' : 'fulfilled');
    if (result.status === 'rejected')
      assert.equal([result.reason.code, result.reason.pivot], ['ERR_NOT_POSITIVE_DEFINITE', 1]);
  });
  const encoder = device.encoder();
  encoder.cholesky(bad, 2, 'auto');
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => encoder.commitSync());
  await throwsCode('ERR_CLOSED', () => encoder.commitSync());
  await throwsCode('ERR_CLOSED', () => encoder.fillNormal(out, counter));
});

onDevice('Memory released while a commit uses it is not reused before the commit ends.', async (device) => {
  const sizeBytes = 1 << 22;
  const memory = device.allocate(sizeBytes);
  const out = new Float32Array(memory);
  const encoder = device.encoder();
  for (let repeat = 0; repeat < manyFills; repeat++) encoder.fillNormal(out, counter);
  const done = encoder.commit();
  device.release(memory);
  assert.is(memory.byteLength, 0);
  assert.is(device.memory().liveBytes, sizeBytes, 'in flight');
  const other = new Uint8Array(device.allocate(sizeBytes)).fill(7);
  await done;
  assert.ok(
    other.every((byte) => byte === 7),
    'the commit wrote into its own memory only',
  );
  assert.is(device.memory().liveBytes, sizeBytes, 'the other is left');
  device.release(other.buffer);
  device.release(other.buffer);
  device.release(memory);
  assert.is(device.memory().liveBytes, 0);
});

onNative('close() with work in flight rejects it, and every later call is refused.', async () => {
  const device = openCpuBackend(2);
  const [unused, out] = [device.encoder(), new Float32Array(8)];
  const kept = device.allocate(1 << 21);
  unused.fillNormal(out, counter);
  const commits = [recordLong(device.encoder()).commit(), recordLong(device.encoder()).commit()];
  await setImmediate();
  device.close();
  device.close();
  for (const commit of commits) await throwsCode('ERR_ABORTED', () => commit);
  for (const call of [
    () => device.allocate(64),
    () => device.encoder(),
    () => device.memory(),
    () => unused.fillNormal(out, counter),
    () => unused.commit(),
    () => unused.commitSync(),
  ])
    await throwsCode('ERR_CLOSED', call);
  unused.cancel();
  device.release(kept);
  assert.is(out[0], 0, 'nothing was computed');
});

onNative('A commit still ends well if nothing references its device and encoder.', async () => {
  let running = true;
  const settled = recordLong(openCpuBackend(1).encoder())
    .commit()
    .catch((error: Error) => error)
    .finally(() => {
      running = false;
    });
  while (running) {
    globalThis.gc?.();
    await setTimeout(5);
  }
  const ending = await settled;
  assert.not(ending instanceof Error, `it is rejected: ${ending instanceof Error ? ending.message : ''}`);
});

test.run();
