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

// The lanes whose first column is the tile's next give it to all.
template <typename T>
inline threadgroup const T* share_column(thread TileColumn<T>& column, uint own, uint lane, thread const T (*sums)[8]) {
  threadgroup T* to = column.at + column.turn;
  column.turn = tile_side - column.turn;
  if (lane % 16u == own) {
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) to[tile_place(0u, lane / 16u, r)] = sums[r][0];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return to;
}

// A lane's columns from 0 on go round by one place, or by four of eight, so that one text makes each of them in turn.
template <typename T, uint columns, uint by>
inline void turn_columns(thread T (*sums)[8]) {
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) {
    T kept[columns];
#pragma unroll
    for (uint c = 0u; c < columns; ++c) kept[c] = sums[r][(c + by) % columns];
#pragma unroll
    for (uint c = 0u; c < columns; ++c) sums[r][c] = kept[c];
  }
}

// The column that the c-th of a lane is after so many turns by four, and then by one.
inline uint turned_column(uint own, uint c, uint fours, uint ones) {
  return tile_place(0u, own, (c < 4u ? (c + ones) % 4u : c) ^ (fours * 4u));
}

// The products of column j leave the columns behind it. `x` has the column's entries of the rows, before they are
// multiplied by `scale`, and `y` those of the columns, before `columnScale`.
template <typename T>
inline void eliminate(threadgroup const T* x, T scale, threadgroup const T* y, T columnScale, uint fours, uint ones,
                      uint j, uint lane, thread T (*sums)[8]) {
  T ofRows[8];
#pragma unroll
  for (uint r = 0u; r < 8u; ++r) ofRows[r] = x[tile_place(0u, lane / 16u, r)] * scale;
#pragma unroll
  for (uint c = 0u; c < 8u; ++c) {
    const uint i = turned_column(lane % 16u, c, fours, ones);
    if (i <= j) continue;
    const T ofColumn = y[i] * columnScale;
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) sums[r][c] = fma(-ofRows[r], ofColumn, sums[r][c]);
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
  for (uint fours = 0u; fours < 2u; ++fours) {
    for (uint own = 0u; own < 16u; ++own) {
      if (own % 4u == 0u) {  // the next tile_depth columns of the factor
        T taken[tile_taken];
        take_there(from, order, taken);
        go_on(from);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        put_panel(taken, lane % tile_depth * tile_stride + lane / tile_depth, tile_lanes / tile_depth, panel);
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      for (uint ones = 0u; ones < 4u; ++ones) {
        const uint j = turned_column(own, 0u, fours, ones);
        threadgroup const T* entries = panel + (own % 4u * 4u + ones) * tile_stride;
        const T scale = j < order ? T(1) / entries[j] : T(0);
        threadgroup const T* shared = share_column(column, own, lane, sums);
        eliminate(shared, scale, entries, T(1), fours, ones, j, lane, sums);
        if (lane % 16u == own) {
#pragma unroll
          for (uint r = 0u; r < 8u; ++r) sums[r][0] *= scale;
        }
        turn_columns<T, 4u, 1u>(sums);
      }
    }
    turn_columns<T, 8u, 4u>(sums);
  }
}
