// The fused multiply-add of two or four lanes for x86-64 processors without FMA. It is rounded once, like theirs, so
// that normals and draws have the bits of every other processor. The C library's fma has the same bits, but takes ten
// times as long. Part of lanes.h.
#pragma once

using SignedVector = int64_t __attribute__((vector_size(16)));

// x + y and, exactly, what the rounding took away (Knuth).
static inline DoubleVector twoSum(DoubleVector x, DoubleVector y, DoubleVector& error) {
  const DoubleVector sum = x + y, part = sum - x;
  error = (x - (sum - part)) + (y - part);
  return sum;
}

// x + y, rounded to odd: if the sum is not exact, of its two neighbours the one whose last bit is set. A second
// rounding to fewer digits, or of a sum with a larger number, then gives what a single one would (Boldo and
// Melquiond: Emulation of a FMA and correctly rounded sums. IEEE Transactions on Computers 57, 2008).
static inline DoubleVector addToOdd(DoubleVector x, DoubleVector y) {
  DoubleVector error;
  const DoubleVector sum = twoSum(x, y, error), zero = {};
  const SignedVector bits = (SignedVector)sum, isInexact = (SignedVector)(error < zero) | (SignedVector)(error > zero),
                     isEven = (bits & 1) - 1, isInward = (SignedVector)(error < zero) ^ (SignedVector)(sum < zero);
  return (DoubleVector)(bits + ((isInward | 1) & isInexact & isEven));
}

static inline FloatVector exactFma(FloatVector a, FloatVector b, FloatVector c) {
  const auto low = [](FloatVector v) { return (DoubleVector)_mm_cvtps_pd((__m128)v); };
  const auto high = [](FloatVector v) { return (DoubleVector)_mm_cvtps_pd(_mm_movehl_ps((__m128)v, (__m128)v)); };
  const DoubleVector first = addToOdd(low(a) * low(b), low(c)), second = addToOdd(high(a) * high(b), high(c));
  return (FloatVector)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)first), _mm_cvtpd_ps((__m128d)second));
}

// a b and, exactly, what the rounding took away: the products of the halves of a and b fit into doubles (Dekker).
static inline DoubleVector twoProduct(DoubleVector a, DoubleVector b, DoubleVector& error) {
  const DoubleVector splitter = {134217729.0, 134217729.0};  // 2^27 + 1
  const DoubleVector wideA = splitter * a, wideB = splitter * b;
  const DoubleVector highA = wideA - (wideA - a), highB = wideB - (wideB - b), lowA = a - highA, lowB = b - highB;
  const DoubleVector product = a * b;
  error = ((highA * highB - product) + highA * lowB + lowA * highB) + lowA * lowB;
  return product;
}

static inline DoubleVector exactFma(DoubleVector a, DoubleVector b, DoubleVector c) {
  const DoubleVector zero = {}, least = {0x1p-400, 0x1p-400}, most = {0x1p400, 0x1p400};
  const auto fits = [&](DoubleVector v) {
    const DoubleVector size = (DoubleVector)((SignedVector)v & INT64_MAX);
    return (SignedVector)(v == zero) | ((SignedVector)(size > least) & (SignedVector)(size < most));
  };
  // Beyond these limits a part of the product would overflow or be subnormal.
  if (_mm_movemask_pd((__m128d)(fits(a) & fits(b) & fits(c))) != 3) {
    for (int lane = 0; lane < 2; ++lane) c[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
    return c;
  }
  DoubleVector lowProduct, lowSum, rest;
  const DoubleVector product = twoProduct(a, b, lowProduct);
  const DoubleVector middle = twoSum(c, lowProduct, lowSum), sum = twoSum(product, middle, rest);
  const SignedVector isZero = (SignedVector)(product == zero);  // the sign of a zero counts
  return (DoubleVector)((isZero & (SignedVector)(product + c)) |
                        (~isZero & (SignedVector)(sum + addToOdd(lowSum, rest))));
}
