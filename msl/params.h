// Parameters of the kernels, shared by host and kernel: fixed-width fields, no padding, 64-bit values as two words.
#pragma once

struct NormalParams {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;
  uint firstLow, firstHigh;  // element of the stream that out[0] is
  uint count;                // elements of out
};

struct MatrixParams {
  uint rows, columns;
};

struct RowParams {
  uint rows, columns;
  float scale;
};

struct SampleParams {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;
  uint firstLow, firstHigh;  // element of the stream that row 0 of out begins with; the stream wraps behind 2^64 - 1
  uint count, columns;       // rows of out, and their length
  uint rowsPerGroup;         // rows that one threadgroup makes
  uint inverse;              // 0: factor z; otherwise x with factor x = z
};

struct LogDensityParams {
  uint rows, columns;
  uint inverse;     // 0: w with factor w = x - mean; otherwise w = factor (x - mean). log_density does not look at it
  float logAtMean;  // the log density of the mean itself
};

// Bytes of threadgroup memory of squared_norms and log_density: a value for each simdgroup. Metal takes multiples of
// 16: round up.
inline unsigned long simdgroup_values_bytes(uint lanes, uint simdWidth) {
  return 4ul * (lanes / simdWidth + (lanes % simdWidth != 0u ? 1u : 0u));
}

// Bytes of threadgroup memory of sample_rows: rowsPerGroup columns normals in whole Philox blocks, wherever the first
// block is entered. A multiple of 16.
inline unsigned long sample_rows_bytes(uint columns, uint rowsPerGroup) {
  const unsigned long rows = rowsPerGroup;
  return (rows * columns + 6ul) / 4ul * 16ul;
}
