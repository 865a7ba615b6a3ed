import { CovariumError, type Device } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { LeftOut } from '../left-out.ts';
import { type LaidOut, partsOf, roundingTolerance, type Suite } from '../suite.ts';

const head = `#include <metal_stdlib>
using namespace metal;
#define PLACES uint i [[thread_position_in_grid]], uint lane [[thread_position_in_threadgroup]], \\
  uint group [[threadgroup_position_in_grid]], uint in_simd [[thread_index_in_simdgroup]], \\
  uint simd [[simdgroup_index_in_threadgroup]]
#define WAIT threadgroup_barrier(mem_flags::mem_threadgroup)
`;

const tree = (value: string, combine: string) => `t[lane] = ${value}; WAIT;
  for (uint stride = 128; stride > 0; stride >>= 1) {
    if (lane < stride) t[lane] = ${combine};
    WAIT;
  }`;

interface Case {
  readonly text: string;
  readonly grid: (n: number) => readonly number[];
  readonly threadgroup?: readonly number[];
  readonly length: (n: number) => number;
}

const product = { length: (n: number) => n * n, grid: (n: number) => [n, n] };
const reduction = { length: (n: number) => (n * n) / 256 };
const softmax = { length: (n: number) => n * n };
const inGroups = { grid: (n: number) => [n * n], threadgroup: [256] };
const rowPerGroup = { grid: (n: number) => [n * 256], threadgroup: [256] };

/**
 * Work that the threads of a group do together, beside the same work as a loop in each thread: on the cpu device that
 * is a loop in C++ with the same flags, on the same threads.
 */
const cases: Readonly<Record<string, Case>> = {
  'product, a loop': {
    ...product,
    grid: (n) => [n],
    text: `kernel void f(device const float* a, device const float* b, device float* out, constant uint& n,
  uint i [[thread_position_in_grid]]) {
  for (uint j = 0; j < n; ++j) out[i * n + j] = 0;
  for (uint k = 0; k < n; ++k)
    for (uint j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
}`,
  },
  'product, tiled': {
    ...product,
    threadgroup: [16, 16],
    text: `kernel void f(device const float* a, device const float* b, device float* out, constant uint& n,
  uint2 at [[thread_position_in_grid]], uint2 inside [[thread_position_in_threadgroup]]) {
  threadgroup float ta[16][16], tb[16][16];
  float sum = 0;
  for (uint first = 0; first < n; first += 16) {
    ta[inside.y][inside.x] = a[at.y * n + first + inside.x];
    tb[inside.y][inside.x] = b[(first + inside.y) * n + at.x];
    WAIT;
    for (uint k = 0; k < 16; ++k) sum += ta[inside.y][k] * tb[k][inside.x];
    WAIT;
  }
  out[at.y * n + at.x] = sum;
}`,
  },
  'reduction, a loop': {
    ...reduction,
    grid: (n) => [(n * n) / 256],
    text: `kernel void f(device const float* a, device float* out, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < 256; ++k) sum += a[i * 256 + k];
  out[i] = sum;
}`,
  },
  'reduction, a tree': {
    ...{ ...reduction, ...inGroups },
    text: `kernel void f(device const float* a, device float* out, PLACES) {
  threadgroup float t[256];
  ${tree('a[i]', 't[lane] + t[lane + stride]')}
  if (lane == 0) out[group] = t[0];
}`,
  },
  'reduction, simd_sum': {
    ...{ ...reduction, ...inGroups },
    text: `kernel void f(device const float* a, device float* out, PLACES) {
  threadgroup float t[8];
  const float part = simd_sum(a[i]);
  if (in_simd == 0) t[simd] = part;
  WAIT;
  if (lane == 0) {
    float sum = 0;
    for (uint k = 0; k < 8; ++k) sum += t[k];
    out[group] = sum;
  }
}`,
  },
  'softmax, a loop': {
    ...softmax,
    grid: (n) => [n],
    text: `kernel void f(device const float* a, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  float most = a[i * n], sum = 0;
  for (uint k = 1; k < n; ++k) most = max(most, a[i * n + k]);
  for (uint k = 0; k < n; ++k) sum += out[i * n + k] = exp(a[i * n + k] - most);
  for (uint k = 0; k < n; ++k) out[i * n + k] /= sum;
}`,
  },
  'softmax, a group a row': {
    ...{ ...softmax, ...rowPerGroup },
    text: `kernel void f(device const float* a, device float* out, constant uint& n, PLACES) {
  threadgroup float t[256];
  float most = -INFINITY, sum = 0;
  for (uint k = lane; k < n; k += 256) most = max(most, a[group * n + k]);
  ${tree('most', 'max(t[lane], t[lane + stride])')}
  most = t[0];
  WAIT;
  for (uint k = lane; k < n; k += 256) sum += out[group * n + k] = exp(a[group * n + k] - most);
  ${tree('sum', 't[lane] + t[lane + stride]')}
  for (uint k = lane; k < n; k += 256) out[group * n + k] /= t[0];
}`,
  },
  'softmax, simd_max': {
    ...{ ...softmax, ...rowPerGroup },
    text: `kernel void f(device const float* a, device float* out, constant uint& n, PLACES) {
  threadgroup float t[8];
  float most = -INFINITY, sum = 0;
  for (uint k = lane; k < n; k += 256) most = max(most, a[group * n + k]);
  most = simd_max(most);
  if (in_simd == 0) t[simd] = most;
  WAIT;
  for (uint k = 0; k < 8; ++k) most = max(most, t[k]);
  WAIT;
  for (uint k = lane; k < n; k += 256) sum += out[group * n + k] = exp(a[group * n + k] - most);
  sum = simd_sum(sum);
  if (in_simd == 0) t[simd] = sum;
  WAIT;
  sum = 0;
  for (uint k = 0; k < 8; ++k) sum += t[k];
  for (uint k = lane; k < n; k += 256) out[group * n + k] /= sum;
}`,
  },
};

