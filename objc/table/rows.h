// Columns of numbers as rows: the twin of lib/table/row-tiles.ts, which gives the same results.
#pragma once

#include <cstddef>

namespace covarium::table {

// Writes `rows` x `count` numbers, row after row, to `to`; columns[i] has number i of each row.
template <typename Real>
void columnsToRows(const Real* const* columns, size_t count, size_t rows, Real* to);

// True if none of the numbers is infinite or a NaN.
template <typename Real>
bool isAllFinite(const Real* values, size_t count);

}  // namespace covarium::table
