// A GPU that shares the host's memory works in place on pinned memory: nothing is copied, and the numbers are the
// same.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onClang, onSoftCuda } from './on-cuda.ts';

/**
 * What the text prints on a GPU with its own memory and on one with the host's, and the bytes copied to and from
 * each.
 */
async function onBoth(text: string): Promise<readonly { readonly printed: string; readonly copied: number[] }[]> {
  const endings = [];
  for (const SOFTCUDA_INTEGRATED of ['0', '1']) {
    const { code, stdout, stderr } = await besideCuda(text, { SOFTCUDA_INTEGRATED });
    assert.is(code, 0, stderr);
    assert.match(stderr, 'softcuda: blocks 0, pinned 0, streams 0, events 0, modules 0, contexts 0');
    const [, up, down] = /uploaded (\d+) bytes, downloaded (\d+)/.exec(stderr)!;
    endings.push({ printed: stdout.trim(), copied: [Number(up), Number(down)] });
  }
  return endings;
}

onSoftCuda('Draws and densities of pinned rows are made in place, in both types.', async () => {
  const [own, shared] = await onBoth(`
    const { openDevice, MultivariateNormal } = covarium;
    const gpu = openDevice('cuda'), cpu = openDevice('cpu');
    const of = (device, dtype) => MultivariateNormal.fromDiagonal({ device, variances: [1, 2, 3, 4, 5, 6], dtype });
    for (const dtype of ['float32', 'float64']) {
      const [normal, same] = [await of(gpu, dtype), await of(cpu, dtype)];
      const [draws, expected] = [await normal.sample(200_000, { seed: 3 }), await same.sample(200_000, { seed: 3 })];
      console.log(draws.timings.ranOn, draws.data.every((value, at) => value === expected.data[at]));
      const densities = (await normal.logPdf(draws)).data, others = (await same.logPdf(expected)).data;
      console.log(densities.every((value, at) => Math.abs(value - others[at]) < 1e-4));
      const kept = await normal.sample(200_000, { seed: 3, onDevice: true });
      console.log(kept.data.every((value, at) => value === expected.data[at]));
      const quantiles = [0.1, 0.5];
      const [some, theirs] = [normal, same].map((each) => each.summarizeSync(50_000, { seed: 5, quantiles }).quantiles.data);
      console.log(some.join() === theirs.join());
    }
    gpu.close();`);
  assert.is(shared!.printed, own!.printed);
  assert.not.match(own!.printed, 'false');
  const [drawBytes, types] = [200_000 * 6 * 4, 3];
  // Kept results are on the GPU, and are copied to the host when they are read.
  assert.ok(own!.copied[1]! > 2 * types * drawBytes, own!.copied.join());
  assert.ok(shared!.copied[1]! < 1.5 * types * drawBytes, shared!.copied.join());
});

onClang('A user kernel changes a matrix of the device in place.', async () => {
  const text = `kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 2 * x[i] + 1; }`;
  const [own, shared] = await onBoth(`
    const gpu = covarium.openDevice('cuda');
    const kernel = await gpu.kernel(${JSON.stringify(text)});
    const x = gpu.matrix(1000, 1000);
    x.data.forEach((_, at) => { x.data[at] = at % 1000; });
    const { ranOn } = await kernel.run({ grid: 1_000_000, arguments: { x } });
    await kernel.run({ grid: 1_000_000, arguments: { x } });
    console.log(ranOn, x.data.every((value, at) => value === 4 * (at % 1000) + 3));
    gpu.close();`);
  assert.is(own!.printed, 'gpu true');
  assert.is(shared!.printed, 'gpu true');
  assert.ok(own!.copied.every((bytes) => bytes > 8_000_000) && shared!.copied.every((bytes) => bytes < 1_000_000));
});

test.run();
