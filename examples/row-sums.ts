// Row sums, the add of a-h/gpu (a bridge from Go to Metal), with its interface: a struct of the shapes, an input, an
// output, and a grid of three dimensions. One thread adds one row.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import { tellVerdict } from './verdict.ts';

const { device: kind, check, width, height, depth } = exampleOptions({ width: 1000, height: 300, depth: 4 });
using device = askedDevice(kind);
const kernel = await device.kernel(readFileSync(new URL('row-sums.metal', import.meta.url), 'utf8'), { check });

using input = device.volume({ width, height, depth });
using output = device.volume({ width: 1, height, depth });
input.data.forEach((_, i) => {
  input.data[i] = Math.sin(i);
});
const p = { w_in: width, h_in: height, d_in: depth, w_out: 1, h_out: height, d_out: depth };
const timings = await kernel.run({ grid: output.size, arguments: { p, input, output } });

console.log(`result   row 0 adds up to ${output.get(0)}, and ${height * depth - 1} more`);
console.log(`time     ${timings.deviceMs.toFixed(3)} ms on the device, ${timings.wallMs.toFixed(3)} ms in all`);
const rows = Array.from(output.data, (_, row) => input.data.subarray(row * width, (row + 1) * width));
const total = (row: ArrayLike<number>, of: (value: number) => number) =>
  Array.from(row).reduce((sum, value) => sum + of(value), 0);
const expected = rows.map((row) => total(row, (value) => value));
// Each of width additions rounds by at most 2^-24 of what there is: Higham, Accuracy and Stability of Numerical
// Algorithms, 4.2.
const allowed = rows.map((row) => width * 2 ** -24 * total(row, Math.abs));
tellVerdict('sums', output.data, expected, (row) => allowed[row]!);
