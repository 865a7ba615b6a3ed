#pragma once

#include "dialect.h"

// |x|^2, only in lane 0: lane by lane, then over each simdgroup, then over the threadgroup. Right for any number of
// lanes, one included, and for simdgroups of any width; all lanes of the group take part. `partial` holds a value for
// each simdgroup.
template <typename Real>
inline Real sum_of_squares(device const Real* x, uint length, threadgroup Real* partial, uint lane, uint lanes,
                           uint width) {
  Real sum = Real(0);
  for (uint j = lane; j < length; j += lanes) sum = fma(x[j], x[j], sum);
  sum = simd_sum(sum);
  if (lane % width == 0u) partial[lane / width] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Real total = Real(0);
  if (lane == 0u) {
    for (uint s = 0u; s < (lanes + width - 1u) / width; ++s) total += partial[s];
  }
  return total;
}
