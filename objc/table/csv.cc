#include "csv.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "decimal.h"

namespace covarium::table {

namespace {

// True for the ways in which R, pandas, DuckDB and spreadsheets write a missing value.
bool isMissing(const char* begin, const char* end) {
  static const char* const words[] = {"", "na", "n/a", "nan", "null"};
  const size_t length = static_cast<size_t>(end - begin);
  return std::any_of(std::begin(words), std::end(words), [&](const char* word) {
    return strlen(word) == length &&
           std::equal(begin, end, word, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  });
}

const char* find(const char* begin, const char* end, char letter) {
  return static_cast<const char*>(memchr(begin, letter, static_cast<size_t>(end - begin)));
}

// Line ends: LF, CR, or both together.
size_t linesOf(const char* begin, const char* end) {
  size_t lines = 0;
  for (const char* at = begin; (at = find(at, end, '\n')) != nullptr; ++at) ++lines;
  for (const char* at = begin; (at = find(at, end, '\r')) != nullptr; ++at) lines += at + 1 == end || at[1] != '\n';
  return lines;
}

bool isLineEnd(char letter) { return letter == '\n' || letter == '\r'; }

class Reader {
 public:
  Reader(const char* begin, const char* end, const CsvLayout& layout, double* values)
      : begin_(begin), end_(end), at_(begin), layout_(layout), tabIsBlank_(layout.delimiter != '\t'), values_(values) {}

  CsvRows read() {
    rows_.lines = linesOf(begin_, end_);
    while (rows_.fault == CsvFault::none && at_ != end_) {
      if (layout_.comment != 0 && *at_ == layout_.comment) {
        skipLine();
        continue;
      }
      record_ = at_;
      skipBlanks();
      if (at_ == end_) break;
      if (!isLineEnd(*at_)) record();
      passLineEnd();
    }
    return rows_;
  }

 private:
  bool isBlank(char letter) const { return letter == ' ' || (letter == '\t' && tabIsBlank_); }
  bool isFieldEnd() const { return at_ == end_ || *at_ == layout_.delimiter || isLineEnd(*at_); }
  void skipBlanks() {
    while (at_ != end_ && isBlank(*at_)) ++at_;
  }
  void skipLine() {
    while (at_ != end_ && !isLineEnd(*at_)) ++at_;
    passLineEnd();
  }
  void passLineEnd() {
    if (at_ == end_ || !isLineEnd(*at_)) return;
    const bool isReturn = *at_++ == '\r';
    if (isReturn && at_ != end_ && *at_ == '\n') ++at_;
  }

  bool refuse(CsvFault fault, const char* field) {
    rows_.fault = fault;
    rows_.record = static_cast<size_t>(record_ - begin_);
    rows_.field = static_cast<size_t>(field - begin_);
    return false;
  }

  void record() {
    isDropped_ = false;
    double* row = values_ + rows_.rows * layout_.columns;
    const size_t fields = layout_.places.size();
    const char* field = record_;
    for (size_t i = 0;; ++i) {
      if (i == fields) return static_cast<void>(refuse(CsvFault::fields, field));
      const int32_t place = layout_.places[i];
      if (!(place < 0 ? skip() : number(row + place))) return;
      if (!passDelimiter()) {
        if (i + 1 < fields) return static_cast<void>(refuse(CsvFault::fields, at_));
        break;
      }
      field = at_;
    }
    if (isDropped_)
      ++rows_.dropped;
    else
      ++rows_.rows;
  }

  // Called at the end of a field, behind its blanks. If blanks are the delimiter, those at the end of a line are not
  // one.
  bool passDelimiter() {
    if (at_ == end_ || isLineEnd(*at_)) return false;
    if (layout_.delimiter != ' ') ++at_;
    return true;
  }

  // Reads a number up to the delimiter or the end of the line, or refuses.
  bool number(double* value) {
    const char* field = at_;
    skipBlanks();
    const char* next = readDecimal(at_, end_, value);
    if (next != at_) {
      const char* text = at_;
      at_ = next;
      skipBlanks();
      if ((isFieldEnd() || (layout_.delimiter == ' ' && at_ != next)) && std::isfinite(*value))
        return isExact(text, next, field, *value);
      at_ = text;
    }
    return at_ != end_ && *at_ == '"' ? quoted(field, value) : text(field, value);
  }

  bool skip() {
    const char* field = at_;
    skipBlanks();
    return at_ != end_ && *at_ == '"' ? quoted(field, nullptr) : text(field, nullptr);
  }

  // Reads a field without quotes, and its number if `value` is not null.
  bool text(const char* field, double* value) {
    const char* begin = at_;
    const char* last = at_;
    for (; !isFieldEnd(); ++at_) {
      if (*at_ == '"') return refuse(CsvFault::quote, field);
      if (!isBlank(*at_))
        last = at_ + 1;
      else if (layout_.delimiter == ' ')
        break;
    }
    skipBlanks();
    return value == nullptr || judge(begin, last, field, value);
  }

  bool quoted(const char* field, double* value) {
    const char* begin = ++at_;
    for (;; ++at_) {
      at_ = find(at_, end_, '"');
      if (at_ == nullptr) {
        at_ = end_;
        return refuse(CsvFault::unclosed, field);
      }
      if (at_ + 1 == end_ || at_[1] != '"') break;
      ++at_;
    }
    const char* last = at_++;
    const char* after = at_;
    skipBlanks();
    if (!isFieldEnd() && !(layout_.delimiter == ' ' && at_ != after)) return refuse(CsvFault::afterQuote, field);
    return value == nullptr || judge(begin, last, field, value);
  }

  // A field in quotes may have blanks around its number, as R's format() writes it.
  bool judge(const char* begin, const char* last, const char* field, double* value) {
    while (begin != last && isBlank(*begin)) ++begin;
    while (last != begin && isBlank(last[-1])) --last;
    const char* next = readDecimal(begin, last, value);
    if (next == last && begin != last && std::isfinite(*value)) return isExact(begin, last, field, *value);
    if (!isMissing(begin, last)) return refuse(CsvFault::number, field);
    if (!layout_.drop) return refuse(CsvFault::missing, field);
    isDropped_ = true;
    return true;
  }

  // Only numbers from 2^53 on can be rounded integers.
  bool isExact(const char* begin, const char* end, const char* field, double value) {
    return std::fabs(value) < 0x1p53 || !isRounded(begin, end, value) || refuse(CsvFault::inexact, field);
  }

  const char* const begin_;
  const char* const end_;
  const char* at_;
  const char* record_ = nullptr;
  const CsvLayout& layout_;
  const bool tabIsBlank_;
  double* const values_;
  bool isDropped_ = false;
  CsvRows rows_;
};

}  // namespace

size_t mostCsvRows(size_t bytes, size_t columns) { return (bytes + 1) / 2 / columns + 1; }

CsvRows readCsv(const char* begin, const char* end, const CsvLayout& layout, double* values) {
  return Reader(begin, end, layout, values).read();
}

template <typename Real>
size_t writeCsv(const Real* values, size_t rows, size_t columns, char* to) {
  char* at = to;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      at = writeDecimal(*values++, at);
      *at++ = ',';
    }
    at[-1] = '\n';
  }
  return static_cast<size_t>(at - to);
}

template size_t writeCsv(const double*, size_t, size_t, char*);
template size_t writeCsv(const float*, size_t, size_t, char*);

}  // namespace covarium::table
