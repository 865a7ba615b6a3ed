// Which commands the GPU runs: by rates that are measured when it is first opened, and kept.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onSoftCuda, printedBesideCuda } from './on-cuda.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-routing-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'known-gpus.json');
const setting = { COVARIUM_CUDA_FROM: '', COVARIUM_CACHE: folder };

/** Seconds of a commit; of a number, a multiply-add, a block of a factor (on the CPU, on the GPU); of a byte. */
const rates = [1e-3, 1e-8, 1e-9, 1e-10, 1e-11, 0, 1e-3, 1e-9];

const program = `
const { MultivariateNormal, openDevice } = covarium;
const device = openDevice('cuda');
const covarianceOf = (n) => Array.from({ length: n }, (_, i) =>
  Float32Array.from({ length: n }, (_, j) => 0.5 ** Math.abs(i - j)));
const found = [];
for (const [rows, columns, dtype] of [
  [10, 3, 'float32'], [35_000, 3, 'float32'], [50_000, 3, 'float32'], [20_000, 3, 'float64'], [3000, 100, 'float32'],
]) {
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(columns), dtype });
  for (const onDevice of [false, true]) {
    const draws = normal.sampleSync(rows, { onDevice });
    const asked = { rows, columns, dtype };
    found.push(['sample', draws.timings.ranOn, device.explain('sample', { ...asked, onDevice })]);
    draws.close();
  }
  found.push(['factor', normal.timings.factor, device.explain('factor', { columns, dtype })]);
  normal.close();
}
device.close();
console.log(JSON.stringify(found));
`;

const factors = `
const device = covarium.openDevice('cuda');
const found = [10, 126, 127, 128, 140].map((n) => {
  const covariance = Array.from({ length: n }, (_, i) => Float32Array.from({ length: n }, (_, j) => Number(i === j)));
  const normal = covarium.MultivariateNormal.fromCovarianceSync({ device, covariance });
  const ranOn = normal.timings.factor;
  normal.close();
  return [ranOn, device.explain('factor', { columns: n }).runsOn];
});
device.close();
console.log(JSON.stringify(found));
`;

onSoftCuda('The faster one by the rates of the GPU runs a command, as `explain` says.', async () => {
  await printedBesideCuda("covarium.openDevice('cuda').close()", setting);
  const [known] = JSON.parse(readFileSync(file, 'utf8'));
  assert.is(known.rates.length, rates.length);
  for (const rate of known.rates) assert.ok(rate >= 0, `${known.rates}`);
  writeFileSync(file, JSON.stringify([{ ...known, rates }]));
  const found = JSON.parse(await printedBesideCuda(program, setting));
  const seen = new Set<string>();
  for (const [command, ranOn, explanation] of found) {
    assert.is(ranOn, explanation.runsOn, JSON.stringify([command, explanation]));
    seen.add(`${command} ${ranOn}`);
  }
  assert.equal([...seen].sort(), ['factor cpu', 'sample cpu', 'sample gpu']);
  // 105,000 numbers: 1.05 ms on the CPU; on the GPU 1.11 and 0.42 for the way to the host.
  const way = found.slice(3, 5).map(([, ranOn]: [string, string]) => ranOn);
  assert.equal(way, ['cpu', 'gpu']);
  assert.equal(JSON.parse(readFileSync(file, 'utf8'))[0].rates, rates);
});

onSoftCuda('What a busy machine measured is corrected later, and what was faster stays.', async () => {
  const openOnce = async () => {
    await printedBesideCuda("covarium.openDevice('cuda').close()", setting);
    return JSON.parse(readFileSync(file, 'utf8'))[0];
  };
  rmSync(file, { force: true });
  const known = await openOnce();
  for (const [factor, measured, isCorrected] of [
    [1000, 0, true],
    [1000, Date.now(), false],
    [0.001, 0, false],
  ] as const) {
    const kept = known.rates.map((rate: number) => rate * factor);
    writeFileSync(file, JSON.stringify([{ ...known, rates: kept, measured }]));
    const { rates: found, measured: at } = await openOnce();
    assert.is(at === measured, measured !== 0, `${factor}, ${measured}`);
    if (!isCorrected) assert.equal(found, kept, `${factor}, ${measured}`);
    // A difference that was lost in noise is 0.
    else for (const [i, rate] of kept.entries()) assert.ok(rate === 0 || found[i] <= rate / 1.5, `${found} of ${kept}`);
  }
});

onSoftCuda('What is too small to be pinned takes longer over the bus, also for `explain`.', async () => {
  await printedBesideCuda("covarium.openDevice('cuda').close()", setting);
  const [known] = JSON.parse(readFileSync(file, 'utf8'));
  // 64 KiB hold 128 columns: 131 us over the bus where they are pinned, else 6 times as long; 0.35 ms on the CPU.
  writeFileSync(file, JSON.stringify([{ ...known, rates: [1e-6, 1e-8, 1e-9, 1e-9, 1e-12, 0, 0, 1e-9] }]));
  const found = JSON.parse(await printedBesideCuda(factors, setting));
  const where = ['cpu', 'cpu', 'cpu', 'gpu', 'gpu'];
  assert.equal(found, where.map((each) => [each, each])); // biome-ignore format: one line
});

test.run();
