#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "tile-solve.h"
#include "tiles.h"

// The Cholesky factor of a large matrix, in place, by blocks of tile_side columns: for each, cholesky_diagonal factors
// the block on the diagonal, cholesky_below solves the rows below it, and cholesky_update takes their products from
// what is left. An entry takes the products of the columns before it in their order, one fused multiply-add each, and
// the reciprocal of a pivot is rounded once: the bits are those of the CPU (objc/cpu/cholesky.cc). Nothing depends on
// what is above the diagonal, which becomes 0. `failed` becomes the first pivot that is not positive, or cholesky_good;
// after that the rest does nothing.

inline uint behind_none(uint i, uint n) { return i < n ? i : n - 1u; }

// Rows and columns behind the last are the last again, and what is above the diagonal is whatever is there: nothing of
// it reaches an entry that is stored.
template <typename T>
inline void load_tile(device const T* a, uint n, uint firstRow, uint firstColumn, uint lane, thread T (*sums)[8]) {
  uint columns[8];
#pragma unroll
  for (uint c = 0u; c < 8u; ++c) columns[c] = behind_none(tile_place(firstColumn, lane % 16u, c), n);
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    device const T* row = a + ulong(behind_none(tile_place(firstRow, lane / 16u, r), n)) * n;
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) sums[r][c] = row[columns[c]];
  }
}

// Above the diagonal, 0.
template <typename T>
inline void store_tile(device T* a, uint n, uint firstRow, uint firstColumn, uint lane, thread const T (*sums)[8]) {
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    const uint i = tile_place(firstRow, lane / 16u, r), columns = i < n ? n : 0u;
    device T* row = a + ulong(i) * n;
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) {
      const uint j = tile_place(firstColumn, lane % 16u, c);
      if (j < columns) row[j] = j <= i ? sums[r][c] : T(0);
    }
  }
}

inline uint order_of(uint n, uint first) { return n - first < tile_side ? n - first : tile_side; }

template <typename T>
inline void factor_diagonal(device T* a, device uint* failed, constant CholeskyTileParams& params,
                            threadgroup T* memory, uint lane) {
  const uint n = params.columns, first = params.first, order = order_of(n, first);
  if (first != 0u && *failed != cholesky_good) return;
  T sums[8][8];
  load_tile(a, n, first, first, lane, sums);
  TileColumn<T> column = {memory, 0u};
  uint bad = cholesky_good;
  for (uint half = 0u; half < 2u; ++half) {
    for (uint own = 0u; own < 16u; ++own) {
#pragma unroll
      for (uint c = 0u; c < 4u; ++c) {
        const uint j = tile_place(0u, own, half * 4u + c);
        if (j >= order || bad != cholesky_good) continue;
        threadgroup const T* shared = share_column(column, own, c, lane, sums);
        const T pivot = shared[j];
        if (!(pivot > T(0) && pivot - pivot == T(0))) {
          bad = first + j;
          continue;
        }
        const T root = sqrt(pivot), scale = T(1) / root;
        eliminate(shared, scale, shared, scale, half == 1u, j, lane, sums);
        if (lane % 16u == own) {
#pragma unroll
          for (uint r = 0u; r < 8u; ++r) sums[r][c] = tile_place(0u, lane / 16u, r) == j ? root : sums[r][c] * scale;
        }
      }
    }
    swap_halves(sums);
  }
  store_tile(a, n, first, first, lane, sums);
  if (lane == 0u && (first == 0u || bad != cholesky_good)) *failed = bad;
}

template <typename T>
inline void solve_below(device T* a, device const uint* failed, constant CholeskyTileParams& params,
                        threadgroup T* memory, uint group, uint lane) {
  const uint n = params.columns, first = params.first, firstRow = first + (group + 1u) * tile_side;
  if (firstRow >= n || *failed != cholesky_good) return;
  T sums[8][8];
  load_tile(a, n, firstRow, first, lane, sums);
  solve_tile(a + ulong(first) * n + first, n, tile_side, memory, lane, sums);
  store_tile(a, n, firstRow, first, lane, sums);
  store_tile(a, n, first, firstRow, lane, sums);  // all of it is above the diagonal
}

template <typename T>
inline void update_tile(device T* a, device const uint* failed, constant CholeskyTileParams& params,
                        threadgroup T* memory, uint group, uint lane) {
  const uint n = params.columns, begin = params.first + tile_side;
  if (begin >= n || *failed != cholesky_good) return;
  const uint across = (n - begin + tile_side - 1u) / tile_side, row = group / across;
  const uint firstRow = begin + row * tile_side, firstColumn = begin + (group - row * across) * tile_side;
  if (firstRow >= n || firstColumn > firstRow) return;
  const TileSide<T> side = {a + params.first, n, n, 1ul, false};
  T sums[8][8];
  load_tile(a, n, firstRow, firstColumn, lane, sums);
  // The products are added to what is negative, and the sum is turned: the same roundings, and no -0.
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) sums[r][c] = -sums[r][c];
  }
  add_products(side, firstRow, side, firstColumn, 0u, tile_side, memory, lane, sums);
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) sums[r][c] = T(0) - sums[r][c];
  }
  store_tile(a, n, firstRow, firstColumn, lane, sums);
}

// Grid: one threadgroup, of tile_lanes; memory: tile_bytes, here and below. With other lanes, nothing is done.
kernel void cholesky_diagonal(device float* a [[buffer(0)]], device uint* failed [[buffer(1)]],
                              constant CholeskyTileParams& params [[buffer(2)]],
                              threadgroup float* memory THREADGROUP_MEMORY(0),
                              uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                              uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes && group == 0u) factor_diagonal<float>(a, failed, params, memory, lane);
}

// Grid: a threadgroup for each tile_side rows below the block, or more.
kernel void cholesky_below(device float* a [[buffer(0)]], device const uint* failed [[buffer(1)]],
                           constant CholeskyTileParams& params [[buffer(2)]],
                           threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                           uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) solve_below<float>(a, failed, params, memory, group, lane);
}

// Grid: tile_groups of the rows below the block, in both directions, or more.
kernel void cholesky_update(device float* a [[buffer(0)]], device const uint* failed [[buffer(1)]],
                            constant CholeskyTileParams& params [[buffer(2)]],
                            threadgroup float* memory THREADGROUP_MEMORY(0),
                            uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                            uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) update_tile<float>(a, failed, params, memory, group, lane);
}
