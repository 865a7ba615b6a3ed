#pragma once

#include "execution.h"

namespace covarium::cpu {

// Encoder.sample of lib/backend.ts: normals, product or solve, and mean in one pass over blocks of rows. `out` is count
// x n.
template <typename T>
void sample(const Execution& execution, const T* factor, const T* mean, T* out, size_t count, size_t n, bool inverse,
            NormalCounter counter);

extern template void sample(const Execution&, const float*, const float*, float*, size_t, size_t, bool, NormalCounter);
extern template void sample(const Execution&, const double*, const double*, double*, size_t, size_t, bool,
                            NormalCounter);

}  // namespace covarium::cpu
