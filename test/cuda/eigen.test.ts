// Eigenvalues on the CUDA device by NVIDIA's library, over the stand-ins for it and for the driver.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listDevices } from '../../lib/index.ts';
import { besideCuda, onSoftCuda, printedBesideCuda, standInFile } from './on-cuda.ts';

/** A type, a number of columns, and whether the results stay on the device. */
type Case = readonly ['Float32Array' | 'Float64Array', number, boolean];
const each: readonly Case[] = [
  ['Float32Array', 256, false],
  ['Float64Array', 259, false],
];
// With these, each pair of a type, a size and a place.
const every: readonly Case[] = [...each, ['Float32Array', 259, true], ['Float64Array', 256, true]];

const programOf = (cases: readonly Case[]) => `
  const { openDevice, listDevices, MultivariateNormal, Matrix } = covarium;
  const gpu = openDevice('cuda'), named = new Set(), ranOn = new Set();
  let worst = 0;
  for (const [kind, n, onDevice] of ${JSON.stringify(cases)}) {
    const Kind = globalThis[kind];
    const entry = (i, j) => (i === j ? i % 7 : 1 / (1 + Math.abs(i - j)));
    const a = Kind.from({ length: n * n }, (_, at) => entry(Math.floor(at / n), at % n));
    // Only the lower triangle is read.
    const given = a.map((value, at) => (at % n > Math.floor(at / n) ? 5 : value));
    const { values, vectors } = await Matrix.from(given, { columns: n }).eigh({ device: gpu, onDevice });
    named.add(values.timings.library);
    ranOn.add(values.timings.ranOn);
    const [w, v] = [values.data, vectors.data];
    const eps = Kind === Float32Array ? 2 ** -23 : 2 ** -52;
    for (let k = 0; k < n; k++) {
      if (k > 0 && w[k] < w[k - 1]) console.log('not ascending', n);
      for (let i = 0; i < n; i++) {
        let [product, length] = [0, 0];
        for (let j = 0; j < n; j++) {
          product += a[i * n + j] * v[j * n + k];
          length += v[j * n + k] * v[j * n + i];
        }
        worst = Math.max(worst, Math.abs(product - w[k] * v[i * n + k]) / (eps * n), Math.abs(length - (i === k)) / (eps * n));
      }
    }
  }
  console.log(worst < 20, [...named].join(), [...ranOn].join());
  const small = Matrix.from(new Float64Array(255 * 255).fill(1), { columns: 255 });
  console.log((await small.eigh({ device: gpu })).values.timings.library !== 'cuSOLVER 98.7');
  console.log(listDevices().find(({ kind }) => kind === 'cuda').facts.decompositions);
  const singular = await MultivariateNormal.fromCovariance({ device: gpu, covariance: [[4, 2], [2, 1]], singular: 'eigen', dtype: 'float64' });
  const draws = (await singular.sample(1000, { seed: 1 })).toArray();
  console.log(singular.rank, draws.every(([x, y]) => Math.abs(x - 2 * y) < 1e-12));
  gpu.close();`;

onSoftCuda("Eigenvalues are left to NVIDIA's library if it is there; timings and facts name it.", async () => {
  const setting = { COVARIUM_CUSOLVER: standInFile };
  const expected = 'true cuSOLVER 98.7 both\ntrue\ncuSOLVER 98.7\n1 true';
  assert.is(await printedBesideCuda(programOf(every), setting), expected);
  // Also if the CPU has no LAPACK.
  const withoutLapack = { ...setting, COVARIUM_BLAS: 'none', COVARIUM_CUDA_FROM: '' };
  assert.is(await printedBesideCuda(programOf(each), withoutLapack), expected);
});

onSoftCuda('Eigenvalues without vectors equal those of the CPU.', async () => {
  const alone = `
    const [gpu, cpu] = ['cuda', 'cpu'].map((kind) => covarium.openDevice(kind));
    const of = (device, scale) => covarium.MultivariateNormal.fromCovarianceSync({ device, dtype: 'float64',
      covariance: Array.from({ length: 20 }, (_, i) => Array.from({ length: 20 }, (_, j) => Number(i === j) + scale / (1 + Math.abs(i - j)))) });
    const [there, here] = [gpu, cpu].map((device) => covarium.wasserstein(of(device, 1), of(device, 0.25)));
    console.log(Math.abs((await there) - (await here)) < 1e-12, (await here) > 0.1);
    gpu.close(); cpu.close();`;
  const setting = { COVARIUM_CUSOLVER: standInFile };
  assert.is(await printedBesideCuda(alone, setting), 'true true');
  // The library is called, and its status counts.
  const endless = await besideCuda(alone, { ...setting, SOFTCUDA_INFO: '3' });
  assert.match(endless.stderr, /ERR_OUT_OF_RANGE|cuSOLVER does not converge/);
});

