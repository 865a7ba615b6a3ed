#pragma once

#include "dialect.h"

// |w|^2 of one row x, n <= 64: w with factor w = x - mean, by forward substitution.
template <typename Real>
inline Real solved_square(device const Real* factor, device const Real* mean, device const Real* x, uint n) {
  Real w[64];
  Real square = Real(0);
  for (uint i = 0u; i < n; ++i) {
    device const Real* entries = factor + ulong(i) * n;
    Real sum = x[i] - mean[i];
    for (uint j = 0u; j < i; ++j) sum = fma(-entries[j], w[j], sum);
    w[i] = sum / entries[i];
    square = fma(w[i], w[i], square);
  }
  return square;
}
