// npm run bench:sampling [-- reference]
//
// How long a draw takes, in nanoseconds a number (count x dimension), and what share of the limit that is. The limit is what the
// machine could do at best: count x dimension normals at the rate of filling a buffer with normals alone, and
// count D (D + 1) flops of the product at the rate of a 1000 x 1000 x 1000 matrix product, both measured here, one after the
// other (on a CPU they share the ports); writing overlaps. Factoring adds D^3 / 3 flops. Medians, synchronous calls, float32.
import { arch, cpus, platform } from 'node:os';
import { Bench } from 'tinybench';
import { type Device, listDevices, Matrix, MultivariateNormal, openDevice } from '../lib/index.ts';

const cases = [
  { dimension: 2, count: 1_000_000 },
  { dimension: 16, count: 1_000_000 },
  { dimension: 100, count: 100_000 },
  { dimension: 1000, count: 10_000 },
  { dimension: 1000, count: 1 },
  { dimension: 4000, count: 1000 },
];

/** Median milliseconds of a call. */
function median(work: () => void): number {
  const bench = new Bench({ time: 600, iterations: 7, warmupTime: 100, warmupIterations: 2 });
  bench.add('work', work);
  const [task] = bench.runSync();
  const result = task!.result;
  if (!('latency' in result)) throw new Error(`The case does not run (${JSON.stringify(result)}).`);
  return result.latency.p50;
}

/** Milliseconds at best for some normals and some flops, on a device. */
function limitOf(device: Device): (normals: number, flops: number) => number {
  using z = device.matrix(4000, 1000);
  const perNormal =
    median(() => void device.commandBuffer().fillNormal(z, { seed: 1 }).commitSync()) / (z.rows * z.columns);
  using a = device.matrix(1000, 1000);
  using b = device.matrix(1000, 1000);
  using c = device.matrix(1000, 1000);
  device.commandBuffer().fillNormal(a, { seed: 1 }).fillNormal(b, { seed: 2 }).commitSync();
  const perFlop = median(() => void device.commandBuffer().product(a, b, c).commitSync()) / 2e9;
  console.log(
    `Normals alone (ns a number): ${(perNormal * 1e6).toFixed(3)}. sgemm (GFLOP/s): ${(1e-6 / perFlop).toFixed(0)}.\n`,
  );
  return (normals, flops) => normals * perNormal + flops * perFlop;
}

function covarianceOf(dimension: number): Matrix {
  const values = new Float32Array(dimension * dimension);
  for (let i = 0; i < dimension; ++i)
    for (let j = 0; j < dimension; ++j) values[i * dimension + j] = i === j ? 1 : 0.5 * 0.98 ** Math.abs(i - j);
  return Matrix.from(values, { rows: dimension, columns: dimension });
}

function row(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

function report(device: Device): void {
  console.log(`\n## ${device.kind}: ${device.name}, threads: ${device.threads}\n`);
  const limit = limitOf(device);
  row(['case', 'D', 'N', 'ms', 'ns a number', 'limit, ms', 'share of the limit']);
  row(['---', '--:', '--:', '--:', '--:', '--:', '--:']);
  for (const { dimension, count } of cases) {
    if (device.kind === 'reference' && dimension ** 2 * count > 1e9) {
      console.log(`| left out: D = ${dimension}, N = ${count} takes the reference device too long | | | | | | |`);
      continue;
    }
    const covariance = covarianceOf(dimension);
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
    using out = device.matrix(count, dimension);
    const numbers = count * dimension;
    const drawing = limit(numbers, numbers * (dimension + 1));
    const print = (name: string, ms: number, best: number) =>
      row([
        name,
        `${dimension}`,
        `${count}`,
        ms.toPrecision(3),
        ((ms * 1e6) / numbers).toPrecision(3),
        best.toPrecision(3),
        `${Math.round((100 * best) / ms)}%`,
      ]);
    print(
      'factor kept, into out',
      median(() => void normal.sampleSync(count, { seed: 42, out })),
      drawing,
    );
    print(
      'factor kept, allocating',
      median(() => normal.sampleSync(count, { seed: 42 }).close()),
      drawing,
    );
    if (dimension < 1000) continue;
    const factored = () => {
      using fresh = MultivariateNormal.fromCovarianceSync({ device, covariance });
      fresh.sampleSync(count, { seed: 42, out });
    };
    print('factor included, into out', median(factored), drawing + limit(0, dimension ** 3 / 3));
  }
}

console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} processors, ${platform()} ${arch()}, Node ${process.version}`,
);
for (const name of ['OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE', 'OPENBLAS_NUM_THREADS']) {
  if (process.env[name] !== undefined) console.log(`${name} is set (${process.env[name]}): BLAS obeys it.`);
}
for (const device of listDevices()) for (const warning of device.warnings) console.log(warning);
if (process.argv.includes('reference')) {
  using device = openDevice('reference');
  report(device);
} else {
  using device = openDevice();
  if (device.kind === 'cpu') {
    using alone = openDevice('cpu', { threads: 1 });
    report(alone);
  }
  report(device);
}
