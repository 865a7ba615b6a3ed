// The normal stream, version 1, float64: the same Philox words as float32, two normals a block, its own map. Words 0
// (high) and 1 (low) give a radius, words 2 (high) and 3 (low) a direction. Element i of a stream is normal i mod 2 of
// block i / 2.
//
// Only integer operations, exact conversions, and correctly rounded add, subtract and multiply (no fma: plain
// TypeScript has none for float64), so that every device gives the same bits. Apple GPUs have no float64, so this is
// C++ and CUDA, not MSL; uint64_t and int64_t must be declared before it. Like normal.h it is a template over the
// types of a number and of a 64-bit word: double and uint64_t here, vectors of them in objc/cpu/simd/lanes-float64.h.
#pragma once

namespace covarium::normal_float64 {

// The functions of a Word and a Real that the text below needs, for single ones.
static inline uint64_t bitsOf(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double realOf(uint64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// All ones where bit 63 is set.
static inline uint64_t signMask(uint64_t word) { return static_cast<uint64_t>(static_cast<int64_t>(word) >> 63); }

// The value of a signed word, rounded once.
static inline double fromSigned(uint64_t word) { return static_cast<double>(static_cast<int64_t>(word)); }

static inline double select(double no, double yes, uint64_t mask) { return mask != 0 ? yes : no; }

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

template <typename Real, int N, int i = N - 1>
static inline __attribute__((always_inline)) Real horner(const double (&coefficients)[N], Real x) {
  if constexpr (i == 0) {
    return Real(coefficients[0]);
  } else {
    return horner<Real, N, i - 1>(coefficients, x) * x + Real(coefficients[i]);
  }
}

// sqrt(-2 ln u), u = (word + 1/2) / 2^64; from 2.3e-10 to 9.5. See normal_radius in normal.h.
template <typename Real, typename Word>
static inline Real radius(Word word) {
  const Word upper = signMask(word);
  const Real x = fromSigned(word ^ upper) + Real(0.5);
  const Word bits = bitsOf(x);
  const Real m = realOf((bits & Word(0x000fffffffffffffull)) | Word(0x3fe0000000000000ull));
  const Real g = select(Real(1.0) - m, x * Real(5.421010862427522e-20), upper);  // 2^-64
  // 1086 less x's exponent: the exponent in the low bits of 2^52.
  const Real exponent = realOf((bits >> 52) | Word(0x4330000000000000ull));
  const Real k = realOf(bitsOf(Real(4503599627371582.0) - exponent) & ~upper);
  const Real y = k * Real(1.3862943611198906) + g * horner(logCoefficients, g);
  // 1 / sqrt(y): a guess from the high half of the word, then four steps of Newton's method.
  Real s = realOf((Word(0x5fe6eb50u) - (bitsOf(y) >> 33)) << 32);
  const Real h = Real(0.5) * y, threeHalves = Real(1.5);
  s = s * (threeHalves - (h * s) * s);
  s = s * (threeHalves - (h * s) * s);
  s = s * (threeHalves - (h * s) * s);
  s = s * (threeHalves - (h * s) * s);
  return y * s;
}

template <typename Real>
struct Pair {
  Real x, y;
};

// A point on the unit circle from bits 0..62 of a word (bit 62 swaps the coordinates); the caller takes bit 63 as the
// sign of both. The angle is a pi/4 about the positive x axis, a = (t + 1/2) / 2^61 with t bits 0..61 as a signed
// number.
template <typename Real, typename Word>
static inline Pair<Real> direction(Word word) {
  const Real a = fromSigned((word << 2) | Word(2)) * Real(1.0842021724855044e-19);  // 2^-63
  const Real b = a * a;
  const Real s = a * horner(sineCoefficients, b);
  const Real c = horner(cosineCoefficients, b);
  const Word swapped = signMask(word << 1);
  return {select(c, s, swapped), select(s, c, swapped)};
}

// The two normals of a block, of its words 0:1 and 2:3.
template <typename Real, typename Word>
static inline Pair<Real> block(Word radiusWord, Word directionWord) {
  const Real r = radius<Real>(radiusWord);
  const Real signedRadius = realOf(bitsOf(r) ^ (directionWord & Word(0x8000000000000000ull)));
  const Pair<Real> point = direction<Real>(directionWord);
  return {signedRadius * point.x, signedRadius * point.y};
}

}  // namespace covarium::normal_float64
