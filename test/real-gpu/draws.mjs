// Draws, products, factors and densities on this machine's NVIDIA GPU beside its CPU: checks that draws and factors
// have the same bits, and prints how long each takes, left on the GPU or copied into reused host memory, best of
// several rounds.
//
//     node test/real-gpu/draws.mjs
//     python3 test/real-gpu/draws.py   # PyTorch on the same GPU
import { MultivariateNormal } from '../../dist/lib/index.js';
import { best, covarianceOf, devices } from './measure.mjs';

const normalsOf = (n, dtype = 'float32') =>
  devices.map((device) => MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(n), dtype }));

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

const sizes = [
  [2, 1e6],
  [16, 1e6],
  [64, 4e6],
  [100, 1e6],
  [1000, 1e4],
  [1000, 1e5],
  [4000, 1e3],
];
for (const [dtype, n, count] of ['float32', 'float64'].flatMap((each) => sizes.map((size) => [each, ...size]))) {
  const times = [];
  for (const normal of normalsOf(n, dtype)) {
    const kept = await normal.sample(count, { seed: 1, onDevice: true });
    const { kind } = normal.device;
    let onGpu = Number.POSITIVE_INFINITY;
    const draw = async (out) => {
      const { timings } = await normal.sample(count, { seed: 1, out });
      onGpu = Math.min(onGpu, timings.deviceMs);
    };
    if (kind === 'cuda') {
      const whole = await best(() => draw(kept));
      times.push(`left there ${whole.toFixed(3)} ms (the GPU works ${onGpu.toFixed(4)})`);
    }
    kept.close();
    const out = normal.device.matrix(count, n, { dtype });
    times.push(`${kind} ${(await best(() => draw(out))).toFixed(3)} ms`);
    out.close();
  }
  console.log(`${dtype}, D = ${n}, N = ${count}: ${times.join(', ')}`);
}

for (const dtype of ['float32', 'float64'])
  for (const n of [300, 1000, 4096]) {
    const times = [];
    const Kind = dtype === 'float32' ? Float32Array : Float64Array;
    const numbers = Kind.from({ length: n * n }, (_, i) => Math.sin(i));
    for (const device of devices) {
      const [a, b, c] = [0, 1, 2].map(() => device.matrix(n, n, { dtype }));
      a.data.set(numbers);
      b.data.set(numbers);
      const multiply = () => device.commandBuffer().product(a, b, c).commit();
      times.push(`${device.kind} ${(await best(multiply)).toFixed(3)} ms`);
      if (device.kind === 'cuda') {
        const zeros = device.matrix(n, n, { dtype });
        const [x, y] = [
          await a.multiply(zeros, { device, onDevice: true }),
          await zeros.multiply(b, { device, onDevice: true }),
        ];
        let onGpu = Number.POSITIVE_INFINITY;
        const whole = await best(async () => {
          const made = await x.multiply(y, { device, onDevice: true });
          onGpu = Math.min(onGpu, made.timings.deviceMs);
          made.close();
        });
        times.push(
          `left there ${whole.toFixed(3)} ms (the GPU works ${onGpu.toFixed(4)}, ${((2e-9 * n ** 3) / onGpu).toFixed(1)} TFLOP/s)`,
        );
        for (const each of [zeros, x, y]) each.close();
      }
      for (const each of [a, b, c]) each.close();
    }
    console.log(`${dtype} product of ${n} x ${n}: ${times.join(', ')}`);
  }
for (const dtype of ['float32', 'float64'])
  for (const n of [1000, 4096]) {
    const Kind = dtype === 'float32' ? Float32Array : Float64Array;
    const covariance = Kind.from(covarianceOf(n).data);
    const times = [];
    const factors = [];
    for (const device of devices) {
      const a = device.matrix(n, n, { dtype });
      let least = Number.POSITIVE_INFINITY;
      let onGpu = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 12; round++) {
        a.data.set(covariance);
        const start = performance.now();
        const { deviceMs } = await device.commandBuffer().cholesky(a).commit();
        least = Math.min(least, performance.now() - start);
        onGpu = Math.min(onGpu, deviceMs);
      }
      times.push(`${device.kind} ${least.toFixed(3)} ms (${onGpu.toFixed(3)} of them there)`);
      factors.push(Buffer.from(a.data.slice().buffer));
      a.close();
    }
    console.log(
      `${dtype} factor of ${n} x ${n}: ${times.join(', ')}, ${factors[0].equals(factors[1]) ? 'the same bits' : 'OTHER BITS'}`,
    );
  }
for (const [n, count] of [
  [2, 1e6],
  [16, 1e6],
  [64, 4e6],
]) {
  // biome-ignore format: pairs
  const times = [];
  for (const normal of normalsOf(n)) {
    const kept = await normal.sample(count, { seed: 1, onDevice: true });
    let onGpu = Number.POSITIVE_INFINITY;
    const measure = async (rows) => {
      const density = await normal.logPdf(rows);
      onGpu = Math.min(onGpu, density.timings.deviceMs);
      density.close();
    };
    const { kind } = normal.device;
    const there = await best(() => measure(kept));
    times.push(`${kind} ${there.toFixed(3)} ms of draws where they are (${onGpu.toFixed(3)} of them there)`);
    const { data } = kept;
    times.push(`${(await best(() => measure(data))).toFixed(3)} of the host's`);
    kept.close();
  }
  console.log(`densities, D = ${n}, N = ${count}: ${times.join(', ')}`);
}
for (const [n, count] of [
  [100, 1e6],
  [1000, 1e5],
]) {
  const times = [];
  for (const normal of normalsOf(n)) {
    const { kind } = normal.device;
    const kept = await normal.sample(count, { seed: 1, onDevice: true });
    let onGpu = Number.POSITIVE_INFINITY;
    const measure = async (rows) => {
      const density = await normal.logPdf(rows);
      onGpu = Math.min(onGpu, density.timings.deviceMs);
      density.close();
    };
    times.push(`${kind} ${(await best(() => measure(kept))).toFixed(3)} ms (${onGpu.toFixed(3)} of them there)`);
    kept.close();
  }
  console.log(`densities, D = ${n}, N = ${count}: ${times.join(', ')}`);
}
