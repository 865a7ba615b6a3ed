// A matrix product three ways (naive, of a transposed right side, in tiles through threadgroup memory), raced against
// the device's own. Every product is checked before it is timed. Ratios are of one run on one machine, and say nothing
// of another.
import { readFileSync } from 'node:fs';
import { Bench } from 'tinybench';
import type { Matrix } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { tellVerdict } from './verdict.ts';

const tile = 16;
const { device: kind, check, dimension: n, time } = exampleOptions({ dimension: 256, time: 500 });
using device = askedDevice(kind);
const source = readFileSync(new URL('matrix-product.metal', import.meta.url), 'utf8');
const naive = await device.kernel(source, { name: 'naive', check });
const transposed = await device.kernel(source, { name: 'transposed', check });
const tiled = await device.kernel(source, { name: 'tiled', check });

const [a, b, turned, c] = [device.matrix(n, n), device.matrix(n, n), device.matrix(n, n), device.matrix(n, n)] as const;
await device.commandBuffer().fillNormal(a, { seed: 1 }).fillNormal(b, { seed: 2 }).commit();
turned.data.forEach((_, i) => {
  turned.data[i] = b.get(i % n, Math.floor(i / n));
});

const sizes = { m: n, n, k: n, unused: 0 };
const whole = Math.ceil(n / tile) * tile;
const contenders: { readonly [name: string]: () => unknown } = {
  naive: () => naive.runSync({ grid: [n, n], arguments: { sizes, a, b, c } }),
  transposed: () => transposed.runSync({ grid: [n, n], arguments: { sizes, a, b: turned, c } }),
  tiled: () => tiled.runSync({ grid: [whole, whole], threadgroup: [tile, tile], arguments: { sizes, a, b, c } }),
  "the device's own": () => device.commandBuffer().product(a, b, c).commitSync(),
};

const expected = productOf((value) => value);
// Each of n products and n additions rounds by at most 2^-24 of what there is: Higham, Accuracy and Stability of
// Numerical Algorithms, 3.5.
const allowed = productOf(Math.abs).map((sum) => 2 * n * 2 ** -24 * sum);
const bench = new Bench({ time, iterations: 5, warmupTime: 100, warmupIterations: 2 });
for (const [name, run] of Object.entries(contenders)) {
  c.data.fill(Number.NaN);
  run();
  tellVerdict(name, c.data, expected, (i) => allowed[i]!);
  bench.add(name, run);
}

const medians = bench.runSync().map(({ name, result }): [string, number] => {
  if (!('latency' in result)) throw new Error(`The product does not run (${name}).`);
  return [name, result.latency.p50];
});
const own = medians.at(-1)![1];
console.log(`\n${n} x ${n} by ${n} x ${n}, float32, medians of one run`);
for (const [name, milliseconds] of medians)
  console.log(
    `${name.padEnd(18)}${milliseconds.toFixed(3).padStart(10)} ms${(milliseconds / own).toFixed(2).padStart(9)} x the device's own`,
  );
for (const matrix of [a, b, turned, c]) matrix.close();

/** a b in float64, each entry of both through `of`. */
function productOf(of: (value: number) => number): Float64Array {
  const rows = (matrix: Matrix) => Array.from({ length: n }, (_, row) => Float64Array.from(matrix.row(row), of));
  const [left, right] = [rows(a), rows(turned)];
  return Float64Array.from({ length: n * n }, (_, i) => {
    const [row, column] = [left[Math.floor(i / n)]!, right[i % n]!];
    let sum = 0;
    for (let j = 0; j < n; j++) sum += row[j]! * column[j]!;
    return sum;
  });
}
