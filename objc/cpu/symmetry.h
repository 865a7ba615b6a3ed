#pragma once

#include "execution.h"

namespace covarium::cpu {

// Encoder.requireFinite and requireSymmetric of lib/backend.ts: a fast test by all threads and, only if that is
// not certain, a look at each entry in order.
template <typename T>
bool areBetween(const Execution& execution, const T* a, size_t length, T least, T most);
template <typename T>
void requireFinite(const Execution& execution, const T* a, size_t length, size_t columns);
template <typename T>
void requireSymmetric(const Execution& execution, const T* a, size_t n, T tolerance);

extern template bool areBetween(const Execution&, const float*, size_t, float, float);
extern template bool areBetween(const Execution&, const double*, size_t, double, double);
extern template void requireFinite(const Execution&, const float*, size_t, size_t);
extern template void requireFinite(const Execution&, const double*, size_t, size_t);
extern template void requireSymmetric(const Execution&, const float*, size_t, float);
extern template void requireSymmetric(const Execution&, const double*, size_t, double);

}  // namespace covarium::cpu
