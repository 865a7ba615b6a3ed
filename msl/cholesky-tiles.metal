#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "tile-solve.h"
#include "tiles.h"

// The Cholesky factor of a large matrix, in place, by blocks of tile_side columns. For each block, cholesky_update
// subtracts the products of the block before it from what is left, and factors the block on the diagonal: one
// threadgroup does this while the others work on their products. Then cholesky_below solves the rows below the block.
// The products of the columns before an entry are subtracted in their order, one fused multiply-add each, and the
// reciprocal of a pivot is rounded once: the bits are those of the CPU (objc/cpu/cholesky.cc). Nothing depends on
// what is above the diagonal, which becomes 0. `failed` becomes the first pivot that is not positive, or
// cholesky_good; after a bad pivot no block is factored or solved.

inline uint behind_none(uint i, uint n) { return i < n ? i : n - 1u; }

// Beyond the last row or column the last one is read again, and above the diagonal whatever is there: none of this
// reaches an entry that is stored.
template <typename T>
inline void load_tile(device const T* a, uint n, uint firstRow, uint firstColumn, uint lane, thread T (*sums)[8]) {
  uint columns[8];
#pragma unroll
  for (uint c = 0u; c < 8u; ++c) columns[c] = behind_none(TILE_COLUMN(firstColumn, lane, c), n);
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    device const T* row = a + ulong(behind_none(TILE_ROW(firstRow, lane, r), n)) * n;
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) sums[r][c] = row[columns[c]];
  }
}

// What is above the diagonal is stored as 0.
template <typename T>
inline void store_tile(device T* a, uint n, uint firstRow, uint firstColumn, uint lane, thread const T (*sums)[8]) {
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    const uint i = TILE_ROW(firstRow, lane, r), columns = i < n ? n : 0u;
    device T* row = a + ulong(i) * n;
#pragma unroll
    for (uint c = 0u; c < 8u; ++c) {
      const uint j = TILE_COLUMN(firstColumn, lane, c);
      if (j < columns) row[j] = j <= i ? sums[r][c] : T(0);
    }
  }
}

inline uint order_of(uint n, uint first) { return n - first < tile_side ? n - first : tile_side; }

template <typename T>
inline void factor_block(device T* a, device uint* failed, uint n, uint first, threadgroup T* memory, uint lane,
                         thread T (*sums)[8]) {
  const uint order = order_of(n, first);
  uint bad = 0u;
  const bool isGood = factor_tile(order, memory, lane, bad, sums);
  store_tile(a, n, first, first, lane, sums);
  if (lane == 0u && (first == 0u || !isGood)) *failed = isGood ? cholesky_good : first + bad;
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
  if (first == 0u) store_tile(a, n, first, firstRow, lane, sums);  // all of it is above the diagonal
}

template <typename T>
inline void update_tile(device T* a, device uint* failed, constant CholeskyTileParams& params, threadgroup T* memory,
                        uint group, uint lane) {
  const uint n = params.columns, begin = params.first;
  // Only the first group reads `failed`: it writes it too, and the lanes of another group would not all read the
  // same.
  if (begin >= n || (group == 0u && begin != 0u && *failed != cholesky_good)) return;
  const uint across = (n - begin + tile_side - 1u) / tile_side, row = group / across;
  const uint firstRow = begin + row * tile_side, firstColumn = begin + (group - row * across) * tile_side;
  if (firstRow >= n || (firstColumn > firstRow && row != 0u)) return;
  T sums[8][8];
  load_tile(a, n, firstRow, firstColumn, lane, sums);
  // Sets what is above the diagonal in the next rows to 0: no other group has it.
  if (firstColumn > firstRow) return store_tile(a, n, firstRow, firstColumn, lane, sums);
  if (begin != 0u) {
    // The products are added to the negative of the entry, and the sum changes its sign: the same roundings, and no
    // -0.
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
      for (uint c = 0u; c < 8u; ++c) sums[r][c] = -sums[r][c];
    }
    const TileSide<T> side = {a + begin - tile_side, n, n, 1ul, false};
    add_products(side, firstRow, side, firstColumn, 0u, tile_side, memory, lane, sums);
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
      for (uint c = 0u; c < 8u; ++c) sums[r][c] = T(0) - sums[r][c];
    }
  }
  if (group != 0u) return store_tile(a, n, firstRow, firstColumn, lane, sums);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  factor_block(a, failed, n, begin, memory, lane, sums);
}

// Grid: a threadgroup, of tile_lanes, for each tile_side rows below the block, or more; memory: tile_bytes, here and
// below. With another number of lanes nothing is done.
kernel void cholesky_below(device float* a [[buffer(0)]], device const uint* failed [[buffer(1)]],
                           constant CholeskyTileParams& params [[buffer(2)]],
                           threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                           uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) solve_below<float>(a, failed, params, memory, group, lane);
}

// Grid: tile_groups of the rows from `first` on, in both directions, or more; one group where `first` is 0.
kernel void cholesky_update(device float* a [[buffer(0)]], device uint* failed [[buffer(1)]],
                            constant CholeskyTileParams& params [[buffer(2)]],
                            threadgroup float* memory THREADGROUP_MEMORY(0),
                            uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                            uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) update_tile<float>(a, failed, params, memory, group, lane);
}
