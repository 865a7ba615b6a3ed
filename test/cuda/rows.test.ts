// What the CUDA device computes from rows where they lie, over the stand-in for NVIDIA's driver: solves, summaries of
// draws, and products by NVIDIA's library.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onSoftCuda, printedBesideCuda, standInFile } from './on-cuda.ts';

const head = `
  const { openDevice, listDevices, MultivariateNormal, Matrix } = covarium;
  const covarianceOf = (n) => Matrix.from(
    Float32Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 2 : 1 / (1 + Math.abs(Math.floor(at / n) - at % n)))),
    { columns: n });
  const normalOn = (device, n) =>
    MultivariateNormal.fromCovarianceSync({ device, mean: Float32Array.from({ length: n }, (_, i) => i / 8), covariance: covarianceOf(n) });
  const bitsOf = ({ data }) => Buffer.from(data.slice().buffer).toString('base64');
`;

onSoftCuda('Draws by a precision and solves by a factor have the bits of the cpu device.', async () => {
  const out = await printedBesideCuda(`${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    for (const dtype of ['float32', 'float64'])
      for (const [n, count] of [[1, 300], [3, 513], [64, 70], [65, 130], [129, 257], [200, 1]]) {
        const draws = [cpu, gpu].map((device) => {
          const normal = MultivariateNormal.fromPrecisionSync({ device, dtype, mean: new Float64Array(n).fill(0.3), precision: covarianceOf(n) });
          return bitsOf(normal.sampleSync(count, { seed: 7, stream: 3, firstRow: 5 }));
        });
        if (draws[0] !== draws[1]) console.log('draws differ', dtype, n, count);
      }
    let worst = 0;
    for (const Kind of [Float32Array, Float64Array])
      for (const [n, count] of [[1, 1], [3, 5], [64, 9], [128, 128], [129, 130], [300, 7]]) {
        const factor = Kind.from(covarianceOf(n).data);
        // Entries above the diagonal are not read.
        for (let i = 0; i < n; i++) factor.fill(NaN, i * n + i + 1, (i + 1) * n);
        const rows = Kind.from({ length: n * count }, (_, i) => Math.sin(i * 1.7));
        for (const which of ['forwards', 'transposed', 'both']) {
          const [expected, made] = [cpu, gpu].map((device) => {
            const x = Matrix.from(rows.slice(), { columns: n }), commands = device.commandBuffer(), l = Matrix.from(factor, { columns: n });
            if (which === 'both') commands.choleskySolve(l, x);
            else commands.triangularSolve(l, x, { transposed: which === 'transposed' });
            const timings = commands.commitSync();
            if (device === gpu && timings.ranOn !== 'gpu') console.log('ran on', timings.ranOn);
            return x.data;
          });
          if (which === 'forwards' && Buffer.compare(Buffer.from(expected.buffer), Buffer.from(made.buffer)) !== 0) console.log('differ', Kind.name, n, count);
          const eps = Kind === Float32Array ? 2 ** -23 : 2 ** -52;
          expected.forEach((value, i) => { worst = Math.max(worst, Math.abs(value - made[i]) / eps); });
        }
      }
    console.log(worst < 8, worst);
    cpu.close(); gpu.close();`);
  assert.match(out, /^true /);
});

onSoftCuda('Draws are summarized on the GPU: only the summary comes to the host.', async () => {
  const [n, count] = [20, 20_000];
  const { code, stdout, stderr } = await besideCuda(`${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    const close = (a, b) => a.data.every((value, i) => Math.abs(value - b.data[i]) < 1e-10);
    for (const dtype of ['float32', 'float64']) {
      const [expected, summary] = [cpu, gpu].map((device) => MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: covarianceOf(${n}) })
        .summarizeSync(${count}, { seed: 3, covariance: true, quantiles: [0.001, 0.1, 0.5, 0.9, 0.999], thresholds: new Float64Array(${n}).fill(1) }));
      console.log(bitsOf(expected.quantiles) === bitsOf(summary.quantiles), bitsOf(expected.exceedance) === bitsOf(summary.exceedance),
        close(expected.mean, summary.mean), close(expected.covariance, summary.covariance));
    }
    cpu.close(); gpu.close();`);
  assert.equal([code, stdout], [0, 'true true true true\ntrue true true true'], stderr);
  const downloaded = Number(/downloaded (\d+)/.exec(stderr)?.[1]);
  // The rest are draws of the self-test.
  assert.ok(downloaded < 2 * n * count, `${downloaded}`);
  assert.match(stderr, 'softcuda: blocks 0, pinned 0');
});

