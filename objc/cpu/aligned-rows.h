#pragma once

#include <algorithm>
#include <memory>

#include "simd/kernels.h"

namespace covarium::cpu {

// Rows whose vectors do not lie in two lines of the cache each, which would take twice as long to load. They are
// `stride` apart, with zeros behind their n numbers.
template <typename T>
class AlignedRows {
 public:
  AlignedRows(size_t m, size_t n) : stride((n + wide - 1) / wide * wide), memory_(new T[m * stride + wide]) {
    void* start = memory_.get();
    size_t space = (m * stride + wide) * sizeof(T);
    first_ = static_cast<T*>(std::align(rowBytes, m * stride * sizeof(T), start, space));
    for (size_t i = 0; i < m; ++i) std::fill((*this)[i] + n, (*this)[i] + stride, T(0));
  }

  T* operator[](size_t i) { return first_ + i * stride; }

  const size_t stride;

 private:
  static constexpr size_t wide = rowBytes / sizeof(T);
  std::unique_ptr<T[]> memory_;
  T* first_;
};

}  // namespace covarium::cpu