async function laidOut(problem: Problem, device: Device): Promise<LaidOut> {
  const n = problem.dimension!;
  const { text, grid, threadgroup, length } = cases[problem.case]!;
  const kernel = await device.kernel(head + text).catch((error) => {
    if (error instanceof CovariumError && error.code === 'ERR_NO_COMPILER') throw new LeftOut(error.message);
    throw error;
  });
  const [a, b, out] = [device.vector(n * n), device.vector(n * n), device.vector(length(n))];
  const { a: left, b: right } = problem.inputs();
  a.data.set(left!);
  b.data.set(right!);
  const all = { a, b, out, n };
  const given = Object.fromEntries(kernel.argumentNames.map((name) => [name, all[name as keyof typeof all]]));
  const launch = { grid: grid(n), ...(threadgroup && { threadgroup }), arguments: given };
  return {
    run: () =>
      partsOf(
        device
          .commandBuffer()
          .launch(kernel, launch as Parameters<typeof kernel.run>[0])
          .commitSync(),
      ),
    result: () => out.data as Float32Array,
    close: () => {
      for (const each of [a, b, out]) each.close();
    },
  };
}

/** Kernels whose threads wait for each other, beside loops. */
export const kernels: Suite = {
  name: 'kernels',
  isOnRequest: true,
  problems: ({ dimensions }, inputs) => {
    // Whole threadgroups.
    const sizes = [...new Set(dimensions.map((n) => Math.ceil(n / 256) * 256))];
    return Object.keys(cases).flatMap((name) =>
      sizes.map((n): Problem => {
        const isProduct = name.startsWith('product');
        const work = { flops: isProduct ? 2 * n ** 3 : n * n, bytes: 4 * n * n, normals: 0 };
        return {
          ...{ suite: 'kernels', case: name, dtype: 'float32', dimension: n, count: null, work },
          inputs: () => inputs.of(['a', 'b'], n, 'float32'),
          tolerance: roundingTolerance(isProduct ? n : 256, 'float32'),
        };
      }),
    );
  },
  layOut: (problem, device) => (device.kind === 'reference' ? undefined : laidOut(problem, device)),
};
