// Records of CSV as numbers, and back: the twin of lib/table/csv-rows.ts, which gives the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace covarium::table {

struct CsvLayout {
  char delimiter;  // ' ' stands for any number of blanks
  char comment;    // a line that begins with it is skipped; 0: none
  bool drop;       // whether rows with a missing value are left out; otherwise they are refused
  // For each field of a record, the column that its number goes to; -1 if it is not read.
  std::vector<int32_t> places;
  size_t columns;
};

// Why reading stops. The numbers are those of lib/table/csv-rows.ts.
enum class CsvFault : uint8_t {
  none = 0,
  fields = 1,      // a record has more or fewer fields than there are places
  number = 2,      // a field is not a finite decimal number
  missing = 3,     // a field is empty, or says that its value is missing
  quote = 4,       // a quote in a field that does not begin with one
  afterQuote = 5,  // text after the quote that ends a field
  unclosed = 6,    // a quote without end
  inexact = 7,     // a field is an integer that no double represents
};

struct CsvRows {
  size_t rows = 0, dropped = 0;
  size_t lines = 0;  // line ends, those in quotes too
  CsvFault fault = CsvFault::none;
  size_t record = 0, field = 0;  // of the fault: where its record and its field begin, in bytes
};

// The most rows that a text of this many bytes holds: each number has at least one byte and a byte behind it, and one
// more row may have begun.
size_t mostCsvRows(size_t bytes, size_t columns);

// Reads whole records, none of which goes on beyond `end`, as rows x columns into `values`, with room for
// `mostCsvRows`.
CsvRows readCsv(const char* begin, const char* end, const CsvLayout& layout, double* values);

// Writes whole rows as lines, and returns the number of bytes: at most rows * columns * (maximumDecimalBytes + 1).
template <typename Real>
size_t writeCsv(const Real* values, size_t rows, size_t columns, char* to);

}  // namespace covarium::table
