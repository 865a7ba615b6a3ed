// The steps by which sample_rows and sample_batch make rows in a threadgroup: the same bits for the same row.
#pragma once

#include "dialect.h"
#include "normal.h"

struct NormalStream {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;
};

// The factor's lower triangle by columns, entry (i, j) at j n - j (j - 1) / 2 + i - j: lanes that make neighbouring
// columns of out read neighbours.
inline void pack_factor(device const float* factor, threadgroup float* packed, uint n, uint lane, uint lanes) {
  for (uint e = lane; e < n * n; e += lanes) {
    const uint i = e / n, j = e - i * n;
    if (j <= i) packed[j * n - j * (j + 1u) / 2u + i] = factor[e];
  }
}

// Element e of rows of n that lie `stride` apart.
inline uint place_of(uint e, uint n, uint stride) { return stride == n ? e : e / n * stride + e % n; }

// Writes elements first ... of the stream as rows of n, `stride` apart.
inline void fill_group(threadgroup float* z, ulong first, uint length, uint n, uint stride, NormalStream stream,
                       uint lane, uint lanes) {
  const uint skipped = uint(first) & 3u;
  for (uint b = lane; b < (skipped + length + 3u) / 4u; b += lanes) {
    const ulong block = (first >> 2) + b;
    PhiloxBlock<uint> counter;
    counter.w0 = uint(block);
    counter.w1 = uint(block >> 32) & 0x3fffffffu;  // elements are counted modulo 2^64
    counter.w2 = stream.streamLow;
    counter.w3 = stream.streamHigh;
    const NormalBlock<float> normals =
        normal_block<float, int, uint>(philox4x32_10(counter, stream.seedLow, stream.seedHigh));
    // This may be below zero in the first block: it then wraps, and is not below the bound.
    const uint e = 4u * b - skipped;
    if (e < length) z[place_of(e, n, stride)] = normals.z0;
    if (e + 1u < length) z[place_of(e + 1u, n, stride)] = normals.z1;
    if (e + 2u < length) z[place_of(e + 2u, n, stride)] = normals.z2;
    if (e + 3u < length) z[place_of(e + 3u, n, stride)] = normals.z3;
  }
}

// out = mean + factor z by row. A lane makes one column of four rows that are a quarter of the group apart: they share
// the loads of the factor, and what neighbours write lies side by side.
inline void multiply_rows(threadgroup const float* packed, device const float* mean, threadgroup const float* z,
                          device float* out, uint rows, uint n, uint lane, uint lanes) {
  const uint quarter = (rows + 3u) / 4u, step = quarter * n;
  for (uint e = lane; e < step; e += lanes) {
    const uint r = e / n, i = e - r * n;
    // A row beyond the last is row r again, and not written.
    const uint at0 = r * n;
    const uint at1 = r + quarter < rows ? at0 + step : at0;
    const uint at2 = r + 2u * quarter < rows ? at0 + 2u * step : at0;
    const uint at3 = r + 3u * quarter < rows ? at0 + 3u * step : at0;
    float y0 = mean[i], y1 = y0, y2 = y0, y3 = y0;
    uint at = i;
    for (uint j = 0u; j <= i; ++j) {
      const float entry = packed[at];
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
