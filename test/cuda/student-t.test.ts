// Draws of a Student-t on the CUDA device over the stand-in for the driver: they are scaled on the GPU.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onSoftCuda, printedBesideCuda } from './on-cuda.ts';

const head = `
  const { openDevice, MultivariateStudentT, MultivariateStudentTBatch, Matrix } = covarium;
  const scaleOf = (n) => Matrix.from(
    Float64Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 2 : 1 / (1 + Math.abs(Math.floor(at / n) - at % n)))),
    { columns: n });
  const studentOn = (device, n, degreesOfFreedom, dtype) => MultivariateStudentT.fromScaleSync({
    device, dtype, degreesOfFreedom, location: Float64Array.from({ length: n }, (_, i) => i / 8), scale: scaleOf(n) });
  const bitsOf = ({ data }) => Buffer.from(data.slice().buffer).toString('base64');
  const cpu = openDevice('cpu'), gpu = openDevice('cuda');
`;

onSoftCuda(
  'Draws of a Student-t have the bits of the cpu device, whatever their shape and degrees of freedom.',
  async () => {
    const out = await printedBesideCuda(`${head}
    for (const dtype of ['float32', 'float64'])
      for (const nu of [1e-3, 0.3, 1.999, 2, 4.2, 1e9])
        for (const [n, count] of [[1, 1], [1, 3001], [3, 513], [16, 257], [113, 150], [300, 130]]) {
          const [expected, made] = [cpu, gpu].map((device) => studentOn(device, n, nu, dtype).sampleSync(count, { seed: 7, stream: 3, firstRow: 4294967290 }));
          if (bitsOf(expected) !== bitsOf(made)) console.log('differ', dtype, nu, n, count);
          if (made.timings.ranOn !== 'gpu') console.log('ran on', made.timings.ranOn);
        }
    cpu.close(); gpu.close();`);
    assert.is(out, '');
  },
);

onSoftCuda('Draws about locations, of a singular scale, of a batch, and in slices of it have them, too.', async () => {
  const out = await printedBesideCuda(`${head}
    const lowRank = Matrix.from([[1, 0, 1], [0, 1, 1], [1, 1, 2]]);
    const each = async (device, dtype) => {
      const results = [];
      const student = studentOn(device, 5, 2.5, dtype);
      const locations = Matrix.from(Float64Array.from({ length: 5 * 1001 }, (_, i) => Math.sin(i) * 1e3), { columns: 5 });
      results.push(student.sampleSync(1001, { seed: 1, locations }));
      const singular = MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom: 3, location: [1, 2, 3], scale: lowRank, singular: 'pivoted' });
      results.push(singular.sampleSync(700, { seed: 2 }), await singular.sample(70000, { seed: 2, onDevice: true }));
      for (const [n, models, rows] of [[3, 70, 9], [64, 3, 200], [70, 3, 20], [64, 2, 65540]]) {
        if (dtype === 'float64' && rows > 200) continue; // the stand-in takes seconds
        const batch = await MultivariateStudentTBatch.fromScale({ device, dtype, degreesOfFreedom: 1.5, scales: Array.from({ length: models }, () => scaleOf(n)),
          locations: Matrix.from(Float64Array.from({ length: models * n }, (_, i) => Math.cos(i)), { columns: n }) });
        results.push(await batch.sampleVolume(rows, { seed: 3, stream: 4294967295, firstRow: 11 }));
      }
      return results.map((result) => bitsOf(result));
    };
    for (const dtype of ['float32', 'float64']) {
      const [expected, made] = [await each(cpu, dtype), await each(gpu, dtype)];
      console.log(expected.length, expected.findIndex((bits, i) => bits !== made[i]));
    }
    cpu.close(); gpu.close();`);
  assert.is(out, '7 -1\n6 -1');
});

onSoftCuda(
  'Draws that stay on the GPU are scaled there, and only their summaries are copied to the host.',
  async () => {
    const [n, count] = [20, 20_000];
    const { code, stdout, stderr } = await besideCuda(`${head}
    const kept = await studentOn(gpu, ${n}, 4, 'float32').sample(${count}, { seed: 5, onDevice: true });
    kept.close();
    const [expected, summary] = [cpu, gpu].map((device) =>
      studentOn(device, ${n}, 4, 'float32').summarizeSync(${count}, { seed: 3, thresholds: new Float64Array(${n}).fill(1) }));
    console.log(bitsOf(expected.exceedance) === bitsOf(summary.exceedance));
    cpu.close(); gpu.close();`);
    assert.equal([code, stdout], [0, 'true'], stderr);
    // The rest are draws of the self-test.
    const downloaded = Number(/downloaded (\d+)/.exec(stderr)?.[1]);
    assert.ok(downloaded < 2 * n * count, `${downloaded}`);
  },
);

test.run();
