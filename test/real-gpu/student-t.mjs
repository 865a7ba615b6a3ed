// Draws of a Student-t on this machine's NVIDIA GPU beside its CPU: checks that the bits are the same, and prints how
// long they take, left on the GPU or copied into reused host memory.
//
//     node test/real-gpu/student-t.mjs
//     python3 test/real-gpu/student-t.py   # PyTorch, by hand
import { Matrix, MultivariateStudentT, MultivariateStudentTBatch } from '../../dist/lib/index.js';
import { best, covarianceOf, devices } from './measure.mjs';

const studentsOf = (n, degreesOfFreedom, dtype = 'float32') =>
  devices.map((device) =>
    MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom, scale: covarianceOf(n) }),
  );
const bytesOf = ({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
const requireSame = ([gpu, cpu], what) => {
  if (!bytesOf(gpu).equals(bytesOf(cpu))) throw new Error(`The draws differ (${what}).`);
};

for (const dtype of ['float32', 'float64'])
  for (const nu of [1e-300, 1e-3, 0.3, 1, 1.999, 2, 4.2, 30, 1e9])
    for (const [n, count] of [
      ...[[1, 3_000_001], [2, 100_003], [3, 50_001], [16, 9001], [64, 2049], [112, 1111]], // biome-ignore format: pairs
      ...[[129, 1025], [1000, 400]], // biome-ignore format: pairs
    ]) {
      const draws = studentsOf(n, nu, dtype).map((student) =>
        student.sampleSync(count, { seed: 7, firstRow: 2n ** 32n - 100n }),
      );
      requireSame(draws, `${n} x ${count}, ${dtype}, nu ${nu}`);
      for (const each of draws) each.close();
    }
for (const [n, size, count] of [
  [3, 5000, 100],
  [64, 40, 3000],
  [64, 2, 100_000],
]) {
  const scales = Array.from({ length: size }, () => covarianceOf(n));
  const locations = Matrix.from(
    Float64Array.from({ length: size * n }, (_, i) => Math.sin(i)),
    { columns: n },
  );
  const draws = devices.map((device) =>
    MultivariateStudentTBatch.fromScaleSync({
      device,
      dtype: 'float32',
      degreesOfFreedom: 1.5,
      scales,
      locations,
    }).sampleVolumeSync(count, { seed: 3 }),
  );
  requireSame(draws, `a batch of ${size}, ${n} x ${count}`);
}
console.log('the draws have the same bits');

for (const [n, count] of [
  [1, 1e7],
  [2, 1e6],
  [16, 1e6],
  [64, 4e6],
  [100, 1e6],
  [1000, 1e5],
]) {
  const times = [];
  for (const student of studentsOf(n, 4)) {
    const { kind } = student.device;
    let onGpu = Number.POSITIVE_INFINITY;
    const draw = async (out) => {
      const { timings } = await student.sample(count, { seed: 1, out });
      onGpu = Math.min(onGpu, timings.deviceMs);
    };
    if (kind === 'cuda') {
      const kept = await student.sample(count, { seed: 1, onDevice: true });
      const whole = await best(() => draw(kept));
      times.push(`left there ${whole.toFixed(3)} ms (the GPU works ${onGpu.toFixed(4)})`);
      kept.close();
    }
    const out = student.device.matrix(count, n);
    times.push(`${kind} ${(await best(() => draw(out))).toFixed(3)} ms`);
    out.close();
  }
  console.log(`Student-t, D = ${n}, N = ${count}: ${times.join(', ')}`);
}
