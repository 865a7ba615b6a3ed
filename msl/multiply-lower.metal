#include <metal_stdlib>

#include "dialect.h"
#include "params.h"

// out = rows factor' by row, with mean added where addsMean is not 0; out is not rows. The factor is columns x
// columns; nothing above its diagonal is read. A threadgroup makes column i of four rows, which share the load of row
// i of the factor: for few rows this load takes all the time.
//
// Grid: columns ceil(rows / 4) threadgroups or more, of any size; memory: multiply_lower_bytes.
kernel void multiply_lower(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                           device const float* rows [[buffer(2)]], device float* out [[buffer(3)]],
                           constant MultiplyLowerParams& params [[buffer(4)]],
                           threadgroup float* partial THREADGROUP_MEMORY(0),
                           uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                           uint lanes [[threads_per_threadgroup]], uint width [[threads_per_simdgroup]]) {
  const uint n = params.columns, i = group % n, first = group / n * 4u;
  if (first >= params.rows) return;
  const uint here = params.rows - first < 4u ? params.rows - first : 4u;
  device const float* entries = factor + ulong(i) * n;
  // A row beyond the last is the first again, and not written.
  device const float* x0 = rows + ulong(first) * n;
  device const float* x1 = here > 1u ? x0 + n : x0;
  device const float* x2 = here > 2u ? x1 + n : x0;
  device const float* x3 = here > 3u ? x2 + n : x0;
  float y0 = 0.0f, y1 = 0.0f, y2 = 0.0f, y3 = 0.0f;
  // Several loads that wait for nothing keep the memory busy; each sum still takes its products in the order of j.
  uint j = lane;
  if (here == 1u) {
    for (; j + 3u * lanes <= i; j += 4u * lanes) {
      const float e0 = entries[j], e1 = entries[j + lanes], e2 = entries[j + 2u * lanes], e3 = entries[j + 3u * lanes];
      y0 = fma(e0, x0[j], y0);
      y0 = fma(e1, x0[j + lanes], y0);
      y0 = fma(e2, x0[j + 2u * lanes], y0);
      y0 = fma(e3, x0[j + 3u * lanes], y0);
    }
    for (; j <= i; j += lanes) y0 = fma(entries[j], x0[j], y0);
  }
  for (; j + lanes <= i; j += 2u * lanes) {
    const float entry = entries[j], next = entries[j + lanes];
    y0 = fma(entry, x0[j], y0);
    y1 = fma(entry, x1[j], y1);
    y2 = fma(entry, x2[j], y2);
    y3 = fma(entry, x3[j], y3);
    y0 = fma(next, x0[j + lanes], y0);
    y1 = fma(next, x1[j + lanes], y1);
    y2 = fma(next, x2[j + lanes], y2);
    y3 = fma(next, x3[j + lanes], y3);
  }
  if (j <= i) {
    const float entry = entries[j];
    y0 = fma(entry, x0[j], y0);
    y1 = fma(entry, x1[j], y1);
    y2 = fma(entry, x2[j], y2);
    y3 = fma(entry, x3[j], y3);
  }
  y0 = simd_sum(y0);
  y1 = simd_sum(y1);
  y2 = simd_sum(y2);
  y3 = simd_sum(y3);
  if (lane % width == 0u) {
    threadgroup float* mine = partial + lane / width * 4u;
    mine[0] = y0;
    mine[1] = y1;
    mine[2] = y2;
    mine[3] = y3;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint r = lane; r < here; r += lanes) {
    float y = params.addsMean == 0u ? 0.0f : mean[i];
    for (uint s = 0u; s < (lanes + width - 1u) / width; ++s) y += partial[s * 4u + r];
    out[ulong(first + r) * n + i] = y;
  }
}
