// Columns of numbers as rows, and back: the twin of lib/table/row-tiles.ts and of ColumnGroup in lib/table/columns.ts,
// which give the same results.
#pragma once

#include <cstddef>

namespace covarium::table {

// Writes `rows` x `count` numbers, row after row, to `to`; columns[i] has number i of each row.
template <typename Real>
void columnsToRows(const Real* const* columns, size_t count, size_t rows, Real* to);

// Writes `rows` x `count` numbers, row after row, as columns: the column of number i begins at to + i * stride.
template <typename Real>
void rowsToColumns(const Real* from, size_t count, size_t rows, Real* to, size_t stride);

// True if none of the numbers is infinite or a NaN.
template <typename Real>
bool isAllFinite(const Real* values, size_t count);

}  // namespace covarium::table
