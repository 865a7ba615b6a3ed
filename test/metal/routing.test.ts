// Which commands the GPU runs: by rates that are measured when it is first opened, and kept.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onSoftMetal } from './on-metal.ts';

/** With an empty folder for caches, and without COVARIUM_METAL_FROM. `file` keeps the GPU's rates. */
async function inEmptyCache(work: (file: string) => void | Promise<void>): Promise<void> {
  const { COVARIUM_METAL_FROM: from, COVARIUM_CACHE: cache } = process.env;
  const folder = mkdtempSync(join(tmpdir(), 'covarium-routing-'));
  try {
    process.env['COVARIUM_METAL_FROM'] = '';
    process.env['COVARIUM_CACHE'] = folder;
    await work(join(folder, 'known-gpus.json'));
  } finally {
    process.env['COVARIUM_METAL_FROM'] = from;
    if (cache === undefined) delete process.env['COVARIUM_CACHE'];
    else process.env['COVARIUM_CACHE'] = cache;
    rmSync(folder, { recursive: true, force: true });
  }
}

const ratesIn = (file: string): unknown[] => JSON.parse(readFileSync(file, 'utf8'))[0].rates;

function keepRates(file: string, rates: readonly unknown[]): void {
  const [known] = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify([{ ...known, rates }]));
}

const covarianceOf = (n: number) =>
  Array.from({ length: n }, (_, i) => Float32Array.from({ length: n }, (_, j) => 0.5 ** Math.abs(i - j)));

/** Seconds of a commit; of a number, a multiply-add, a block of a factor (on the CPU, on the GPU); of a byte. */
const rates = [1e-3, 1e-8, 1e-9, 1e-10, 1e-11, 0, 1e-3, 0];

onSoftMetal('The rates of a GPU are measured once, and kept for processes to come.', async () => {
  await inEmptyCache((file) => {
    openDevice('metal').close();
    const first = ratesIn(file);
    assert.is(first.length, rates.length);
    for (const rate of first) assert.ok((rate as number) >= 0, `${rate}`);
    openDevice('metal').close();
    assert.equal(ratesIn(file), first);
    for (const damaged of [[], [1], [...rates.slice(1), -1]]) {
      keepRates(file, damaged);
      openDevice('metal').close();
      assert.is(ratesIn(file).length, rates.length);
      assert.ok(
        ratesIn(file).every((rate) => (rate as number) >= 0 && rate !== 1),
        `${ratesIn(file)}`,
      );
    }
    process.env['COVARIUM_METAL_FROM'] = '0';
    keepRates(file, rates);
    openDevice('metal').close();
    assert.equal(ratesIn(file), rates);
  });
});

function where(device: Device, rows: number, columns: number) {
  const covariance = covarianceOf(columns);
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  using draws = normal.sampleSync(rows);
  const commands = device.commandBuffer();
  using product = device.matrix(rows, columns);
  const timings = commands.product(draws, Matrix.from(covariance), product).commitSync();
  return { factor: normal.timings.factor, sample: draws.timings?.ranOn, multiply: timings.ranOn };
}

onSoftMetal('The faster one by these rates runs a command, as `explain` says.', async () => {
  await inEmptyCache((file) => {
    openDevice('metal').close();
    keepRates(file, rates);
    using device = openDevice('metal');
    const seen = new Set<string>();
    for (const [rows, columns] of [
      [10, 3],
      [30_000, 3], // 90,000 numbers: 0.9 ms on the CPU, 1.1 on the GPU
      [50_000, 3],
      [1000, 100],
      [3, 600], // 0.36 ms on the CPU for the factor
    ] as const) {
      const found = where(device, rows, columns);
      const expected = {
        factor: device.explain('factor', { columns }).runsOn,
        sample: device.explain('sample', { rows, columns }).runsOn,
        multiply: device.explain('multiply', { rows, inner: columns, columns }).runsOn,
      };
      assert.equal(found, expected, `${rows} x ${columns}`);
      for (const [command, processor] of Object.entries(found)) seen.add(`${command} ${processor}`);
    }
    for (const command of ['sample', 'multiply'])
      for (const processor of ['cpu', 'gpu']) assert.ok(seen.has(`${command} ${processor}`), `${command} ${processor}`);
    const { cpuMs, gpuMs, because } = device.explain('sample', { rows: 30_000, columns: 3 });
    assert.ok(Math.abs(cpuMs! - 0.9135) < 1e-9 && Math.abs(gpuMs! - 1.09135) < 1e-9, `${cpuMs}, ${gpuMs}`);
    assert.is(because, 'By rates measured on this machine, it takes about 1.09 ms on the GPU and 0.913 ms on the CPU beside it.'); // biome-ignore format: one sentence
  });
});

onSoftMetal('A large factor is made by our kernels where they are faster, with the bits of the CPU.', async () => {
  await inEmptyCache((file) => {
    openDevice('metal').close();
    keepRates(file, [1e-5, 1e-8, 1e-9, 1e-9, 1e-12, 0, 1e-5, 0]);
    using device = openDevice('metal');
    const covariance = covarianceOf(520);
    const factorOn = (factor: 'auto' | 'cpu') => {
      using normal = MultivariateNormal.fromCovarianceSync({ device, covariance, factor });
      using draws = normal.sampleSync(2, { seed: 1 });
      return { ranOn: normal.timings.factor, draws: draws.toArray() };
    };
    const [chosen, onCpu] = [factorOn('auto'), factorOn('cpu')];
    assert.equal([chosen.ranOn, onCpu.ranOn], ['gpu', 'cpu']);
    assert.equal(chosen.draws, onCpu.draws);
    assert.match(device.explain('factor', { columns: 511 }).because, /from 512 columns on/);
    assert.match(device.explain('sample', { columns: 3, dtype: 'float64' }).because, /do not compute with float64/);
  });
});

onSoftMetal('A kernel that is off runs on the CPU, and `explain` says so.', (soft) => {
  soft.set('brokenKernel', 'sample_tiles');
  using device = openDevice('metal');
  const { runsOn, because } = device.explain('sample', { rows: 1000, columns: 200 });
  assert.is(runsOn, 'cpu');
  assert.match(because, /is off on this GPU/);
});

test.run();
