// Bodies that attract each other: groups of threads read the places of all by tiles that they share.
import { readFileSync } from 'node:fs';
import { askedDevice, exampleOptions } from './example-options.ts';
import { writePicture } from './picture.ts';
import { tellDigest, tellVerdict } from './verdict.ts';

const { device: kind, check, frames } = exampleOptions({ frames: 40 });
using device = askedDevice(kind);
const kernel = await device.kernel(readFileSync(new URL('n-body.metal', import.meta.url), 'utf8'), { check });

const [count, time, steps, side] = [256, 0.002, 4, 400];
let now = disc();
let then = new Float32Array(now.length);
let expected = now.slice();
const shade = new Uint8Array(side * side);
let deviceMs = 0;
for (let frame = 0; frame < frames; frame++) {
  const commands = device.commandBuffer();
  for (let step = 0; step < steps; step++) {
    commands.launch(kernel, { grid: count, threadgroup: 64, arguments: { now, next: then, time } });
    [now, then] = [then, now];
    expected = moved(expected);
  }
  deviceMs += (await commands.commit()).deviceMs;
  draw(now, Math.ceil((255 * (frame + 1)) / frames));
}

console.log(`time     ${deviceMs.toFixed(3)} ms on the device`);
writePicture('n-body', { width: side, height: side, channels: 1, data: shade });
tellVerdict('bodies', now, expected, () => 0);
tellDigest('bodies', now);

/** Two turning discs that meet; place and speed of each body, rounded to a thousandth so that all engines agree. */
function disc(): Float32Array<ArrayBuffer> {
  const bodies = new Float32Array(4 * count);
  for (let i = 0; i < count; i++) {
    const [angle, radius] = [2.399963 * i, 0.5 * Math.sqrt((i + 0.5) / count)];
    const [x, y, from] = [radius * Math.cos(angle), radius * Math.sin(angle), i % 2 === 0 ? 1 : -1];
    const row = [x + 0.6 * from, y + 0.15 * from, -16 * y - 3 * from, 16 * x];
    bodies.set(
      row.map((value) => Math.round(1000 * value) / 1000),
      4 * i,
    );
  }
  return bodies;
}

/** Where each body is, the brighter the later. */
function draw(bodies: Float32Array, light: number): void {
  for (let i = 0; i < count; i++) {
    const [x, y] = [0, 1].map((k) => Math.floor((side * (bodies[4 * i + k]! + 2)) / 4)) as [number, number];
    if (x >= 0 && x < side && y >= 0 && y < side) shade[y * side + x] = light;
  }
}

/** The same step in plain TypeScript, rounded to float32 after each operation. */
function moved(bodies: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const { fround, sqrt } = Math;
  const [dt, soft] = [fround(time), fround(0.01)];
  const next = new Float32Array(bodies.length);
  for (let i = 0; i < 4 * count; i += 4) {
    let [px, py] = [0, 0];
    for (let k = 0; k < 4 * count; k += 4) {
      const dx = fround(bodies[k]! - bodies[i]!);
      const dy = fround(bodies[k + 1]! - bodies[i + 1]!);
      const square = fround(fround(fround(dx * dx) + fround(dy * dy)) + soft);
      const weight = fround(1 / fround(square * fround(sqrt(square))));
      px = fround(px + fround(dx * weight));
      py = fround(py + fround(dy * weight));
    }
    next[i + 2] = bodies[i + 2]! + fround(px * dt);
    next[i + 3] = bodies[i + 3]! + fround(py * dt);
    next[i] = bodies[i]! + fround(next[i + 2]! * dt);
    next[i + 1] = bodies[i + 1]! + fround(next[i + 3]! * dt);
  }
  return next;
}
