// Square tiles of products, by panels that pass through threadgroup memory. A lane makes 8 x 8 entries of a tile in
// registers: two rows of 4 and two columns of 4, half a tile apart, so that neighbouring lanes read neighbours.
#pragma once

#include "dialect.h"
#include "params.h"
#include "quad.h"

// The rows or the columns of a result: entry k of the i-th lies at i step + k kStep, and one of the two steps is 1.
// With `lower`, those with k > i are 0, and not read.
template <typename T>
struct TileSide {
  device const T* at;
  uint count;
  ulong step, kStep;
  bool lower;
};

// What a lane brings of the panels of a side: its place in the first, how far apart what it brings of one panel lies,
// and which of that is there.
template <typename T>
struct PanelSource {
  device const T* at;   // of the next panel
  ulong between, next;  // between what it brings of one panel, and to the next panel
  uint i, k;            // of the first that it brings
  uint iBetween, kBetween;
  uint count;
  bool lower;
};

// Neighbouring lanes bring what lies side by side in memory.
template <typename T>
inline PanelSource<T> source_of(TileSide<T> side, uint first, uint k0, uint lane) {
  PanelSource<T> from;
  const bool isAlong = side.kStep == 1ul;
  from.i = first + (isAlong ? lane / tile_depth : lane % tile_side);
  from.k = k0 + (isAlong ? lane % tile_depth : lane / tile_side);
  from.iBetween = isAlong ? tile_lanes / tile_depth : 0u;
  from.kBetween = isAlong ? 0u : tile_lanes / tile_side;
  from.at = side.at + from.i * side.step + from.k * side.kStep;
  from.between = from.iBetween * side.step + from.kBetween * side.kStep;
  from.next = tile_depth * side.kStep;
  from.count = side.count;
  from.lower = side.lower;
  return from;
}

// What is not there is 0.
template <typename T>
inline void take_panel(thread PanelSource<T>& from, bool isWhole, uint end, thread T* taken) {
  if (isWhole) {
#pragma unroll
    for (uint s = 0u; s < tile_taken; ++s) taken[s] = from.at[s * from.between];
  } else {
#pragma unroll
    for (uint s = 0u; s < tile_taken; ++s) {
      const uint i = from.i + s * from.iBetween, k = from.k + s * from.kBetween;
      const bool isThere = i < from.count && k < end && (!from.lower || k <= i);
      taken[s] = isThere ? from.at[s * from.between] : T(0);
    }
  }
  from.at += from.next;
  from.k += tile_depth;
}

// Into threadgroup memory, by k.
template <typename T>
inline void put_panel(thread const T* taken, uint place, uint between, threadgroup T* panel) {
#pragma unroll
  for (uint s = 0u; s < tile_taken; ++s) panel[place + s * between] = taken[s];
}

// Whether all of the panel from k0 on is there.
template <typename T>
inline bool is_whole(TileSide<T> side, uint first, uint k0, uint end) {
  return first + tile_side <= side.count && k0 + tile_depth <= end && (!side.lower || k0 + tile_depth <= first + 1u);
}

// The products of entries k0 to end - 1 of both sides join the sums, or leave them, in this order, one fused
// multiply-add each. Every lane of the threadgroup must come.
template <typename T, bool leave = false>
inline void add_products(TileSide<T> rows, uint firstRow, TileSide<T> columns, uint firstColumn, uint k0, uint end,
                         threadgroup T* memory, uint lane, thread T (*sums)[8]) {
  threadgroup T* ofRows = memory;
  threadgroup T* ofColumns = memory + tile_depth * tile_stride;
  T takenOfRows[tile_taken], takenOfColumns[tile_taken];
  PanelSource<T> fromRows = source_of(rows, firstRow, k0, lane),
                 fromColumns = source_of(columns, firstColumn, k0, lane);
  const uint rowPlace = (fromRows.k - k0) * tile_stride + fromRows.i - firstRow;
  const uint rowBetween = fromRows.kBetween * tile_stride + fromRows.iBetween;
  const uint columnPlace = (fromColumns.k - k0) * tile_stride + fromColumns.i - firstColumn;
  const uint columnBetween = fromColumns.kBetween * tile_stride + fromColumns.iBetween;
  take_panel(fromRows, is_whole(rows, firstRow, k0, end), end, takenOfRows);
  take_panel(fromColumns, is_whole(columns, firstColumn, k0, end), end, takenOfColumns);
  for (; k0 < end; k0 += tile_depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    put_panel(takenOfRows, rowPlace, rowBetween, ofRows);
    put_panel(takenOfColumns, columnPlace, columnBetween, ofColumns);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + tile_depth < end) {
      take_panel(fromRows, is_whole(rows, firstRow, k0 + tile_depth, end), end, takenOfRows);
      take_panel(fromColumns, is_whole(columns, firstColumn, k0 + tile_depth, end), end, takenOfColumns);
    }
    threadgroup const T* atRows = ofRows + lane / 16u * 4u;
    threadgroup const T* atColumns = ofColumns + lane % 16u * 4u;
#pragma unroll 4
    for (uint k = 0u; k < tile_depth; ++k) {
      T x[8], y[8];
      take_quad(atRows, x);
      take_quad(atRows + tile_half, x + 4);
      take_quad(atColumns, y);
      take_quad(atColumns + tile_half, y + 4);
      atRows += tile_stride;
      atColumns += tile_stride;
#pragma unroll
      for (uint r = 0u; r < 8u; ++r) {
#pragma unroll
        for (uint c = 0u; c < 8u; ++c) sums[r][c] = fma(leave ? -y[c] : y[c], x[r], sums[r][c]);
      }
    }
  }
}

// The row, or the column, of a result that a lane's r-th is; `own` is its place among 16.
inline uint tile_place(uint first, uint own, uint r) { return first + own * 4u + r % 4u + r / 4u * tile_half; }
