// Elimination within a tile, whose entries lie in the registers of its lanes (tiles.h): the columns are made one after
// another, and what a column takes from those behind it passes through threadgroup memory.
#pragma once

#include "dialect.h"
#include "params.h"
#include "tiles.h"

// A column of a tile, as far as the columns before it have made it, twice: while one is read the next is written.
template <typename T>
struct TileColumn {
  threadgroup T* at;
  uint turn;
};

// The lanes whose column it is, the c-th of each, give it to all.
template <typename T>
inline threadgroup const T* share_column(thread TileColumn<T>& column, uint own, uint c, uint lane,
                                         thread const T (*sums)[8]) {
  threadgroup T* to = column.at + column.turn;
  column.turn = tile_side - column.turn;
  if (lane % 16u == own) {
    T entries[8];
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) entries[r] = sums[r][c];
    put_quad(entries, to + lane / 16u * 4u);
    put_quad(entries + 4, to + lane / 16u * 4u + tile_half);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return to;
}

// The two fours of a lane's columns change places, so that one text makes both halves of a tile.
template <typename T>
inline void swap_halves(thread T (*sums)[8]) {
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
    for (uint c = 0u; c < 4u; ++c) {
      const T kept = sums[r][c];
      sums[r][c] = sums[r][c + 4u];
      sums[r][c + 4u] = kept;
    }
  }
}

// The products of column j, of the half that is first now, leave the columns behind it. `x` has the column's entries of
// the rows, before they are multiplied by `scale`, and `y` those of the columns, before `columnScale`.
template <typename T>
inline void eliminate(threadgroup const T* x, T scale, threadgroup const T* y, T columnScale, bool isSecondHalf, uint j,
                      uint lane, thread T (*sums)[8]) {
  T ofRows[8], ofColumns[4];
  take_quad(x + lane / 16u * 4u, ofRows);
  take_quad(x + lane / 16u * 4u + tile_half, ofRows + 4);
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) ofRows[r] *= scale;
  const uint first = tile_place(0u, lane % 16u, isSecondHalf ? 4u : 0u);
  take_quad(y + first, ofColumns);
#pragma unroll
  for (uint c = 0u; c < 4u; ++c) {
    const T ofColumn = ofColumns[c] * columnScale;
    const bool isBehind = first + c > j;
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) {
      const T less = fma(-ofRows[r], ofColumn, sums[r][c]);
      sums[r][c] = isBehind ? less : sums[r][c];
    }
  }
  if (isSecondHalf) return;  // the first half is made
  take_quad(y + first + tile_half, ofColumns);
#pragma unroll
  for (uint c = 0u; c < 4u; ++c) {
    const T ofColumn = ofColumns[c] * columnScale;
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) sums[r][c + 4u] = fma(-ofRows[r], ofColumn, sums[r][c + 4u]);
  }
}

// Each row x of a tile becomes the solution y of factor y = x, for the factor of order x order entries, at most
// tile_side, whose rows are `stride` apart; nothing above its diagonal is read. An entry takes the products of the
// columns before it in their order, and is multiplied by the reciprocal of its pivot. Columns behind the last become 0.
template <typename T>
inline void solve_tile(device const T* factor, ulong stride, uint order, threadgroup T* memory, uint lane,
                       thread T (*sums)[8]) {
  threadgroup T* panel = memory;
  TileColumn<T> column = {memory + tile_depth * tile_stride, 0u};
  const TileSide<T> side = {factor, order, stride, 1ul, true};
  PanelSource<T> from = source_of(side, 0u, 0u, lane);
  for (uint half = 0u; half < 2u; ++half) {
    for (uint own = 0u; own < 16u; ++own) {
      if (own % 4u == 0u) {  // the next tile_depth columns of the factor
        T taken[tile_taken];
        take_there(from, order, taken);
        go_on(from);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        put_panel(taken, lane % tile_depth * tile_stride + lane / tile_depth, tile_lanes / tile_depth, panel);
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
#pragma unroll
      for (uint c = 0u; c < 4u; ++c) {
        const uint j = tile_place(0u, own, half * 4u + c);
        threadgroup const T* entries = panel + (own % 4u * 4u + c) * tile_stride;
        const T scale = j < order ? T(1) / entries[j] : T(0);
        threadgroup const T* shared = share_column(column, own, c, lane, sums);
        eliminate(shared, scale, entries, T(1), half == 1u, j, lane, sums);
        if (lane % 16u == own) {
#pragma unroll
          for (uint r = 0u; r < 8u; ++r) sums[r][c] *= scale;
        }
      }
    }
    swap_halves(sums);
  }
}
