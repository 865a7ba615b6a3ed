// The Laplacian filter over a photograph: two kernels in one command buffer, and the greys between them stay on the
// device. The text of the second includes that of the first.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import { photograph, writePicture } from './picture.ts';
import { tellDigest, tellVerdict } from './verdict.ts';

const { device: kind, check, shrink } = exampleOptions({ shrink: 1 });
using device = askedDevice(kind);
const textOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const includes = { 'grayscale.metal': textOf('grayscale.metal') };
const grayscale = await device.kernel(textOf('laplacian.metal'), { name: 'grayscale', includes, check });
const laplacian = await device.kernel(textOf('laplacian.metal'), { name: 'laplacian', includes, check });

const { width, height, data: pixels } = photograph(shrink);
using gray = device.matrix(height, width, { dtype: 'uint8' });
const edges = new Uint8Array(width * height);
const timings = await device
  .commandBuffer()
  .launch(grayscale, { grid: width * height, arguments: { pixels, gray } })
  .launch(laplacian, { grid: [width, height], arguments: { gray, edges } })
  .commit();

console.log(`time     ${timings.deviceMs.toFixed(3)} ms on the device, ${timings.wallMs.toFixed(3)} ms in all`);
writePicture('laplacian', { width, height, channels: 1, data: edges });
tellVerdict('pixels', edges, expected(), () => 0);
tellDigest('pixels', edges);

function expected(): Uint8Array {
  const shades = edges.map((_, i) => {
    const [red, green, blue] = pixels.subarray(4 * i);
    return (54 * red! + 183 * green! + 19 * blue! + 128) >> 8;
  });
  const shade = (x: number, y: number) =>
    shades[Math.max(0, Math.min(height - 1, y)) * width + Math.max(0, Math.min(width - 1, x))]!;
  return edges.map((_, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    const around = shade(x - 1, y) + shade(x + 1, y) + shade(x, y - 1) + shade(x, y + 1);
    return Math.min(255, Math.abs(4 * shade(x, y) - around));
  });
}
