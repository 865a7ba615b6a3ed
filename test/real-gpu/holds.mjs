// What must hold on this machine's NVIDIA GPU, beyond the tests of the contract: bits of the normal stream, memory
// that stays flat, threads and processes at once, commits that are cancelled, processes that are killed, a GPU that
// is lost. Each part prints a line; the first that does not hold ends the process.
//
//     npm run build
//     node test/real-gpu/holds.mjs
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker } from 'node:worker_threads';
import { MultivariateNormal, openDevice } from '../../dist/lib/index.js';
import { covarianceOf } from './covariance.mjs';

const script = fileURLToPath(import.meta.url);
const bytesOf = ({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** Draws of a normal on a device, as one buffer; about 40 MB. */
async function drawn(device, dtype, rounds) {
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(100), dtype });
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const draws = await normal.sample(100_000, { seed: round });
    all.push(Buffer.from(bytesOf(draws)));
    draws.close();
  }
  normal.close();
  return all;
}

/** MiB that the driver says are used on all GPUs. */
function usedMiB() {
  const said = execFileSync('nvidia-smi', ['--query-gpu=memory.used', '--format=csv,noheader,nounits']).toString();
  return said
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0);
}

async function normals(dtype, count) {
  const pieces = 2 ** 26;
  const [gpu, cpu] = ['cuda', 'cpu'].map((kind) => openDevice(kind));
  const [here, there] = [cpu, gpu].map((device) => device.vector(pieces, { dtype }));
  for (let first = 0; first < count; first += pieces) {
    const options = { seed: 11, stream: 3, first };
    const commits = [gpu.commandBuffer().fillNormal(there, options), cpu.commandBuffer().fillNormal(here, options)];
    await Promise.all(commits.map((commands) => commands.commit()));
    assert.ok(bytesOf(here).equals(bytesOf(there)), `${dtype} normals from ${first} on`);
  }
  gpu.close();
  cpu.close();
  console.log(`2^${Math.log2(count)} normals of ${dtype} have the bits of the CPU`);
}

async function commits() {
  const device = openDevice('cuda');
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(100) });
  const some = async (count) => {
    for (let i = 0; i < count; i++) (await normal.sample(1000 + (i % 7) * 100, { seed: i })).close();
    return [usedMiB(), device.memory(), Math.round(process.memoryUsage.rss() / 2 ** 20)];
  };
  const [before, own, rss] = await some(200);
  const [after, ownAfter, rssAfter] = await some(10_000);
  assert.ok(after <= before && ownAfter.liveBytes <= own.liveBytes, `${before} MiB, ${after} MiB`);
  console.log(`10,000 commits: ${before} MiB on the GPU before, ${after} after; the process ${rss} and ${rssAfter}`);
  device.close();
}

const child = (what, ...more) =>
  spawn(process.execPath, [script, what, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
const ended = (process) => new Promise((resolve) => process.on('close', resolve));

async function together() {
  const codes = await Promise.all([1, 2].map(() => ended(child('workers'))));
  assert.deepEqual(codes, [0, 0]);
  console.log('two processes of three threads each at once draw the bits of the CPU');
}

async function workers() {
  const threads = [1, 2, 3].map(() => new Worker(script));
  const codes = await Promise.all(threads.map((thread) => new Promise((resolve) => thread.on('exit', resolve))));
  assert.deepEqual(codes, [0, 0, 0]);
}

async function worker() {
  const [gpu, cpu] = ['cuda', 'cpu'].map((kind) => openDevice(kind, { threads: 2 }));
  for (const dtype of ['float32', 'float64']) {
    const [there, here] = [await drawn(gpu, dtype, 10), await drawn(cpu, dtype, 10)];
    for (const [i, draws] of there.entries()) assert.ok(draws.equals(here[i]), `${dtype}, ${i}`);
  }
  gpu.close();
  cpu.close();
}

async function cancelled() {
  const device = openDevice('cuda');
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(1000) });
  const expected = Buffer.from(bytesOf(await normal.sample(10_000, { seed: 5 })));
  const times = [];
  for (let round = 0; round < 20; round++) {
    const controller = new AbortController();
    const draws = normal.sample(1_000_000, { seed: round, onDevice: true, signal: controller.signal });
    draws.catch(() => {});
    await wait(round / 4);
    const before = performance.now();
    controller.abort();
    await assert.rejects(draws, { code: 'ERR_ABORTED' });
    times.push(performance.now() - before);
  }
  const again = await normal.sample(10_000, { seed: 5 });
  assert.ok(bytesOf(again).equals(expected));
  console.log(`20 commits are cancelled in flight, within ${Math.max(...times).toFixed(1)} ms; the next is right`);
  device.close();
}

async function killed() {
  const before = usedMiB();
  for (let round = 0; round < 8; round++) {
    const busy = child('endless');
    await new Promise((resolve) => busy.stdout.once('data', resolve));
    await wait(20 * round);
    busy.kill('SIGKILL');
    await ended(busy);
  }
  await wait(500);
  const after = usedMiB();
  assert.ok(after <= before, `${before} MiB, ${after} MiB`);
  console.log(`8 processes are killed in flight: ${before} MiB on the GPU before, ${after} after`);
}

async function endless() {
  const device = openDevice('cuda');
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(1000) });
  for (;;) {
    const both = [1, 2].map((seed) => normal.sample(200_000, { seed }));
    console.log('busy');
    for (const draws of await Promise.all(both)) draws.close();
  }
}

async function lost() {
  const code = await ended(child('losing'));
  assert.equal(code, 0);
  console.log('a kernel that breaks the GPU fails with ERR_DEVICE_FAILED; the CPU goes on, and openDevice() takes it');
}

async function losing() {
  const device = openDevice('cuda');
  const text = `kernel void wild(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    device float* far = out + 0x100000000000ul;
    far[i] = 1;
  }`;
  const kernel = await device.kernel(text);
  const out = device.vector(4);
  await assert.rejects(kernel.run({ grid: 4, arguments: { out } }), { code: 'ERR_DEVICE_FAILED' });
  const cpu = openDevice('cpu');
  const normal = MultivariateNormal.fromCovarianceSync({ device: cpu, covariance: covarianceOf(3) });
  assert.equal(normal.sampleSync(10, { seed: 1 }).rows, 10);
  assert.equal(openDevice().kind, 'cpu');
}

const parts = { workers, endless, losing };
if (!isMainThread) await worker();
else if (process.argv[2] !== undefined) await parts[process.argv[2]]();
else {
  await normals('float32', 2 ** 32);
  await normals('float64', 2 ** 30);
  await commits();
  await together();
  await cancelled();
  await lost();
  await killed();
}
