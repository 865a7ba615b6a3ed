#include <metal_stdlib>

#include "dialect.h"
#include "params.h"

using namespace metal;

template <typename Real>
inline void add_scaled(device Real* rows, device const Real* row, Real scale, uint count, uint columns,
                       uint2 position) {
  if (position.x < columns && position.y < count) {
    const ulong at = ulong(position.y) * columns + position.x;
    rows[at] = fma(scale, row[position.x], rows[at]);
  }
}

// Lane by lane, then over a simdgroup, then over the threadgroup: right for any number of lanes, one included.
template <typename Real>
inline void sum_of_squares(device const Real* rows, device Real* out, uint count, uint columns,
                           threadgroup Real* partial, uint row, uint lane, uint lanes) {
  if (row >= count) return;
  device const Real* x = rows + ulong(row) * columns;
  Real sum = Real(0);
  for (uint j = lane; j < columns; j += lanes) sum = fma(x[j], x[j], sum);
  sum = simd_sum(sum);
  if (lane % 32u == 0u) partial[lane / 32u] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0u) {
    Real total = Real(0);
    for (uint s = 0u; s < (lanes + 31u) / 32u; ++s) total += partial[s];
    out[row] = total;
  }
}

// Grid: columns x rows.
kernel void add_row(device float* rows [[buffer(0)]], device const float* row [[buffer(1)]],
                    constant RowParams& params [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
  add_scaled(rows, row, params.scale, params.rows, params.columns, position);
}

// One threadgroup a row, of at most 1,024 lanes; `partial` holds one value for each simdgroup of 32.
kernel void squared_norms(device const float* rows [[buffer(0)]], device float* out [[buffer(1)]],
                          constant MatrixParams& params [[buffer(2)]], threadgroup float* partial THREADGROUP_MEMORY(0),
                          uint row [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                          uint lanes [[threads_per_threadgroup]]) {
  sum_of_squares(rows, out, params.rows, params.columns, partial, row, lane, lanes);
}
