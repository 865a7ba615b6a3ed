// The normal stream, version 1, float32: from two Philox words to two normals by the polar form of Box and Muller
// (1958).
//
// Only integer operations, exact integer-to-float conversions, and correctly rounded add, subtract, multiply and fma:
// no division, no square root, no library function, nothing left to a compiler. So every device gives the same bits.
// test/stream/normal.test.ts and test/msl/exhaustive.cc check each function over all 2^32 words against float64
// mathematics.
#pragma once

#include "dialect.h"
#include "philox.h"

// sqrt(-2 ln u), u = (word + 1/2) / 2^32, for every word: from 1.53e-5 to 6.764.
//
// u = m 2^-k with m in [1/2, 1), so that -2 ln u = k 2 ln 2 + g P(g) with g = 1 - m and both terms >= 0: nothing
// cancels. In the upper half of the words (k = 0) g comes from the complement, exact where u is close to 1. P is the
// minimax polynomial of -2 ln(1 - g) / g on (0, 1/2], relative error 2.4e-8.
template <typename Real, typename Int, typename Word>
inline Real normal_radius(Word word) {
  const Int upper = Int(word) >> 31;  // all ones where u >= 1/2
  const Word v = word ^ Word(upper);
#ifdef __CUDA__
  const Real x = Real(2u * v + 1u) * Real(0.5f);  // v + 1/2, rounded once: PTX says how a conversion rounds
#else
  // v + 1/2, rounded once: both conversions are exact.
  const Real x = fma(Real(Int(v >> 16)), Real(65536.0f), Real(Int(v & Word(0xffffu))) + Real(0.5f));
#endif
  const Word bits = as_type<Word>(x);
  const Real m = as_type<Real>((bits & Word(0x007fffffu)) | Word(0x3f000000u));
  const Real g = select(Real(1.0f) - m, x * Real(2.32830644e-10f), upper < Int(0));
  const Real k = Real((Int(158) - Int(bits >> 23)) & ~upper);
  Real p = Real(2.82857633f);
  p = fma(p, g, Real(-3.27808809f));
  p = fma(p, g, Real(2.41648769f));
  p = fma(p, g, Real(-0.361477733f));
  p = fma(p, g, Real(0.52727288f));
  p = fma(p, g, Real(0.487380624f));
  p = fma(p, g, Real(0.66726315f));
  p = fma(p, g, Real(0.999990463f));
  p = fma(p, g, Real(2.0f));
  const Real y = fma(k, Real(1.38629436f), g * p);
  // sqrt(y) = y s q(y s s) with s a bit-level guess of 1 / sqrt(y), then one step of Newton's method.
  const Real s = as_type<Real>(Word(0x5f3759dfu) - (as_type<Word>(y) >> 1));
  const Real h = y * s;
  const Real t = h * s;
  const Real q = fma(fma(Real(0.375716567f), t, Real(-1.25257087f)), t, Real(1.8768543f));
  const Real r = h * q;
  return fma(fma(-r, r, y), Real(0.5f) * (s * q), r);
}

template <typename Real>
struct NormalDirection {
  Real x, y;
};

// A point on the unit circle from bits 6..31 of a word, never on an axis: bits 6..29 and a set last bit make an odd
// angle t pi/4 / 2^24, |t| < 2^24, about the positive x axis; bit 30 swaps the coordinates; the caller takes bit 31 as
// the sign of both. The polynomials are minimax, of sin(a pi/4) / a (2.8e-8) and cos(a pi/4) (3.9e-8) in a^2.
template <typename Real, typename Int, typename Word>
inline NormalDirection<Real> normal_direction(Word word) {
  const Int t = (Int(word << 2) >> 7) | Int(1);
  const Real a = Real(t) * Real(5.96046448e-08f);
  const Real b = a * a;
  Real s = Real(-3.66091517e-05f);
  s = fma(s, b, Real(0.00249101641f));
  s = fma(s, b, Real(-0.0807458311f));
  s = fma(s, b, Real(0.785398185f));
  s = a * s;
  Real c = Real(-0.000318977021f);
  c = fma(c, b, Real(0.0158501491f));
  c = fma(c, b, Real(-0.308424413f));
  c = fma(c, b, Real(1.0f));
  NormalDirection<Real> direction;
  direction.x = select(c, s, Int(word << 1) < Int(0));
  direction.y = select(s, c, Int(word << 1) < Int(0));
  return direction;
}

template <typename Real>
struct NormalBlock {
  Real z0, z1, z2, z3;
};

// The four normals of one Philox block: words 0 and 2 give radii, words 1 and 3 directions.
template <typename Real, typename Int, typename Word>
inline NormalBlock<Real> normal_block(PhiloxBlock<Word> words) {
  const Word signBit = Word(0x80000000u);
  const Real r0 = as_type<Real>(as_type<Word>(normal_radius<Real, Int, Word>(words.w0)) ^ (words.w1 & signBit));
  const Real r1 = as_type<Real>(as_type<Word>(normal_radius<Real, Int, Word>(words.w2)) ^ (words.w3 & signBit));
  const NormalDirection<Real> d0 = normal_direction<Real, Int, Word>(words.w1);
  const NormalDirection<Real> d1 = normal_direction<Real, Int, Word>(words.w3);
  NormalBlock<Real> z;
  z.z0 = r0 * d0.x;
  z.z1 = r0 * d0.y;
  z.z2 = r1 * d1.x;
  z.z3 = r1 * d1.y;
  return z;
}
