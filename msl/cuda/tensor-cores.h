// Products of float64 tiles on tensor cores, from compute capability 9.0 on: there they make twice as many as the lanes
// do. A warp adds the products of four entries to 16 x 8 sums by one instruction, which is four fused multiply-adds in
// the order of the entries: the bits are those of the lanes. NVIDIA does not promise that; docs/cuda.md says how it was
// found, and the device's self-test compares draws with the CPU's.
#pragma once

#define TENSOR_CORES

#include "dialect.h"
#include "params.h"

// A warp has 32 rows of each half of a tile, and 16 columns of each. A lane has every eighth of these rows, and two of
// every eight columns.
#define TILE_ROW(first, lane, r) (first + r / 4u * tile_half + lane / 32u % 2u * 32u + r % 4u * 8u + lane % 32u / 4u)
#define TILE_COLUMN(first, lane, c) \
  (first + c / 4u * tile_half + lane / 64u * 16u + c / 2u % 2u * 8u + lane % 4u * 2u + c % 2u)

// A lane brings one of the four entries of a row, or of a column, that an instruction takes.
#define ROWS_IN_PANEL(lane) (lane % 4u * tile_stride + lane / 32u % 2u * 32u + lane % 32u / 4u)
#define COLUMNS_IN_PANEL(lane) (lane % 4u * tile_stride + lane / 64u * 16u + lane % 32u / 4u)

template <typename T>
inline void put_four(thread const T* from, threadgroup T* to) {
#pragma unroll
  for (uint r = 0u; r < 4u; ++r) to[r * 8u] = from[r];
}
template <typename T>
inline void take_four(threadgroup const T* from, thread T* to) {
#pragma unroll
  for (uint r = 0u; r < 4u; ++r) to[r] = from[r * 8u];
}

// As of the lanes (tiles.h).
template <typename T, bool leave, bool first, bool second>
inline void add_panel(threadgroup const T* atRows, threadgroup const T* atColumns, thread T (*sums)[8]) {
#pragma unroll
  for (uint k = 0u; k < tile_depth; k += 4u) {
    T x[8], y[8];
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) x[r] = atRows[k * tile_stride + TILE_ROW(0u, 0u, r)];
#pragma unroll
    for (uint c = first ? 0u : 4u; c < (second ? 8u : 4u); c += 2u) {
      const T entry = atColumns[k * tile_stride + TILE_COLUMN(0u, 0u, c)];
      y[c] = leave ? -entry : entry;
    }
#pragma unroll
    for (uint r = 0u; r < 8u; r += 2u) {
#pragma unroll
      for (uint c = first ? 0u : 4u; c < (second ? 8u : 4u); c += 2u)
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+d"(sums[r][c]), "+d"(sums[r][c + 1u]), "+d"(sums[r + 1u][c]), "+d"(sums[r + 1u][c + 1u])
            : "d"(x[r]), "d"(x[r + 1u]), "d"(y[c]));
    }
  }
}

// Writes the sums of a lane to its places in a row of `end` columns, by pairs where those are aligned.
template <typename T>
inline void write_pairs(thread const T* sums, device T* row, uint firstColumn, uint end, bool areAligned, uint lane) {
  typedef T Pair __attribute__((vector_size(2 * sizeof(T))));  // stored by one instruction
#pragma unroll
  for (uint c = 0u; c < 8u; c += 2u) {
    const uint i = TILE_COLUMN(firstColumn, lane, c);
    if (areAligned) {
      if (i < end) *(device Pair*)(row + i) = Pair{sums[c], sums[c + 1u]};
    } else {
      if (i < end) row[i] = sums[c];
      if (i + 1u < end) row[i + 1u] = sums[c + 1u];
    }
  }
}
