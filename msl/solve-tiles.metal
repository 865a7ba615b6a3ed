#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "tile-solve.h"
#include "tiles.h"

template <typename T>
inline void solve_row_tile(device const T* factor, device const T* mean, device const T* rows, device T* work,
                           device T* out, constant SolveTileParams& params, threadgroup T* memory, uint group,
                           uint lane) {
  const uint n = params.columns, count = params.rows, firstRow = group * tile_side;
  if (firstRow >= count) return;
  const TileSide<T> solved = {work, count, n, 1ul, false}, columns = {factor, n, n, 1ul, false};
  const bool takesMean = params.mean == solve_less_mean, reversed = params.reversed != 0u;
  for (uint first = 0u; first < n; first += tile_side) {
    // Beyond the last row or column the last one is read again, and not stored.
    T sums[8][8];
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) {
      const uint place = TILE_COLUMN(first, lane, c), i = place < n ? place : n - 1u;
#pragma unroll
      for (uint r = 0u; r < 8u; ++r) {
        const uint row = TILE_ROW(firstRow, lane, r);
        const T x = rows[ulong(row < count ? row : count - 1u) * n + (reversed ? n - 1u - i : i)];
        sums[r][c] = takesMean ? x - mean[i] : x;
      }
    }
    add_products<T, true>(solved, firstRow, columns, first, 0u, first, memory, lane, sums);
    solve_tile(factor + ulong(first) * n + first, n, n - first < tile_side ? n - first : tile_side, memory, lane, sums);
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) {
      const uint row = TILE_ROW(firstRow, lane, r);
#pragma unroll
      for (uint c = 0u; c < 8u; ++c) {
        const uint i = TILE_COLUMN(first, lane, c);
        if (row >= count || i >= n) continue;
        work[ulong(row) * n + i] = sums[r][c];
        if (params.mean == solve_with_mean) out[ulong(row) * n + i] = sums[r][c] + mean[i];
        if (reversed) out[ulong(row) * n + n - 1u - i] = sums[r][c];
      }
    }
    // The columns behind read what is solved.
    threadgroup_barrier(mem_flags::mem_device);
  }
}

// Each row x of rows becomes, in work, the solution y of factor y = x, or of factor y = x - mean; work may be rows.
// With solve_with_mean, y + mean is in out, which is not work. If `reversed`, the last column is the first in rows and
// in out, which may be rows and is not work: with the antitransposed factor, out solves factor' y = x. Nothing above
// the factor's diagonal is read. An entry takes the products of the columns before it in their order, one fused
// multiply-add each, and the reciprocal of a pivot is rounded once: the bits are those of the CPU (docs/numerics.md).
//
// Grid: a threadgroup for each tile_side rows, or more, of tile_lanes (otherwise nothing is written); memory:
// tile_bytes.
kernel void solve_tiles(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                        device const float* rows [[buffer(2)]], device float* work [[buffer(3)]],
                        device float* out [[buffer(4)]], constant SolveTileParams& params [[buffer(5)]],
                        threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                        uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) solve_row_tile<float>(factor, mean, rows, work, out, params, memory, group, lane);
}
