// Parameters of the kernels, shared by host and kernel: fixed-width fields, no padding, 64-bit values as two words.
// Below them are the sizes of tiles, panels and threadgroups, which the kernels' texts and all devices share. Where a
// device begins to use a kernel is written in its room, beside the choice.
#pragma once

struct NormalParams {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;
  uint firstLow, firstHigh;  // element of the stream at out[0]
  uint count;                // elements of out
};

struct MatrixParams {
  uint rows, columns;
};

struct LqParams {
  uint rows, columns;
  uint hasQ;  // 0 or 1
};

struct SampleTileParams {
  uint rows, columns;
  uint inQuads;  // 0 or 1: rows begin at multiples of 16 bytes, and have a multiple of four columns
  uint atOnce;   // the GPU's processors, each of which takes up to two groups; 0 if unknown
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

struct ProductParams {
  uint m, n, k;
  uint firstRow;                // the row of the result with which c begins
  uint transposeA, transposeB;  // 0 or 1
  float alpha, beta;
};

#ifndef __METAL_VERSION__
struct ProductParamsFloat64 {
  uint m, n, k;
  uint firstRow;
  uint transposeA, transposeB;
  double alpha, beta;
};
#endif

#ifndef __METAL_VERSION__
struct StretchParams {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;    // of the first row's model; the model after it has stream + 1
  uint firstLow, firstHigh;      // the row of its run with which each model begins
  uint rows, columns;            // of all models
  uint modelRows, locationRows;  // rows of one model, and rows that share one location
  uint rowsPerGroup;
  uint boosted;
  double nu, shape, d, c;  // of msl/radial-scale.h
};
#endif

struct MultiplyLowerParams {
  uint rows, columns;
  uint addsMean;  // 0: the mean is not read
};

struct LogDensityParams {
  uint rows, columns;
  float logAtMean;  // the log density of the mean itself
};

struct SampleBatchParams {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;  // of model 0; model b draws from stream + b
  uint firstLow, firstHigh;    // as in SampleParams, the same for every model
  uint models, rows, columns;  // rows of each model
  uint rowsPerGroup;
};

struct DensitiesParams {
  uint models, rows, columns;  // rows of each model
  uint shared;                 // 0: each model has its own rows; otherwise all have the same
  uint inverse;                // 0: w with factor w = x - mean; otherwise w = factor (x - mean)
  uint rowsPerGroup;           // rows of one model that one threadgroup takes
};

struct CholeskyBatchParams {
  uint models, columns;
  uint modelsPerGroup;  // models that one threadgroup factors
  float tolerance;      // of the symmetry
};

struct SolveTileParams {
  uint rows, columns;
  uint mean;      // solve_without_mean, solve_less_mean or solve_with_mean
  uint reversed;  // not 0: the last column is the first in rows and in out
};

// What solve_tiles does with the mean: it does not read it, subtracts it from the rows before they are solved, or
// adds it to the solutions.
enum { solve_without_mean, solve_less_mean, solve_with_mean };

struct CholeskyTileParams {
  uint columns;  // of the matrix
  uint first;    // column of the block
};

struct MomentsParams {
  uint rows, columns;
  uint products;  // 0: only the sums
  uint side;      // of a tile of products: 4, 8, 16, 32 or 64
  uint segments;  // parts of the rows, each with its own sums
};

struct BetweenParams {
  uint rows, columns;
  uint brackets;
  uint capacity;  // numbers that are kept of each bracket and column
};

struct SelectParams {
  uint slots;
  uint capacity;  // numbers that a slot has room for
};

// Bytes of threadgroup memory of squared_norms and log_density: a value for each simdgroup. Metal takes multiples of
// 16: round up.
inline unsigned long simdgroup_values_bytes(uint lanes, uint simdWidth) {
  return 4ul * (lanes / simdWidth + (lanes % simdWidth != 0u ? 1u : 0u));
}

// Bytes of threadgroup memory of multiply_lower: four values for each simdgroup. A multiple of 16.
inline unsigned long multiply_lower_bytes(uint lanes, uint simdWidth) {
  return 4ul * simdgroup_values_bytes(lanes, simdWidth);
}

// How far apart sample_rows keeps its rows: with `inverse` a lane has a row, and an odd stride sends neighbours to
// different banks of the memory.
inline uint sample_rows_stride(uint columns, uint inverse) { return inverse != 0u ? columns | 1u : columns; }

// Bytes of threadgroup memory of sample_rows: the factor's lower triangle and a group's rows. Round up likewise.
// Metal has 32,768 bytes; the largest number is returned for far more.
inline unsigned long sample_rows_bytes(uint columns, uint rowsPerGroup, uint inverse) {
  if (columns > 0xffffu || rowsPerGroup > 0xffffu) return ~0ul;
  const unsigned long n = columns, rows = rowsPerGroup;
  return 4ul * (n * (n + 1ul) / 2ul + rows * sample_rows_stride(columns, inverse));
}

// Rows that a host gives a group for at most 64 columns, so that they fit 16 KB: docs/numerics.md has the measurement
// behind it. Any other choice gives the same bits.
inline uint sample_rows_per_group(uint columns, uint inverse) {
  const uint left = 4096u - columns * (columns + 1u) / 2u;
  return (left < 2048u ? left : 2048u) / sample_rows_stride(columns, inverse);
}
inline uint sample_rows_lanes(uint inverse) { return inverse != 0u ? 256u : 128u; }

// The lanes of stretch_rows, each of which makes the scale of at most one row of a threadgroup.
enum { stretch_lanes = 256 };

// The threads of find_not_finite, to which the numbers are shared out.
enum { finite_threads = 262144 };

// The lanes of norm_densities, and the rows that share them.
enum { norms_lanes = 256, norms_rows = 8 };

// The lanes of densities, or fewer, and the fewest and the most columns of densities_by_columns.
enum { densities_lanes = 64, densities_by_columns_from = 13, densities_most = 64 };

// Numbers of their threadgroup memory: the factor's lower triangle; of densities_by_columns in quads, and the mean, and
// a column for each lane, whose neighbours are in different banks.
inline unsigned long densities_elements(uint columns, uint lanes) {
  const unsigned long n = columns, quads = (n + 3ul) / 4ul;
  if (columns > densities_most) return 0ul;
  if (columns < densities_by_columns_from) return n * (n + 1ul) / 2ul;
  return 8ul * quads * (quads + 1ul) + n + n * (lanes + 1ul);
}

// For add_moments and add_segments: their lanes; the numbers of a panel, and how many of them a lane takes; the
// numbers of a threadgroup's memory, in float64: one for each product of each slice, and one for each sum (most of
// them with a side of 4); and the entries that a threadgroup of add_segments makes.
enum {
  moments_lanes = 256,
  moments_panel = 1024,
  moments_taken = moments_panel / moments_lanes,
  moments_elements = 16 * 256 + 4 * 256,
  moments_entries = 16
};

// Bands of columns; tiles of products on and below the diagonal, or of sums; and the numbers of both that a segment
// has.
inline uint moments_bands(uint columns, uint side) { return (columns + side - 1u) / side; }
inline uint moments_tiles(uint bands, uint products) { return products != 0u ? bands * (bands + 1u) / 2u : bands; }
inline unsigned long moments_length(uint columns, uint side, uint products) {
  const unsigned long bands = moments_bands(columns, side), tiles = bands * (bands + 1ul) / 2ul;
  return (products != 0u ? tiles * side * side : 0ul) + bands * side;
}

// The most threads of count_between, each of which takes some numbers of one column, and its lanes.
enum { between_threads = 131072, between_lanes = 256 };

// The lanes of select_ranks; the bits of a digit of a key, which it looks at digit by digit; and the counts of a
// digit.
enum { select_lanes = 256, select_digit_bits = 8, select_bins = 1 << select_digit_bits };

// Threads of fill_normal for elements first ... of a stream: each makes two blocks of four.
inline unsigned long fill_normal_threads(unsigned long first, unsigned long count) {
  return (first % 4ul + count + 7ul) / 8ul;
}

// The lanes of sample_narrow, and the most columns that it makes.
enum { sample_narrow_lanes = 128, sample_narrow_most = 112 };

// Rows that a threadgroup of sample_narrow makes at once: four for each ceil(columns / 8) of its lanes.
inline uint sample_narrow_rows(uint columns) { return 4u * (sample_narrow_lanes / ((columns + 7u) / 8u)); }

// How far apart sample_narrow keeps its rows: an odd number of quads, which sends neighbours to different banks of
// the memory.
inline uint sample_narrow_stride(uint columns) { return 4u * ((columns + 3u) / 4u | 1u); }

// Bytes of threadgroup memory of sample_narrow: the factor's lower triangle in quads, and the rows.
inline unsigned long sample_narrow_bytes(uint columns) {
  if (columns == 0u || columns > sample_narrow_most) return 16ul;
  const unsigned long quads = (columns + 3u) / 4u;
  return 4ul *
         (8ul * quads * (quads + 1ul) + (unsigned long)sample_narrow_rows(columns) * sample_narrow_stride(columns));
}

// How far apart cholesky_batch keeps the rows of a matrix: a lane has a row, and an odd stride sends neighbours to
// different banks of the memory.
inline uint cholesky_batch_stride(uint columns) { return columns | 1u; }

// Bytes of threadgroup memory of cholesky_batch: the matrices, a root for each row, and a verdict for each matrix.
// Round up likewise.
inline unsigned long cholesky_batch_bytes(uint columns, uint modelsPerGroup) {
  if (columns > 0xffffu || modelsPerGroup > 0xffffu) return ~0ul;
  const unsigned long n = columns, models = modelsPerGroup;
  return 4ul * models * (n * (cholesky_batch_stride(columns) + 1ul) + 1ul);
}

// Models that a host gives a group: as many as have 32 rows, the lanes of one of Apple's simdgroups. Any other choice
// gives the same bits.
inline uint cholesky_batch_models_per_group(uint columns) { return columns < 32u ? 32u / columns : 1u; }

// A tile of a product: its side, and half of it; the depth of a panel; the stride from one k of a panel to the next
// (neighbours write to different banks of the memory, and a lane reads at multiples of 16 bytes); its lanes, each of
// which makes 64 entries; and how many entries of a panel a lane brings.
enum { tile_side = 128, tile_half = 64, tile_depth = 16, tile_stride = 132, tile_lanes = 256, tile_taken = 8 };

// How many products one sum of product_tiles takes.
enum { product_depth = 256 };

// Bytes of threadgroup memory of the kernels of tiles: a panel of each side, and on CUDA two of each in float32, or one
// in float64 (tile_buffers).
inline unsigned long tile_bytes() { return 8ul * tile_depth * tile_stride; }
inline unsigned long cuda_tile_bytes() { return 2ul * tile_bytes(); }

// The result of cholesky_update if no pivot is bad.
enum : uint { cholesky_good = 0xffffffffu };

// Threadgroups for a result of this many rows and columns.
inline unsigned long tile_groups(unsigned long rows, unsigned long columns) {
  return (rows + tile_side - 1ul) / tile_side * ((columns + tile_side - 1ul) / tile_side);
}
