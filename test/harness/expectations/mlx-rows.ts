import {
  bfloats,
  type Expectation,
  type Expectations,
  halves,
  memory,
  numbers,
  perRow,
  range,
  softmax,
  sum,
  transposed,
  wholes,
  writes,
} from './expectation.ts';

const folder = 'mlx/mlx/backend/metal/kernels';
const rows = numbers(3 * 300, 22);
const weights = numbers(300, 23);
const biases = numbers(300, 24);
const parts = wholes(3 * 300, 1000, 25);

/** A group of threads for each row. */
function byRow(kernel: string, threads: number, rest: Omit<Expectation, 'kernel' | 'grid' | 'threadgroup'>) {
  return { kernel, grid: 3 * threads, threadgroup: threads, ...rest };
}

function normalised(row: readonly number[]): number[] {
  const mean = sum(row) / row.length;
  const deviation = Math.sqrt(sum(row.map((v) => (v - mean) ** 2)) / row.length + 1e-5);
  return row.map((v) => (v - mean) / deviation);
}

/** The scan of a row: each element combined with those before it, or only those before it if not `inclusive`. */
function scanned<T>(row: readonly T[], first: T, apply: (a: T, b: T) => T, inclusive: boolean): T[] {
  let all = first;
  return row.map((value) => {
    const before = all;
    all = apply(all, value);
    return inclusive ? all : before;
  });
}

