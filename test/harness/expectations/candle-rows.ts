import {
  type Expectation,
  type Expectations,
  halves,
  memory,
  numbers,
  perRow,
  product,
  range,
  softmax,
  sum,
  wholes,
  writes,
} from './expectation.ts';

const folder = 'candle/candle-metal-kernels/src/metal_src';

const rows = numbers(5 * 70, 2);
const whole = wholes(4 * 90, 200, 3);

/** A reduction of rows by a group of 64 threads for each. */
function reduction(
  name: string,
  type: string,
  values: readonly number[],
  columns: number,
  of: (row: readonly number[]) => number,
  tolerance = 1e-6,
  to = type,
): Expectation {
  const expected = perRow(values, columns, (row) => [of(row)]);
  return {
    kernel: name,
    grid: expected.length * 64,
    threadgroup: 64,
    arguments: {
      ...{ src_numel: values.length, num_dims: 2, dims: [expected.length, columns], el_per_block: columns },
      ...{ src: memory(type, values), dst: writes(to, expected, tolerance) },
    },
  };
}

const perRowOf70 = { src_numel: rows.length, el_per_block: 70 };
const alpha = numbers(70, 5);
const beta = numbers(70, 6);

// A picture of 2 channels, 5 high and 6 wide.
const picture = numbers(2 * 5 * 6, 7);
const pictureAt = (c: number, h: number, w: number) =>
  h < 0 || h >= 5 || w < 0 || w >= 6 ? 0 : picture[(c * 5 + h) * 6 + w]!;
const pictureShape = { src_dims: [1, 2, 5, 6], src_strides: [60, 30, 6, 1] };
const pools = range(2 * 2 * 3).map((i) => {
  const [c, h, w] = [Math.floor(i / 6), Math.floor(i / 3) % 2, i % 3];
  return [0, 1].flatMap((dh) => [0, 1].map((dw) => pictureAt(c, 2 * h + dh, 2 * w + dw)));
});
const poolArguments = { w_k: 2, h_k: 2, w_s: 2, h_s: 2, src_dims: [1, 2, 5, 6], src_s: [60, 30, 6, 1] };

const tokens = numbers(2 * 3 * 8, 8); // 2 heads, 3 tokens, 8 numbers
const angles = numbers(3 * 4, 9);

/** Pairs of numbers of tokens, turned by their angles: neighbours, or `apart` from each other. */
function turned(apart: 1 | 4): number[] {
  const out = tokens.slice();
  for (let token = 0; token < 6; token++)
    for (let pair = 0; pair < 4; pair++) {
      const first = token * 8 + (apart === 1 ? 2 * pair : pair);
      const angle = angles[(token % 3) * 4 + pair]!;
      const [a, b] = [tokens[first]!, tokens[first + apart]!];
      out[first] = a * Math.cos(angle) - b * Math.sin(angle);
      out[first + apart] = a * Math.sin(angle) + b * Math.cos(angle);
    }
  return out;
}

const turns = {
  ...{ bh: 2, td: 24, stride_b: 0, src: memory('float', tokens) },
  ...{ cos: memory('float', angles.map(Math.cos)), sin: memory('float', angles.map(Math.sin)) },
};

function order(row: readonly number[]): number[] {
  return range(row.length).sort((a, b) => row[a]! - row[b]!);
}

const [left, right] = [numbers(48 * 40, 11), numbers(40 * 56, 12)];

