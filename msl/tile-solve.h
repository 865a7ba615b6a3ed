// Elimination within a tile, whose entries lie in the registers of its lanes (tiles.h), by panels of tile_depth
// columns. The lanes that have a panel's columns bring it into threadgroup memory, where one lane for each row makes
// the row's entries. Then all lanes subtract the panel's products from the columns behind it.
#pragma once

#include "dialect.h"
#include "params.h"
#include "tiles.h"

// Half a tile has four panels. A lane has four columns of one of them.
inline uint panel_of(uint lane) { return TILE_COLUMN(0u, lane, 0u) / tile_depth; }
inline uint column_in_panel(uint lane, uint c) { return TILE_COLUMN(0u, lane, c) % tile_depth; }

// Swaps the two fours of a lane's columns, so that one text makes both halves of a tile: the half that is being made
// comes first.
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

template <typename T>
inline void put_columns(thread const T (*sums)[8], uint panel, uint lane, threadgroup T* to) {
  if (panel_of(lane) != panel) return;
#pragma unroll
  for (uint c = 0u; c < 4u; ++c) {
    T entries[8];
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) entries[r] = sums[r][c];
    threadgroup T* column = to + column_in_panel(lane, c) * tile_stride + TILE_ROW(0u, lane, 0u);
    put_four(entries, column);
    put_four(entries + 4, column + tile_half);
  }
}

// The columns of a panel go back to the registers, and its products are subtracted from the columns behind it. `rows`
// has the panel's columns by row of the tile, and `columns` what multiplies them, by column of the tile.
template <typename T>
inline void leave_behind(threadgroup const T* rows, threadgroup const T* columns, uint part, uint panel, uint lane,
                         thread T (*sums)[8]) {
  threadgroup const T* atRows = rows + ROWS_IN_PANEL(lane);
  threadgroup const T* atColumns = columns + COLUMNS_IN_PANEL(lane);
  if (panel_of(lane) == panel) {
#pragma unroll
    for (uint c = 0u; c < 4u; ++c) {
      T entries[8];
      threadgroup const T* column = rows + column_in_panel(lane, c) * tile_stride + TILE_ROW(0u, lane, 0u);
      take_four(column, entries);
      take_four(column + tile_half, entries + 4);
#pragma unroll
      for (uint r = 0u; r < 8u; ++r) sums[r][c] = entries[r];
    }
  }
  if (part == 0u) add_panel<T, true, false, true>(atRows, atColumns, sums);
  if (panel_of(lane) > panel) add_panel<T, true, true, false>(atRows, atColumns + part * tile_half, sums);
}

// A row of a panel becomes the solution y of factor y = row: entry j of the row is row[j tile_stride], entry (c, j) of
// the factor is factor[j tile_stride + c], and the reciprocal of pivot j is reciprocals[j tile_stride].
template <typename T>
inline void solve_panel_row(threadgroup const T* factor, threadgroup const T* reciprocals, threadgroup T* row) {
  T x[tile_depth];
#pragma unroll
  for (uint j = 0u; j < tile_depth; ++j) x[j] = row[j * tile_stride];
#pragma unroll
  for (uint j = 0u; j < tile_depth; ++j) {
    x[j] *= reciprocals[j * tile_stride];
#pragma unroll
    for (uint behind = j / 4u * 4u; behind < tile_depth; behind += 4u) {
      T entries[4];
      take_quad(factor + j * tile_stride + behind, entries);
#pragma unroll
      for (uint c = 0u; c < 4u; ++c) {
        if (behind + c > j) x[behind + c] = fma(-x[j], entries[c], x[behind + c]);
      }
    }
  }
#pragma unroll
  for (uint j = 0u; j < tile_depth; ++j) row[j * tile_stride] = x[j];
}

// What a lane brings of a panel of the factor, and the reciprocal of a pivot, which the first tile_depth lanes bring.
template <typename T>
struct FactorPanel {
  PanelSource<T> from;
  T taken[tile_taken], reciprocal;
};

template <typename T>
inline void take_factor(device const T* factor, ulong stride, uint order, uint first, uint lane,
                        thread FactorPanel<T>& next) {
  take_there(next.from, order, next.taken);
  go_on(next.from);
  const uint j = first + lane;
  if (lane < tile_depth) next.reciprocal = j < order ? T(1) / factor[j * (stride + 1ul)] : T(0);
}

