import {
  bfloats,
  type Expectation,
  type Expectations,
  halves,
  memory,
  numbers,
  range,
  sum,
  transposed,
  writes,
} from './expectation.ts';

const folder = 'candle/candle-metal-kernels/src/metal_src';
const x = numbers(101);
const size = { dim: x.length };
const half = { grid: 51 };

function unary(name: string, apply: (value: number) => number, tolerance = 1e-6): Expectation {
  const output = writes('float', x.map(apply), tolerance);
  return { kernel: `${name}_f32`, ...half, arguments: { ...size, input: memory('float', x), output } };
}

const gelu = (v: number) => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3)));

/** The error function by its series. */
function erf(value: number): number {
  let [term, total] = [value, value];
  for (let n = 1; n < 60; n++) {
    term *= -(value * value) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

const rows = numbers(5 * 70, 2);
const table = transposed(x.slice(0, 60), 5); // a matrix of 12 by 5, read as one of 5 by 12
const ids = [3, 0, 0xffffffff, 11];

export const candleElementwise: Expectations = {
  [`${folder}/unary.metal`]: [
    unary('gelu', gelu, 1e-5),
    unary('gelu_erf', (v) => (v * (1 + erf(v / Math.SQRT2))) / 2, 1e-5),
    unary('silu', (v) => v / (1 + Math.exp(-v))),
    unary('sigmoid', (v) => 1 / (1 + Math.exp(-v))),
    unary('round', (v) => Math.sign(v) * Math.round(Math.abs(v))),
    unary('sign', Math.sign),
    unary('tanh', Math.tanh),
    unary('erf', erf, 1e-5),
    {
      kernel: 'sqr_f16',
      grid: 26,
      arguments: { ...size, input: memory('half', x), output: writes('half', halves(halves(x).map((v) => v * v))) },
    },
    {
      kernel: 'neg_bf16',
      grid: 26,
      arguments: { ...size, input: memory('bfloat', x), output: writes('bfloat', bfloats(x.map((v) => -v))) },
    },
    {
      kernel: 'exp_f32_strided',
      grid: 60,
      arguments: {
        ...{ dim: 60, num_dims: 2, dims: [5, 12], strides: [1, 5] },
        ...{ input: memory('float', table), output: writes('float', x.slice(0, 60).map(Math.exp), 1e-6) },
      },
    },
    {
      kernel: 'copy2d_i16',
      grid: [3, 4],
      arguments: {
        ...{
          d1: 3,
          d2: 4,
          src_s: 5,
          dst_s: 6,
          input: memory(
            'short',
            range(15).map((i) => i - 7),
          ),
        },
        output: writes(
          'short',
          range(18).map((i) => (i % 6 < 4 ? Math.floor(i / 6) * 5 + (i % 6) - 7 : 0)),
        ),
      },
    },
  ],
  [`${folder}/binary.metal`]: [
    {
      kernel: 'bdiv_f32_strided',
      grid: 60,
      arguments: {
        ...{ dim: 60, num_dims: 2, dims: [5, 12], left_strides: [1, 5], right_strides: [0, 1] },
        ...{ left: memory('float', table), right: memory('float', rows.slice(0, 12)) },
        output: writes(
          'float',
          x.slice(0, 60).map((v, i) => Math.fround(v / rows[i % 12]!)),
        ),
      },
    },
    {
      kernel: 'bmaximum_f32',
      ...half,
      arguments: {
        ...size,
        ...{ left: memory('float', x), right: memory('float', rows.slice(0, 101)) },
        output: writes(
          'float',
          x.map((v, i) => Math.max(v, rows[i]!)),
        ),
      },
    },
  ],
  [`${folder}/cast.metal`]: [
    {
      kernel: 'cast_f32_bf16',
      ...half,
      arguments: { ...size, input: memory('float', x), output: writes('bfloat', bfloats(x)) },
    },
    {
      kernel: 'cast_i64_f16',
      grid: 12,
      arguments: {
        ...{
          dim: 12,
          input: memory(
            'long',
            range(12).map((i) => 6001 * (i - 6)),
          ),
        },
        output: writes('half', halves(range(12).map((i) => 6001 * (i - 6)))),
      },
    },
  ],
  [`${folder}/affine.metal`]: [
    {
      kernel: 'elu_f32',
      ...half,
      arguments: {
        ...{ ...size, mul: 0.5, input: memory('float', x) },
        output: writes(
          'float',
          x.map((v) => (v > 0 ? v : 0.5 * (Math.exp(v) - 1))),
          1e-6,
        ),
      },
    },
    {
      kernel: 'affine_u8',
      grid: 10,
      arguments: {
        ...{ dim: 10, mul: 2.5, add: 1, input: Uint8Array.from(range(10)) },
        output: writes(
          'uchar',
          range(10).map((i) => Math.floor(2.5 * i + 1)),
        ),
      },
    },
  ],
  [`${folder}/ternary.metal`]: [
    {
      kernel: 'where_u8_f16',
      constants: { IDS_CONTIGUOUS: true, T_CONTIGUOUS: false, F_CONTIGUOUS: true },
      grid: 15,
      arguments: {
        ...{ numel: 60, num_dims: 2, dims: [5, 12], strides: [12, 1], strides_t: [1, 5], strides_f: [12, 1] },
        ...{
          ids: Uint8Array.from(range(60), (i) => i % 3),
          t: memory('half', table),
          f: memory('half', rows.slice(0, 60)),
        },
        out: writes('half', halves(range(60).map((i) => (i % 3 > 0 ? x[i]! : rows[i]!)))),
      },
    },
  ],
  [`${folder}/indexing.metal`]: [
    {
      kernel: 'is_u32_f32',
      grid: 20,
      arguments: {
        ...{ dst_size: 20, left_size: 1, src_dim_size: 12, right_size: 5, ids_size: 4, contiguous: true },
        ...{ src_dims: [12, 5], src_strides: [5, 1], input: memory('float', table), input_ids: Uint32Array.from(ids) },
        output: writes(
          'float',
          ids.flatMap((id) => range(5).map((i) => (id < 12 ? table[id * 5 + i]! : 0))),
        ),
      },
    },
    {
      kernel: 'ia_u32_f32',
      grid: 5,
      arguments: {
        ...{ dst_size: 5, left_size: 1, src_dim_size: 4, right_size: 5, dst_dim_size: 3, ids_dim_size: 4 },
        ...{ input: memory('float', x.slice(0, 20)), input_ids: Uint32Array.of(2, 0, 2, 2) },
        output: writes(
          'float',
          range(15).map((i) =>
            sum([2, 0, 2, 2].map((id, row) => (id === Math.floor(i / 5) ? x[row * 5 + (i % 5)]! : 0))),
          ),
          1e-6,
        ),
      },
    },
  ],
};
