#include <metal_stdlib>

#include "dialect.h"
#include "params.h"

template <typename Real>
inline void zero_above_diagonal(device Real* a, uint columns, uint2 position) {
  if (position.x > position.y && position.x < columns && position.y < columns) {
    a[ulong(position.y) * columns + position.x] = Real(0);
  }
}

// Never reads above the diagonal: what a factor's other triangle holds, NaN included, does not matter.
template <typename Real>
inline void copy_lower_entry(device const Real* from, device Real* to, uint columns, uint2 position) {
  if (position.x < columns && position.y < columns) {
    const ulong at = ulong(position.y) * columns + position.x;
    Real value = Real(0);
    if (position.x <= position.y) value = from[at];
    to[at] = value;
  }
}

// a_ij <-> a_(n-1-j)(n-1-i): each pair is swapped by the thread of its entry left of the antidiagonal.
template <typename Real>
inline void swap_across_antidiagonal(device Real* a, uint columns, uint2 position) {
  const uint i = position.y, j = position.x, last = columns - 1u;
  if (i < columns && j < columns && i + j < last) {
    const ulong left = ulong(i) * columns + j, right = ulong(last - j) * columns + (last - i);
    const Real kept = a[left];
    a[left] = a[right];
    a[right] = kept;
  }
}

// Grid: columns x columns.
kernel void zero_upper(device float* a [[buffer(0)]], constant MatrixParams& params [[buffer(1)]],
                       uint2 position [[thread_position_in_grid]]) {
  zero_above_diagonal(a, params.columns, position);
}

// Grid: columns x columns.
kernel void antitranspose(device float* a [[buffer(0)]], constant MatrixParams& params [[buffer(1)]],
                          uint2 position [[thread_position_in_grid]]) {
  swap_across_antidiagonal(a, params.columns, position);
}

// to = the lower triangle of from, zeros above. Grid: columns x columns.
kernel void copy_lower(device const float* from [[buffer(0)]], device float* to [[buffer(1)]],
                       constant MatrixParams& params [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
  copy_lower_entry(from, to, params.columns, position);
}