onSoftCuda(
  "The products of a covariance of many columns are left to NVIDIA's library, by blocks of rows.",
  async () => {
    const program = `${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda'), n = 256;
    for (const [dtype, count] of [['float32', 8300], ['float64', 40]]) {
      const [expected, summary] = [cpu, gpu].map((device) =>
        MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: covarianceOf(n) })
          .summarizeSync(count, { seed: 3, covariance: true }));
      const isNear = (name) => expected[name].data.every((value, i) => Math.abs(value - summary[name].data[i]) < 1e-10);
      console.log(isNear('mean'), isNear('covariance'));
    }
    cpu.close(); gpu.close();`;
    assert.is(await printedBesideCuda(program, { COVARIUM_CUBLAS: standInFile }), 'true true\ntrue true');
    const failing = await besideCuda(program, { COVARIUM_CUBLAS: standInFile, SOFTCUDA_FAULT: 'cublas,1,1' });
    assert.match(failing.stderr, /ERR_DEVICE_FAILED/);
  },
);

onSoftCuda("Products are left to NVIDIA's library if it is there, and the timings name it.", async () => {
  const program = `${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    const numbers = (length, Kind) => Kind.from({ length }, (_, i) => Math.sin(i * 1.7) + 0.01 * (i % 7));
    let worst = 0, named = new Set();
    for (const Kind of [Float32Array, Float64Array])
      for (const [m, n, k] of [[1, 1, 1], [3, 2, 5], [1, 140, 30], [140, 1, 51], [600, 33, 70]])
        for (const [transposeA, transposeB, alpha, beta] of [[false, false, 1, 0], [true, false, 1, 0], [false, true, 2, 0], [true, true, -0.5, 3]]) {
          const [a, b] = [numbers(m * k, Kind), numbers(k * n, Kind)];
          const made = [cpu, gpu].map((device) => {
            const c = Matrix.from(numbers(m * n, Kind), { columns: n }), commands = device.commandBuffer();
            const shaped = (values, rows, columns, turned) => Matrix.from(values, { columns: turned ? rows : columns });
            commands.product(shaped(a, m, k, transposeA), shaped(b, k, n, transposeB), c, { transposeA, transposeB, alpha, beta });
            const timings = commands.commitSync();
            if (device === gpu) named.add(timings.library);
            return c.data;
          });
          const eps = Kind === Float32Array ? 2 ** -24 : 2 ** -53, size = 1.02 ** 2 * (Math.abs(alpha) * k + Math.abs(beta) + 1);
          made[0].forEach((value, i) => { worst = Math.max(worst, Math.abs(value - made[1][i]) / (eps * size)); });
        }
    console.log(worst < 8, [...named].join());
    console.log(listDevices().find(({ kind }) => kind === 'cuda').facts.products);
    console.log((await normalOn(gpu, 3).sample(100)).timings.library);
    cpu.close(); gpu.close();`;
  assert.is(
    await printedBesideCuda(program, { COVARIUM_CUBLAS: standInFile }),
    'true cuBLAS 99.1\ncuBLAS 99.1\nundefined',
  );
  assert.match(await printedBesideCuda(program), /^true \nour own kernels; there is no cuBLAS \(none\)\nundefined$/);
  const failing = await besideCuda(program, { COVARIUM_CUBLAS: standInFile, SOFTCUDA_FAULT: 'cublas,1,1' });
  assert.match(failing.stderr, /ERR_DEVICE_FAILED/);
});

test.run();
