#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "sum-of-squares.h"

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
