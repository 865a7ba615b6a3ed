// Numbers from and to decimal text, without a locale.
#pragma once

#include <cstddef>

namespace covarium::table {

// Sign, 17 digits, point, five zeros after it, or an exponent; or 21 digits before the point.
constexpr size_t maximumDecimalBytes = 25;

// Reads the decimal number that begins at `begin`: digits, a point among them or around them, perhaps a sign and an
// exponent. Returns where it ends; `begin` where there is none. The value is the nearest double (ties to even), as
// Number(text) in JavaScript: infinite where it is too large.
const char* readDecimal(const char* begin, const char* end, double* value);

// True if [begin, end), of which `value` was read, are digits alone, perhaps with a sign, of a 64-bit integer that
// `value` is not. What a program prints of a double by its shortest digits, and zeros up to the point, is that double.
bool isRounded(const char* begin, const char* end, double value);

// Writes the shortest decimal that reads back as the same number of its type, and returns where it ends: of a double
// the text of JavaScript's String(), so that a zero has no sign.
char* writeDecimal(double value, char* to);
char* writeDecimal(float value, char* to);

}  // namespace covarium::table
