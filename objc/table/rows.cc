#include "rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace covarium::table {

namespace {

// As many rows as a cache line holds of a column, and as many columns as the first-level cache holds lines of.
constexpr size_t blockRows = 8, blockColumns = 64;

// If an exponent is all ones, adding its lowest bit carries into the sign. Every processor can add in vectors, but
// not every one can compare 64-bit numbers in vectors.
template <typename Word, typename Real>
bool isFinite(const Real* values, size_t count, Word exponent) {
  const Word sign = static_cast<Word>(~(static_cast<Word>(~Word{0}) >> 1)), lowest = sign - exponent;
  Word sum = 0;
  for (size_t i = 0; i < count; ++i) {
    Word bits;
    memcpy(&bits, values + i, sizeof bits);
    sum |= (bits & exponent) + lowest;
  }
  return (sum & sign) == 0;
}

}  // namespace

template <typename Real>
void columnsToRows(const Real* const* columns, size_t count, size_t rows, Real* to) {
  for (size_t row = 0; row < rows; row += blockRows) {
    const size_t lastRow = std::min(rows, row + blockRows);
    for (size_t column = 0; column < count; column += blockColumns) {
      const size_t lastColumn = std::min(count, column + blockColumns);
      for (size_t i = row; i < lastRow; ++i)
        for (size_t j = column; j < lastColumn; ++j) to[i * count + j] = columns[j][i];
    }
  }
}

template <typename Real>
void rowsToColumns(const Real* from, size_t count, size_t rows, Real* to, size_t stride) {
  for (size_t row = 0; row < rows; row += blockRows) {
    const size_t lastRow = std::min(rows, row + blockRows);
    for (size_t column = 0; column < count; ++column)
      for (size_t i = row; i < lastRow; ++i) to[column * stride + i] = from[i * count + column];
  }
}

template <>
bool isAllFinite(const double* values, size_t count) {
  return isFinite<uint64_t>(values, count, 0x7ff0000000000000);
}

template <>
bool isAllFinite(const float* values, size_t count) {
  return isFinite<uint32_t>(values, count, 0x7f800000);
}

template void columnsToRows(const double* const*, size_t, size_t, double*);
template void columnsToRows(const float* const*, size_t, size_t, float*);
template void rowsToColumns(const double*, size_t, size_t, double*, size_t);
template void rowsToColumns(const float*, size_t, size_t, float*, size_t);

}  // namespace covarium::table