export const mlxRows: Expectations = {
  [`${folder}/softmax.metal`]: [
    byRow('block_softmax_float32', 96, {
      arguments: {
        ...{ in: memory('float', rows), axis_size: 300 },
        out: writes('float', perRow(rows, 300, softmax), 1e-5),
      },
    }),
    byRow('looped_softmax_precise_float16', 1024, {
      arguments: {
        ...{ in: memory('half', rows), axis_size: 300 },
        out: writes('half', perRow(halves(rows), 300, softmax), 1e-3),
      },
    }),
  ],
  [`${folder}/logsumexp.metal`]: [
    byRow('block_logsumexp_float32', 96, {
      arguments: {
        ...{ in: memory('float', rows), axis_size: 300 },
        out: writes(
          'float',
          perRow(rows, 300, (row) => [Math.log(sum(row.map(Math.exp)))]),
          1e-6,
        ),
      },
    }),
  ],
  [`${folder}/rms_norm.metal`]: [
    byRow('rmsfloat32', 96, {
      arguments: {
        ...{ x: memory('float', rows), w: memory('float', weights), eps: 1e-5, axis_size: 300, w_stride: 1 },
        out: writes(
          'float',
          perRow(rows, 300, (row) => {
            const size = Math.sqrt(sum(row.map((v) => v * v)) / 300 + 1e-5);
            return row.map((v, i) => (v / size) * weights[i]!);
          }),
          1e-5,
        ),
      },
    }),
  ],
  [`${folder}/layer_norm.metal`]: [
    byRow('layer_norm_loopedbfloat16', 1024, {
      arguments: {
        ...{ x: memory('bfloat', rows), w: memory('bfloat', weights), b: memory('bfloat', biases) },
        ...{ eps: 1e-5, axis_size: 300, w_stride: 1, b_stride: 1 },
        out: writes(
          'bfloat',
          perRow(bfloats(rows), 300, (row) =>
            normalised(row).map((v, i) => v * bfloats(weights)[i]! + bfloats(biases)[i]!),
          ),
          8e-3,
        ),
      },
    }),
  ],
  [`${folder}/arg_reduce.metal`]: [
    {
      kernel: 'argmax_float32',
      grid: [64, 3],
      threadgroup: [64, 1],
      arguments: {
        ...{ in: memory('float', rows), shape: [3], in_strides: [300], out_strides: [1], ndim: 1 },
        ...{ axis_stride: 1, axis_size: 300 },
        out: writes(
          'uint',
          perRow(rows, 300, (row) => [row.indexOf(Math.max(...row))]),
        ),
      },
    },
    {
      kernel: 'argmin_int16',
      grid: [32, 300],
      threadgroup: [32, 1],
      arguments: {
        ...{ in: memory('short', parts), shape: [300], in_strides: [1], out_strides: [1], ndim: 1 },
        ...{ axis_stride: 300, axis_size: 3 },
        out: writes(
          'uint',
          perRow(transposed(parts, 3), 3, (row) => [row.indexOf(Math.min(...row))]),
        ),
      },
    },
  ],
  [`${folder}/scan.metal`]: [
    {
      kernel: 'contig_scan_inclusive_sum_float32_float32',
      grid: [64, 3],
      threadgroup: [64, 1],
      arguments: {
        ...{ in: memory('float', rows), axis_size: 300 },
        out: writes(
          'float',
          perRow(rows, 300, (row) => scanned(row, 0, (a, b) => a + b, true)),
          1e-5,
        ),
      },
    },
    {
      kernel: 'contig_scan_exclusive_max_int32_int32',
      grid: [32, 3],
      threadgroup: [32, 1],
      arguments: {
        ...{ in: memory('int', parts), axis_size: 300 },
        out: writes(
          'int',
          perRow(parts, 300, (row) => scanned(row, -(2 ** 31), Math.max, false)),
        ),
      },
    },
    {
      kernel: 'contig_scan_reverse_inclusive_sum_int64_int64',
      grid: [64, 3],
      threadgroup: [64, 1],
      arguments: {
        ...{
          in: memory(
            'long',
            parts.map((v) => v * 1e10),
          ),
          axis_size: 300,
        },
        out: writes(
          'long',
          perRow(parts, 300, (row) => scanned([...row].reverse(), 0, (a, b) => a + b * 1e10, true).reverse()),
        ),
      },
    },
    {
      kernel: 'strided_scan_reverse_exclusive_prod_int32_int32',
      grid: [256, 2],
      threadgroup: [256, 1],
      arguments: {
        ...{ in: memory('int', parts.slice(0, 45 * 20)), axis_size: 45, stride: 10, stride_blocks: 1 },
        out: writes(
          'int',
          [0, 1].flatMap((half) =>
            transposed(
              perRow(transposed(parts.slice(half * 450, half * 450 + 450), 45), 45, (row) =>
                scanned([...row].reverse(), 1, Math.imul, false).reverse(),
              ),
              10,
            ),
          ),
        ),
      },
    },
  ],
  [`${folder}/sort.metal`]: [
    {
      kernel: 'c_block_sort_float32_float32_bn128_tn4',
      grid: [128, 3],
      threadgroup: [128, 1],
      arguments: {
        ...{ inp: memory('float', rows), size_sorted_axis: 300, in_stride_sorted_axis: 1, out_stride_sorted_axis: 1 },
        ...{ in_stride_segment_axis: 300, out_stride_segment_axis: 300 },
        out: writes(
          'float',
          perRow(rows, 300, (row) => [...row].sort((a, b) => a - b)),
        ),
      },
    },
    {
      kernel: 'carg_block_sort_int64_uint32_bn64_tn4',
      grid: [64, 4],
      threadgroup: [64, 1],
      arguments: {
        ...{ inp: memory('long', parts.slice(0, 800)), size_sorted_axis: 200, in_stride_sorted_axis: 1 },
        ...{ out_stride_sorted_axis: 1, in_stride_segment_axis: 200, out_stride_segment_axis: 200 },
        out: writes(
          'uint',
          perRow(parts.slice(0, 800), 200, (row) => range(200).sort((a, b) => row[a]! - row[b]! || a - b)),
        ),
      },
    },
  ],
  [`${folder}/searchsorted.metal`]: ['left', 'right'].map((side) => ({
    kernel: `searchsorted_float32_${side}`,
    grid: [50, 1, 1],
    arguments: {
      ...{
        a: memory(
          'float',
          range(20).map((i) => Math.floor(i / 2)),
        ),
        n: 20,
        a_stride: 1,
      },
      v: memory(
        'float',
        range(50).map((i) => i / 4 - 1),
      ),
      out: writes(
        'uint',
        range(50).map((i) => {
          const value = i / 4 - 1;
          return range(20).filter((k) => (side === 'left' ? Math.floor(k / 2) < value : Math.floor(k / 2) <= value))
            .length;
        }),
      ),
    },
  })),
  [`${folder}/reduce.metal`]: [
    {
      kernel: 'row_reduce_simple_maxint32',
      grid: [64, 3],
      threadgroup: [64, 1],
      arguments: {
        ...{ in: memory('int', parts), reduction_size: 90, out_size: 10 },
        out: writes(
          'int',
          perRow(parts, 90, (row) => [Math.max(...row)]),
        ),
      },
    },
  ],
};
