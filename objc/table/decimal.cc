#include "decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#if defined(__APPLE__)
#include <xlocale.h>
#else
#include <locale.h>
#endif

namespace covarium::table {

namespace {

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

// musl has only one locale, and no strtod_l.
double byLibrary(const char* begin, const char* end) {
  const std::string text(begin, end);
#if defined(__GLIBC__) || defined(__APPLE__)
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text.c_str(), nullptr, plain);
#else
  return strtod(text.c_str(), nullptr);
#endif
}

// The powers of five by which a product of 128 bits decides the rounding: D. Lemire, Number parsing at a gigabyte per
// second, Software: Practice and Experience 51 (2021), and N. Mushtak and D. Lemire, Fast number parsing without
// fallback (2023).
constexpr int mostPower = 27;

struct Power {
  uint64_t high, low;
};

struct Powers {
  Powers() {
    for (int q = 0; q <= mostPower; ++q) {
      uint64_t five = 1;
      for (int i = 0; i < q; ++i) five *= 5;
      const int zeros = __builtin_clzll(five);
      up[q] = {five << zeros, 0};
      // The reciprocal of 128 bits, rounded up: 2^(127 + bits of five) / five + 1, unless five is a power of two.
      const int bits = q == 0 ? 0 : 64 - zeros;
      unsigned __int128 rest = static_cast<unsigned __int128>(1) << bits, quotient = 0;
      for (int i = 0; i < 128; ++i) {
        quotient <<= 1;
        if (rest >= five) {
          rest -= five;
          quotient |= 1;
        }
        rest <<= 1;
      }
      if (q > 0) ++quotient;
      down[q] = {static_cast<uint64_t>(quotient >> 64), static_cast<uint64_t>(quotient)};
    }
  }
  Power up[mostPower + 1], down[mostPower + 1];
};
const Powers powers;

// The double nearest to digits * 10^power, for digits > 0 and a power of at most 27: none of these is subnormal.
double nearest(uint64_t digits, int power) {
  const Power& five = power < 0 ? powers.down[-power] : powers.up[power];
  const int zeros = __builtin_clzll(digits);
  const uint64_t scaled = digits << zeros;
  const auto times = [scaled](uint64_t factor) { return static_cast<unsigned __int128>(scaled) * factor; };
  unsigned __int128 product = times(five.high);
  // The low half of the power matters only where it can reach the bits that are kept.
  if ((static_cast<uint64_t>(product >> 64) & 0x1ff) == 0x1ff) product += times(five.low) >> 64;
  const uint64_t high = static_cast<uint64_t>(product >> 64), low = static_cast<uint64_t>(product);
  const int top = static_cast<int>(high >> 63);
  const int shift = top + 64 - 52 - 3;
  uint64_t mantissa = high >> shift;
  int exponent = ((217706 * power) >> 16) + 63 + top - zeros + 1023;
  // Halfway between two doubles, the even one counts as the nearest.
  if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 && (mantissa << shift) == high)
    mantissa &= ~uint64_t{1};
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >= uint64_t{2} << 52) {
    mantissa = uint64_t{1} << 52;
    ++exponent;
  }
  const uint64_t bits = (mantissa & ~(uint64_t{1} << 52)) | (static_cast<uint64_t>(exponent) << 52);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr uint64_t powersOfTen[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// Takes up to eight digits at once, by three multiplications and without a branch for each.
const char* takeDigits(const char* at, const char* end, uint64_t* digits) {
  while (end - at >= 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    bytes ^= 0x3030303030303030;
    // The lowest bit that is set belongs to the first byte that is not a digit; carries go only upwards from there.
    const uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
    const int count = others == 0 ? 8 : __builtin_ctzll(others) / 8;
    if (count == 0) return at;
    bytes <<= 8 * (8 - count);
    bytes = bytes * 10 + (bytes >> 8);
    const uint64_t mask = 0x000000ff000000ff;
    const uint64_t even = (bytes & mask) * (100 + (uint64_t{1000000} << 32));
    const uint64_t odd = ((bytes >> 16) & mask) * (1 + (uint64_t{10000} << 32));
    *digits = *digits * powersOfTen[count] + ((even + odd) >> 32);
    at += count;
    if (count < 8) return at;
  }
  for (; at != end && isDigit(*at); ++at) *digits = *digits * 10 + static_cast<uint64_t>(*at - '0');
  return at;
}

// Reads [begin, end), which may be any decimal number.
double slowly(const char* begin, const char* end) {
#if defined(__cpp_lib_to_chars)
  double value;
  const char* from = *begin == '+' ? begin + 1 : begin;
  if (std::from_chars(from, end, value).ec == std::errc()) return value;
#endif
  return byLibrary(begin, end);
}

}  // namespace

