// The radial scale of a row of a Student-t, sqrt(nu / w) with w chi-squared: lib/stream/radial-scales.ts and
// elementary.ts, bit for bit; those texts explain the mathematics. It uses only correctly rounded + - * / and square
// root. Like normal-float64.h it is a template over the types of a number and of a 64-bit word, for the CPU and CUDA.
#pragma once

#include "normal-float64.h"

namespace covarium::radial_scale {

using namespace normal_float64;

static inline double fromUnsigned(uint64_t word) { return static_cast<double>(word); }
static inline double squareRoot(double x) { return __builtin_sqrt(x); }
static inline uint64_t maskOf(bool condition) { return condition ? ~uint64_t{0} : 0; }
static inline uint64_t lessThan(double a, double b) { return maskOf(a < b); }
static inline uint64_t equal(double a, double b) { return maskOf(a == b); }

// ln 2 in two parts; the upper has 33 bits, so that its multiples by an exponent are exact.
constexpr double log2High = 0.6931471803691238, log2Low = 1.9082149292705877e-10;

// ln x of a positive x that is not subnormal.
template <typename Real>
static inline Real logarithm(Real x) {
  using Word = decltype(bitsOf(x));
  const Word bits = bitsOf(x);
  const Real whole = realOf((bits & Word(0x000fffffffffffffull)) | Word(0x3ff0000000000000ull));
  const Word halved = lessThan(Real(1.4142135623730951), whole);
  const Real m = select(whole, whole * Real(0.5), halved);
  // The biased exponent in the low bits of 2^52.
  const Real biased = realOf((bits >> 52) | Word(0x4330000000000000ull));
  const Real exponent = biased - select(Real(0x1p52 + 1023), Real(0x1p52 + 1022), halved);
  const Real f = m - Real(1);
  const Real s = f / (Real(2) + f);
  const Real y = s * s;
  Real sum = Real(1.0 / 23);
  for (int odd = 21; odd >= 3; odd -= 2) sum = sum * y + Real(1.0 / odd);
  return exponent * Real(log2High) + (exponent * Real(log2Low) + (f - s * (f - Real(2) * y * sum)));
}

// e^x; the largest number beyond 709, 0 below -708.
template <typename Real>
static inline Real exponential(Real x) {
  const Real quotient = x / Real(log2High + log2Low);
  const Real even = (quotient + Real(0x1.8p52)) - Real(0x1.8p52);  // the nearest whole number; halves go up, as in
  const Real k = even + select(Real(0), Real(1), equal(quotient - even, Real(0.5)));  // Math.round
  const Real r = x - k * Real(log2High) - k * Real(log2Low);
  Real sum = Real(1);
  for (int i = 15; i >= 1; --i) sum = Real(1) + (r * sum) / Real(i);
  const Real power = realOf(bitsOf(k + Real(0x1p52 + 1023)) << 52);
  const Real inside = select(sum * power, Real(0), lessThan(x, Real(-708)));
  return select(inside, Real(0x1.fffffffffffffp1023), lessThan(Real(709), x));
}

// (word + 1/2) / 2^64.
template <typename Word>
static inline auto uniform(Word word) {
  const auto x = fromUnsigned(word);
  using Real = decltype(fromUnsigned(word));
  return (x + Real(0.5)) * Real(0x1p-64);
}

// The constants of Marsaglia and Tsang's method for nu degrees of freedom.
struct Constants {
  double nu, shape, d, c;
  bool boosted;
};

static inline Constants constantsFor(double nu) {
  const double shape = nu / 2;
  const bool boosted = shape < 1;
  const double d = (boosted ? shape + 1 : shape) - 1.0 / 3;
  return {nu, shape, d, 1 / (3 * squareRoot(d)), boosted};
}

// ln(1 + t) - t + t^2 / 2 - t^3 / 3.
static inline double tailOfLogarithm(double t) {
  if (__builtin_fabs(t) > 0.1) return logarithm(1 + t) - t + (t * t) / 2 - (t * t * t) / 3;
  double sum = 0;
  for (int power = 16; power >= 4; --power) sum = (power % 2 == 0 ? -1.0 : 1.0) / power + t * sum;
  return t * t * t * t * sum;
}

// True if t = c x is certainly accepted, which needs no logarithms to know.
template <typename Real>
static inline auto isSurelyAccepted(Real t, const Constants& constants, Real u) {
  const Real square = Real(constants.d) * t * t;
  return lessThan(Real(-1), t) & lessThan(u, Real(1) - Real(2.6811) * square * square);
}

static inline bool isAccepted(double t, const Constants& constants, double u) {
  if (isSurelyAccepted(t, constants, u) != 0) return true;
  return t > -1 && logarithm(u) < 3 * constants.d * tailOfLogarithm(t);
}

// Block `part` (0 or 1) of try `attempt` of a row: no normal of any stream uses blocks from 2^63 on.
static inline uint64_t blockOfRow(uint64_t row, unsigned attempt, unsigned part) {
  return uint64_t{1} << 63 | row << 7 | (2 * attempt + part);
}

// All these tries of a row are refused with a probability below 10^-80; 0 is then as good as any number.
constexpr unsigned triesOfRow = 64;

// The scale, from an accepted t; `word` is the row's own for a shape below 1.
template <typename Real, typename Word>
static inline Real scale(Real t, const Constants& constants, Word word) {
  const Real root = Real(1) + t;
  const Real ratio = Real(constants.shape) / (Real(constants.d) * (root * root * root));
  if (!constants.boosted) return squareRoot(ratio);
  return exponential(logarithm(ratio) / Real(2) - logarithm(uniform(word)) / Real(constants.nu));
}

}  // namespace covarium::radial_scale
