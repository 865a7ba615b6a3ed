#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "tiles.h"

template <typename T>
inline void sample_tile(device const T* factor, device const T* mean, device const T* z, device T* out,
                        constant MatrixParams& params, threadgroup T* memory, uint group, uint lane) {
  const uint n = params.columns, count = params.rows, across = (n + tile_side - 1u) / tile_side;
  // The last columns have the longest sums: they go first, so that the short ones fill the end.
  const uint firstRow = group / across * tile_side, firstColumn = (across - 1u - group % across) * tile_side;
  if (firstRow >= count) return;
  const TileSide<T> rows = {z, count, n, 1ul, false}, columns = {factor, n, n, 1ul, true};
  T sums[8][8];
#pragma unroll
  for (uint c = 0u; c < 8u; ++c) {
    const uint i = tile_place(firstColumn, lane % 16u, c);
    const T start = i < n ? mean[i] : T(0);
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) sums[r][c] = start;
  }
  const uint end = firstColumn + tile_side < n ? firstColumn + tile_side : n;
  add_products(rows, firstRow, columns, firstColumn, 0u, end, memory, lane, sums);
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    const uint row = tile_place(firstRow, lane / 16u, r);
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) {
      const uint i = tile_place(firstColumn, lane % 16u, c);
      if (row < count && i < n) out[ulong(row) * n + i] = sums[r][c];
    }
  }
}

// out = mean + z factor' by row, for many rows of many columns; out is not z, and nothing above the factor's diagonal
// is read. An entry begins as its mean and takes the products in the order of the columns, one fused multiply-add each:
// the bits are those of sample_rows and of the CPU (docs/numerics.md).
//
// Grid: tile_groups threadgroups or more, of tile_lanes (of others, nothing is written); memory: tile_bytes.
kernel void sample_tiles(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                         device const float* z [[buffer(2)]], device float* out [[buffer(3)]],
                         constant MatrixParams& params [[buffer(4)]], threadgroup float* memory THREADGROUP_MEMORY(0),
                         uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                         uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) sample_tile<float>(factor, mean, z, out, params, memory, group, lane);
}