onSoftCuda('Without the library, the CPU beside the GPU or TypeScript computes them.', async () => {
  const without = '; there is no cuSOLVER (none)\n1 true';
  const typescript = await printedBesideCuda(programOf(each), { COVARIUM_BLAS: 'none' });
  assert.is(typescript, `true  \ntrue\nTypeScript${without}`);
  const { decompositions } = listDevices().find(({ kind }) => kind === 'cpu')!.facts;
  if (decompositions === 'TypeScript') return console.log('skipped  cuda: eigenvalues by LAPACK; there is none');
  assert.is(await printedBesideCuda(programOf(every)), `true  cpu\ntrue\nthe CPU beside it${without}`);
});

onSoftCuda('An eigen-decomposition that does not start or does not converge is an error.', async () => {
  const failing = `
    const { openDevice, Matrix } = covarium;
    const gpu = openDevice('cuda');
    const [n, corner] = [256, 255 * 256];
    const matrix = (entry) => new Float64Array(n * n).map((_, at) => (at % (n + 1) === 0 ? 2 : at === corner || at === n - 1 ? entry : 0));
    const decompose = (entry) => Matrix.from(matrix(entry), { columns: n }).eigh({ device: gpu });
    for (const entry of [0, 1])
      await decompose(entry).then(() => console.log('none'), (error) => console.log(error.code, error.message));
    gpu.close();`;
  const stand = { COVARIUM_CUSOLVER: standInFile };
  const refused = await besideCuda(failing, { ...stand, SOFTCUDA_FAULT: 'cusolver,1,1' });
  assert.match(
    refused.stdout,
    /^ERR_DEVICE_FAILED A decomposition by cuSOLVER 98.7 does not start on the GPU\.\nnone$/,
  );
  const endless = await besideCuda(failing, { ...stand, SOFTCUDA_INFO: '3' });
  assert.match(endless.stdout, /^ERR_OUT_OF_RANGE .*cuSOLVER does not converge \(info 3\)/);
  for (const { stderr } of [refused, endless]) assert.match(stderr, 'softcuda: blocks 0, pinned 0, streams 0');
});

onSoftCuda('Without LAPACK, TypeScript computes them if the library does not start.', async () => {
  const faulty = { COVARIUM_CUSOLVER: standInFile, COVARIUM_BLAS: 'none', SOFTCUDA_FAULT: 'cusolverDnCreate,1,0' };
  assert.match(await printedBesideCuda(programOf(each.slice(1)), faulty), /^true {2}\n/);
  const small = `
    const { openDevice, Matrix, nearestPositiveDefinite } = covarium;
    const gpu = openDevice('cuda'), a = Matrix.from([[2, 1], [1, 2]]);
    console.log((await a.eigh({ device: gpu })).values.toArray(), a.eighSync({ device: gpu }).values.toArray());
    console.log((await nearestPositiveDefinite(a, { device: gpu, dtype: 'float32' })).toArray());
    await a.svd({ device: gpu }).then(({ s }) => console.log(s.toArray()));
    gpu.close();`;
  assert.is(await printedBesideCuda(small, faulty), '[ 1, 3 ] [ 1, 3 ]\n[ [ 2, 1 ], [ 1, 2 ] ]\n[ 3, 1 ]');
});

onSoftCuda('The event loop turns while the library starts.', async () => {
  const waiting = `
    const { openDevice, Matrix } = covarium;
    const gpu = openDevice('cuda');
    let longest = 0, last = performance.now();
    const beat = () => { longest = Math.max(longest, performance.now() - last); last = performance.now(); };
    const timer = setInterval(beat, 1);
    const begin = performance.now();
    const { values } = await Matrix.from(new Float64Array(256 * 256).map((_, at) => Number(at % 257 === 0)), { columns: 256 }).eigh({ device: gpu });
    beat();
    clearInterval(timer);
    const waited = performance.now() - begin;
    console.log(values.timings.library, waited > 900, longest < waited / 2 || longest);
    gpu.close();`;
  for (const COVARIUM_BLAS of ['none', ''])
    assert.is(
      await printedBesideCuda(waiting, { COVARIUM_CUSOLVER: standInFile, COVARIUM_BLAS, SOFTCUDA_STARTS: '1000' }),
      'cuSOLVER 98.7 true true',
    );
});

test.run();
