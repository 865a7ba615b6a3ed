#pragma once

#include "execution.h"

namespace covarium::cpu {

// Brackets of numbers, for each of n columns: limits are 2 x count x n, the lower before the upper; kept has room for
// `capacity` numbers of each bracket and column.
template <typename T>
struct Brackets {
  const T* limits;
  T* kept;
  uint32_t* counts;
  size_t count, n, capacity;
};

// Encoder.countBetween of lib/backend.ts. The kept numbers are in the order in which the threads find them.
template <typename T>
void countBetween(const Execution& execution, const T* rows, const Brackets<T>& brackets, size_t count);

// Encoder.selectRanks of lib/backend.ts, for `slots` slots of `capacity` numbers.
template <typename T>
void selectRanks(const Execution& execution, T* kept, size_t capacity, const uint32_t* lengths, const uint32_t* ranks,
                 T* out, size_t slots);

extern template void selectRanks(const Execution&, float*, size_t, const uint32_t*, const uint32_t*, float*, size_t);
extern template void selectRanks(const Execution&, double*, size_t, const uint32_t*, const uint32_t*, double*, size_t);
extern template void countBetween(const Execution&, const float*, const Brackets<float>&, size_t);
extern template void countBetween(const Execution&, const double*, const Brackets<double>&, size_t);

}  // namespace covarium::cpu
