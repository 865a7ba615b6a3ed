// What the CUDA device does when calls of the driver fail: it uses another way if there is one, and otherwise reports
// the failure.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onSoftCuda, printedBesideCuda } from './on-cuda.ts';

const head = `
  const { openDevice, listDevices, MultivariateNormal } = covarium;
  const failure = async (work) => { try { await work(); return 'none'; } catch (error) { return error.code; } };
  const normalOn = (device) => MultivariateNormal.fromCovarianceSync({ device, covariance: [[2, 1, 0], [1, 3, 0], [0, 0, 1]] });
`;

for (const [sentence, fault] of [
  ['that can pin no memory draws into ordinary memory', 'cuMemHostAlloc,2,0'],
  ['without memory at first gives back what it keeps, and tries again', 'cuMemAlloc_v2,2,1'],
] as const)
  onSoftCuda(`A GPU ${sentence}.`, async () => {
    const out = await printedBesideCuda(
      `${head}
      const [gpu, cpu] = ['cuda', 'cpu'].map((kind) => openDevice(kind));
      const [draws, expected] = [gpu, cpu].map((device) => normalOn(device).sampleSync(50_000, { seed: 1 }));
      console.log(draws.timings.ranOn, draws.data.every((value, at) => value === expected.data[at]));
      draws.close(); gpu.close(); cpu.close();`,
      { SOFTCUDA_FAULT: fault },
    );
    assert.is(out, 'gpu true');
  });

onSoftCuda('Kept memory of a size that is not asked for any more makes room for another.', async () => {
  // An eighth of the GPU's memory is kept: 1.25 MB, of which the first draws are 0.96 MB, the others 0.48.
  const blocks = async (rounds: number) => {
    const { code, stderr } = await besideCuda(
      `${head}
      const gpu = openDevice('cuda');
      const normal = normalOn(gpu);
      for (const rows of [80_000, ...Array(${rounds}).fill(40_000)])
        normal.sampleSync(rows, { onDevice: true }).close();
      gpu.close();`,
      { SOFTCUDA_MEMORY: '10000000' },
    );
    assert.is(code, 0, stderr);
    return Number(/made (\d+) blocks/.exec(stderr)?.[1]);
  };
  assert.is(await blocks(6), await blocks(2));
});

onSoftCuda('Beside what can be pinned, draws go into ordinary memory, and rows come from there.', async () => {
  const refusals = async (SOFTCUDA_PINNED: string) => {
    const { code, stdout, stderr } = await besideCuda(
      `${head}
      const [gpu, cpu] = ['cuda', 'cpu'].map((kind) => openDevice(kind));
      const [normal, same] = [gpu, cpu].map(normalOn);
      const held = [];
      // 1.2 MB each: one is pinned. Closed memory, which is kept, makes room for what is larger.
      for (const rows of [100_000, 100_000, 100_001, 'close', 120_000, 100_000]) {
        if (rows === 'close') {
          for (const draws of held.splice(0)) draws.close();
          continue;
        }
        const [draws, expected] = [normal, same].map((each) => each.sampleSync(rows, { seed: rows }));
        const densities = normal.logPdfSync(draws).data, others = same.logPdfSync(expected).data;
        console.log(draws.timings.ranOn, draws.data.every((value, at) => value === expected.data[at]),
          densities.every((value, at) => Math.abs(value - others[at]) < 1e-4));
        held.push(draws);
      }
      for (const draws of held) draws.close();
      gpu.close(); cpu.close();`,
      { SOFTCUDA_PINNED },
    );
    assert.is(code, 0, stderr);
    assert.is(stdout.trim(), Array(5).fill('gpu true true').join('\n'));
    assert.match(stderr, 'softcuda: blocks 0, pinned 0');
    return Number(/refused to pin (\d+) times/.exec(stderr)?.[1]);
  };
  assert.is(await refusals(String(1 << 24)), 0);
  assert.ok((await refusals('2000000')) > 0);
});

onSoftCuda('After a GPU is lost, openDevice() takes the CPU, and listDevices() says why.', async () => {
  const { code, stdout, stderr } = await besideCuda(
    `${head}
    const device = openDevice('cuda');
    const code = await failure(() => normalOn(device).sample(1000));
    device.close();
    const other = openDevice();
    const { available, reason } = listDevices().find(({ kind }) => kind === 'cuda');
    console.log(code, other.kind, normalOn(other).sampleSync(2).rows, available, reason);`,
    { SOFTCUDA_FAULT: 'cuMemcpyDtoHAsync_v2,700,9' },
  );
  assert.is(code, 0, stderr);
  assert.match(stdout, /^ERR_DEVICE_FAILED cpu 2 false .*error 700/);
});

test.run();
