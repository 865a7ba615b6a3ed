import {
  type Expectation,
  type Expectations,
  halves,
  memory,
  numbers,
  product,
  range,
  softmax,
  sum,
  transposed,
  wholes,
  writes,
} from './expectation.ts';

const folder = 'mlx/mlx/backend/metal/kernels';
const x = numbers(100, 21);
const rows = numbers(3 * 300, 22);
const biases = numbers(300, 24);
/** The Fourier transform of complex numbers, as pairs. */
function fourier(values: readonly number[]): number[] {
  const n = values.length / 2;
  return range(n).flatMap((k) => {
    const turn = (j: number) => (-2 * Math.PI * ((j * k) % n)) / n;
    const at = (j: number) => [values[2 * j]!, values[2 * j + 1]!] as const;
    return [
      sum(range(n).map((j) => at(j)[0] * Math.cos(turn(j)) - at(j)[1] * Math.sin(turn(j)))),
      sum(range(n).map((j) => at(j)[0] * Math.sin(turn(j)) + at(j)[1] * Math.cos(turn(j)))),
    ];
  });
}

const steps = Object.fromEntries(
  [13, 11, 8, 7, 6, 5, 4, 3, 2].flatMap((radix) => [
    [`radix_${radix}_steps_`, 0],
    [`rader_${radix}_steps_`, 0],
  ]),
);

function fft(n: number, threads: number, constants: { readonly [name: string]: number }): Expectation {
  const values = numbers(4 * n, n);
  return {
    kernel: 'fft_mem_256_float2_float2',
    constants: { inv_: false, is_power_of_2_: n === 64, elems_per_thread_: n / threads, ...steps, ...constants },
    grid: [2, 1, threads],
    threadgroup: [1, 1, threads],
    arguments: {
      ...{ in: memory('float', values), n, batch_size: 2 },
      out: writes('float', [...fourier(values.slice(0, 2 * n)), ...fourier(values.slice(2 * n))], 1e-6),
    },
  };
}

/** Threefry with 20 rounds, as in its paper. */
function threefry(key: readonly [number, number], counter: readonly [number, number]): [number, number] {
  const keys = [key[0], key[1], (key[0] ^ key[1] ^ 0x1bd11bda) >>> 0];
  let [a, b] = [(counter[0] + keys[0]!) >>> 0, (counter[1] + keys[1]!) >>> 0];
  const rotations = [13, 15, 26, 6, 17, 29, 16, 24];
  for (let round = 0; round < 20; round++) {
    const bits = rotations[round % 8]!;
    a = (a + b) >>> 0;
    b = (((b << bits) | (b >>> (32 - bits))) ^ a) >>> 0;
    if (round % 4 !== 3) continue;
    const block = (round + 1) / 4;
    a = (a + keys[block % 3]!) >>> 0;
    b = (b + keys[(block + 1) % 3]! + block) >>> 0;
  }
  return [a, b];
}

const heads = numbers(2 * 3 * 5 * 8, 26); // 2 sequences, 3 heads, 5 tokens, 8 numbers

/**
 * Numbers of tokens: each number is rotated with the one 4 places after it, by an angle that depends on token and
 * place.
 */
function turned(): number[] {
  const out = heads.slice();
  for (let row = 0; row < 30; row++)
    for (let pair = 0; pair < 4; pair++) {
      const position = (row % 5) + (row < 15 ? 2 : 7);
      const angle = position * 10000 ** (-pair / 4);
      const [a, b] = [heads[row * 8 + pair]!, heads[row * 8 + pair + 4]!];
      out[row * 8 + pair] = a * Math.cos(angle) - b * Math.sin(angle);
      out[row * 8 + pair + 4] = a * Math.sin(angle) + b * Math.cos(angle);
    }
  return out;
}

const matrix = numbers(40 * 48, 27);
const vector = numbers(48, 28);
const noBatch = {
  ...{ batch_ndim: 1, batch_shape: [1], vector_batch_stride: [0], matrix_batch_stride: [0], bias_batch_stride: [0] },
};

// Rows of 512 whole numbers of 4 bits, with a scale and an offset for each 32.
const quanta = wholes(16 * 512, 16, 29);
const scales = numbers(16 * 16, 30);
const offsets = numbers(16 * 16, 31);
const quantized = quanta.map((v, i) => v * scales[Math.floor(i / 32)]! + offsets[Math.floor(i / 32)]!);
const input = numbers(512, 32);

