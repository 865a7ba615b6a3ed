// The one exception of the native part, thrown where something fails. Only objc/addon makes a CovariumError of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace covarium {

struct Failure : std::runtime_error {
  // `code` is one of lib/covarium-error.ts, a string literal.
  Failure(const char* code, const std::string& message) : std::runtime_error(message), code(code) {}

  static Failure atPivot(int64_t pivot, const std::string& message) {
    Failure failure("ERR_NOT_POSITIVE_DEFINITE", message);
    failure.pivot = pivot;
    return failure;
  }

  static Failure atEntry(const char* code, int64_t row, int64_t column, const std::string& message) {
    Failure failure(code, message);
    failure.row = row;
    failure.column = column;
    return failure;
  }

  const char* code;
  int64_t matrix = -1;                                   // of a batch; -1: has none
  int64_t pivot = -1, row = -1, column = -1, line = -1;  // -1: has none
  std::string path;                                      // '': has none
};

}  // namespace covarium
