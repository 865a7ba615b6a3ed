// Products of float64 tiles on tensor cores, from compute capability 9.0 on: there they make twice as many as the lanes
// do. A warp adds the products of four entries to 16 x 8 sums by one instruction, which is four fused multiply-adds in
// the order of the entries: the bits are those of the lanes. NVIDIA does not promise that; docs/cuda.md says how it was
// found, and the device's self-test compares draws with the CPU's.
#pragma once

#define TENSOR_CORES

#include "dialect.h"
#include "params.h"

// A warp has 64 rows and 32 columns of a tile. A lane has every eighth row of them, and of every eight columns two.
#define TILE_ROW(first, lane, r) (first + lane / 32u % 2u * tile_half + r * 8u + lane % 32u / 4u)
#define TILE_COLUMN(first, lane, c) (first + lane / 64u * 32u + c / 2u * 8u + lane % 4u * 2u + c % 2u)

// Adds the products of two panels, or subtracts them. The first half of the columns is left out where it is 0: that is
// half of the warps, one on each part of a multiprocessor.
template <typename T, bool leave>
inline void add_panels(threadgroup const T* ofRows, threadgroup const T* ofColumns, bool isFirstHalfZero, uint lane,
                       thread T (*sums)[8]) {
  if (isFirstHalfZero && lane < tile_lanes / 2u) return;
  const uint place = lane % 4u * tile_stride + lane % 32u / 4u;
  threadgroup const T* atRows = ofRows + place + lane / 32u % 2u * tile_half;
  threadgroup const T* atColumns = ofColumns + place + lane / 64u * 32u;
#pragma unroll
  for (uint k = 0u; k < tile_depth; k += 4u) {
    T x[8], y[4];
#pragma unroll
    for (uint r = 0u; r < 8u; ++r) x[r] = atRows[k * tile_stride + r * 8u];
#pragma unroll
    for (uint c = 0u; c < 4u; ++c)
      y[c] = leave ? -atColumns[k * tile_stride + c * 8u] : atColumns[k * tile_stride + c * 8u];
#pragma unroll
    for (uint r = 0u; r < 8u; r += 2u) {
#pragma unroll
      for (uint c = 0u; c < 8u; c += 2u)
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+d"(sums[r][c]), "+d"(sums[r][c + 1u]), "+d"(sums[r + 1u][c]), "+d"(sums[r + 1u][c + 1u])
            : "d"(x[r]), "d"(x[r + 1u]), "d"(y[c / 2u]));
    }
  }
}

template <typename T>
struct alignas(2 * sizeof(T)) PairOfSums {
  T first, second;
};

// Writes the sums of a lane to its places in a row of `end` columns, by pairs where those are aligned.
template <typename T>
inline void write_pairs(thread const T* sums, device T* row, uint firstColumn, uint end, bool areAligned, uint lane) {
#pragma unroll
  for (uint c = 0u; c < 8u; c += 2u) {
    const uint i = TILE_COLUMN(firstColumn, lane, c);
    if (areAligned) {
      if (i < end) *(device PairOfSums<T>*)(row + i) = {sums[c], sums[c + 1u]};
    } else {
      if (i < end) row[i] = sums[c];
      if (i + 1u < end) row[i + 1u] = sums[c + 1u];
    }
  }
}
