#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "tiles.h"

template <typename T, typename Params>
inline void product_tile(device const T* a, device const T* b, device T* c, constant Params& params,
                         threadgroup T* memory, uint group, uint lane) {
  const uint m = params.m, n = params.n, k = params.k, across = (n + tile_side - 1u) / tile_side;
  const uint firstRow = params.firstRow + group / across * tile_side, firstColumn = group % across * tile_side;
  if (firstRow >= m) return;
  TileSide<T> rows = {a, m, k, 1ul, false}, columns = {b, n, 1ul, n, false};
  if (params.transposeA != 0u) {
    rows.step = 1ul;
    rows.kStep = m;
  }
  if (params.transposeB != 0u) {
    columns.step = k;
    columns.kStep = 1ul;
  }
  // A sum for each block of k, as the CPU makes them: it loses fewer digits than one over all of a large k.
  for (uint k0 = 0u; k0 < k || k0 == 0u; k0 += product_depth) {
    const T keep = k0 == 0u ? params.beta : T(1);
    T sums[8][8];
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
      for (uint s = 0u; s < 8u; ++s) sums[r][s] = T(0);
    }
    add_products(rows, firstRow, columns, firstColumn, k0, k - k0 < product_depth ? k : k0 + product_depth, memory,
                 lane, sums);
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) {
      const uint i = TILE_ROW(firstRow, lane, r);
#pragma unroll
      for (uint s = 0u; s < 8u; ++s) {
        const uint j = TILE_COLUMN(firstColumn, lane, s);
        if (i >= m || j >= n) continue;
        device T* out = c + ulong(i - params.firstRow) * n + j;
        const T sum = params.alpha * sums[r][s];
        *out = keep == T(0) ? sum : keep * *out + sum;
      }
    }
  }
}

// c (m x n) = alpha op(a) op(b) + beta c, where op(a) is m x k and op(b) is k x n; with beta = 0 c is not read. Rows
// before firstRow are not made, and c does not contain them.
//
// Grid: tile_groups threadgroups or more, of tile_lanes (otherwise nothing is written); memory: tile_bytes.
kernel void product_tiles(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                          device float* c [[buffer(2)]], constant ProductParams& params [[buffer(3)]],
                          threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                          uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) product_tile<float>(a, b, c, params, memory, group, lane);
}
