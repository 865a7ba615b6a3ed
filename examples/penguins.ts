// Fits a normal to the four measurements of every penguin of the Palmer archipelago, draws a million penguins that
// never were, and checks that they follow the model.
import { mkdirSync, writeFileSync } from 'node:fs';
import {
  type Device,
  listDevices,
  Matrix,
  MultivariateNormal,
  openDevice,
  type RealDtype,
  writeTable,
} from '../lib/index.ts';
import { pairsPlot } from '../lib/plot/pairs.ts';
import { penguinColumns, penguins } from './penguin-data.ts';

const columns = penguinColumns;
const count = 1_000_000;
const seed = 20141;
// A right sample strays this far in one of its 14 statistics about once in 120,000 seeds.
const standardErrors = 5;

const { rows } = penguins();
using device = openDevice();
tellDevices(device);
using normal = await MultivariateNormal.fit({ device, rows });
using covariance = await normal.covariance();
using draws = await normal.sample(count, { seed });
// The first commit pays for fresh memory and cold caches; the second is what a run of many costs.
using again = await normal.sample(count, { seed, out: draws });

mkdirSync('out', { recursive: true });
await writeFiles(again);
using moments = await momentsOf(again);
tellTime();
process.exitCode = tellModel(moments) ? 0 : 1;

function tellDevices(opened: Device): void {
  const { COVARIUM_DEVICE } = process.env;
  const why = COVARIUM_DEVICE ? 'COVARIUM_DEVICE asks for it' : 'the best that works here';
  for (const { kind, name, available, reason, chosen } of listDevices()) {
    const threads = opened.threads === 1 ? '1 thread' : `${opened.threads} threads`;
    if (chosen) console.log(`device   ${kind}: ${name}, ${threads}; ${why}`);
    else console.log(`         ${kind}: ${available ? 'works, but comes after the chosen one' : reason}`);
  }
}

async function writeFiles(sample: Matrix<RealDtype>): Promise<void> {
  await writeTable('out/penguins.npy', sample);
  const first = Matrix.from(sample.data.subarray(0, 1000 * sample.columns), { columns: sample.columns });
  await writeTable('out/penguins.csv', first, { names: columns });
  writeFileSync('out/penguins.svg', picture(sample));
}

function picture(sample: Matrix<RealDtype>): string {
  return pairsPlot({
    title: 'Palmer penguins, and a normal fitted to them',
    columns,
    mean: [...normal.mean.toArray()],
    covariance: covariance.toArray(),
    draws: { values: sample.data, rows: sample.rows },
    data: { values: rows.flat(), rows: rows.length },
  });
}

async function momentsOf(sample: Matrix): Promise<{ mean: number[]; covariance: number[][] } & Disposable> {
  const mean = device.vector(sample.columns);
  const spread = device.matrix(sample.columns, sample.columns);
  await device.commandBuffer().meanAndCovariance(sample, mean, spread).commit();
  const close = () => {
    mean.close();
    spread.close();
  };
  return { mean: mean.toArray(), covariance: spread.toArray(), [Symbol.dispose]: close };
}

function tellTime(): void {
  const { deviceMs, wallMs } = again.timings!;
  const numbers = count * normal.dimension;
  const nanoseconds = ((wallMs * 1e6) / numbers).toFixed(2);
  console.log(`sample   ${count} rows of ${normal.dimension} from ${rows.length} penguins, seed ${seed}`);
  console.log(`time     ${wallMs.toFixed(2)} ms (device ${deviceMs.toFixed(2)} ms), ${nanoseconds} ns a number`);
  console.log('files    out/penguins.npy, out/penguins.csv (the first 1000 rows), out/penguins.svg\n');
}

// The standard error of a mean is sqrt(s_ii / count), that of a covariance sqrt((s_ii s_jj + s_ij^2) / (count - 1)).
function tellModel(sample: { mean: number[]; covariance: number[][] }): boolean {
  const model = { mean: normal.mean.toArray(), covariance: covariance.toArray() };
  const compared: [name: string, model: number, sample: number, error: number][] = [];
  columns.forEach((name, i) => {
    const spread = model.covariance[i]!;
    compared.push([`mean ${name}`, model.mean[i]!, sample.mean[i]!, Math.sqrt(spread[i]! / count)]);
    for (let j = 0; j <= i; j++) {
      const error = Math.sqrt((spread[i]! * model.covariance[j]![j]! + spread[j]! ** 2) / (count - 1));
      compared.push([`cov  ${short(name)}, ${short(columns[j]!)}`, spread[j]!, sample.covariance[i]![j]!, error]);
    }
  });
  console.log(`${''.padEnd(37)}${'model'.padStart(14)}${'sample'.padStart(14)}  standard errors apart`);
  for (const [name, expected, drawn, error] of compared) {
    const apart = ((drawn - expected) / error).toFixed(2);
    console.log(`${name.padEnd(37)}${figure(expected)}${figure(drawn)}${apart.padStart(8)}`);
  }
  const worst = Math.max(...compared.map(([, expected, drawn, error]) => Math.abs(drawn - expected) / error));
  const verdict = worst <= standardErrors ? 'agrees with' : 'DIFFERS FROM';
  console.log(
    `\nThe sample ${verdict} the model: at most ${worst.toFixed(2)} standard errors apart (${standardErrors} allowed).`,
  );
  return worst <= standardErrors;
}

function short(name: string): string {
  return name.replace(/ \(.*/, '').toLowerCase();
}

function figure(value: number): string {
  return value.toFixed(3).padStart(14);
}
