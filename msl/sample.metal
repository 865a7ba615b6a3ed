#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "sample-rows.h"

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
// ... of the stream, with the bits of fill_normal. The factor is columns x columns; nothing above its diagonal is
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
  NormalStream stream;
  stream.seedLow = params.seedLow;
  stream.seedHigh = params.seedHigh;
  stream.streamLow = params.streamLow;
  stream.streamHigh = params.streamHigh;
  fill_group(z, first, rows * n, n, stride, stream, lane, lanes);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (params.inverse == 0u) {
    multiply_rows(memory, mean, z, mine, rows, n, lane, lanes);
    return;
  }
  for (uint r = lane; r < rows; r += lanes) solve_row(memory, z + r * stride, n);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = lane; e < rows * n; e += lanes) mine[e] = mean[e % n] + z[place_of(e, n, stride)];
}
