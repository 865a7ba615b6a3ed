import {
  bytes,
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
  toHalf,
  transposed,
  wholes,
  writes,
} from './expectation.ts';

const rows = numbers(4 * 96, 41);
const of96 = { ne00: 96, ne01: 4, ne02: 1, ne03: 1, nb00: 4, nb01: 384, nb02: 1536, nb03: 1536 };

/** Sizes and strides in bytes of what is written: a matrix of floats. */
function result(columns: number, count: number): { readonly [field: string]: number } {
  const nb3 = columns * count * 4;
  return { ne0: columns, ne1: count, ne2: 1, ne3: 1, nb0: 4, nb1: columns * 4, nb2: nb3, nb3 };
}

/** A group of 64 threads for each of the 4 rows, with shared memory for the sums of its simdgroups. */
function byRow(kernel: string, memoryName: string, rest: Omit<Expectation, 'kernel' | 'grid' | 'threadgroup'>) {
  const shared = { [memoryName]: { threadgroupBytes: 256 } };
  return { ...rest, kernel, grid: 4 * 64, threadgroup: 64, arguments: { ...rest.arguments, ...shared } };
}

const norm = {
  ...{ ne00: 96, ne00_t: 96, nb1: 384, nb2: 1536, nb3: 1536, eps: 1e-5 },
  ...{ nef1: [4, 1, 1], nef2: [1, 1, 1], nef3: [1, 1, 1] },
  ...{ nbf1: [384, 384, 384], nbf2: [1536, 384, 384], nbf3: [1536, 384, 384] },
};
const factor = numbers(96, 42);

// Rows of 256 numbers of the quantised formats, in blocks of 32 with a half as their scale.
const input = numbers(256, 43);
const nibbles = wholes(8 * 256, 16, 44);
const signed = wholes(8 * 256, 255, 45).map((v) => v - 127);
const scales = halves(numbers(8 * 8, 46));

function blocks(values: readonly number[], block: (values: readonly number[]) => readonly number[]): Uint8Array {
  const half = (i: number) => [toHalf(scales[i]!) & 255, toHalf(scales[i]!) >> 8];
  return Uint8Array.from(
    range(values.length / 32).flatMap((i) => [...half(i), ...block(values.slice(i * 32, i * 32 + 32))]),
  );
}

const q4 = blocks(nibbles, (values) => range(16).map((i) => values[i]! + 16 * values[i + 16]!));
const q8 = blocks(signed, (values) => values.map((v) => v & 255));
const of4 = nibbles.map((v, i) => (v - 8) * scales[Math.floor(i / 32)]!);
const of8 = signed.map((v, i) => v * scales[Math.floor(i / 32)]!);

// 4 rows of 256 numbers of 6 bits; each 16 numbers have their own scale.
const sixes = wholes(4 * 256, 64, 47);
const fine = wholes(4 * 16, 200, 48).map((v) => v - 100);
const of6 = sixes.map((v, i) => (v - 32) * fine[Math.floor(i / 16)]! * scales[Math.floor(i / 256)]!);
const q6 = Uint8Array.from(
  range(4).flatMap((row) => {
    const at = (i: number) => sixes[row * 256 + i]!;
    const low = range(128).map((i) => {
      const first = Math.floor(i / 64) * 128 + (i % 64);
      return (at(first) & 15) | ((at(first + 64) & 15) << 4);
    });
    const high = range(64).map((i) => {
      const first = Math.floor(i / 32) * 128 + (i % 32);
      return range(4).reduce((all, k) => all | ((at(first + 32 * k) >> 4) << (2 * k)), 0);
    });
    const bits = toHalf(scales[row]!);
    return [...low, ...high, ...fine.slice(row * 16, row * 16 + 16).map((v) => v & 255), bits & 255, bits >> 8];
  }),
);

