// The normal stream, version 1, float64: the same Philox words as float32, two normals a block, its own map. Words 0
// (high) and 1 (low) give a radius, words 2 (high) and 3 (low) a direction. Element i of a stream is normal i mod 2 of
// block i / 2.
//
// Only integer operations, exact conversions, and correctly rounded add, subtract and multiply (no fma: plain
// TypeScript has none for float64), so that every device gives the same bits. Apple GPUs have no float64, hence C++ and
// not MSL.
#pragma once

#include <cstdint>
#include <cstring>

namespace covarium::normal_float64 {

static inline uint64_t bitsOf(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double doubleOf(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// P(g) = -2 ln(1 - g) / g on (0, 1/2], highest power first; relative error 1.1e-17.
static constexpr double logCoefficients[] = {52.919975987900244,  -223.00321660165906, 446.24872651805384,
                                             -555.1714199022504,  479.27636481120516,  -302.93105640690493,
                                             145.16759915293537,  -53.361198052722,    15.521256867070043,
                                             -3.2822376871766084, 0.7856005935862986,  0.11810579870081103,
                                             0.2307240586972068,  0.24933685548370782, 0.28575212237323105,
                                             0.33333181358819974, 0.4000000406274105,  0.4999999993368222,
                                             0.6666666666723862,  0.9999999999999805,  2.0};

// sin(a pi/4) / a and cos(a pi/4) in a^2 on [0, 1], highest power first; relative errors 4.9e-17 and 2.1e-17.
static constexpr double sineCoefficients[] = {-2.0225906185890113e-14, 6.948154114367228e-12,   -1.7572474204808876e-09,
                                              3.133616889192818e-07,   -3.6576204182147085e-05, 0.0024903945701927163,
                                              -0.08074551218828079,    0.7853981633974483};
static constexpr double cosineCoefficients[] = {
    -3.8581890073416675e-13, 1.1500512028217341e-10, -2.4611364033652597e-08, 3.590860446027952e-06,
    -0.00032599188692673765, 0.01585434424381542,    -0.30842513753404244,    1.0};

template <int N>
static inline double horner(const double (&coefficients)[N], double x) {
  double sum = coefficients[0];
  for (int i = 1; i < N; ++i) sum = sum * x + coefficients[i];
  return sum;
}

// sqrt(-2 ln u), u = (word + 1/2) / 2^64 for the 64-bit word high:low; from 2.3e-10 to 9.5. See normal_radius in
// msl/normal.h.
static inline double radius(uint32_t high, uint32_t low) {
  const uint32_t upper = static_cast<uint32_t>(static_cast<int32_t>(high) >> 31);
  const double x =
      (static_cast<double>(static_cast<int32_t>(high ^ upper)) * 4294967296.0 + static_cast<double>(low ^ upper)) + 0.5;
  const uint64_t bits = bitsOf(x);
  const double m = doubleOf((bits & 0x000fffffffffffffull) | 0x3fe0000000000000ull);
  const double g = upper ? x * 5.421010862427522e-20 : 1.0 - m;  // 2^-64
  const int32_t k = upper ? 0 : 1086 - static_cast<int32_t>(bits >> 52);
  const double y = static_cast<double>(k) * 1.3862943611198906 + g * horner(logCoefficients, g);
  // 1 / sqrt(y): a guess from the high word, then four steps of Newton's method.
  const uint32_t guess = 0x5fe6eb50u - static_cast<uint32_t>(bitsOf(y) >> 33);
  double s = doubleOf(static_cast<uint64_t>(guess) << 32);
  const double h = 0.5 * y;
  s = s * (1.5 - (h * s) * s);
  s = s * (1.5 - (h * s) * s);
  s = s * (1.5 - (h * s) * s);
  s = s * (1.5 - (h * s) * s);
  return y * s;
}

// A point on the unit circle from bits 0..62 of high:low (bit 62 swaps the coordinates); the caller takes bit 63 as the
// sign of both. The angle is a pi/4 about the positive x axis, a = (t + 1/2) / 2^61 with t bits 0..61 as a signed
// number.
static inline void direction(uint32_t high, uint32_t low, double& x, double& y) {
  const int32_t th = static_cast<int32_t>((high << 2) | (low >> 30));
  const uint32_t tl = (low << 2) | 2u;
  const double a =
      (static_cast<double>(th) * 4294967296.0 + static_cast<double>(tl)) * 1.0842021724855044e-19;  // 2^-63
  const double b = a * a;
  const double s = a * horner(sineCoefficients, b);
  const double c = horner(cosineCoefficients, b);
  const bool swapped = (high >> 30) & 1;
  x = swapped ? s : c;
  y = swapped ? c : s;
}

static inline void block(const uint32_t words[4], double z[2]) {
  const double r = radius(words[0], words[1]);
  double x, y;
  direction(words[2], words[3], x, y);
  const double signedRadius = (words[2] >> 31) ? -r : r;
  z[0] = signedRadius * x;
  z[1] = signedRadius * y;
}

}  // namespace covarium::normal_float64
