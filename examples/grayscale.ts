// A photograph to shades of grey: one thread a pixel, four bytes in, one out.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import type { Picture } from './picture.ts';
import { photograph, writePicture } from './picture.ts';
import { tellDigest, tellVerdict } from './verdict.ts';

const { device: kind, check, shrink } = exampleOptions({ shrink: 1 });
using device = askedDevice(kind);
const kernel = await device.kernel(readFileSync(new URL('grayscale.metal', import.meta.url), 'utf8'), { check });

const { width, height, data: pixels } = photograph(shrink);
const gray = new Uint8Array(width * height);
const timings = await kernel.run({ grid: gray.length, arguments: { pixels, gray } });

console.log(`time     ${timings.deviceMs.toFixed(3)} ms on the device, ${timings.wallMs.toFixed(3)} ms in all`);
const picture: Picture = { width, height, channels: 1, data: gray };
writePicture('grayscale', picture);
const expected = gray.map((_, i) => {
  const [red, green, blue] = pixels.subarray(4 * i);
  return (54 * red! + 183 * green! + 19 * blue! + 128) >> 8;
});
tellVerdict('pixels', gray, expected, () => 0);
tellDigest('pixels', gray);
