#include "decimal.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#if defined(__APPLE__)
#include <xlocale.h>
#else
#include <locale.h>
#endif

namespace covarium::table {

namespace {

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

// musl knows one locale alone, and has no strtod_l.
double byLibrary(const char* begin, const char* end) {
  const std::string text(begin, end);
#if defined(__GLIBC__) || defined(__APPLE__)
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text.c_str(), nullptr, plain);
#else
  return strtod(text.c_str(), nullptr);
#endif
}

constexpr double powersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int exactPowers = 22;
constexpr uint64_t exactWhole = uint64_t{1} << 53;

}  // namespace

// W. D. Clinger, How to read floating point numbers accurately (1990): where the digits and the power of ten are
// doubles, one rounding is left. What is not read so goes to the C library.
const char* readDecimalAlone(const char* begin, const char* end, double* value) {
  const char* at = begin;
  const bool isNegative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  uint64_t digits = 0;
  int64_t exponent = 0;
  bool isExact = true, hasDigits = false;
  const auto take = [&](bool isFraction) {
    for (; at != end && isDigit(*at); ++at) {
      hasDigits = true;
      isExact = isExact && digits < exactWhole / 10;
      if (isExact) digits = digits * 10 + static_cast<uint64_t>(*at - '0');
      if (isFraction) --exponent;
    }
  };
  take(false);
  if (at != end && *at == '.') {
    ++at;
    take(true);
  }
  if (!hasDigits) return begin;
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* next = at + 1;
    const bool isDown = next != end && *next == '-';
    if (next != end && (*next == '-' || *next == '+')) ++next;
    if (next != end && isDigit(*next)) {
      int64_t stated = 0;
      for (; next != end && isDigit(*next); ++next)
        if (stated < 100000) stated = stated * 10 + (*next - '0');
      exponent += isDown ? -stated : stated;
      at = next;
    }
  }
  if (isExact && exponent >= -exactPowers && exponent <= exactPowers) {
    const double whole = static_cast<double>(digits);
    const double size = exponent < 0 ? whole / powersOfTen[-exponent] : whole * powersOfTen[exponent];
    *value = isNegative ? -size : size;
  } else {
    *value = byLibrary(begin, at);
  }
  return at;
}

const char* readDecimal(const char* begin, const char* end, double* value) {
#if defined(__cpp_lib_to_chars)
  // from_chars takes "inf" and "nan", and no plus sign.
  const char* digits = begin;
  if (digits != end && (*digits == '-' || *digits == '+')) ++digits;
  if (digits == end || !(isDigit(*digits) || *digits == '.')) return begin;
  const char* from = *begin == '+' ? digits : begin;
  const auto [next, error] = std::from_chars(from, end, *value);
  if (error == std::errc()) return next;
  if (error != std::errc::result_out_of_range) return begin;
  *value = byLibrary(from, next);
  return next;
#else
  return readDecimalAlone(begin, end, value);
#endif
}

namespace {

char* copied(const char* text, char* to) {
  const size_t length = strlen(text);
  memcpy(to, text, length);
  return to + length;
}

// https://tc39.es/ecma262/#sec-numeric-types-number-tostring: k digits, whose point is after the n-th.
template <typename Real>
char* write(Real value, char* to) {
  if (value == 0) return copied("0", to);
  if (std::isnan(value)) return copied("NaN", to);
  if (value < 0) *to++ = '-';
  if (std::isinf(value)) return copied("Infinity", to);
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::scientific).ptr;
  // d.ddde+xx
  char digits[24];
  int k = 0;
  const char* at = text;
  for (; *at != 'e'; ++at)
    if (*at != '.') digits[k++] = *at;
  int exponent = 0;
  for (const char* place = at + 2; place != end; ++place) exponent = exponent * 10 + (*place - '0');
  const int n = (at[1] == '-' ? -exponent : exponent) + 1;
  const auto put = [&](int from, int count) {
    memcpy(to, digits + from, static_cast<size_t>(count));
    to += count;
  };
  const auto zeros = [&](int count) {
    memset(to, '0', static_cast<size_t>(count));
    to += count;
  };
  if (k <= n && n <= 21) {
    put(0, k);
    zeros(n - k);
  } else if (n > 0 && n <= 21) {
    put(0, n);
    *to++ = '.';
    put(n, k - n);
  } else if (n > -6 && n <= 0) {
    to = copied("0.", to);
    zeros(-n);
    put(0, k);
  } else {
    put(0, 1);
    if (k > 1) *to++ = '.';
    put(1, k - 1);
    *to++ = 'e';
    *to++ = n > 0 ? '+' : '-';
    to = std::to_chars(to, to + 4, n > 0 ? n - 1 : 1 - n).ptr;
  }
  return to;
}

}  // namespace

char* writeDecimal(double value, char* to) { return write(value, to); }
char* writeDecimal(float value, char* to) { return write(value, to); }

}  // namespace covarium::table