export const candleRows: Expectations = {
  [`${folder}/sort.metal`]: [
    {
      kernel: 'asort_asc_f32',
      grid: [128, 5],
      threadgroup: [128, 1],
      arguments: {
        ...{ x: memory('float', rows), ncols: 70, ncols_pad: 128, shared_values: { threadgroupLength: 128 } },
        dst: writes('uint', perRow(rows, 70, order)),
      },
    },
    {
      kernel: 'asort_desc_f16',
      grid: [32, 4],
      threadgroup: [32, 1],
      arguments: {
        ...{
          x: memory(
            'half',
            range(80).map((i) => (i * 37) % 83),
          ),
          ncols: 20,
          ncols_pad: 32,
        },
        shared_values: { threadgroupLength: 32 },
        dst: writes(
          'uint',
          perRow(
            range(80).map((i) => (i * 37) % 83),
            20,
            (row) => order(row).reverse(),
          ),
        ),
      },
    },
  ],
  [`${folder}/reduce.metal`]: [
    reduction('fast_sum_f32', 'float', rows, 70, sum),
    reduction('fast_max_f16', 'half', halves(rows), 70, (row) => Math.max(...row)),
    reduction(
      'fast_min_i64',
      'long',
      whole.map((v) => v - 1e12),
      90,
      (row) => Math.min(...row),
    ),
    reduction('fast_mul_u32', 'uint', whole, 90, (row) => row.reduce((a, b) => Math.imul(a, b) >>> 0, 1)),
    reduction('fast_argmax_f32', 'float', rows, 70, (row) => order(row).at(-1)!, 0, 'uint'),
    reduction(
      'fast_argmin_bf16',
      'bfloat',
      range(360).map((i) => (i * 7) % 360),
      90,
      (row) => order(row)[0]!,
      0,
      'uint',
    ),
    {
      kernel: 'softmax_f32',
      grid: 5 * 64,
      threadgroup: 64,
      arguments: { ...perRowOf70, src: memory('float', rows), dst: writes('float', perRow(rows, 70, softmax), 1e-5) },
    },
    {
      kernel: 'rmsnorm_f32',
      grid: 5 * 64,
      threadgroup: 64,
      arguments: {
        ...{ ...perRowOf70, src: memory('float', rows), alpha: memory('float', alpha), eps: 1e-5 },
        dst: writes(
          'float',
          perRow(rows, 70, (row) => {
            const size = Math.sqrt(sum(row.map((v) => v * v)) / 70 + 1e-5);
            return row.map((v, i) => (v / size) * alpha[i]!);
          }),
          1e-5,
        ),
      },
    },
    {
      kernel: 'layernorm_f32',
      grid: 5 * 64,
      threadgroup: 64,
      arguments: {
        ...{ ...perRowOf70, src: memory('float', rows), alpha: memory('float', alpha) },
        ...{ beta: memory('float', beta), eps: 1e-5 },
        dst: writes(
          'float',
          perRow(rows, 70, (row) => {
            const mean = sum(row) / 70;
            const deviation = Math.sqrt(sum(row.map((v) => (v - mean) ** 2)) / 70 + 1e-5);
            return row.map((v, i) => ((v - mean) / deviation) * alpha[i]! + beta[i]!);
          }),
          1e-5,
        ),
      },
    },
    { kernel: 'rope_i_f32', grid: 24, arguments: { ...turns, dst: writes('float', turned(1), 1e-6) } },
    { kernel: 'rope_f32', grid: 24, arguments: { ...turns, d: 8, dst: writes('float', turned(4), 1e-6) } },
  ],
  [`${folder}/conv.metal`]: [
    {
      kernel: 'im2col_f32',
      grid: 5 * 6 * 2 * 9,
      arguments: {
        ...{ dst_numel: 540, h_out: 5, w_out: 6, h_k: 3, w_k: 3, stride: 1, padding: 1, dilation: 1, ...pictureShape },
        src: memory('float', picture),
        dst: writes(
          'float',
          range(540).map((i) => {
            const [h, w, c] = [Math.floor(i / 108), Math.floor(i / 18) % 6, Math.floor(i / 9) % 2];
            return pictureAt(c, h + (Math.floor(i / 3) % 3) - 1, w + (i % 3) - 1);
          }),
        ),
      },
    },
    {
      kernel: 'max_pool2d_f32',
      grid: 12,
      arguments: {
        ...{ ...poolArguments, src: memory('float', picture) },
        dst: writes(
          'float',
          pools.map((each) => Math.max(...each)),
        ),
      },
    },
    {
      kernel: 'avg_pool2d_f16',
      grid: 12,
      arguments: {
        ...{ ...poolArguments, src: memory('half', picture) },
        dst: writes(
          'half',
          pools.map((each) => sum(halves(each)) / 4),
          1e-3,
        ),
      },
    },
    {
      kernel: 'upsample_bilinear2d_f32',
      grid: 2 * 9 * 11,
      arguments: {
        ...{ w_out: 11, h_out: 9, align_corners: true, has_scale_h: false, scale_h_factor: 1, has_scale_w: false },
        ...{ scale_w_factor: 1, src_dims: [1, 2, 5, 6], src_s: [60, 30, 6, 1], src: memory('float', picture) },
        dst: writes(
          'float',
          range(198).map((i) => {
            const [c, h, w] = [Math.floor(i / 99), (Math.floor(i / 11) % 9) / 2, (i % 11) / 2];
            const near = [Math.floor(h), Math.ceil(h)].flatMap((a) => [Math.floor(w), Math.ceil(w)].map((b) => [a, b]));
            return sum(near.map(([a, b]) => pictureAt(c, a!, b!))) / 4;
          }),
          1e-6,
        ),
      },
    },
  ],
  [`${folder}/mlx_gemm.metal`]: [
    {
      kernel: 'gemm_nn_f32_f32_32_32_16_2_2',
      constants: {
        ...{ has_batch: false, use_out_source: false, do_axpby: false, do_gather: false },
        ...{ align_M: false, align_N: false, align_K: false },
      },
      grid: [32 * 2, 2 * 2, 2],
      threadgroup: [32, 2, 2],
      arguments: {
        ...{ A: memory('float', left), B: memory('float', right) },
        D: writes('float', product(left, right, 48, 56), 1e-5),
        params: [
          {
            ...{ M: 48, N: 56, K: 40, lda: 40, ldb: 56, ldd: 56, tiles_n: 2, tiles_m: 2 },
            ...{ batch_stride_a: 0, batch_stride_b: 0, batch_stride_d: 0 },
            ...{ swizzle_log: 0, gemm_k_iterations_aligned: 2, batch_ndim: 1 },
          },
        ],
      },
    },
  ],
};
