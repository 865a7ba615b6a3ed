#pragma once

#include "execution.h"

namespace covarium::cpu {

// Encoder.logDensity of lib/backend.ts, over blocks of rows.
template <typename T>
void logDensity(const Execution& execution, const T* factor, const T* mean, const T* rows, T* out, size_t count,
                size_t n, bool inverse, T constant);

extern template void logDensity(const Execution&, const float*, const float*, const float*, float*, size_t, size_t,
                                bool, float);
extern template void logDensity(const Execution&, const double*, const double*, const double*, double*, size_t, size_t,
                                bool, double);

}  // namespace covarium::cpu
