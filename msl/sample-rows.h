// The steps by which sample_rows and sample_batch make rows in a threadgroup: the same bits for the same row.
#pragma once

#include "dialect.h"
#include "normal.h"
#ifdef __CUDA__
#include "normal-float64.h"
#endif

struct NormalStream {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;
};

// The normals of a block of Philox's words.
inline void make_normals(PhiloxBlock<uint> words, thread float* normals) {
  const NormalBlock<float> made = normal_block<float, int, uint>(words);
  normals[0] = made.z0;
  normals[1] = made.z1;
  normals[2] = made.z2;
  normals[3] = made.z3;
}
#ifdef __CUDA__
inline void make_normals(PhiloxBlock<uint> words, thread double* normals) {
  const covarium::normal_float64::Pair<double> made =
      covarium::normal_float64::block<double>((ulong(words.w0) << 32) | words.w1, (ulong(words.w2) << 32) | words.w3);
  normals[0] = made.x;
  normals[1] = made.y;
}
#endif

// The counter of a block of `each` normals.
template <uint each>
inline PhiloxBlock<uint> counter_of(ulong block, NormalStream stream) {
  PhiloxBlock<uint> counter;
  counter.w0 = uint(block);
  counter.w1 = uint(block >> 32) & (0xffffffffu / each);  // elements are counted modulo 2^64
  counter.w2 = stream.streamLow;
  counter.w3 = stream.streamHigh;
  return counter;
}

// The factor's lower triangle by columns, entry (i, j) at j n - j (j - 1) / 2 + i - j: lanes that make neighbouring
// columns of out read neighbours.
template <typename T>
inline void pack_factor(device const T* factor, threadgroup T* packed, uint n, uint lane, uint lanes) {
  for (uint e = lane; e < n * n; e += lanes) {
    const uint i = e / n, j = e - i * n;
    if (j <= i) packed[j * n - j * (j + 1u) / 2u + i] = factor[e];
  }
}

// Element e of rows of n that lie `stride` apart.
inline uint place_of(uint e, uint n, uint stride) { return stride == n ? e : e / n * stride + e % n; }

// Writes elements first ... of the stream as rows of n, `stride` apart.
template <typename T>
inline void fill_group(threadgroup T* z, ulong first, uint length, uint n, uint stride, NormalStream stream, uint lane,
                       uint lanes) {
  constexpr uint each = 4u * sizeof(float) / sizeof(T);  // normals of a block
  const uint skipped = uint(first) % each;
  for (uint b = lane; b < (skipped + length + each - 1u) / each; b += lanes) {
    T normals[each];
    make_normals(philox4x32_10(counter_of<each>(first / each + b, stream), stream.seedLow, stream.seedHigh), normals);
#pragma unroll
    for (uint j = 0u; j < each; ++j) {
      const uint e = each * b + j - skipped;  // below zero in the first block it wraps, and is not below the bound
      if (e < length) z[place_of(e, n, stride)] = normals[j];
    }
  }
}

// out = mean + factor z by row. A lane makes one column of four rows that are a quarter of the group apart: they share
// the loads of the factor, and what neighbours write lies side by side.
template <typename T>
inline void multiply_rows(threadgroup const T* packed, device const T* mean, threadgroup const T* z, device T* out,
                          uint rows, uint n, uint lane, uint lanes) {
  const uint quarter = (rows + 3u) / 4u, step = quarter * n;
  for (uint e = lane; e < step; e += lanes) {
    const uint r = e / n, i = e - r * n;
    // A row beyond the last is row r again, and not written.
    const uint at0 = r * n;
    const uint at1 = r + quarter < rows ? at0 + step : at0;
    const uint at2 = r + 2u * quarter < rows ? at0 + 2u * step : at0;
    const uint at3 = r + 3u * quarter < rows ? at0 + 3u * step : at0;
    T y0 = mean[i], y1 = y0, y2 = y0, y3 = y0;
    uint at = i;
    for (uint j = 0u; j <= i; ++j) {
      const T entry = packed[at];
      y0 = fma(entry, z[at0 + j], y0);
      y1 = fma(entry, z[at1 + j], y1);
      y2 = fma(entry, z[at2 + j], y2);
      y3 = fma(entry, z[at3 + j], y3);
      at += n - 1u - j;
    }
    out[at0 + i] = y0;
    if (at1 != at0) out[at1 + i] = y1;
    if (at2 != at0) out[at2 + i] = y2;
    if (at3 != at0) out[at3 + i] = y3;
  }
}
