// Vector addition, the first kernel of the Numba tutorial: one thread adds one pair of numbers.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import { tellDigest, tellVerdict } from './verdict.ts';

const { device: kind, check, length } = exampleOptions({ length: 100_000 });
using device = askedDevice(kind);
const kernel = await device.kernel(readFileSync(new URL('vector-addition.metal', import.meta.url), 'utf8'), { check });

using a = device.vector(length);
using b = device.vector(length);
using out = device.vector(length);
// The numbers, the sum and what comes after may stand in one command buffer: they run in order, and the host waits
// once.
const timings = await device
  .commandBuffer()
  .fillNormal(a, { seed: 1 })
  .fillNormal(b, { seed: 2 })
  .launch(kernel, { grid: length, arguments: { a, b, out } })
  .commit();

console.log(`result   ${a.get(0)} + ${b.get(0)} = ${out.get(0)}, and ${length - 1} more`);
console.log(`time     ${timings.deviceMs.toFixed(3)} ms on the device, ${timings.wallMs.toFixed(3)} ms in all`);
const expected = Float32Array.from(a.data, (value, i) => value + b.data[i]!);
tellVerdict('sums', out.data, expected, () => 0);
tellDigest('sums', out.data);
