// npm run bench:talk [-- metal cpu reference]
//
// The four cases of the talk that covarium comes from (Mac GPU programming in Go), on every device here or on those named: one draw
// of a normal of 1000 dimensions with its factor included and with the factor kept, a matrix product of 1000 x 1000, and a
// matrix by a vector. Medians of synchronous calls, float32, with the share that the device itself reports (GPU time).
import { arch, cpus, platform } from 'node:os';
import { Bench } from 'tinybench';
import { type Device, type DeviceKind, listDevices, Matrix, MultivariateNormal, openDevice } from '../lib/index.ts';

const n = 1000;

interface Case {
  readonly name: string;
  /** Runs once, and gives the milliseconds that the device reports. */
  readonly run: () => number;
}

function covariance(): Matrix {
  const values = new Float32Array(n * n);
  for (let i = 0; i < n; ++i)
    for (let j = 0; j < n; ++j) values[i * n + j] = i === j ? 1 : 0.5 * 0.98 ** Math.abs(i - j);
  return Matrix.from(values, { rows: n, columns: n });
}

function casesOf(device: Device): Case[] {
  const sigma = covariance();
  const mean = new Float32Array(n).fill(1);
  const z = device.vector(n);
  const [a, b, c] = [device.matrix(n, n), device.matrix(n, n), device.matrix(n, n)];
  device.commandBuffer().fillNormal(z, { seed: 1 }).fillNormal(a, { seed: 2 }).fillNormal(b, { seed: 3 }).commitSync();
  const row = device.matrix(1, n);
  const x = device.matrix(1, n);
  x.data.set(z.data);
  const included = (factor: 'auto' | 'gpu') => () => {
    using y = MultivariateNormal.transformSync({ device, mean, covariance: sigma, z, factor });
    return y.timings!.deviceMs;
  };
  const normal = MultivariateNormal.fromCovarianceSync({ device, mean, covariance: sigma });
  return [
    { name: 'transform-normal (one draw, factor included)', run: included('auto') },
    ...(device.kind === 'metal'
      ? [{ name: 'transform-normal, factor by the GPU as in the talk', run: included('gpu') }]
      : []),
    {
      name: 'transform-normal-factored (one draw, factor kept)',
      run: () => {
        using y = normal.transformSync(z);
        return y.timings!.deviceMs;
      },
    },
    {
      name: 'matrix product 1000 x 1000 x 1000',
      run: () => device.commandBuffer().product(a, b, c).commitSync().deviceMs,
    },
    {
      name: 'matrix by vector 1000 x 1000',
      run: () => device.commandBuffer().product(x, a, row, { transposeB: true }).commitSync().deviceMs,
    },
  ];
}

function report(kind: DeviceKind): void {
  using device = openDevice(kind);
  console.log(`\n## ${device.kind}: ${device.name}, threads: ${device.threads}\n`);
  console.log('| case | median, ms | on the device, ms | ns/op |\n| --- | --: | --: | --: |');
  for (const { name, run } of casesOf(device)) {
    const onDevice: number[] = [];
    const bench = new Bench({ time: 500, iterations: 7, warmupTime: 100, warmupIterations: 2 });
    bench.add(name, () => void onDevice.push(run()));
    const [task] = bench.runSync();
    const result = task!.result;
    if (!('latency' in result)) throw new Error(`The case does not run (${name}: ${JSON.stringify(result)}).`);
    const milliseconds = result.latency.p50;
    const device50 = onDevice.sort((p, q) => p - q)[onDevice.length >> 1]!;
    console.log(
      `| ${name} | ${milliseconds.toFixed(4)} | ${device50.toFixed(4)} | ${Math.round(milliseconds * 1e6)} |`,
    );
  }
}

const asked = process.argv.slice(2);
console.log(`${platform()} ${arch()}, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`);
for (const { kind, available, reason } of listDevices()) {
  if (asked.length > 0 && !asked.includes(kind)) continue;
  if (available) report(kind);
  else console.log(`\n${kind} can't be had: ${reason}`);
}
