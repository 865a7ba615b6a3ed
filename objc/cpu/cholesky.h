#pragma once

#include <limits>

#include "execution.h"

namespace covarium::cpu {

constexpr size_t wholeFactorLimit = 192;  // a factor of fewer rows takes one thread

// Whether entries of a factor whose diagonal has this variance may need digits that are flushed to 0.
template <typename T>
bool needsScale(T variance) {
  return variance > 0 && variance < std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
}

// The lower Cholesky factor in place, from the lower triangle of a row-major matrix; the upper becomes 0. Throws
// ERR_NOT_POSITIVE_DEFINITE with the global pivot.
template <typename T>
void cholesky(const Execution& execution, T* a, size_t n);

// Entries above the diagonal become 0.
template <typename T>
void zeroUpper(const Execution& execution, T* a, size_t n);

extern template void cholesky(const Execution&, float*, size_t);
extern template void cholesky(const Execution&, double*, size_t);

}  // namespace covarium::cpu
