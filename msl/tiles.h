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

// What a lane brings of the panels of a side: its place in the first panel, how far apart its entries of one panel
// are, and which of them exist.
template <typename T>
struct PanelSource {
  device const T* at;   // of the next panel
  ulong between, next;  // between its entries of one panel, and to the next panel
  uint i, k;            // of its first entry
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

// Entries that do not exist are 0.
template <typename T>
inline void take_there(PanelSource<T> from, uint end, thread T* taken) {
#pragma unroll
  for (uint s = 0u; s < tile_taken; ++s) {
    const uint i = from.i + s * from.iBetween, k = from.k + s * from.kBetween;
    const bool isThere = i < from.count && k < end && (!from.lower || k <= i);
    taken[s] = isThere ? from.at[s * from.between] : T(0);
  }
}

template <typename T>
inline void go_on(thread PanelSource<T>& from) {
  from.at += from.next;
  from.k += tile_depth;
}

// The panels of both sides, whole or not. One branch for both leaves the compiler more registers than two branches.
template <typename T>
inline void take_panels(thread PanelSource<T>& rows, thread PanelSource<T>& columns, bool areWhole, uint end,
                        thread T* ofRows, thread T* ofColumns) {
  if (areWhole) {
#pragma unroll
    for (uint s = 0u; s < tile_taken; ++s) ofRows[s] = rows.at[s * rows.between];
#pragma unroll
    for (uint s = 0u; s < tile_taken; ++s) ofColumns[s] = columns.at[s * columns.between];
  } else {
    take_there(rows, end, ofRows);
    take_there(columns, end, ofColumns);
  }
  go_on(rows);
  go_on(columns);
}

// Writes a panel into threadgroup memory, by k.
template <typename T>
inline void put_panel(thread const T* taken, uint place, uint between, threadgroup T* panel) {
#pragma unroll
  for (uint s = 0u; s < tile_taken; ++s) panel[place + s * between] = taken[s];
}

// Where the whole panels end: all their entries exist.
template <typename T>
inline uint whole_until(TileSide<T> side, uint first, uint end) {
  if (first + tile_side > side.count) return 0u;
  return side.lower && first + 1u < end ? first + 1u : end;
}

// How many panels of a side threadgroup memory has. With two, the next panel goes into the second while lanes read
// the first, which saves a barrier. Apple's GPUs have room for one, and so has CUDA in float64 (tile_bytes).
template <typename T>
inline uint tile_buffers() {
#ifdef __CUDA__
  return uint(8ul / sizeof(T));
#else
  return 1u;
#endif
}

// Down to #endif, products on a GPU's lanes; tensor-cores.h has the same names for NVIDIA's tensor cores.
#ifndef TENSOR_CORES

// The row, or the column, of a result that a lane has as its r-th; `own` is the lane's place among 16.
inline uint tile_place(uint first, uint own, uint r) { return first + own * 4u + r % 4u + r / 4u * tile_half; }

// The row and the column of the result whose sum a lane has as [r][c]; and where a lane begins to read a panel of the
// rows, and one of the columns. No functions, and no parentheses: for the same expression within them, NVIDIA's
// compiler chooses other registers, and float32 takes 1 to 3% longer.
#define TILE_ROW(first, lane, r) tile_place(first, lane / 16u, r)
#define TILE_COLUMN(first, lane, c) tile_place(first, lane % 16u, c)
#define ROWS_IN_PANEL(lane) lane / 16u * 4u
#define COLUMNS_IN_PANEL(lane) lane % 16u * 4u

// A lane's four rows of a half, in a column of a panel.
template <typename T>
inline void put_four(thread const T* from, threadgroup T* to) {
  put_quad(from, to);
}
template <typename T>
inline void take_four(threadgroup const T* from, thread T* to) {
  take_quad(from, to);
}

// Adds the products of a panel to the sums of a lane's columns, or subtracts them: its first four columns, its second
// four, or all. In the order of the sums each shares an operand with the one before: NVIDIA's multiply-adds wait for
// the third register that they read, and keep one that comes again (docs/cuda.md).
template <typename T, bool leave, bool first, bool second>
inline void add_panel(threadgroup const T* atRows, threadgroup const T* atColumns, thread T (*sums)[8]) {
#pragma unroll(leave && !(first && second) ? 4 : sizeof(T) == 4u ? 8 : 4)
  for (uint k = 0u; k < tile_depth; ++k) {
    T x[8], y[8];
    take_quad(atRows, x);
    take_quad(atRows + tile_half, x + 4);
    if (first) take_quad(atColumns, y);
    if (second) take_quad(atColumns + tile_half, y + 4);
    atRows += tile_stride;
    atColumns += tile_stride;
#pragma unroll
    for (uint turn = first ? 0u : 32u; turn < (second ? 64u : 32u); ++turn) {
      const uint part = turn / 32u, row = turn / 4u % 8u, column = turn % 4u;
      const uint r = part == 0u ? row : 7u - row;
      const uint c = part * 4u + ((row + part) % 2u == 0u ? column : 3u - column);
      sums[r][c] = fma(leave ? -y[c] : y[c], x[r], sums[r][c]);
    }
  }
}

#endif

// Adds the products of entries k0 to end - 1 of both sides to the sums, or subtracts them, in this order, one fused
// multiply-add each. With `halves` the columns are `lower`, and those of the first half of the tile, which are 0 from
// entry firstColumn + tile_half on, are left out there. Every lane of the threadgroup must call it.
template <typename T, bool leave = false, bool halves = false>
inline void add_products(TileSide<T> rows, uint firstRow, TileSide<T> columns, uint firstColumn, uint k0, uint end,
                         threadgroup T* memory, uint lane, thread T (*sums)[8]) {
  const uint panel = tile_depth * tile_stride;
  T takenOfRows[tile_taken], takenOfColumns[tile_taken];
  PanelSource<T> fromRows = source_of(rows, firstRow, k0, lane),
                 fromColumns = source_of(columns, firstColumn, k0, lane);
  const uint rowPlace = (fromRows.k - k0) * tile_stride + fromRows.i - firstRow;
  const uint rowBetween = fromRows.kBetween * tile_stride + fromRows.iBetween;
  const uint columnPlace = panel + (fromColumns.k - k0) * tile_stride + fromColumns.i - firstColumn;
  const uint columnBetween = fromColumns.kBetween * tile_stride + fromColumns.iBetween;
  const uint wholeRows = whole_until(rows, firstRow, end), wholeColumns = whole_until(columns, firstColumn, end);
  const uint whole = wholeRows < wholeColumns ? wholeRows : wholeColumns;
  take_panels(fromRows, fromColumns, k0 + tile_depth <= whole, end, takenOfRows, takenOfColumns);
  threadgroup T* now = memory;
  threadgroup T* other = memory + (tile_buffers<T>() - 1u) * 2u * panel;
  if (tile_buffers<T>() == 2u) threadgroup_barrier(mem_flags::mem_threadgroup);
  for (; k0 < end; k0 += tile_depth) {
    if (tile_buffers<T>() == 1u) threadgroup_barrier(mem_flags::mem_threadgroup);
    put_panel(takenOfRows, rowPlace, rowBetween, now);
    put_panel(takenOfColumns, columnPlace, columnBetween, now);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + tile_depth < end)
      take_panels(fromRows, fromColumns, k0 + 2u * tile_depth <= whole, end, takenOfRows, takenOfColumns);
    threadgroup const T* atRows = now + ROWS_IN_PANEL(lane);
    threadgroup const T* atColumns = now + panel + COLUMNS_IN_PANEL(lane);
    if (halves && k0 >= firstColumn + tile_half)
      add_panel<T, leave, false, true>(atRows, atColumns, sums);
    else
      add_panel<T, leave, true, true>(atRows, atColumns, sums);
    threadgroup T* next = other;
    other = now;
    now = next;
  }
}