// Each row x of a tile becomes the solution y of factor y = x, for the factor of order x order entries, at most
// tile_side, whose rows are `stride` apart; nothing above its diagonal is read. The products of the columns before an
// entry are subtracted in their order, and the rest is multiplied by the reciprocal of the pivot. Columns behind the
// last have arbitrary values.
template <typename T>
inline void solve_tile(device const T* factor, ulong stride, uint order, threadgroup T* memory, uint lane,
                       thread T (*sums)[8]) {
  const TileSide<T> side = {factor, order, stride, 1ul, true};
  FactorPanel<T> next;
  next.from = source_of(side, 0u, 0u, lane);
  take_factor(factor, stride, order, 0u, lane, next);
  threadgroup T* ofFactor = memory;
  threadgroup T* ofRows = memory + tile_depth * tile_stride;
  for (uint part = 0u; part < 2u; ++part) {
    for (uint panel = 0u; panel < 4u; ++panel) {
      const uint first = part * tile_half + panel * tile_depth;
      if (first >= order) break;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      put_panel(next.taken, lane % tile_depth * tile_stride + lane / tile_depth, tile_lanes / tile_depth, ofFactor);
      if (lane < tile_depth) ofFactor[lane * tile_stride + tile_side] = next.reciprocal;
      put_columns(sums, panel, lane, ofRows);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (first + tile_depth < order) take_factor(factor, stride, order, first + tile_depth, lane, next);
      if (lane < tile_side) solve_panel_row(ofFactor + first, ofFactor + tile_side, ofRows + lane);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      leave_behind(ofRows, ofFactor, part, panel, lane, sums);
    }
    swap_halves(sums);
  }
}

// A square of four columns on the diagonal, by column: entries above its diagonal are arbitrary.
template <typename T>
struct Square {
  T entries[4][4], roots[4], reciprocals[4];
};

// The factor of a square below its diagonal. False if one of the first `order` pivots, `bad`, is not positive.
template <typename T>
inline bool factor_square(threadgroup const T* from, uint order, thread Square<T>& square, thread uint& bad) {
#pragma unroll
  for (uint j = 0u; j < 4u; ++j) take_quad(from + j * tile_stride, square.entries[j]);
  bool isGood = true;
#pragma unroll
  for (uint j = 0u; j < 4u; ++j) {
    const T pivot = square.entries[j][j];
    if (isGood && j < order && !(pivot > T(0) && pivot - pivot == T(0))) {
      isGood = false;
      bad = j;
    }
    square.roots[j] = sqrt(pivot);
    square.reciprocals[j] = T(1) / square.roots[j];
#pragma unroll
    for (uint i = j + 1u; i < 4u; ++i) square.entries[j][i] *= square.reciprocals[j];
#pragma unroll
    for (uint c = j + 1u; c < 4u; ++c) {
#pragma unroll
      for (uint i = c; i < 4u; ++i)
        square.entries[c][i] = fma(-square.entries[j][i], square.entries[j][c], square.entries[c][i]);
    }
  }
  return isGood;
}

// The Cholesky factor of a tile, of which the first `order` columns exist. False if pivot `bad` is not positive: the
// rest is then arbitrary, as what is above the diagonal always is.
template <typename T>
inline bool factor_tile(uint order, threadgroup T* memory, uint lane, thread uint& bad, thread T (*sums)[8]) {
  threadgroup T* open = memory;
  threadgroup T* made = memory + tile_depth * tile_stride;
  for (uint part = 0u; part < 2u; ++part) {
    for (uint panel = 0u; panel < 4u; ++panel) {
      const uint first = part * tile_half + panel * tile_depth;
      if (first >= order) break;
      put_columns(sums, panel, lane, open);
      T x[tile_depth];
#pragma unroll
      for (uint begin = 0u; begin < tile_depth; begin += 4u) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        Square<T> square;
        const uint left = first + begin < order ? order - first - begin : 0u;
        if (!factor_square(open + begin * tile_stride + first + begin, left, square, bad)) {
          bad += first + begin;
          return false;
        }
        if (lane < tile_side) {
          if (begin == 0u) {
#pragma unroll
            for (uint j = 0u; j < tile_depth; ++j) x[j] = open[j * tile_stride + lane];
          }
#pragma unroll
          for (uint j = 0u; j < 4u; ++j) {
            const uint k = begin + j;
            x[k] = lane == first + k ? square.roots[j] : x[k] * square.reciprocals[j];
#pragma unroll
            for (uint c = j + 1u; c < 4u; ++c) x[begin + c] = fma(-x[k], square.entries[j][c], x[begin + c]);
          }
#pragma unroll
          for (uint k = begin; k < begin + 4u; ++k) made[k * tile_stride + lane] = x[k];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane >= tile_side) continue;
#pragma unroll
        for (uint k = begin; k < begin + 4u; ++k) {
#pragma unroll
          for (uint behind = begin + 4u; behind < tile_depth; behind += 4u) {
            T entries[4];
            take_quad(made + k * tile_stride + first + behind, entries);
#pragma unroll
            for (uint c = 0u; c < 4u; ++c) x[behind + c] = fma(-x[k], entries[c], x[behind + c]);
          }
        }
        // The rows of the next square.
        if (begin + 4u < tile_depth && lane - first - begin - 4u < 4u) {
#pragma unroll
          for (uint j = begin + 4u; j < begin + 8u; ++j) open[j % tile_depth * tile_stride + lane] = x[j % tile_depth];
        }
      }
      leave_behind(made, made, part, panel, lane, sums);
    }
    swap_halves(sums);
  }
  return true;
}
