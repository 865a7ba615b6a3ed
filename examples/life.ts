// The game of life: a generation is a launch, and all generations are one command buffer.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import { writePicture } from './picture.ts';
import { tellDigest, tellVerdict } from './verdict.ts';

const { device: kind, check, generations } = exampleOptions({ generations: 200 });
using device = askedDevice(kind);
const kernel = await device.kernel(readFileSync(new URL('life.metal', import.meta.url), 'utf8'), { check });

const [width, height] = [256, 160];
const seed = Uint8Array.from({ length: width * height }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 29 > 4 ? 1 : 0));
let [now, then] = [Uint8Array.from(seed), new Uint8Array(seed.length)];
const commands = device.commandBuffer();
for (let k = 0; k < generations; k++) {
  commands.launch(kernel, { grid: [width, height], arguments: { cells: now, born: then } });
  [now, then] = [then, now];
}
const timings = await commands.commit();

console.log(`time     ${timings.deviceMs.toFixed(3)} ms on the device, ${timings.wallMs.toFixed(3)} ms in all`);
writePicture('life', { width, height, channels: 1, data: now.map((cell) => 255 * (1 - cell)) });
let expected = seed;
for (let k = 0; k < generations; k++) expected = next(expected);
tellVerdict('cells', now, expected, () => 0);
tellDigest('cells', now);

/** The same in plain TypeScript. */
function next(cells: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return cells.map((alive, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    let sum = 0;
    for (const dy of [height - 1, 0, 1])
      for (const dx of [width - 1, 0, 1]) sum += cells[((y + dy) % height) * width + ((x + dx) % width)]!;
    return Number(sum === 3 || (sum === 4 && alive === 1));
  });
}