function matrixVector(
  format: string,
  matrix: Uint8Array,
  count: number,
  perGroup: number,
  groups: number,
  values: readonly number[],
  shared: Expectation['arguments'],
): Expectation {
  const stride = matrix.length / count;
  return {
    kernel: `kernel_mul_mv_${format}_f32`,
    constants: { FC_mul_mv_nsg: groups, FC_mul_mv_ne12: 1, FC_mul_mv_r2: 1, FC_mul_mv_r3: 1 },
    grid: [(count / perGroup) * 32, groups],
    threadgroup: [32, groups],
    arguments: {
      args: {
        ...{ ne00: 256, ne01: count, ne02: 1, nb00: 1, nb01: stride, nb02: matrix.length, nb03: matrix.length },
        ...{ ne10: 256, ne11: 1, ne12: 1, nb10: 4, nb11: 1024, nb12: 1024, nb13: 1024 },
        ...{ ne0: count, ne1: 1, nr0: perGroup, r2: 1, r3: 1 },
      },
      ...{ src0: matrix, src1: bytes('float', input), dst: writes('float', product(values, input, count, 1), 1e-5) },
      ...shared,
    },
  };
}

const shmem = { shmem: { threadgroupBytes: 1024 } };

/** The Walsh-Hadamard transform of a row, in its natural order. */
function hadamard(row: readonly number[]): number[] {
  const ones = (value: number) => value.toString(2).replaceAll('0', '').length;
  return row.map((_, i) => sum(row.map((v, k) => (ones(i & k) % 2 === 0 ? v : -v))) / Math.sqrt(row.length));
}

const triangle = range(20 * 20).map((i) => {
  const [row, column] = [Math.floor(i / 20), i % 20];
  return row === column ? 2 + row / 10 : row > column ? rows[i % 384]! : 0;
});
const solution = numbers(20 * 4, 49);

const tall = halves(numbers(70 * 64, 50));
const wide = halves(numbers(40 * 64, 51));

const quantised = numbers(3 * 64, 52);
const q8Of = range(6).flatMap((block) => {
  const values = quantised.slice(block * 32, block * 32 + 32);
  const scale = Math.fround(Math.max(...values.map(Math.abs)) / 127);
  const inverse = Math.fround(1 / scale);
  const bits = toHalf(scale);
  const whole = values.map((v) => Math.fround(v * inverse)).map((v) => Math.sign(v) * Math.round(Math.abs(v)));
  return [bits & 255, bits >> 8, ...whole.map((v) => v & 255)];
});

const turning = numbers(2 * 3 * 16, 53); // 3 tokens, 2 heads, 16 numbers
const turned = turning.slice();
for (let row = 0; row < 6; row++)
  for (let pair = 0; pair < 8; pair++) {
    const angle = [5, 6, 9][Math.floor(row / 2)]! * 10000 ** (-pair / 8);
    const [a, b] = [turning[row * 16 + pair]!, turning[row * 16 + pair + 8]!];
    turned[row * 16 + pair] = a * Math.cos(angle) - b * Math.sin(angle);
    turned[row * 16 + pair + 8] = a * Math.sin(angle) + b * Math.cos(angle);
  }

