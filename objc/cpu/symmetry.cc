#include "symmetry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

#include "pieces.h"

namespace covarium::cpu {

namespace {

constexpr size_t bandRows = 64;  // a multiple of every vector's length

// The fewest digits that read back as the value: 0.2 is (0.2), as the caller wrote it, not (0.20000000000000001).
template <typename T>
std::string textOf(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  for (int digits = std::numeric_limits<T>::digits10;; digits++) {
    std::ostringstream text;
    // A decimal point, whatever the locale of the program is.
    text.imbue(std::locale::classic());
    text.precision(digits);
    text << value;
    T again = 0;
    // A subnormal number may set the stream's error: its last precision ends the search.
    if (digits >= std::numeric_limits<T>::max_digits10) return text.str();
    std::istringstream written(text.str());
    written.imbue(std::locale::classic());
    if (written >> again && again == value) return text.str();
  }
}

std::string placeOf(size_t row, size_t column) { return std::to_string(row) + ", " + std::to_string(column); }

template <typename T>
void refuseIfNotFinite(const T* a, size_t columns, size_t row, size_t column) {
  const T value = a[row * columns + column];
  if (std::isfinite(value)) return;
  throw Failure::atEntry("ERR_NOT_FINITE", static_cast<int64_t>(row), static_cast<int64_t>(column),
                         "Entry (" + placeOf(row, column) + ") is (" + textOf(value) + "), not a finite number.");
}

template <typename T>
void refuseIfAsymmetric(const T* a, size_t n, T tolerance, size_t row, size_t column) {
  const T x = a[row * n + column], y = a[column * n + row], difference = std::abs(x - y);
  if (difference <= tolerance * std::max(std::abs(x), std::abs(y))) return;
  if (difference <= tolerance * std::sqrt(std::abs(a[row * n + row])) * std::sqrt(std::abs(a[column * n + column])))
    return;
  throw Failure::atEntry("ERR_NOT_SYMMETRIC", static_cast<int64_t>(row), static_cast<int64_t>(column),
                         "Matrix is not symmetric: entry (" + placeOf(row, column) + ") is (" + textOf(x) +
                             "), but entry (" + placeOf(column, row) + ") is (" + textOf(y) + ").");
}

}  // namespace

template <typename T>
bool areBetween(const Execution& execution, const T* a, size_t length, T least, T most) {
  std::atomic<bool> sure{true};
  forPieces(execution, length, [&](size_t first, size_t count) {
    if (!execution.kernels.of<T>().areBetween(a + first, count, least, most)) sure = false;
  });
  return sure;
}

template <typename T>
void requireFinite(const Execution& execution, const T* a, size_t length, size_t columns) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (areBetween(execution, a, length, -infinity, infinity)) return;
  for (size_t i = 0; i < length; ++i) refuseIfNotFinite(a, columns, i / columns, i % columns);
}

template <typename T>
void requireSymmetric(const Execution& execution, const T* a, size_t n, T tolerance) {
  std::atomic<bool> sure{true};
  const size_t bands = (n + bandRows - 1) / bandRows;
  execution.pool.run(bands, [&](size_t i, unsigned) {
    const size_t first = (bands - 1 - i) * bandRows;  // the longest first
    if (!execution.kernels.of<T>().surelySymmetric(a, n, tolerance, first, std::min(n, first + bandRows))) sure = false;
  });
  if (sure) return;
  for (size_t row = 0; row < n; ++row)
    for (size_t column = 0; column < n; ++column) refuseIfNotFinite(a, n, row, column);
  for (size_t row = 0; row < n; ++row)
    for (size_t column = 0; column < row; ++column) refuseIfAsymmetric(a, n, tolerance, row, column);
}

template bool areBetween(const Execution&, const float*, size_t, float, float);
template bool areBetween(const Execution&, const double*, size_t, double, double);
template void requireFinite(const Execution&, const float*, size_t, size_t);
template void requireFinite(const Execution&, const double*, size_t, size_t);
template void requireSymmetric(const Execution&, const float*, size_t, float);
template void requireSymmetric(const Execution&, const double*, size_t, double);

}  // namespace covarium::cpu
