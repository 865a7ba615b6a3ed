// Densities on the CUDA device, over the stand-in for NVIDIA's driver: they agree with the CPU's to rounding, and
// draws that stay on the GPU are checked there.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onSoftCuda, printedBesideCuda } from './on-cuda.ts';

const head = `
  const { openDevice, MultivariateNormal, MultivariateNormalBatch, Matrix } = covarium;
  const cpu = openDevice('cpu'), gpu = openDevice('cuda');
  const covarianceOf = (n) => Matrix.from(
    Float64Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 2 : 1 / (1 + Math.abs(Math.floor(at / n) - at % n)))),
    { columns: n });
  const failure = async (work) => { try { await work(); return 'none'; } catch (error) { return error.code + ': ' + error.message; } };
  const isNear = (a, b, relative) => a.length === b.length && a.every((each, i) => Math.abs(each - b[i]) <= relative * (1 + Math.abs(b[i])));
`;

onSoftCuda('Densities of rows on the host and on the GPU equal those of the CPU, in both types.', async () => {
  const out = await printedBesideCuda(`${head}
    for (const dtype of ['float32', 'float64'])
      for (const n of [1, 2, 5, 15, 16, 37, 62, 64, 65, 129, 300])
        for (const from of ['covariance', 'precision']) {
          const make = (device) => from === 'covariance'
            ? MultivariateNormal.fromCovarianceSync({ device, dtype, mean: new Float64Array(n).fill(0.5), covariance: covarianceOf(n) })
            : MultivariateNormal.fromPrecisionSync({ device, dtype, mean: new Float64Array(n).fill(0.5), precision: covarianceOf(n) });
          const [here, there] = [cpu, gpu].map(make);
          const rows = here.sampleSync(301, { seed: n });
          const expected = here.logPdfSync(rows).data;
          const relative = dtype === 'float32' ? 2e-5 : 1e-12;
          const density = await there.logPdf(rows.data);
          if (!isNear(density.data, expected, relative)) console.log('differs', dtype, n, from);
          const kept = await there.sample(301, { seed: n, onDevice: true });
          const ofKept = await there.logPdf(kept);
          if (!isNear(ofKept.data, there.logPdfSync(kept.data.slice()).data, relative)) console.log('kept differs', dtype, n, from);
          if (ofKept.timings.ranOn !== 'gpu') console.log('ran on', ofKept.timings.ranOn, n);
        }
    console.log('done');
    cpu.close(); gpu.close();`);
  assert.is(out, 'done');
});

onSoftCuda('Densities of batches equal those of the CPU, with rows for each model and with shared rows.', async () => {
  const out = await printedBesideCuda(`${head}
    for (const dtype of ['float32', 'float64'])
      for (const n of [1, 3, 33]) {
        const models = 7, means = Matrix.from(Float64Array.from({ length: models * n }, (_, i) => i / 50), { columns: n });
        const [here, there] = [cpu, gpu].map((device) => MultivariateNormalBatch.fromCovarianceSync({
          device, dtype, means, covariances: Array.from({ length: models }, () => covarianceOf(n)) }));
        const own = here.sampleVolumeSync(5, { seed: 3 }), shared = here.at(0).sampleSync(11, { seed: 4 });
        const relative = dtype === 'float32' ? 2e-5 : 1e-12;
        const [ofOwn, ofShared] = [await there.logPdfEach(own), await there.logPdf(shared)];
        if (!isNear(ofOwn.data, here.logPdfEachSync(own).data, relative)) console.log('differs', dtype, n);
        if (!isNear(ofShared.data, here.logPdfSync(shared).data, relative)) console.log('shared differs', dtype, n);
      }
    console.log('done');
    cpu.close(); gpu.close();`);
  assert.is(out, 'done');
});

onSoftCuda('A draw on the GPU that is not finite is named, and the device goes on.', async () => {
  const out = await printedBesideCuda(`${head}
    for (const dtype of ['float32', 'float64']) {
      const normal = MultivariateNormal.fromCovarianceSync({ device: gpu, dtype, covariance: covarianceOf(3) });
      const kept = await normal.sample(40, { seed: 1, onDevice: true });
      const [one, none] = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, dtype === 'float32' ? 1e38 : 1e308, 0], [0, 0, 1]]];
      const large = Matrix.from(none, { dtype });
      const good = await kept.multiply(Matrix.from(one, { dtype }), { device: gpu, onDevice: true });
      console.log(await failure(() => normal.logPdf(good)));
      let bad = await good.multiply(large, { device: gpu, onDevice: true });
      bad = await bad.multiply(large, { device: gpu, onDevice: true });
      console.log(await failure(() => normal.logPdf(bad)));
      console.log((await normal.sample(2, { seed: 1 })).rows);
    }
    cpu.close(); gpu.close();`);
  const lines = out.split('\n');
  for (const at of [0, 3]) {
    assert.is(lines[at], 'none');
    assert.match(lines[at + 1]!, /ERR_NOT_FINITE: .*\(0, 1\)/);
    assert.is(lines[at + 2], '2');
  }
});

test.run();
