// Powers of two by which decompositions multiply their matrices, and later divide their results. They round nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "float-mode.h"

namespace covarium::cpu {

// Subnormal numbers count as 0 (docs/numerics.md), and a decomposition multiplies small parts of numbers. From this
// exponent on those parts and their products are not subnormal.
template <typename T>
constexpr int leastExponent = std::numeric_limits<T>::min_exponent + 2 * std::numeric_limits<T>::digits + 8;

// Keeps subnormal results, because small numbers may become such.
template <typename T>
void multiply(T* numbers, size_t count, T by) {
  if (by == 1) return;
  const FloatModeScope mode = FloatModeScope::keeping();
  for (size_t i = 0; i < count; ++i) numbers[i] *= by;
}

// The absolute value as an integer, which vectors can compare; NaN is larger than all numbers.
template <typename T>
auto sizeBits(T number) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  Bits bits;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<Bits>(bits << 1 >> 1);
}

// The largest of these integers.
template <typename T>
auto largestBits(const T* numbers, size_t count) {
  auto largest = sizeBits(T(0));
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, sizeBits(numbers[i]));
  return largest;
}

// A power of two that is a square and brings the largest number of a small matrix near 1; 1 if the matrix may stay as
// it is. With `lower` the numbers above the diagonal are ignored.
template <typename T>
T powerFor(const T* a, size_t rows, size_t columns, bool lower) {
  const T least = std::ldexp(T(1), leastExponent<T>);
  const auto enough = largestBits(&least, 1);
  auto largest = largestBits(a, 0);
  for (size_t i = 0; i < rows; ++i) {
    largest = std::max(largest, largestBits(a + i * columns, lower ? i + 1 : columns));
    if (largest >= enough) return 1;
  }
  if (largest == 0) return 1;
  T size;
  std::memcpy(&size, &largest, sizeof size);
  const FloatModeScope mode = FloatModeScope::keeping();
  // Its reciprocal must not be subnormal.
  const int exponent = std::min(-std::ilogb(size), 2 - std::numeric_limits<T>::min_exponent) / 2 * 2;
  return std::ldexp(T(1), exponent);
}

// Multiplies a matrix by its power, and returns it.
template <typename T>
T raise(T* a, size_t rows, size_t columns, bool lower = false) {
  const T power = powerFor(a, rows, columns, lower);
  multiply(a, rows * columns, power);
  return power;
}

// The same for a single row; huge numbers are made so small that the reciprocal of the row's norm is not subnormal.
template <typename T>
T powerBetween(const T* row, size_t columns) {
  const T most = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 24);
  if (largestBits(row, columns) < sizeBits(most)) return powerFor(row, 1, columns, false);
  return std::ldexp(T(1), -24);
}

// By how many powers of two each column of a (n x n) is below the largest one; empty if none is far below. A pivot is
// the largest number of what is left of a row. If columns have units that are far apart, those of large numbers would
// give the pivots, and the digits of the others would be lost beside them.
template <typename T>
std::vector<int> columnShifts(const T* a, size_t n) {
  using Limits = std::numeric_limits<T>;
  const FloatModeScope mode = FloatModeScope::keeping();
  std::vector<T> largest(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) largest[j] = std::max(largest[j], std::abs(a[i * n + j]));
  int low = Limits::max_exponent, high = 2 * Limits::min_exponent;
  std::vector<int> exponents(n, low);
  for (size_t j = 0; j < n; ++j) {
    if (largest[j] == 0) continue;
    exponents[j] = std::min(std::ilogb(largest[j]), Limits::max_exponent);  // that of infinity is INT_MAX
    low = std::min(low, exponents[j]);
    high = std::max(high, exponents[j]);
  }
  constexpr int near = 4;
  if (high - low <= near) return {};
  // Sums of the raised numbers do not overflow, and a quotient of two powers keeps the digits of what it multiplies.
  const int top = std::min(high, Limits::max_exponent - 8), most = -Limits::min_exponent - Limits::digits;
  for (int& exponent : exponents) exponent = std::min(std::max(top - exponent, 0), most);
  return exponents;
}

// Multiplies columns by the powers of two of their shifts.
template <typename T>
void raiseColumns(T* a, const std::vector<int>& shifts) {
  const size_t n = shifts.size();
  std::vector<T> powers(n);
  for (size_t j = 0; j < n; ++j) powers[j] = std::ldexp(T(1), shifts[j]);
  const FloatModeScope mode = FloatModeScope::keeping();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) a[i * n + j] *= powers[j];
}

// Turns the triangles of raised columns into those of the original columns, with the same pivots.
template <typename T>
void lowerTriangles(T* a, std::vector<int>& shifts, const std::vector<int>& swaps) {
  const size_t n = shifts.size();
  std::vector<T> powers(n);
  for (size_t j = 0; j < n; ++j) std::swap(shifts[j], shifts[swaps[j]]);
  for (size_t j = 0; j < n; ++j) powers[j] = std::ldexp(T(1), -shifts[j]);
  const FloatModeScope mode = FloatModeScope::keeping();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) a[i * n + j] *= powers[j];
    const T up = 1 / powers[i];
    for (size_t j = i + 1; j < n; ++j) a[i * n + j] *= up * powers[j];
  }
}

}  // namespace covarium::cpu