export const ggml: Expectations = {
  'ggml/src/ggml-metal/ggml-metal.metal': [
    byRow('kernel_soft_max_f32', 'buf', {
      arguments: {
        args: {
          ...{ ne00: 96, ne01: 4, ne02: 1, nb01: 384, nb02: 1536, nb03: 1536, ne11: 4, ne12: 1, ne13: 1 },
          ...{ nb11: 384, nb12: 1536, nb13: 1536, nb1: 384, nb2: 1536, nb3: 1536 },
          ...{ scale: 2, max_bias: 0, m0: 0, m1: 0, n_head_log2: 1 },
        },
        ...{ src0: bytes('float', rows), src1: bytes('float', rows), src2: bytes('float', [1, 0, 0, 0]) },
        // The mask, the rows themselves, and the sink, which takes part of each sum.
        dst: writes(
          'float',
          perRow(rows, 96, (row) => softmax([...row.map((v) => 3 * v), 1]).slice(0, 96)),
          1e-5,
        ),
      },
    }),
    byRow('kernel_rms_norm_mul_f32', 'shmem_f32', {
      arguments: {
        ...{ args: norm, src0: bytes('float', rows), src1_0: bytes('float', factor), src1_1: bytes('float', factor) },
        dst: writes(
          'float',
          perRow(rows, 96, (row) => {
            const size = Math.sqrt(sum(row.map((v) => v * v)) / 96 + 1e-5);
            return row.map((v, i) => (v / size) * factor[i]!);
          }),
          1e-5,
        ),
      },
    }),
    byRow('kernel_norm_f32', 'shmem_f32', {
      arguments: {
        ...{ args: norm, src0: bytes('float', rows), src1_0: bytes('float', factor), src1_1: bytes('float', factor) },
        dst: writes(
          'float',
          perRow(rows, 96, (row) => {
            const mean = sum(row) / 96;
            const deviation = Math.sqrt(sum(row.map((v) => (v - mean) ** 2)) / 96 + 1e-5);
            return row.map((v) => (v - mean) / deviation);
          }),
          1e-5,
        ),
      },
    }),
    byRow('kernel_sum_rows_f32_f32', 'shmem', {
      constants: { FC_sum_rows_op: 10 },
      arguments: {
        ...{ args: { ...of96, ...result(1, 4) }, src0: bytes('float', rows) },
        dst: writes(
          'float',
          perRow(rows, 96, (row) => [sum(row)]),
          1e-5,
        ),
      },
    }),
    byRow('kernel_argmax_f32', 'shmem', {
      arguments: {
        ...{ args: { ne00: 96, nb01: 384 }, src0: bytes('float', rows) },
        dst: writes(
          'int',
          perRow(rows, 96, (row) => [row.indexOf(Math.max(...row))]),
        ),
      },
    }),
    {
      kernel: 'kernel_cumsum_blk_f32',
      grid: 4 * 128,
      threadgroup: 128,
      arguments: {
        args: { ...of96, ...{ net0: 1, net1: 4, net2: 1, net3: 1, nbt0: 4, nbt1: 4, nbt2: 16, nbt3: 16, outb: true } },
        ...{ src0: bytes('float', rows), shmem: { threadgroupBytes: 128 } },
        tmp: writes(
          'float',
          perRow(rows, 96, (row) => [sum(row)]),
          1e-5,
        ),
        dst: writes(
          'float',
          perRow(rows, 96, (row) => row.map((_, i) => sum(row.slice(0, i + 1)))),
          1e-5,
        ),
      },
    },
    {
      kernel: 'kernel_argsort_f32_i32_desc',
      grid: 4 * 128,
      threadgroup: 128,
      arguments: {
        args: { ...of96, ne0: 96, ne1: 4, ne2: 1, ne3: 1, top_k: 96 },
        ...{ src0: bytes('float', rows), shmem_i32: { threadgroupBytes: 512 } },
        dst: writes(
          'int',
          perRow(rows, 96, (row) => range(96).sort((a, b) => row[b]! - row[a]!)),
        ),
      },
    },
    {
      kernel: 'kernel_fwht_f32_128',
      grid: 3 * 32,
      threadgroup: 32,
      arguments: {
        ...{ args: { nrows: 3 }, src: memory('float', rows) },
        dst: writes('float', perRow(rows, 128, hadamard), 1e-5),
      },
    },
    {
      kernel: 'kernel_swiglu_f32',
      grid: 4 * 32,
      threadgroup: 32,
      arguments: {
        args: { ne00: 48, nb01: 384, ne10: 48, nb11: 384, ne0: 48, nb1: 192, i00: 0, i10: 48, alpha: 0, limit: 0 },
        ...{ src0: bytes('float', rows), src1: bytes('float', rows) },
        dst: writes(
          'float',
          perRow(rows, 96, (row) => row.slice(0, 48).map((v, i) => (v / (1 + Math.exp(-v))) * row[48 + i]!)),
          1e-6,
        ),
      },
    },
    matrixVector('q4_0', q4, 8, 8, 2, of4, shmem),
    matrixVector('q8_0', q8, 8, 2, 4, of8, shmem),
    matrixVector('q6_K', q6, 4, 4, 2, of6, {}),
    {
      kernel: 'kernel_solve_tri_f32',
      constants: { FC_solve_tri_nsg: 4, FC_solve_tri_n: 20, FC_solve_tri_k: 4 },
      grid: [32, 4],
      threadgroup: [32, 4],
      arguments: {
        args: {
          ...{ ne00: 20, ne01: 20, ne02: 1, ne03: 1, nb00: 4, nb01: 80, nb02: 1600, nb03: 1600 },
          ...{ ne10: 4, ne11: 20, ne12: 1, ne13: 1, nb10: 4, nb11: 16, nb12: 320, nb13: 320, ...result(4, 20) },
        },
        // The kernel reads a row by whole simdgroups, beyond the end of the matrix.
        src0: bytes('float', [...triangle, ...new Array(64).fill(0)]),
        src1: bytes('float', product(triangle, solution, 20, 4)),
        ...{ dst: writes('float', [...solution, ...new Array(60).fill(0)], 1e-4), shmem: { threadgroupBytes: 512 } },
      },
    },
    {
      kernel: 'kernel_mul_mm_f16_f32',
      constants: {
        ...{ FC_mul_mm_bc_inp: false, FC_mul_mm_bc_out: true, FC_mul_mm_ne12: 1, FC_mul_mm_ne13: 1 },
        ...{ FC_mul_mm_r2: 1, FC_mul_mm_r3: 1 },
      },
      grid: [2 * 128, 2],
      threadgroup: [128, 1],
      arguments: {
        args: {
          ...{ ne00: 64, ne02: 1, nb01: 128, nb02: 128 * 70, nb03: 128 * 70, ne12: 1, nb10: 4, nb11: 256 },
          ...{ nb12: 256 * 40, nb13: 256 * 40, ne0: 70, ne1: 40, r2: 1, r3: 1 },
        },
        ...{ src0: bytes('half', tall), src1: bytes('float', wide), shmem: { threadgroupBytes: 8192 } },
        dst: writes('float', product(wide, transposed(tall, 70), 40, 70), 1e-5),
      },
    },
    {
      kernel: 'kernel_cpy_f32_q8_0',
      grid: 3 * 32,
      threadgroup: [32, 1],
      arguments: {
        args: {
          ...{ nk0: 2, ne00: 64, ne01: 3, ne02: 1, ne03: 1, nb00: 4, nb01: 256, nb02: 768, nb03: 768 },
          ...{ ne0: 64, ne1: 3, ne2: 1, ne3: 1, nb0: 34, nb1: 68, nb2: 204, nb3: 204 },
        },
        ...{ src0: bytes('float', quantised), dst: writes('uchar', q8Of) },
      },
    },
    {
      kernel: 'kernel_get_rows_q4_0',
      grid: 3 * 32,
      threadgroup: 32,
      arguments: {
        args: {
          ...{ ne00t: 16, ne00: 256, nb01: 144, nb02: 1152, nb03: 1152, ne10: 3, nb10: 4, nb11: 12, nb12: 12 },
          ...{ nb1: 1024, nb2: 3072, nb3: 3072 },
        },
        ...{ src0: q4, src1: bytes('int', [5, 0, 7]) },
        dst: writes(
          'float',
          [5, 0, 7].flatMap((row) => of4.slice(row * 256, row * 256 + 256)),
          1e-3,
        ),
      },
    },
    {
      kernel: 'kernel_rope_neox_f32',
      constants: { FC_rope_is_back: false },
      grid: [2 * 32, 3],
      threadgroup: [32, 1],
      arguments: {
        args: {
          ...{ ne00: 16, ne01: 2, ne02: 3, ne03: 1, nb00: 4, nb01: 64, nb02: 128, nb03: 384 },
          ...{ ne0: 16, ne1: 2, ne2: 3, ne3: 1, nb0: 4, nb1: 64, nb2: 128, nb3: 384 },
          ...{ n_past: 0, n_dims: 16, n_offs: 0, n_ctx_orig: 0, freq_base: 10000, freq_scale: 1, ext_factor: 0 },
          ...{ attn_factor: 1, beta_fast: 0, beta_slow: 0, sect_0: 0, sect_1: 0, sect_2: 0, sect_3: 0 },
          ...{ src2: false, inplace: false },
        },
        ...{ src0: bytes('float', turning), src1: bytes('int', [5, 6, 9]), src2: bytes('float', [1]) },
        dst: writes('float', turned, 1e-5),
      },
    },
  ],
};