const char* readDecimal(const char* begin, const char* end, double* value) {
  const char* at = begin;
  const bool isNegative = at != end && *at == '-';
  if (isNegative || (at != end && *at == '+')) ++at;
  uint64_t digits = 0;
  const char* first = at;
  at = takeDigits(at, end, &digits);
  ptrdiff_t count = at - first;
  int power = 0;
  if (at != end && *at == '.') {
    const char* fraction = ++at;
    at = takeDigits(at, end, &digits);
    count += at - fraction;
    power = -static_cast<int>(std::min<ptrdiff_t>(at - fraction, 1000));
  }
  if (count == 0) return begin;
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* stated = at + 1;
    const bool isDown = stated != end && *stated == '-';
    if (stated != end && (*stated == '-' || *stated == '+')) ++stated;
    int exponent = 0;
    const char* next = stated;
    for (; next != end && isDigit(*next); ++next)
      if (exponent < 10000) exponent = exponent * 10 + (*next - '0');
    if (next != stated) {
      power += isDown ? -exponent : exponent;
      at = next;
    }
  }
  // 19 digits fit into 64 bits.
  if (count > 19 || power < -mostPower || power > mostPower) {
    *value = slowly(begin, at);
    return at;
  }
  const double size = digits == 0 ? 0 : nearest(digits, power);
  *value = isNegative ? -size : size;
  return at;
}

namespace {

char* copied(const char* text, char* to) {
  const size_t length = strlen(text);
  memcpy(to, text, length);
  return to + length;
}

// https://tc39.es/ecma262/#sec-numeric-types-number-tostring: k digits, with the point after the n-th.
template <typename Real>
char* write(Real value, char* to) {
  if (std::isnan(value)) return copied("NaN", to);
  if (std::signbit(value)) *to++ = '-';
  if (value == 0) return copied("0", to);
  if (std::isinf(value)) return copied("Infinity", to);
  // Up to the first whole number x for which x + 1 is not a number of the type, the library writes the same digits.
  const Real size = std::fabs(value), wholes = static_cast<Real>(uint64_t{1} << std::numeric_limits<Real>::digits);
  if (size >= static_cast<Real>(1e-6) && size < wholes)
    return std::to_chars(to, to + maximumDecimalBytes, size, std::chars_format::fixed).ptr;
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, size, std::chars_format::scientific).ptr;
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

bool isRounded(const char* begin, const char* end, double value) {
  // Every integer of 15 digits is a double.
  if (end - begin <= 15) return false;
  const bool isNegative = *begin == '-';
  if (isNegative || *begin == '+') ++begin;
  while (begin != end && *begin == '0') ++begin;
  uint64_t integer = 0;
  const auto [at, error] = std::from_chars(begin, end, integer);
  if (at != end || error != std::errc()) return false;
  const double size = std::fabs(value);
  if (size < 0x1p64 && static_cast<uint64_t>(size) == integer) return false;
  char shortest[maximumDecimalBytes];
  const char* last = write(size, shortest);
  return last - shortest != end - begin || !std::equal(begin, end, shortest);
}

char* writeDecimal(double value, char* to) { return write(value, to); }
char* writeDecimal(float value, char* to) { return write(value, to); }

}  // namespace covarium::table
