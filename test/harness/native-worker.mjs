// What a worker thread does in test/native/workers.test.ts, and on the Metal device in test/metal/workers.test.ts.
// It is plain JavaScript and loads only the addon, as a user's worker would: the tests' own loaders could fail, too.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';

const require = createRequire(import.meta.url);
const { COVARIUM_ADDON: path, COVARIUM_TEST_DEVICE: kind = 'cpu' } = process.env;
const addon = path ? require(path) : require('node-gyp-build')(fileURLToPath(new URL('../..', import.meta.url)));
// After their checksum.
const kernels = () =>
  brotliDecompressSync(readFileSync(new URL('../../dist/cuda-kernels.bin', import.meta.url)).subarray(4));
const open = (threads) => addon.openDevice(kind, { threads, kernels });
const counter = Uint32Array.of(1, 0, 2, 0, 0, 0);

function record(device, length, repeats) {
  const out = new Float32Array(length);
  const encoder = device.encoder();
  for (let i = 0; i < repeats; i++) encoder.fillNormal(out, counter);
  return { encoder, out };
}

const plans = {
  // Loads, uses and closes; reports what it computed.
  async use() {
    const device = open(2);
    const { encoder, out } = record(device, 10_000, 1);
    await encoder.commit();
    const memory = new Float32Array(device.allocate(1 << 20));
    const copying = device.encoder();
    copying.fillNormal(memory, counter);
    copying.commitSync();
    device.close();
    parentPort.postMessage(out[9999] === memory[9999] ? out[9999] : Number.NaN);
  },
  // Several devices, none closed, memory and encoders left over.
  async forget() {
    const devices = [open(1), open(2), open(3)];
    globalThis.kept = devices.map((device) => [device.allocate(1 << 21), device.encoder(), device.allocate(64)]);
    await Promise.all(devices.map((device) => record(device, 1 << 16, 2).encoder.commit()));
    parentPort.postMessage('forgotten');
  },
  // Reports when commits are in flight, then waits to be terminated.
  async pend() {
    const devices = [open(1), open(2)];
    const rounds = devices.map(async (device) => {
      for (;;) await Promise.all([1, 2, 3].map(() => record(device, 1 << 18, 3).encoder.commit()));
    });
    parentPort.postMessage('pending');
    await Promise.all(rounds);
  },
  // Commits end all the time, so that termination comes while they settle.
  async settle() {
    const device = open(1);
    parentPort.postMessage('pending');
    for (;;) await Promise.all(Array.from({ length: 32 }, () => record(device, 16, 1).encoder.commit()));
  },
  // As above, half of them failing.
  async reject() {
    const device = open(1);
    parentPort.postMessage('pending');
    for (;;) {
      const commits = Array.from({ length: 32 }, () => {
        const encoder = device.encoder();
        encoder.cholesky(Float32Array.of(-1), 1, 'auto');
        return encoder.commit();
      });
      await Promise.allSettled(commits);
    }
  },
  // Never returns to the event loop.
  async sync() {
    const device = open(2);
    parentPort.postMessage('pending');
    for (;;) record(device, 1 << 16, 1).encoder.commitSync();
  },
  // As above, with refusals thrown and caught, and memory allocated and released.
  async churn() {
    const device = open(1);
    parentPort.postMessage('pending');
    for (;;) {
      device.release(device.allocate(1 << 20));
      const encoder = device.encoder();
      encoder.cholesky(Float32Array.of(-1), 1, 'auto');
      try {
        encoder.commitSync();
      } catch {}
    }
  },
  // Ends itself with work in flight.
  async exit() {
    const device = open(2);
    for (let i = 0; i < 4; i++) record(device, 1 << 18, 50).encoder.commit();
    parentPort.postMessage('pending');
    setTimeout(() => process.exit(3), 5);
  },
};

await plans[workerData.plan]();
