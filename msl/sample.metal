#include <metal_stdlib>

#include "dialect.h"
#include "normal.h"
#include "params.h"

using namespace metal;

#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

// Philox blocks `block` ... of the stream into z, shared by the lanes.
inline void fill_blocks(threadgroup float* z, ulong block, uint blocks, constant SampleParams& params, uint lane,
                        uint lanes) {
  for (uint b = lane; b < blocks; b += lanes) {
    PhiloxBlock<uint> counter;
    counter.w0 = uint(block + b);
    counter.w1 = uint((block + b) >> 32) & 0x3fffffffu;  // elements are counted modulo 2^64
    counter.w2 = params.streamLow;
    counter.w3 = params.streamHigh;
    const NormalBlock<float> normals =
        normal_block<float, int, uint>(philox4x32_10(counter, params.seedLow, params.seedHigh));
    z[4u * b] = normals.z0;
    z[4u * b + 1u] = normals.z1;
    z[4u * b + 2u] = normals.z2;
    z[4u * b + 3u] = normals.z3;
  }
}

// out = mean + factor z by row. A lane makes one column of four rows that are a quarter of the group apart: they share
// the loads of the factor, and what neighbours write lies side by side.
inline void multiply_rows(device const float* factor, device const float* mean, threadgroup const float* z,
                          device float* out, uint rows, uint n, uint lane, uint lanes) {
  const uint quarter = (rows + 3u) / 4u, step = quarter * n;
  for (uint e = lane; e < step; e += lanes) {
    const uint r = e / n, i = e - r * n;
    // A row beyond the last is row r again, and not written.
    const uint at0 = r * n;
    const uint at1 = r + quarter < rows ? at0 + step : at0;
    const uint at2 = r + 2u * quarter < rows ? at0 + 2u * step : at0;
    const uint at3 = r + 3u * quarter < rows ? at0 + 3u * step : at0;
    device const float* entries = factor + ulong(i) * n;
    float y0 = mean[i], y1 = y0, y2 = y0, y3 = y0;
    for (uint j = 0u; j <= i; ++j) {
      const float entry = entries[j];
      y0 = fma(entry, z[at0 + j], y0);
      y1 = fma(entry, z[at1 + j], y1);
      y2 = fma(entry, z[at2 + j], y2);
      y3 = fma(entry, z[at3 + j], y3);
    }
    out[at0 + i] = y0;
    if (at1 != at0) out[at1 + i] = y1;
    if (at2 != at0) out[at2 + i] = y2;
    if (at3 != at0) out[at3 + i] = y3;
  }
}

// z becomes x with factor x = z.
inline void solve_row(device const float* factor, threadgroup float* z, uint n) {
  for (uint i = 0u; i < n; ++i) {
    device const float* entries = factor + ulong(i) * n;
    float x = z[i];
    for (uint j = 0u; j < i; ++j) x = fma(-entries[j], z[j], x);
    z[i] = x / entries[i];
  }
}

// Rows [group rowsPerGroup, (group + 1) rowsPerGroup) of out (count x columns): mean + factor z, or with `inverse`
// mean + x where factor x = z, of normals z that only the threadgroup sees. Row r has the elements first + r columns
// ... of the stream, the same bits as fill_normal's. The factor is columns x columns, nothing above its diagonal is
// read.
//
// Grid: ceil(count / rowsPerGroup) threadgroups or more, of any size; memory: sample_rows_bytes. Meant for few columns
// (up to 64): a lane reads its row of the factor anew for every four rows of out.
kernel void sample_rows(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                        device float* out [[buffer(2)]], constant SampleParams& params [[buffer(3)]],
                        threadgroup float* z THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                        uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  const ulong firstRow = ulong(group) * params.rowsPerGroup;
  if (firstRow >= params.count) return;
  const uint n = params.columns, left = params.count - uint(firstRow);
  const uint rows = left < params.rowsPerGroup ? left : params.rowsPerGroup;
  const ulong first = ((ulong(params.firstHigh) << 32) | params.firstLow) + firstRow * n;
  const uint skipped = uint(first & 3u);
  fill_blocks(z, first >> 2, (skipped + rows * n + 3u) / 4u, params, lane, lanes);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  device float* mine = out + firstRow * n;
  threadgroup float* normals = z + skipped;
  if (params.inverse == 0u) {
    multiply_rows(factor, mean, normals, mine, rows, n, lane, lanes);
    return;
  }
  for (uint r = lane; r < rows; r += lanes) solve_row(factor, normals + r * n, n);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = lane; e < rows * n; e += lanes) mine[e] = mean[e % n] + normals[e];
}
