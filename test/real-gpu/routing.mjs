// Compares the choices between a GPU and the CPU beside it with their times, on a machine with a GPU:
// `node test/real-gpu/routing.mjs cuda` after `npm run build`. Each processor has a process of its own; draws end in
// the host's memory or stay on the GPU.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MultivariateNormal, openDevice } from '../../dist/lib/index.js';
import { covarianceOf } from './covariance.mjs';

const [kind = 'cuda', child] = process.argv.slice(2);

const sizes = [
  ...[1000, 10_000, 100_000, 1_000_000].flatMap((rows) => [2, 16].map((columns) => [rows, columns])),
  ...[10, 100, 1000, 10_000, 100_000].map((rows) => [rows, 100]),
  ...[1, 10, 100, 1000, 10_000].map((rows) => [rows, 1000]),
];
const orders = [64, 128, 256, 512, 1000, 2000, 4000];

function* cases(device) {
  const isOwn = kind === 'cuda';
  for (const [rows, columns] of sizes) {
    const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(columns) });
    for (const onDevice of isOwn ? [false, true] : [false])
      yield ['sample', { rows, columns, onDevice }, () => normal.sampleSync(rows, { onDevice }).close()];
    normal.close();
  }
  for (const columns of orders) {
    const covariance = covarianceOf(columns);
    yield ['factor', { columns }, () => MultivariateNormal.fromCovarianceSync({ device, covariance }).close()];
    const a = device.matrix(columns, columns);
    a.data.fill(0.5);
    const size = { rows: columns, inner: columns, columns };
    yield ['multiply', size, () => a.multiplySync(a, { device }).close()];
    a.close();
  }
}

function times() {
  const device = openDevice(kind);
  return Array.from(cases(device), ([command, size, call]) => {
    const taken = [];
    for (let i = 0, begun = performance.now(); i < 5 || (i < 40 && performance.now() - begun < 100); i++) {
      const before = performance.now();
      call();
      taken.push(performance.now() - before);
    }
    return { command, size, ms: Math.min(...taken.slice(1)), explanation: device.explain(command, size) };
  });
}

function timesWith(from) {
  const env = { ...process.env, COVARIUM_CUDA_FROM: from, COVARIUM_METAL_FROM: from };
  const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), kind, 'child'], { env });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

if (child === 'child') console.log(JSON.stringify(times()));
else {
  const [onGpu, onCpu, chosen] = ['0', '1000000000000000', ''].map(timesWith);
  const digits = (ms) => (ms === undefined ? '-' : ms.toPrecision(3));
  let worst = 1;
  console.log('command, size: GPU ms (foretold), CPU ms (foretold), chosen, times as long as the faster');
  for (const [i, { command, size, explanation }] of chosen.entries()) {
    const [gpu, cpu] = [onGpu[i].ms, onCpu[i].ms];
    const times = (explanation.runsOn === 'gpu' ? gpu : cpu) / Math.min(gpu, cpu);
    worst = Math.max(worst, times);
    const foretold = `${digits(gpu)} (${digits(explanation.gpuMs)}), ${digits(cpu)} (${digits(explanation.cpuMs)})`;
    console.log(`${command}, ${JSON.stringify(size)}: ${foretold}, ${explanation.runsOn}, ${times.toFixed(2)}`);
  }
  console.log(`at most ${worst.toFixed(2)} times as long as the faster`);
}
