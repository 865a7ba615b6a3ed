// The Mandelbrot set: a grid of two dimensions, one thread a pixel, and a struct that says where to look.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import { writePicture } from './picture.ts';
import { tellDigest, tellVerdict } from './verdict.ts';

const { device: kind, check, width, steps } = exampleOptions({ width: 1200, steps: 256 });
using device = askedDevice(kind);
const kernel = await device.kernel(readFileSync(new URL('mandelbrot.metal', import.meta.url), 'utf8'), { check });

const height = Math.ceil((2 * width) / 3);
const view = { left: -2.1, top: 1, step: 3 / width, most: steps };
const counts = new Uint32Array(width * height);
const timings = await kernel.run({ grid: [width, height], arguments: { counts, view } });

console.log(`time     ${timings.deviceMs.toFixed(3)} ms on the device, ${timings.wallMs.toFixed(3)} ms in all`);
const data = new Uint8Array(3 * counts.length);
counts.forEach((count, i) => {
  data.set(colourOf(count), 3 * i);
});
writePicture('mandelbrot', { width, height, channels: 3, data });
tellVerdict('counts', counts, expected(), () => 0);
tellDigest('counts', counts);

/** Black within the set; outside the shades go from dark to light and back every 32 steps. */
function colourOf(count: number): [number, number, number] {
  if (count === steps) return [0, 0, 0];
  const light = 16 - Math.abs((count % 32) - 16);
  return [8 * light, 24 + 12 * light, 80 + 10 * light];
}

/** The same in plain TypeScript, rounded to float32 after each operation. */
function expected(): Uint32Array {
  const { fround } = Math;
  const [left, top, step] = [fround(view.left), fround(view.top), fround(view.step)];
  return counts.map((_, i) => {
    const real = fround(left + fround((i % width) * step));
    const imaginary = fround(top - fround(Math.floor(i / width) * step));
    let [x, y, count] = [0, 0, 0];
    for (; count < steps; count++) {
      const [xx, yy] = [fround(x * x), fround(y * y)];
      if (fround(xx + yy) > 4) break;
      y = fround(fround(fround(2 * x) * y) + imaginary);
      x = fround(fround(xx - yy) + real);
    }
    return count;
  });
}
