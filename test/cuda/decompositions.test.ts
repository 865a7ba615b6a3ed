// QR decompositions and singular values on the CUDA device by NVIDIA's library, over the stand-ins for it and for the
// driver.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onSoftCuda, printedBesideCuda, standInFile } from './on-cuda.ts';

const library = { COVARIUM_CUSOLVER: standInFile };

const program = `
  const { openDevice, Matrix } = covarium;
  const gpu = openDevice('cuda'), named = new Set();
  const shapes = [[1, 1], [2, 2], [5, 3], [3, 5], [1, 7], [7, 1], [33, 20], [20, 33], [40, 40]];
  const product = (x, y, rows, inner, columns) =>
    Float64Array.from({ length: rows * columns }, (_, at) => {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += x[Math.floor(at / columns) * inner + k] * y[k * columns + (at % columns)];
      return sum;
    });
  const turned = (x, rows, columns) => Float64Array.from({ length: x.length }, (_, at) => x[(at % rows) * columns + Math.floor(at / rows)]);
  let worst = 0;
  const near = (x, y, eps) => { for (let i = 0; i < y.length; i++) worst = Math.max(worst, Math.abs(x[i] - y[i]) / eps); };
  const identity = (k) => Float64Array.from({ length: k * k }, (_, at) => Number(at % (k + 1) === 0));
  for (const Kind of [Float32Array, Float64Array])
    for (const [m, n] of shapes)
      for (const onDevice of [false, true]) {
        const k = Math.min(m, n), eps = 30 * (Kind === Float32Array ? 2 ** -23 : 2 ** -52) * Math.max(m, n);
        const a = Kind.from({ length: m * n }, (_, at) => Math.sin(1 + at * at) * (1 + (at % n)));
        const matrix = Matrix.from(a, { columns: n });
        const { q, r } = await matrix.qr({ device: gpu, onDevice });
        named.add([r.timings.library, r.timings.ranOn].join(' '));
        near(product(q.data, r.data, m, k, n), a, eps * n);
        near(product(turned(q.data, m, k), q.data, k, m, k), identity(k), eps);
        if (!r.data.every((value, at) => (at % n < Math.floor(at / n) ? value === 0 : at % n > Math.floor(at / n) || value >= 0))) console.log('r', m, n);
        const { u, s, vt } = await matrix.svd({ device: gpu, onDevice });
        named.add([s.timings.library, s.timings.ranOn].join(' '));
        near(product(u.data.map((value, at) => value * s.data[at % k]), vt.data, m, k, n), a, eps * n);
        near(product(turned(u.data, m, k), u.data, k, m, k), identity(k), eps);
        near(product(vt.data, turned(vt.data, k, n), k, n, k), identity(k), eps);
        if (!s.data.every((value, at) => at === 0 || value <= s.data[at - 1])) console.log('s', m, n);
      }
  console.log(worst < 1 || worst, [...named].sort().join());
  gpu.close();`;

onSoftCuda('QR decompositions and singular values of any shape are right, in both types.', async () => {
  const printed = await printedBesideCuda(program, library);
  assert.match(printed, /^true .*cuSOLVER 98\.7/);
});

onSoftCuda('Without the library, the CPU beside the GPU or TypeScript computes them.', async () => {
  assert.match(await printedBesideCuda(program), /^true/);
  assert.match(await printedBesideCuda(program, { ...library, COVARIUM_BLAS: 'none' }), /^true/);
});

onSoftCuda('A small matrix is left to the CPU.', async () => {
  const small = `
    const gpu = covarium.openDevice('cuda');
    const matrix = covarium.Matrix.from(Float64Array.from({ length: 900 }, (_, at) => Math.sin(at * at)), { columns: 30 });
    console.log((await matrix.qr({ device: gpu })).r.timings.ranOn, (await matrix.svd({ device: gpu })).s.timings.ranOn);
    gpu.close();`;
  const printed = await printedBesideCuda(small, { ...library, COVARIUM_CUDA_FROM: '' });
  assert.not.match(printed, 'gpu');
});

onSoftCuda(
  'Singular values near the smallest numbers are left to the CPU; in float32 they are computed in float64 and rounded.',
  async () => {
    const tiny = `
    const gpu = covarium.openDevice('cuda');
    const entries = Float64Array.from({ length: 200 }, (_, at) => Math.fround(Math.sin(1 + at * at)));
    const singular = async (values) => (await covarium.Matrix.from(values, { columns: 10 }).svd({ device: gpu })).s;
    const exact = await singular(entries);
    for (const scale of [2 ** -1000, 2 ** -500]) {
      const s = await singular(entries.map((value) => value * scale));
      console.log(s.timings.library ?? 'none', s.data.every((value, at) => Math.abs(value / scale / exact.data[at] - 1) < 1e-13));
    }
    const narrow = (await singular(Float32Array.from(entries))).data;
    console.log(narrow.every((value, at) => value === Math.fround(exact.data[at])));
    gpu.close();`;
    const printed = await printedBesideCuda(tiny, library);
    assert.match(printed, /^(none|OpenBLAS.*) true\ncuSOLVER 98\.7 true\ntrue$/);
  },
);

onSoftCuda('Columns and matrices whose numbers the library would not scale are left to the CPU.', async () => {
  const extreme = `
    const gpu = covarium.openDevice('cuda');
    const part = (dtype, units) => {
      const matrix = covarium.Matrix.from([[3, 1], [1, 3]].map((row) => row.map((x, j) => x * units[j])), { dtype });
      const { r } = matrix.qrSync({ device: gpu });
      const isSame = units[0] === units[1];
      const { s } = isSame ? matrix.svdSync({ device: gpu }) : {};
      console.log(dtype, r.timings.library?.slice(0, 8), isSame ? s.timings.library?.slice(0, 8) : '');
    };
    for (const dtype of ['float32', 'float64']) {
      const [tiny, huge] = dtype === 'float32' ? [1e-30, 1e30] : [1e-250, 1e250];
      for (const units of [[1, 1], [1, tiny], [tiny, tiny], [huge, huge], [1, huge], [1, 0]]) part(dtype, units);
    }
    gpu.close();`;
  const lines = (await printedBesideCuda(extreme, library)).split('\n');
  const ranOnGpu = lines.map((line) => line.split('cuSOLVER').length - 1);
  // Singular values of float32 are computed in float64.
  assert.equal(ranOnGpu, [2, 0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 1], lines.join('; '));
});

onSoftCuda('A QR decomposition or an SVD that does not start or does not converge is an error.', async () => {
  const failing = `
    const gpu = covarium.openDevice('cuda');
    const matrix = covarium.Matrix.from(new Float64Array([2, 1, 3, 1]), { columns: 2 });
    for (const name of ['qr', 'svd'])
      await matrix[name]({ device: gpu }).then(() => console.log('none'), (error) => console.log(error.code, error.message));
    gpu.close();`;
  const refused = await besideCuda(failing, { ...library, SOFTCUDA_FAULT: 'cusolver,1,0' });
  const [first, second] = refused.stdout.split('\n');
  for (const line of [first!, second!])
    assert.match(line, 'ERR_DEVICE_FAILED A decomposition by cuSOLVER 98.7 does not start on the GPU.');
  const endless = await besideCuda(failing, { ...library, SOFTCUDA_INFO: '3' });
  assert.match(endless.stdout, /ERR_OUT_OF_RANGE .*cuSOLVER does not converge \(info 3\)/);
  for (const { stderr } of [refused, endless]) assert.match(stderr, 'softcuda: blocks 0, pinned 0, streams 0');
});

test.run();
