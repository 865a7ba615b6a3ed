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
  const bench = new Bench({ time: 500, iterations: 7, warmupTime: 100, warmupIterations: 2 });
  bench.add('work', work);
  const [task] = bench.runSync();
  const result = task!.result;
  if (!('latency' in result)) throw new Error(`The case does not run (${JSON.stringify(result)}).`);
  return result.latency.p50;
}

interface Rates {
  /** Milliseconds for a normal, and for a flop of a product. */
  readonly perNormal: number;
  readonly perFlop: number;
}

/** What the device does at best at this moment: the speed of a shared machine drifts, so each case has its own. */
function ratesOf(device: Device): Rates {
  using z = device.matrix(4000, 1000);
  const normals = median(() => void device.commandBuffer().fillNormal(z, { seed: 1 }).commitSync());
  using a = device.matrix(1000, 1000);
  using b = device.matrix(1000, 1000);
  using c = device.matrix(1000, 1000);
  device.commandBuffer().fillNormal(a, { seed: 1 }).fillNormal(b, { seed: 2 }).commitSync();
  const product = median(() => void device.commandBuffer().product(a, b, c).commitSync());
  return { perNormal: normals / (z.rows * z.columns), perFlop: product / 2e9 };
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
  row(['case', 'D', 'N', 'ms', 'ns a number', 'limit, ms', 'share of the limit', 'normals, ns', 'sgemm, GFLOP/s']);
  row(['---', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:']);
  for (const { dimension, count } of cases) {
    if (device.kind === 'reference' && dimension ** 2 * count > 1e9) {
      console.log(`| left out: D = ${dimension}, N = ${count} takes the reference device too long |`);
      continue;
    }
    const covariance = covarianceOf(dimension);
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
    using out = device.matrix(count, dimension);
    const numbers = count * dimension;
    const print = (name: string, work: () => void, factorFlops: number) => {
      const { perNormal, perFlop } = ratesOf(device);
      const ms = median(work);
      const best = numbers * perNormal + (numbers * (dimension + 1) + factorFlops) * perFlop;
      const share = `${Math.round((100 * best) / ms)}%`;
      const rates = [(perNormal * 1e6).toFixed(3), (1e-6 / perFlop).toFixed(0)];
      const figures = [ms, (ms * 1e6) / numbers, best].map((figure) => `${Number(figure.toPrecision(3))}`);
      row([name, `${dimension}`, `${count}`, ...figures, share, ...rates]);
    };
    print('factor kept, into out', () => void normal.sampleSync(count, { seed: 42, out }), 0);
    print('factor kept, allocating', () => normal.sampleSync(count, { seed: 42 }).close(), 0);
    if (dimension < 1000) continue;
    const factored = () => {
      using fresh = MultivariateNormal.fromCovarianceSync({ device, covariance });
      fresh.sampleSync(count, { seed: 42, out });
    };
    print('factor included, into out', factored, dimension ** 3 / 3);
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
