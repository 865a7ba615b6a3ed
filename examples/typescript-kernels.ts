// The classics of tutorials, each a kernel written in TypeScript: vector addition, a reduction, Mandelbrot, the
// Laplacian over a photograph, a matrix product with shared memory, the game of life, and n-body. Each is checked
// against plain TypeScript; the bytes of Mandelbrot and of the Laplacian are those of the kernels in Metal beside this
// file.
import { type Device, f32, i32, input, output, u8, u32 } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { photograph, writePicture } from './picture.ts';
import { tellDigest, tellVerdict, tellWithin } from './verdict.ts';

const {
  device: kind,
  check,
  shrink,
  width,
  steps,
  generations,
} = exampleOptions({
  ...{ shrink: 4, width: 480, steps: 256, generations: 200 },
});
using device = askedDevice(kind);
await vectorAddition(device);
await reduction(device);
await mandelbrot(device);
await laplacian(device);
await matrixProduct(device);
await life(device);
await bodies(device);

async function vectorAddition(on: Device): Promise<void> {
  const add = await on.compute(
    { a: input(f32), b: input(f32), out: output(f32) },
    ({ a, b, out }, { x }) => {
      out[x] = a[x]! + b[x]!;
    },
    { check },
  );
  const a = Float32Array.from({ length: 100_000 }, (_, i) => i / 3);
  const b = a.map((value) => 1 / (value + 1));
  const out = new Float32Array(a.length);
  await add.run({ grid: a.length, arguments: { a, b, out } });
  tellVerdict(
    'sums',
    out,
    a.map((value, i) => value + b[i]!),
    () => 0,
  );
}

async function reduction(on: Device): Promise<void> {
  const dot = await on.reduce(f32, (a, b) => a + b, 0, { from: [f32, f32], map: (x, y) => x * y });
  const x = Float32Array.from({ length: 100_000 }, (_, i) => Math.sin(i));
  const exact = x.reduce((sum, value) => sum + value * value, 0);
  tellWithin('dot product', await dot.run([x, x]), exact, 2 ** -20 * exact);
}

async function mandelbrot(on: Device): Promise<void> {
  const kernel = await on.compute(
    { left: f32, top: f32, step: f32, most: u32, counts: output(u32) },
    ({ left, top, step, most, counts }, { x, y, width }) => {
      const real = left + x * step;
      const imaginary = top - y * step;
      let a = 0;
      let b = 0;
      let count = u32(0);
      while (count < most && a * a + b * b <= 4) {
        const next = a * a - b * b + real;
        b = 2 * a * b + imaginary;
        a = next;
        count++;
      }
      counts[y * width + x] = count;
    },
    { name: 'mandelbrot', check },
  );
  const height = Math.ceil((2 * width) / 3);
  const counts = new Uint32Array(width * height);
  const view = { left: -2.1, top: 1, step: 3 / width, most: steps };
  await kernel.run({ grid: [width, height], arguments: { ...view, counts } });
  tellDigest('mandelbrot', counts);
}

async function laplacian(on: Device): Promise<void> {
  const { width, height, data: pixels } = photograph(shrink);
  const grey = await on.compute(
    { pixels: input(u8), gray: output(u8) },
    ({ pixels, gray }, { x }) => {
      gray[x] = (54 * pixels[4 * x]! + 183 * pixels[4 * x + 1]! + 19 * pixels[4 * x + 2]! + 128) >> 8;
    },
    { name: 'grayscale', check },
  );
  const edge = await on.compute(
    { gray: input(u8), edges: output(u8) },
    ({ gray, edges }, { x, y, width, height }) => {
      const left = Math.max(x - 1, 0);
      const right = Math.min(x + 1, width - 1);
      const above = Math.max(y - 1, 0);
      const below = Math.min(y + 1, height - 1);
      const sum =
        gray[y * width + left]! + gray[y * width + right]! + gray[above * width + x]! + gray[below * width + x]!;
      edges[y * width + x] = Math.min(Math.abs(4 * gray[y * width + x]! - sum), 255);
    },
    { name: 'laplacian', check },
  );
  using gray = on.matrix(height, width, { dtype: 'uint8' });
  const edges = new Uint8Array(width * height);
  await on
    .commandBuffer()
    .launch(grey, { grid: width * height, arguments: { pixels, gray } })
    .launch(edge, { grid: [width, height], arguments: { gray, edges } })
    .commit();
  tellDigest('laplacian', edges);
}

