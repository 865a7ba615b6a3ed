#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "solved-square.h"
#include "sum-of-squares.h"

// |w|^2 of one row x: w = factor (x - mean).
template <typename Real>
inline Real multiplied_square(device const Real* factor, device const Real* mean, device const Real* x, uint n) {
  Real square = Real(0);
  for (uint i = 0u; i < n; ++i) {
    device const Real* entries = factor + ulong(i) * n;
    Real w = Real(0);
    for (uint j = 0u; j <= i; ++j) w = fma(entries[j], x[j] - mean[j], w);
    square = fma(w, w, square);
  }
  return square;
}

// out_i = logAtMean - |w|^2 / 2 of row i of rows (rows x columns), columns at most 64 (with more, nothing is
// written). The factor is columns x columns; nothing above its diagonal is read. Grid: rows.
kernel void log_density_rows(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                             device const float* rows [[buffer(2)]], device float* out [[buffer(3)]],
                             constant LogDensityParams& params [[buffer(4)]], uint i [[thread_position_in_grid]]) {
  const uint n = params.columns;
  if (i >= params.rows || n > 64u) return;
  device const float* x = rows + ulong(i) * n;
  const float square = params.inverse == 0u ? solved_square(factor, mean, x, n) : multiplied_square(factor, mean, x, n);
  out[i] = fma(-0.5f, square, params.logAtMean);
}

// out_r = logAtMean - |row r|^2 / 2, of rows that are whitened already. One threadgroup for each row, of at most
// 1,024 lanes; memory: simdgroup_values_bytes.
kernel void log_density(device const float* rows [[buffer(0)]], device float* out [[buffer(1)]],
                        constant LogDensityParams& params [[buffer(2)]],
                        threadgroup float* partial THREADGROUP_MEMORY(0), uint row [[threadgroup_position_in_grid]],
                        uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]],
                        uint width [[threads_per_simdgroup]]) {
  if (row >= params.rows) return;
  const float square = sum_of_squares(rows + ulong(row) * params.columns, params.columns, partial, lane, lanes, width);
  if (lane == 0u) out[row] = fma(-0.5f, square, params.logAtMean);
}
