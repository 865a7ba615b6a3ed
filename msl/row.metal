#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "sum-of-squares.h"

template <typename Real>
inline void add_scaled(device Real* rows, device const Real* row, Real scale, uint count, uint columns,
                       uint2 position) {
  if (position.x < columns && position.y < count) {
    const ulong at = ulong(position.y) * columns + position.x;
    rows[at] = fma(scale, row[position.x], rows[at]);
  }
}

template <typename Real>
inline void multiply_row(device Real* rows, device const Real* row, uint count, uint columns, uint2 position) {
  if (position.x < columns && position.y < count) rows[ulong(position.y) * columns + position.x] *= row[position.x];
}

template <typename Real>
inline void take_mean(device const Real* rows, device const Real* mean, device Real* to, uint length, uint columns,
                      uint i) {
  if (i < length) to[i] = rows[i] - mean[i % columns];
}

// Grid: columns x rows.
kernel void add_row(device float* rows [[buffer(0)]], device const float* row [[buffer(1)]],
                    constant RowParams& params [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
  add_scaled(rows, row, params.scale, params.rows, params.columns, position);
}

// Each row of rows is multiplied by row, element by element. Grid: columns x rows.
kernel void scale_columns(device float* rows [[buffer(0)]], device const float* row [[buffer(1)]],
                          constant MatrixParams& params [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
  multiply_row(rows, row, params.rows, params.columns, position);
}

// to = rows - mean, by row. Grid: rows x columns, which are below 2^32.
kernel void less_mean(device const float* rows [[buffer(0)]], device const float* mean [[buffer(1)]],
                      device float* to [[buffer(2)]], constant MatrixParams& params [[buffer(3)]],
                      uint i [[thread_position_in_grid]]) {
  take_mean(rows, mean, to, params.rows * params.columns, params.columns, i);
}

// One threadgroup for each row, of at most 1,024 lanes; memory: simdgroup_values_bytes.
kernel void squared_norms(device const float* rows [[buffer(0)]], device float* out [[buffer(1)]],
                          constant MatrixParams& params [[buffer(2)]], threadgroup float* partial THREADGROUP_MEMORY(0),
                          uint row [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                          uint lanes [[threads_per_threadgroup]], uint width [[threads_per_simdgroup]]) {
  if (row >= params.rows) return;
  const float sum = sum_of_squares(rows + ulong(row) * params.columns, params.columns, partial, lane, lanes, width);
  if (lane == 0u) out[row] = sum;
}
