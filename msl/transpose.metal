#include <metal_stdlib>

#include "dialect.h"
#include "params.h"

template <typename Real>
inline void transpose_entry(device const Real* from, device Real* to, uint rows, uint columns, uint2 position) {
  if (position.x < columns && position.y < rows)
    to[ulong(position.x) * rows + position.y] = from[ulong(position.y) * columns + position.x];
}

// to (columns x rows) = the transpose of from (rows x columns); not in place. Grid: columns x rows.
kernel void transpose_matrix(device const float* from [[buffer(0)]], device float* to [[buffer(1)]],
                             constant MatrixParams& params [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
  transpose_entry(from, to, params.rows, params.columns, position);
}
