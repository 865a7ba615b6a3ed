#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "tiles.h"

struct SampleTile {
  uint firstRow, turn;  // the turn-th tile of that row of tiles
};

// The tile that a group makes, of `across` in a row. The last tiles of a row have the longest sums. Of eight rows of
// tiles, whose normals stay in a cache, the longest go first, so that the short ones fill the end. If a GPU takes all
// groups at once, so that some of its `atOnce` processors take two, the second groups come in the reverse order: the
// shortest to the longest.
inline SampleTile sample_tile_of(uint group, uint rows, uint across, uint atOnce) {
  const uint down = (rows + tile_side - 1u) / tile_side, all = down * across;
  if (all > atOnce && all <= 2u * atOnce && group >= atOnce && group < all) group = all - 1u - (group - atOnce);
  const uint first = group / (8u * across) * 8u, place = group % (8u * across);
  const uint together = first + 8u < down ? 8u : down - first;
  return {(first + place % together) * tile_side, across - 1u - place / together};
}

// The bits of x, in another register than the sum's. Numbers that are stored in fours must lie in neighbouring
// registers: for that NVIDIA's compiler would place the sums so that each multiply-add reads one bank of registers
// twice.
inline float another(float x, uint zero) { return as_type<float>(as_type<uint>(x) ^ zero); }
#ifndef __METAL_VERSION__
inline double another(double x, uint) { return x; }
#endif

template <typename T>
inline void sample_tile(device const T* factor, device const T* mean, device const T* z, device T* out,
                        constant SampleTileParams& params, threadgroup T* memory, uint group, uint lane) {
  const uint n = params.columns, count = params.rows, across = (n + tile_side - 1u) / tile_side;
  if (group >= uint(tile_groups(count, n))) return;
  const SampleTile tile = sample_tile_of(group, count, across, params.atOnce);
  // If n is not a multiple of a tile's side, the first tile, which has the shortest sums, has fewer columns.
  const uint rest = n - (across - 1u) * tile_side, end = rest + tile.turn * tile_side, firstRow = tile.firstRow;
  const uint firstColumn = tile.turn == 0u ? 0u : end - tile_side;
  const TileSide<T> rows = {z, count, n, 1ul, false}, columns = {factor, end, n, 1ul, true};
  T sums[8][8];
#pragma unroll
  for (uint c = 0u; c < 8u; ++c) {
    const uint i = TILE_COLUMN(firstColumn, lane, c);
    const T start = i < end ? mean[i] : T(0);
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) sums[r][c] = start;
  }
  add_products<T, false, true>(rows, firstRow, columns, firstColumn, 0u, end, memory, lane, sums);
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    const uint row = TILE_ROW(firstRow, lane, r);
    if (row >= count) continue;
#ifdef TENSOR_CORES
    write_pairs(sums[r], out + ulong(row) * n, firstColumn, end, params.inQuads != 0u, lane);
#else
#pragma unroll
    for (uint part = 0u; part < 2u; ++part) {
      const uint i = tile_place(firstColumn, lane % 16u, part * 4u);
      device T* to = out + ulong(row) * n + i;
      if (params.inQuads != 0u) {
        T four[4];
#pragma unroll
        for (uint c = 0u; c < 4u; ++c) four[c] = another(sums[r][part * 4u + c], params.inQuads - 1u);
        if (i < end) write_quad(four, to);
      } else {
#pragma unroll
        for (uint c = 0u; c < 4u; ++c)
          if (i + c < end) to[c] = sums[r][part * 4u + c];
      }
    }
#endif
  }
}

// out = mean + z factor' by row, for many rows of many columns; out is not z, and nothing above the factor's diagonal
// is read. An entry begins as its mean and takes the products in the order of the columns, one fused multiply-add each:
// the bits are those of sample_rows and of the CPU (docs/numerics.md).
//
// Grid: tile_groups threadgroups or more, of tile_lanes (otherwise nothing is written); memory: tile_bytes.
kernel void sample_tiles(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                         device const float* z [[buffer(2)]], device float* out [[buffer(3)]],
                         constant SampleTileParams& params [[buffer(4)]],
                         threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                         uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  if (lanes == tile_lanes) sample_tile<float>(factor, mean, z, out, params, memory, group, lane);
}
