#include <metal_stdlib>

#include "dialect.h"
#include "params.h"

// Read at once: what a lane reads side by side is at multiples of 16 bytes.
struct alignas(16) Quad {
  float at0, at1, at2, at3;
};

inline void take_quad(threadgroup const float* from, thread float* to) {
  threadgroup const Quad* quad = (threadgroup const Quad*)from;
  to[0] = quad->at0;
  to[1] = quad->at1;
  to[2] = quad->at2;
  to[3] = quad->at3;
}

// What a lane brings of the next panel of `from` (count x n), from row `first` and column k0 on: neighbours in its row
// for neighbouring lanes. What is not there, and with `lower` what is above the diagonal, is 0.
inline void take_panel(device const float* from, uint first, uint count, uint n, uint k0, bool lower, uint lane,
                       thread float* taken) {
  for (uint step = 0u; step < sample_tile_taken; ++step) {
    const uint e = lane + step * sample_tiles_lanes, k = k0 + e % sample_tile_depth;
    const uint row = first + e / sample_tile_depth;
    const bool isThere = row < count && k < n && (!lower || k <= row);
    taken[step] = isThere ? from[ulong(row) * n + k] : 0.0f;
  }
}

// Into threadgroup memory, by columns.
inline void put_panel(thread const float* taken, uint lane, threadgroup float* panel) {
  for (uint step = 0u; step < sample_tile_taken; ++step) {
    const uint e = lane + step * sample_tiles_lanes;
    panel[e % sample_tile_depth * sample_tile_stride + e / sample_tile_depth] = taken[step];
  }
}

// out = mean + z factor' by row, for many rows of many columns; out is not z, and nothing above the factor's diagonal
// is read. An entry begins as its mean and takes the products in the order of the columns, one fused multiply-add each:
// the bits are those of sample_rows and of the CPU (docs/numerics.md).
//
// A threadgroup makes a square tile of out, a lane 8 x 8 of its entries in registers: two rows of 4 and two columns of
// 4, half a tile apart, so that neighbouring lanes read neighbours. Panels of z and of the factor pass through
// threadgroup memory, up to the factor's diagonal; the next is fetched while one is used.
//
// Grid: sample_tiles_groups threadgroups or more, of sample_tiles_lanes (of others, nothing is written); memory:
// sample_tiles_bytes.
kernel void sample_tiles(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                         device const float* z [[buffer(2)]], device float* out [[buffer(3)]],
                         constant MatrixParams& params [[buffer(4)]], threadgroup float* memory THREADGROUP_MEMORY(0),
                         uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                         uint lanes [[threads_per_threadgroup]]) {
  if (lanes != sample_tiles_lanes) return;
  const uint n = params.columns, count = params.rows, across = (n + sample_tile - 1u) / sample_tile;
  // The last columns have the longest sums: they go first, so that the short ones fill the end.
  const uint firstRow = group / across * sample_tile, firstColumn = (across - 1u - group % across) * sample_tile;
  if (firstRow >= count) return;
  threadgroup float* rowsOfZ = memory;
  threadgroup float* entries = memory + sample_tile_depth * sample_tile_stride;
  const uint top = firstRow + lane / 16u * 4u, left = firstColumn + lane % 16u * 4u;
  float sums[8][8], takenOfZ[sample_tile_taken], takenOfFactor[sample_tile_taken];
#pragma unroll
  for (uint c = 0u; c < 8u; ++c) {
    const uint i = left + c % 4u + c / 4u * sample_half_tile;
    const float start = i < n ? mean[i] : 0.0f;
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) sums[r][c] = start;
  }
  const uint end = firstColumn + sample_tile < n ? firstColumn + sample_tile : n;
  take_panel(z, firstRow, count, n, 0u, false, lane, takenOfZ);
  take_panel(factor, firstColumn, n, n, 0u, true, lane, takenOfFactor);
  for (uint k0 = 0u; k0 < end; k0 += sample_tile_depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    put_panel(takenOfZ, lane, rowsOfZ);
    put_panel(takenOfFactor, lane, entries);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + sample_tile_depth < end) {
      take_panel(z, firstRow, count, n, k0 + sample_tile_depth, false, lane, takenOfZ);
      take_panel(factor, firstColumn, n, n, k0 + sample_tile_depth, true, lane, takenOfFactor);
    }
    for (uint k = 0u; k < sample_tile_depth; ++k) {
      threadgroup const float* atZ = rowsOfZ + k * sample_tile_stride + lane / 16u * 4u;
      threadgroup const float* atFactor = entries + k * sample_tile_stride + lane % 16u * 4u;
      float x[8], y[8];
      take_quad(atZ, x);
      take_quad(atZ + sample_half_tile, x + 4);
      take_quad(atFactor, y);
      take_quad(atFactor + sample_half_tile, y + 4);
#pragma unroll
      for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
        for (uint c = 0u; c < 8u; ++c) sums[r][c] = fma(y[c], x[r], sums[r][c]);
      }
    }
  }
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    const uint row = top + r % 4u + r / 4u * sample_half_tile;
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) {
      const uint i = left + c % 4u + c / 4u * sample_half_tile;
      if (row < count && i < n) out[ulong(row) * n + i] = sums[r][c];
    }
  }
}
