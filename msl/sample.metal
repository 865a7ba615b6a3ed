#include <metal_stdlib>

#include "dialect.h"
#include "normal.h"
#include "params.h"

// The factor's lower triangle by columns, entry (i, j) at j n - j (j - 1) / 2 + i - j: lanes that make neighbouring
// columns of out read neighbours.
inline void pack_factor(device const float* factor, threadgroup float* packed, uint n, uint lane, uint lanes) {
  for (uint e = lane; e < n * n; e += lanes) {
    const uint i = e / n, j = e - i * n;
    if (j <= i) packed[j * n - j * (j + 1u) / 2u + i] = factor[e];
  }
}

// Element e of rows of n that lie `stride` apart.
inline uint place_of(uint e, uint n, uint stride) { return stride == n ? e : e / n * stride + e % n; }

// Elements first ... of the stream as rows of n, `stride` apart.
inline void fill_group(threadgroup float* z, ulong first, uint length, uint n, uint stride,
                       constant SampleParams& params, uint lane, uint lanes) {
  const uint skipped = uint(first) & 3u;
  for (uint b = lane; b < (skipped + length + 3u) / 4u; b += lanes) {
    const ulong block = (first >> 2) + b;
    PhiloxBlock<uint> counter;
    counter.w0 = uint(block);
    counter.w1 = uint(block >> 32) & 0x3fffffffu;  // elements are counted modulo 2^64
    counter.w2 = params.streamLow;
    counter.w3 = params.streamHigh;
    const NormalBlock<float> normals =
        normal_block<float, int, uint>(philox4x32_10(counter, params.seedLow, params.seedHigh));
    // Below zero in the first block, where it wraps and the bound is then not met.
    const uint e = 4u * b - skipped;
    if (e < length) z[place_of(e, n, stride)] = normals.z0;
    if (e + 1u < length) z[place_of(e + 1u, n, stride)] = normals.z1;
    if (e + 2u < length) z[place_of(e + 2u, n, stride)] = normals.z2;
    if (e + 3u < length) z[place_of(e + 3u, n, stride)] = normals.z3;
  }
}

// out = mean + factor z by row. A lane makes one column of four rows that are a quarter of the group apart: they share
// the loads of the factor, and what neighbours write lies side by side.
inline void multiply_rows(threadgroup const float* packed, device const float* mean, threadgroup const float* z,
                          device float* out, uint rows, uint n, uint lane, uint lanes) {
  const uint quarter = (rows + 3u) / 4u, step = quarter * n;
  for (uint e = lane; e < step; e += lanes) {
    const uint r = e / n, i = e - r * n;
    // A row beyond the last is row r again, and not written.
    const uint at0 = r * n;
    const uint at1 = r + quarter < rows ? at0 + step : at0;
    const uint at2 = r + 2u * quarter < rows ? at0 + 2u * step : at0;
    const uint at3 = r + 3u * quarter < rows ? at0 + 3u * step : at0;
    float y0 = mean[i], y1 = y0, y2 = y0, y3 = y0;
    uint at = i;
    for (uint j = 0u; j <= i; ++j) {
      const float entry = packed[at];
      y0 = fma(entry, z[at0 + j], y0);
      y1 = fma(entry, z[at1 + j], y1);
      y2 = fma(entry, z[at2 + j], y2);
      y3 = fma(entry, z[at3 + j], y3);
      at += n - 1u - j;
    }
    out[at0 + i] = y0;
    if (at1 != at0) out[at1 + i] = y1;
    if (at2 != at0) out[at2 + i] = y2;
    if (at3 != at0) out[at3 + i] = y3;
  }
}

// z becomes x with factor x = z.
inline void solve_row(threadgroup const float* packed, threadgroup float* z, uint n) {
  for (uint i = 0u; i < n; ++i) {
    float x = z[i];
    uint at = i;
    for (uint j = 0u; j < i; ++j) {
      x = fma(-packed[at], z[j], x);
      at += n - 1u - j;
    }
    z[i] = x / packed[at];
  }
}

// Rows [group rowsPerGroup, (group + 1) rowsPerGroup) of out (count x columns): mean + factor z, or with `inverse`
// mean + x where factor x = z, of normals z that only the threadgroup sees. Row r has the elements first + r columns
// ... of the stream, the same bits as fill_normal's. The factor is columns x columns, nothing above its diagonal is
// read.
//
// Grid: ceil(count / rowsPerGroup) threadgroups or more, of any size; memory: sample_rows_bytes.
kernel void sample_rows(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                        device float* out [[buffer(2)]], constant SampleParams& params [[buffer(3)]],
                        threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                        uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  const ulong firstRow = ulong(group) * params.rowsPerGroup;
  if (firstRow >= params.count) return;
  const uint n = params.columns, left = params.count - uint(firstRow);
  const uint rows = left < params.rowsPerGroup ? left : params.rowsPerGroup;
  const uint stride = sample_rows_stride(n, params.inverse);
  const ulong first = ((ulong(params.firstHigh) << 32) | params.firstLow) + firstRow * n;
  device float* mine = out + firstRow * n;
  threadgroup float* z = memory + n * (n + 1u) / 2u;
  pack_factor(factor, memory, n, lane, lanes);
  fill_group(z, first, rows * n, n, stride, params, lane, lanes);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (params.inverse == 0u) {
    multiply_rows(memory, mean, z, mine, rows, n, lane, lanes);
    return;
  }
  for (uint r = lane; r < rows; r += lanes) solve_row(memory, z + r * stride, n);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = lane; e < rows * n; e += lanes) mine[e] = mean[e % n] + z[place_of(e, n, stride)];
}
