// How the threads of a kernel work together: places, barriers, threadgroup memory, simdgroups, atomics.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onKernelDevices } from '../harness/kernel-devices.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

onKernelDevices('each thread knows its place in grids that threadgroups do not divide.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void places(device uint* out [[buffer(0)]], uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]],
                   uint3 inside [[thread_position_in_threadgroup]], uint3 group [[threadgroup_position_in_grid]],
                   uint3 whole [[threads_per_threadgroup]], uint3 groups [[threadgroups_per_grid]],
                   uint index [[thread_index_in_threadgroup]]) {
  device uint* row = out + 13 * ((at.z * size.y + at.y) * size.x + at.x);
  row[0] = at.x; row[1] = at.y; row[2] = at.z;
  row[3] = inside.x; row[4] = inside.y; row[5] = inside.z;
  row[6] = group.x; row[7] = group.y; row[8] = group.z;
  row[9] = whole.x; row[10] = index; row[11] = groups.x; row[12] = size.x * size.y * size.z;
}`);
  for (const [grid, threadgroup] of [
    [
      [1, 1, 1],
      [1, 1, 1],
    ],
    [
      [7, 5, 3],
      [4, 2, 2],
    ],
    [
      [100, 3, 1],
      [32, 1, 1],
    ],
    [
      [5, 1, 9],
      [8, 1, 4],
    ],
  ] as const) {
    const [w, h, d] = grid;
    const [a, b, c] = threadgroup;
    const out = new Uint32Array(13 * w * h * d);
    await kernel.run({ grid, threadgroup, arguments: { out } });
    for (let z = 0; z < d; z++)
      for (let y = 0; y < h; y++)
        for (let x = 0; x < w; x++) {
          const at = 13 * ((z * h + y) * w + x);
          const group = [Math.floor(x / a), Math.floor(y / b), Math.floor(z / c)] as const;
          const [i, j, k] = [x % a, y % b, z % c];
          const [wide, high] = [Math.min(a, w - group[0] * a), Math.min(b, h - group[1] * b)];
          const expected = [x, y, z, i, j, k, ...group, wide, (k * high + j) * wide + i, Math.ceil(w / a), w * h * d];
          assert.equal([...out.subarray(at, at + 13)], expected, `${x}, ${y}, ${z} of ${grid} by ${threadgroup}`);
        }
  }
});

onKernelDevices('rows are summed in threadgroup memory, static and given, between barriers.', async (device) => {
  const source = (memory: string, local: string) => `${head}
kernel void row_sums(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                     constant uint& columns [[buffer(2)]], ${memory}
                     uint row [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                     uint lanes [[threads_per_threadgroup]]) {
  ${local}
  float sum = 0;
  for (uint i = lane; i < columns; i += lanes) sum += in[row * columns + i];
  parts[lane] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = lanes / 2; stride > 0; stride /= 2) {
    if (lane < stride) parts[lane] += parts[lane + stride];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (lane == 0) out[row] = parts[0];
}`;
  const rows = 17;
  const columns = 1001;
  const values = Float32Array.from({ length: rows * columns }, (_, i) => i % 11);
  const expected = Array.from({ length: rows }, (_, row) =>
    values.subarray(row * columns, (row + 1) * columns).reduce((sum, value) => sum + value, 0),
  );
  const own = await device.kernel(source('', 'threadgroup float parts[256];'));
  assert.is(own.staticThreadgroupMemoryBytes, 1024);
  const given = await device.kernel(source('threadgroup float* parts [[threadgroup(0)]],', ''));
  assert.is(given.staticThreadgroupMemoryBytes, 0);
  for (const lanes of [1, 2, 32, 256]) {
    const launch = { grid: rows * lanes, threadgroup: lanes };
    const [a, b] = [new Float32Array(rows), new Float32Array(rows)];
    await own.run({ ...launch, arguments: { in: values, out: a, columns } });
    await given.run({ ...launch, arguments: { in: values, out: b, columns, parts: { threadgroupLength: lanes } } });
    assert.equal([...a], expected);
    assert.equal([...b], expected);
  }
});

onKernelDevices('simdgroup functions see the lanes of one simdgroup.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void lanes(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]],
                  uint width [[threads_per_simdgroup]]) {
  out[8 * i] = simd_sum(i);
  out[8 * i + 1] = simd_max(lane);
  out[8 * i + 2] = simd_broadcast(i, ushort(3));
  out[8 * i + 3] = simd_shuffle_xor(lane, ushort(1));
  out[8 * i + 4] = simd_prefix_exclusive_sum(1u);
  out[8 * i + 5] = group;
  out[8 * i + 6] = uint(simd_any(lane == 5)) + 2 * uint(simd_all(lane < 5));
  out[8 * i + 7] = simd_min(i);
}`);
  const width = kernel.threadExecutionWidth;
  const out = new Uint32Array(8 * 4 * width);
  await kernel.run({ grid: 4 * width, threadgroup: 2 * width, arguments: [out] });
  for (let i = 0; i < 4 * width; i++) {
    const first = i - (i % width);
    const sum = (width * (2 * first + width - 1)) / 2;
    const expected = [sum, width - 1, first + 3, (i % width) ^ 1, i % width, Math.floor(i / width) % 2, 1, first];
    assert.equal([...out.subarray(8 * i, 8 * i + 8)], expected, `thread ${i}`);
  }
});

onKernelDevices('atomics count from all threads.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void histogram(device const uchar* in [[buffer(0)]], device atomic_uint* bins [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[in[i]], 1, memory_order_relaxed);
}`);
  const values = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) % 251);
  const bins = new Uint32Array(256);
  await kernel.run({ grid: values.length, arguments: [values, bins] });
  const expected = new Uint32Array(256);
  for (const value of values) expected[value]!++;
  assert.equal(bins, expected);
});

onKernelDevices('a tiled matrix product shares two tiles.', async (device) => {
  const kernel = await device.kernel(`${head}
#define TILE 16
struct Sizes { uint m, n, k; };
kernel void tiled(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]], device float* c [[buffer(2)]],
                  constant Sizes& s [[buffer(3)]], uint2 at [[thread_position_in_grid]],
                  uint2 in [[thread_position_in_threadgroup]]) {
  threadgroup float tileA[TILE][TILE], tileB[TILE][TILE];
  float sum = 0;
  for (uint t = 0; t < s.k; t += TILE) {
    tileA[in.y][in.x] = at.y < s.m && t + in.x < s.k ? a[at.y * s.k + t + in.x] : 0;
    tileB[in.y][in.x] = at.x < s.n && t + in.y < s.k ? b[(t + in.y) * s.n + at.x] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < TILE; ++i) sum += tileA[in.y][i] * tileB[i][in.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (at.y < s.m && at.x < s.n) c[at.y * s.n + at.x] = sum;
}`);
  assert.is(kernel.staticThreadgroupMemoryBytes, 2048);
  const [m, n, k] = [37, 50, 23];
  const a = Float32Array.from({ length: m * k }, (_, i) => (i % 7) - 3);
  const b = Float32Array.from({ length: k * n }, (_, i) => (i % 5) - 2);
  const c = new Float32Array(m * n);
  await kernel.run({ grid: [64, 48], threadgroup: [16, 16], arguments: { a, b, c, s: { m, n, k } } });
  for (let row = 0; row < m; row++)
    for (let column = 0; column < n; column++) {
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a[row * k + i]! * b[i * n + column]!;
      assert.is(c[row * n + column], sum);
    }
});

test.run();