function packed(values: readonly number[], bits: number): Uint8Array {
  const all = new Uint8Array((values.length * bits) / 8);
  values.forEach((value, i) => {
    for (let bit = 0; bit < bits; bit++)
      if ((value >> bit) & 1) all[(i * bits + bit) >> 3]! |= 1 << ((i * bits + bit) & 7);
  });
  return all;
}

const quanta3 = wholes(256, 8, 33);

const [queries, keys, values] = [numbers(4 * 64, 34), numbers(2 * 45 * 64, 35), numbers(2 * 45 * 64, 36)];
const attended = range(4).flatMap((head) => {
  const part = (all: readonly number[]) => all.slice(Math.floor(head / 2) * 45 * 64).slice(0, 45 * 64);
  const scores = product(queries.slice(head * 64, head * 64 + 64), transposed(part(keys), 45), 1, 45);
  return product(softmax(scores.map((v) => v / 8)), part(values), 1, 64);
});

const left = halves(numbers(48 * 40, 37));
const right = halves(numbers(56 * 40, 38)); // transposed
const whole = wholes(60, 200, 39).map((v) => v - 100);
const divisors = wholes(60, 15, 40).map((v) => v - 7 || 3);

export const mlxProducts: Expectations = {
  [`${folder}/rope.metal`]: [
    {
      kernel: 'rope_float32',
      constants: { forward: true, traditional: false, hs_transpose: false },
      grid: [4, 5, 2],
      arguments: {
        ...{ in: memory('float', heads), offset: Int32Array.of(2, 7), scale: 1, strides: [40, 8, 1] },
        ...{ out_strides: [40, 8, 1], offset_stride: 1, n_head: 3, base: Math.log2(10000) },
        out: writes('float', turned(), 1e-5),
      },
    },
  ],
  [`${folder}/fft.metal`]: [
    fft(64, 8, { radix_8_steps_: 2 }),
    fft(30, 6, { radix_2_steps_: 1, radix_3_steps_: 1, radix_5_steps_: 1 }),
  ],
  [`${folder}/arange.metal`]: [
    {
      kernel: 'arangefloat16',
      grid: 50,
      arguments: {
        start: -3,
        step: 0.25,
        out: writes(
          'half',
          range(50).map((i) => i / 4 - 3),
        ),
      },
    },
  ],
  [`${folder}/random.metal`]: [
    {
      kernel: 'rbitsc',
      grid: [2, 3],
      arguments: {
        ...{ keys: Uint32Array.of(0, 0, 0x13198a2e, 0x03707344), odd: true, bytes_per_key: 20 },
        out: writes(
          'uint',
          [[0, 0] as const, [0x13198a2e, 0x03707344] as const].flatMap((key) => {
            const pairs = range(3).map((i) => threefry(key, [i, i === 2 ? 0 : i + 3]));
            return [...pairs.map(([a]) => a), pairs[0]![1], pairs[1]![1]];
          }),
        ),
      },
    },
  ],
  [`${folder}/gemv.metal`]: [
    {
      kernel: 'gemv_float32_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby1',
      grid: [3 * 32, 1, 4],
      threadgroup: [32, 1, 4],
      arguments: {
        ...{
          mat: memory('float', matrix),
          in_vec: memory('float', vector),
          bias: memory('float', biases.slice(0, 40)),
        },
        ...{ in_vec_size: 48, out_vec_size: 40, marix_ld: 48, alpha: 0.5, beta: 2, ...noBatch, bias_stride: 1 },
        out_vec: writes(
          'float',
          product(matrix, vector, 40, 1).map((v, i) => v / 2 + 2 * biases[i]!),
          1e-5,
        ),
      },
    },
  ],
  [`${folder}/quantized.metal`]: [
    {
      kernel: 'affine_qmv_fast_float_gs_32_b_4_batch_0',
      grid: [32, 2 * 2, 1],
      threadgroup: [32, 2, 1],
      arguments: {
        ...{ w: new Uint32Array(packed(quanta, 4).buffer), scales: memory('float', scales) },
        ...{ biases: memory('float', offsets), x: memory('float', input), in_vec_size: 512, out_vec_size: 16 },
        ...{ x_batch_ndims: 0, x_shape: [1], x_strides: [0], w_batch_ndims: 0, w_shape: [1], w_strides: [0] },
        ...{ s_strides: [0], b_strides: [0], y: writes('float', product(quantized, input, 16, 1), 1e-5) },
      },
    },
    {
      kernel: 'affine_dequantize_float_gs_64_b_3',
      grid: [32, 1],
      arguments: {
        ...{ w: packed(quanta3, 3), scales: memory('float', scales.slice(0, 4)) },
        biases: memory('float', offsets.slice(0, 4)),
        out: writes(
          'float',
          quanta3.map((v, i) => v * scales[Math.floor(i / 64)]! + offsets[Math.floor(i / 64)]!),
          1e-6,
        ),
      },
    },
  ],
  [`${folder}/scaled_dot_product_attention.metal`]: [
    {
      kernel: 'sdpa_vector_float_64_64',
      constants: {
        ...{ has_mask: false, query_transposed: false, do_causal: false, bool_mask: false, float_mask: false },
        has_sinks: false,
      },
      grid: [4 * 1024, 1],
      threadgroup: [1024, 1],
      arguments: {
        ...{ queries: memory('float', queries), keys: memory('float', keys), values: memory('float', values) },
        ...{ gqa_factor: 2, N: 45, k_head_stride: 45 * 64, k_seq_stride: 64, v_head_stride: 45 * 64 },
        ...{ v_seq_stride: 64, scale: 1 / 8, out: writes('float', attended, 1e-5) },
      },
    },
  ],
  [`${folder}/binary.metal`]: [
    {
      kernel: 'g2_Remainderint32',
      grid: [6, 10],
      arguments: {
        ...{ a: memory('int', transposed(whole, 10)), b: memory('int', divisors), a_strides: [1, 10] },
        b_strides: [6, 1],
        c: writes(
          'int',
          whole.map((v, i) => v - divisors[i]! * Math.floor(v / divisors[i]!)),
        ),
      },
    },
    {
      kernel: 'vv_Multiplycomplex64',
      grid: 50,
      arguments: {
        ...{ a: memory('float', x), b: memory('float', rows.slice(0, 100)), size: 50 },
        c: writes(
          'float',
          range(50).flatMap((i) => {
            const [a, b, c, d] = [x[2 * i]!, x[2 * i + 1]!, rows[2 * i]!, rows[2 * i + 1]!];
            return [a * c - b * d, a * d + b * c];
          }),
          1e-6,
        ),
      },
    },
    {
      kernel: 'vv_LogAddExpfloat32',
      grid: 100,
      arguments: {
        ...{ a: memory('float', x), b: memory('float', rows.slice(0, 100)), size: 100 },
        c: writes(
          'float',
          x.map((v, i) => Math.log(Math.exp(v) + Math.exp(rows[i]!))),
          1e-6,
        ),
      },
    },
  ],
  [`${folder}/unary.metal`]: [
    {
      kernel: 'v_FromFP8uint8float32',
      grid: 256,
      arguments: {
        ...{ in: Uint8Array.from(range(256)), size: 256 },
        out: writes(
          'float',
          range(256).map((i) => {
            const [exponent, fraction] = [(i >> 3) & 15, i & 7];
            const size = exponent === 0 ? fraction * 2 ** -9 : (8 + fraction) * 2 ** (exponent - 10);
            return i < 128 ? size : -size;
          }),
        ),
      },
    },
  ],
  [`${folder}/copy.metal`]: [
    {
      kernel: 'g3_copyfloat32int8',
      grid: [5, 6, 2],
      arguments: {
        ...{ src: memory('float', whole), src_strides: [1, 10, 2] },
        dst: writes(
          'char',
          range(60).map((i) => whole[Math.floor(i / 30) + (Math.floor(i / 5) % 6) * 10 + (i % 5) * 2]!),
        ),
      },
    },
  ],
  [`${folder}/steel/gemm/kernels/steel_gemm_fused.metal`]: [
    {
      kernel: 'steel_gemm_fused_nt_float16_float16_bm64_bn64_bk16_wm2_wn2',
      constants: {
        ...{ has_batch: false, use_out_source: false, do_axpby: false, align_M: false, align_N: false },
        align_K: false,
      },
      grid: [32, 2, 2],
      threadgroup: [32, 2, 2],
      arguments: {
        ...{ A: memory('half', left), B: memory('half', right) },
        params: [
          {
            ...{ M: 48, N: 56, K: 40, lda: 40, ldb: 40, ldd: 56, tiles_n: 1, tiles_m: 1, batch_stride_a: 0 },
            ...{ batch_stride_b: 0, batch_stride_d: 0, swizzle_log: 0, gemm_k_iterations_aligned: 2, batch_ndim: 1 },
          },
        ],
        D: writes('half', product(left, transposed(right, 56), 48, 56), 2e-3),
      },
    },
  ],
};