async function matrixProduct(on: Device): Promise<void> {
  const tile = 8;
  const product = await on.compute(
    { n: i32, a: input(f32), b: input(f32), c: output(f32) },
    ({ n, a, b, c }, { x, y, localX, localY, shared, barrier }) => {
      const left = shared(f32, tile * tile);
      const right = shared(f32, tile * tile);
      let sum = 0;
      for (let from = 0; from < n; from += tile) {
        left[localY * tile + localX] = a[y * n + from + localX]!;
        right[localY * tile + localX] = b[(from + localY) * n + x]!;
        barrier();
        for (let k = 0; k < tile; k++) sum += left[localY * tile + k]! * right[k * tile + localX]!;
        barrier();
      }
      c[y * n + x] = sum;
    },
    { name: 'product', uses: { tile }, check },
  );
  const n = 64;
  const a = Float32Array.from({ length: n * n }, (_, i) => ((7 * i) % 13) - 6);
  const b = Float32Array.from({ length: n * n }, (_, i) => ((5 * i) % 11) - 5);
  const c = new Float32Array(n * n);
  await product.run({ grid: [n, n], threadgroup: [tile, tile], arguments: { n, a, b, c } });
  const row = (i: number) => n * Math.floor(i / n);
  const dot = (i: number) => a.subarray(row(i), row(i) + n).reduce((sum, v, k) => sum + v * b[k * n + (i % n)]!, 0);
  tellVerdict(
    'product',
    c,
    c.map((_, i) => dot(i)),
    () => 0,
  );
}

async function life(on: Device): Promise<void> {
  const next = await on.compute(
    { cells: input(u8), born: output(u8) },
    ({ cells, born }, { x, y, width, height }) => {
      let neighbours = 0;
      for (let dy = -1; dy <= 1; dy++)
        for (let dx = -1; dx <= 1; dx++)
          neighbours += cells[((y + dy + height) % height) * width + ((x + dx + width) % width)]!;
      const alive = cells[y * width + x]!;
      born[y * width + x] = neighbours === 3 || (neighbours === 4 && alive === 1) ? 1 : 0;
    },
    { name: 'life', check },
  );
  const [across, down] = [256, 160];
  const cells = Uint8Array.from({ length: across * down }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 29 > 4 ? 1 : 0));
  let [now, then] = [Uint8Array.from(cells), new Uint8Array(cells.length)];
  const commands = on.commandBuffer();
  for (let k = 0; k < generations; k++) {
    commands.launch(next, { grid: [across, down], arguments: { cells: now, born: then } });
    [now, then] = [then, now];
  }
  await commands.commit();
  let expected = cells;
  for (let k = 0; k < generations; k++) expected = generation(expected, across, down);
  tellVerdict('life', now, expected, () => 0);
  writePicture('life', { width: across, height: down, channels: 1, data: now.map((cell) => 255 * (1 - cell)) });
}

function generation(cells: Uint8Array<ArrayBuffer>, across: number, down: number): Uint8Array<ArrayBuffer> {
  return cells.map((alive, i) => {
    const [x, y] = [i % across, Math.floor(i / across)];
    let sum = 0;
    for (const dy of [down - 1, 0, 1])
      for (const dx of [across - 1, 0, 1]) sum += cells[((y + dy) % down) * across + ((x + dx) % across)]!;
    return Number(sum === 3 || (sum === 4 && alive === 1));
  });
}

async function bodies(on: Device): Promise<void> {
  const pull = await on.compute(
    { n: i32, soft: f32, at: input(f32), force: output(f32) },
    ({ n, soft, at, force }, { x }) => {
      let fx = 0;
      let fy = 0;
      for (let k = 0; k < n; k++) {
        const dx = at[2 * k]! - at[2 * x]!;
        const dy = at[2 * k + 1]! - at[2 * x + 1]!;
        const square = dx * dx + dy * dy + soft;
        const weight = 1 / (square * Math.sqrt(square));
        fx += dx * weight;
        fy += dy * weight;
      }
      force[2 * x] = fx;
      force[2 * x + 1] = fy;
    },
    { name: 'bodies', check },
  );
  const n = 500;
  const at = Float32Array.from({ length: 2 * n }, (_, i) => Math.sin(i * i));
  const force = new Float32Array(2 * n);
  await pull.run({ grid: n, arguments: { n, soft: 0.01, at, force } });
  const { fround } = Math;
  const expected = force.map((_, i) => {
    const own = i - (i % 2);
    let sum = 0;
    for (let k = 0; k < n; k++) {
      const [dx, dy] = [fround(at[2 * k]! - at[own]!), fround(at[2 * k + 1]! - at[own + 1]!)];
      const square = fround(fround(fround(dx * dx) + fround(dy * dy)) + fround(0.01));
      const weight = fround(1 / fround(square * fround(Math.sqrt(square))));
      sum = fround(sum + fround((i % 2 === 0 ? dx : dy) * weight));
    }
    return sum;
  });
  tellVerdict('forces', force, expected, () => 0);
}
