import {
  type Expectations,
  halves,
  memory,
  numbers,
  perRow,
  product,
  range,
  softmax,
  transposed,
  wholes,
  writes,
} from './expectation.ts';

const mistral = 'mistral.rs/mistralrs-quant/src/metal_kernels';
const bytes = wholes(6 * 8, 256, 81);
const [scale, zero] = [halves(numbers(8, 82)), halves(numbers(8, 83).map((v) => 8 * v))];
const nf4 = [
  ...[-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635],
  ...[-0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725],
  ...[0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1],
];
const blockSizes = numbers(3, 84).map(Math.abs);
const logits = numbers(6 * 75, 85);
const sinks = [0.5, -1];

const quanta = wholes(16 * 512, 16, 86);
const [scales, offsets] = [numbers(16 * 8, 87), numbers(16 * 8, 88)];
const weights = quanta.map((v, i) => v * scales[Math.floor(i / 64)]! + offsets[Math.floor(i / 64)]!);
const rows = numbers(2 * 512, 89);

const picture = wholes(8 * 4 * 3, 256, 90);

/** True if a point leaves the Mandelbrot set, by the rule and in the precision of the kernel. */
function escapes(real: number, imaginary: number): number {
  const f = Math.fround;
  let [x, y] = [real, imaginary];
  for (let n = 0; n < 250; n++) {
    [x, y] = [f(f(f(x * x) - f(y * y)) + real), f(f(f(x * y) + f(y * x)) + imaginary)];
    if (x > 2 || y > 2) return n;
  }
  return 0;
}

const scaled = (most: number, from: number, to: number, value: number) => {
  const f = Math.fround;
  return f(f(f(value / most) * f(f(to) - f(from))) + f(from));
};
const image = range(20 * 24).flatMap((i) => {
  const [x, y] = [i % 24, Math.floor(i / 24)];
  const n = escapes(scaled(96, -1.4, 3, x), scaled(20, -0.8, 0.8, y));
  if (n === 0) return [0, 0, 0, 255];
  const hue = Math.floor(scaled(250, 0, 768, n)) % 1280;
  const part = hue % 256;
  const colours = [
    [255, part, 0],
    [255 - part, 255, 0],
    [0, 255, part],
    [0, 255 - part, 255],
    [part, 0, 255],
  ];
  return [...colours[Math.floor(hue / 256)]!, 255];
});

const planes = halves(numbers(2 * 7 * 5, 91));

export const mixed: Expectations = {
  [`${mistral}/hqq_dequantize.metal`]: [
    {
      kernel: 'dequantize_4bit_half',
      grid: 48,
      arguments: {
        ...{ weight: Uint8Array.from(bytes), scale: memory('half', scale), zero: memory('half', zero), h: 6, w: 8 },
        output: writes(
          'half',
          [4, 0].flatMap((shift) =>
            bytes.map((v, i) => halves([halves([((v >> shift) & 15) - zero[i % 8]!])[0]! * scale[i % 8]!])[0]!),
          ),
        ),
      },
    },
  ],
  [`${mistral}/bnb_dequantize.metal`]: [
    {
      kernel: 'kernel_dequantize_nf4_float',
      grid: 3,
      arguments: {
        ...{ code: memory('float', nf4), input: Uint8Array.from(bytes), blocksize: 16, n: 48 },
        absmax: memory(
          'float',
          blockSizes.flatMap((v) => [v, v]),
        ),
        out: writes(
          'float',
          bytes.flatMap((v, i) => [nf4[v >> 4]!, nf4[v & 15]!].map((each) => each * blockSizes[Math.floor(i / 16)]!)),
          1e-6,
        ),
      },
    },
  ],
  [`${mistral}/bitwise.metal`]: [
    {
      kernel: 'bitwise_leftshift_int64_t',
      grid: 48,
      arguments: {
        ...{ a: memory('long', bytes), k: 40, length: 48 },
        output: writes(
          'long',
          bytes.map((v) => v * 2 ** 40),
        ),
      },
    },
  ],
  [`${mistral}/softmax_with_sinks.metal`]: [
    {
      kernel: 'softmax_with_sinks_float',
      grid: 6 * 64,
      threadgroup: 64,
      arguments: {
        ...{ logits: memory('float', logits), sinks: memory('float', sinks), num_heads: 2, q_len: 3, k_len: 75 },
        shared_mem: { threadgroupLength: 66 },
        output: writes(
          'float',
          perRow(range(6), 1, ([row]) =>
            softmax([...logits.slice(row! * 75, row! * 75 + 75), sinks[Math.floor(row! / 3)]!]).slice(0, 75),
          ),
          1e-5,
        ),
      },
    },
  ],
  [`${mistral}/fused_glu.metal`]: [
    {
      kernel: 'fused_glu_float',
      grid: 400,
      arguments: {
        ...{ a: memory('float', logits.slice(0, 400)), b: memory('float', rows.slice(0, 400)) },
        ...{ n_elements: 400, activation: 4 },
        output: writes(
          'float',
          logits.slice(0, 400).map((v, i) => rows[i]! / (1 + Math.exp(-v))),
          1e-6,
        ),
      },
    },
  ],
  'torchao/all.metal': [
    {
      kernel: 'qmv_fast_4bit_64_float',
      grid: [2 * 32, 2 * 2, 1],
      threadgroup: [32, 2, 1],
      arguments: {
        w: Uint8Array.from(range(quanta.length / 2), (i) => quanta[2 * i]! | (quanta[2 * i + 1]! << 4)),
        ...{ x: memory('float', rows), scales: memory('float', scales), biases: memory('float', offsets) },
        ...{ sizes: [2, 512, 16], y: writes('float', product(rows, transposed(weights, 16), 2, 16), 1e-5) },
      },
    },
  ],
  'a-h-gpu/examples/grayscale/grayscale.metal': [
    {
      kernel: 'process',
      grid: [32, 3, 1],
      arguments: {
        p: [{ w_in: 32, h_in: 3, d_in: 1, w_out: 32, h_out: 3, d_out: 1 }],
        input: Uint8Array.from(picture),
        output: writes(
          'uchar',
          perRow(picture, 4, ([r, g, b]) => {
            const grey = Math.floor((r! + g! + b!) / 3);
            return [grey, grey, grey, 255];
          }),
        ),
      },
    },
  ],
  'a-h-gpu/examples/mandelbrot/mandelbrot.metal': [
    {
      kernel: 'process',
      grid: [96, 20, 1],
      arguments: {
        p: [{ w_in: 96, h_in: 20, d_in: 1, w_out: 96, h_out: 20, d_out: 1 }],
        ...{ input: new Uint8Array(1920), output: writes('uchar', image) },
      },
    },
  ],
  'mnn/source/backend/metal/shader/MetalSoftmax.metal': [
    {
      kernel: 'softmax_plane',
      grid: [5, 2],
      arguments: {
        ...{ in: memory('half', planes), s: { inside_size: 5, axis_length: 7, outside_size: 2, flat_length: 7 } },
        out: writes(
          'half',
          [0, 1].flatMap((half) =>
            transposed(perRow(transposed(planes.slice(half * 35, half * 35 + 35), 7), 7, softmax), 5),
          ),
          1e-3,
        ),
      },
    },
  ],
};
