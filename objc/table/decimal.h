// Numbers from and to decimal text, without a locale.
#pragma once

#include <cstddef>

namespace covarium::table {

// Sign, 17 digits, point, five zeros after it, or an exponent; or 21 digits before the point.
constexpr size_t maximumDecimalBytes = 25;

// Reads the decimal number that begins at `begin`: digits with at most one point before, between or after them, and
// perhaps a sign and an exponent. Returns its end, or `begin` if there is none. The value is the nearest double (ties
// to even), as Number(text) in JavaScript: infinite if it is too large.
const char* readDecimal(const char* begin, const char* end, double* value);

// True if [begin, end), from which `value` was read, is a 64-bit integer (only digits, perhaps with a sign) that
// differs from `value`. False if it is the double's shortest digits, followed by zeros up to the point, because a
// program that prints the double may write this.
bool isRounded(const char* begin, const char* end, double value);

// Writes the shortest decimal that reads back as the same number of its type, and returns its end. For a double it is
// the text of JavaScript's String(), with the sign of a negative zero, which String() leaves out.
char* writeDecimal(double value, char* to);
char* writeDecimal(float value, char* to);

}  // namespace covarium::table
