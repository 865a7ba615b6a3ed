// Draws on this machine's NVIDIA GPU beside its CPU: the bits of both are the same, and how long each takes, into
// memory of the host that serves again, best of some rounds. After `npm run build`:
//
//     node test/real-gpu/draws.mjs
//     python3 test/real-gpu/draws.py   # PyTorch on the same GPU
import { Matrix, MultivariateNormal, openDevice } from '../../dist/lib/index.js';

async function best(work) {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + 400;
  for (let round = 0; round < 4 || performance.now() < end; round++) {
    const start = performance.now();
    await work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

function covarianceOf(n) {
  const entries = Float32Array.from({ length: n * n }, (_, at) => 1 / (1 + Math.abs(Math.floor(at / n) - (at % n))));
  for (let i = 0; i < n; i++) entries[i * (n + 1)] += 1;
  return Matrix.from(entries, { columns: n });
}

const devices = [openDevice('cuda'), openDevice('cpu')];
console.log(devices.map(({ name, threads }) => `${name}, ${threads} threads`).join('; '));
const normalsOf = (n) =>
  devices.map((device) => MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(n) }));

for (const [n, count] of [
  ...[[1, 300_001], [2, 100_003], [3, 50_001], [16, 9001], [31, 5003], [64, 2049], [65, 2049], [100, 1111]], // biome-ignore format: pairs
  ...[[127, 1000], [128, 1024], [129, 1025], [300, 517], [1000, 9000], [2000, 129]], // biome-ignore format: pairs
]) {
  const [gpu, cpu] = normalsOf(n).map((normal) => {
    const { data } = normal.sampleSync(count, { seed: 7 });
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  });
  if (!gpu.equals(cpu)) throw new Error(`The draws differ (${n} x ${count}).`);
}
console.log('the draws have the same bits');

for (const [n, count] of [
  [2, 1e6],
  [16, 1e6],
  [64, 4e6],
  [100, 1e6],
  [1000, 1e4],
  [1000, 1e5],
  [4000, 1e3],
]) {
  const times = [];
  for (const normal of normalsOf(n)) {
    const out = normal.device.matrix(count, n);
    times.push(`${normal.device.kind} ${(await best(() => normal.sample(count, { seed: 1, out }))).toFixed(3)} ms`);
    out.close();
  }
  console.log(`D = ${n}, N = ${count}: ${times.join(', ')}`);
}
for (const device of devices) device.close();
