// How threads share the work of a command.
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, openDevice } from '../../lib/index.ts';
import { onNative } from '../harness/on-native.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
env.COVARIUM_BLAS = 'none'; // read as a device is opened

/** Milliseconds of processor time of each thread of this process, except JavaScript's. */
function timeOfThreads(): Map<string, number> {
  const folder = '/proc/self/task';
  const ids = readdirSync(folder).filter((id) => id !== String(process.pid));
  return new Map(ids.map((id) => [id, Number(readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ')[0]) / 1e6]));
}

/** Processor time of the two busiest threads since then. */
function busiestSince(before: ReadonlyMap<string, number>): [number, number] {
  const times = [...timeOfThreads()].map(([id, time]) => time - (before.get(id) ?? 0)).sort((a, b) => b - a);
  return [times[0]!, times[1]!];
}

const numbers = (rows: number, columns: number) =>
  Matrix.from(
    Float32Array.from({ length: rows * columns }, (_, at) => Math.sin(at)),
    { columns },
  );

onNative('The bits of a product do not depend on the threads that share its columns.', () => {
  for (const [m, n, k] of [
    [64, 1000, 300],
    [100, 130, 500],
    [7, 3000, 40],
    [300, 2100, 20],
  ] as const)
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
    ] as const) {
      const [a, b] = [transposeA ? numbers(k, m) : numbers(m, k), transposeB ? numbers(n, k) : numbers(k, n)];
      const [one, ...others] = [1, 2, 3, 16].map((threads) => {
        using device = openDevice('cpu', { threads });
        const c = Matrix.from(new Float32Array(m * n).fill(1), { columns: n });
        const options = { transposeA, transposeB, alpha: 0.5, beta: 2 };
        device.commandBuffer().product(a, b, c, options).commitSync();
        return c.data;
      });
      for (const other of others) assert.equal(other, one, `${m} x ${n} x ${k}`);
    }
});

if (process.platform === 'linux') {
  onNative('Two threads share a product of few rows.', async () => {
    using device = openDevice('cpu', { threads: 2 });
    const [a, b, c] = [numbers(64, 2000), numbers(2000, 1000), numbers(64, 1000)];
    const before = timeOfThreads();
    const areBusy = () => {
      const [busiest, next] = busiestSince(before);
      return busiest > 200 && next > 0.2 * busiest;
    };
    // A thread that comes too late finds no work, which is frequent on a busy machine.
    const end = performance.now() + 20_000;
    while (!areBusy() && performance.now() < end) await device.commandBuffer().product(a, b, c).commit();
    assert.ok(areBusy());
  });

  onNative('A thread that waits for another sleeps.', async () => {
    using device = openDevice('cpu', { threads: 2 });
    // The second of two shares takes some 100 ms.
    const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;

kernel void uneven(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float x = out[i];
  for (uint k = 0; k < (i < 4096 ? 1 : 50000); ++k) x = x * 0.999f + 1;
  out[i] = x;
}
`);
    for (let round = 0; round < 3; round++) {
      const before = timeOfThreads();
      await kernel.run({ grid: 8192, arguments: [new Float32Array(8192)] });
      const [busiest, next] = busiestSince(before);
      assert.ok(next < 0.5 * busiest, `${busiest} ms, ${next} ms`);
    }
  });
}

test.run();
