// Several vectors of 64-bit lanes in step, as one value: a type for which msl/philox.h and normal-float64.h are
// written. A step of Horner's scheme waits for the one before it, and the other vectors fill the gap. Include it in
// an anonymous namespace, as lanes.h.
#pragma once

#include "lanes.h"

constexpr int longLanes = laneCount / 2;
// Measured. AVX2 has half as many registers as the others: a round of Philox needs them all for two vectors, a step of
// Horner's scheme for six.
constexpr int longChains = laneCount == 8 ? 6 : 4;
constexpr int philoxChains = laneCount == 8 ? 2 : 4;
constexpr int longsAtOnce = longChains * longLanes;

using LongVector = uint64_t __attribute__((vector_size(4 * laneCount)));
using SignedLongVector = int64_t __attribute__((vector_size(4 * laneCount)));

template <typename Vector>
struct InStep {
  Vector v[longChains];
};

struct Longs : InStep<LongVector> {
  Longs() = default;
  explicit Longs(uint64_t every) {
    for (auto& vector : v) vector = LongVector{} + every;
  }
};

struct Doubles : InStep<DoubleVector> {
  Doubles() = default;
  explicit Doubles(double every) {
    for (auto& vector : v) vector = every - DoubleVector{};
  }
};

// Calls each(c) for the vectors of the result.
template <typename Result, typename Each>
static inline __attribute__((always_inline)) Result inStep(const Each& each) {
  Result result;
  for (int c = 0; c < longChains; ++c) result.v[c] = each(c);
  return result;
}

#define COVARIUM_IN_STEP(Type, op)                                \
  static inline Type operator op(const Type& a, const Type& b) {  \
    return inStep<Type>([&](int c) { return a.v[c] op b.v[c]; }); \
  }
COVARIUM_IN_STEP(Longs, &)
COVARIUM_IN_STEP(Longs, |)
COVARIUM_IN_STEP(Longs, ^)
COVARIUM_IN_STEP(Longs, +)
COVARIUM_IN_STEP(Longs, -)
COVARIUM_IN_STEP(Doubles, +)
COVARIUM_IN_STEP(Doubles, -)
COVARIUM_IN_STEP(Doubles, *)
COVARIUM_IN_STEP(Doubles, /)
#undef COVARIUM_IN_STEP

static inline Longs operator~(const Longs& a) {
  return inStep<Longs>([&](int c) { return ~a.v[c]; });
}
static inline Longs operator<<(const Longs& a, int bits) {
  return inStep<Longs>([&](int c) { return a.v[c] << bits; });
}
static inline Longs operator>>(const Longs& a, int bits) {
  return inStep<Longs>([&](int c) { return a.v[c] >> bits; });
}

static inline Longs bitsOf(const Doubles& values) {
  return inStep<Longs>([&](int c) { return (LongVector)values.v[c]; });
}
static inline Doubles realOf(const Longs& bits) {
  return inStep<Doubles>([&](int c) { return (DoubleVector)bits.v[c]; });
}
static inline Longs signMask(const Longs& words) {
  return inStep<Longs>([&](int c) { return (LongVector)((SignedLongVector)words.v[c] < 0); });
}
static inline Doubles select(const Doubles& no, const Doubles& yes, const Longs& mask) {
  return inStep<Doubles>([&](int c) { return (SignedLongVector)mask.v[c] < 0 ? yes.v[c] : no.v[c]; });
}

static inline Longs lessThan(const Doubles& a, const Doubles& b) {
  return inStep<Longs>([&](int c) { return (LongVector)(a.v[c] < b.v[c]); });
}
static inline Longs equal(const Doubles& a, const Doubles& b) {
  return inStep<Longs>([&](int c) { return (LongVector)(a.v[c] == b.v[c]); });
}

static inline Doubles squareRoot(const Doubles& values) {
  return inStep<Doubles>([&](int c) {
#if defined(__AVX512F__)
    return (DoubleVector)_mm512_sqrt_pd((__m512d)values.v[c]);
#elif defined(__AVX2__)
    return (DoubleVector)_mm256_sqrt_pd((__m256d)values.v[c]);
#else
    DoubleVector root;
    for (int lane = 0; lane < longLanes; ++lane) root[lane] = __builtin_sqrt(values.v[c][lane]);
    return root;
#endif
  });
}

// The values of signed or unsigned words, rounded once.
#if defined(__AVX2__) && !defined(__AVX512F__)
// Both halves as the low bits of a power of two, 2^52 and 2^84; that of a signed word is biased by 2^31. The difference
// is exact, and the sum is what rounds.
static inline DoubleVector fromHalves(LongVector words, uint64_t highBits, double excess) {
  const __m256i lowBits = _mm256_set1_epi64x(0x4330000000000000);
  const DoubleVector low = (DoubleVector)_mm256_blend_epi32((__m256i)words, lowBits, 0xAA);
  const DoubleVector high = (DoubleVector)((words >> 32) ^ highBits);
  return (high - excess) + low;
}
static inline DoubleVector fromSigned(LongVector words) {
  return fromHalves(words, 0x4530000080000000u, 0x1p84 + 0x1p63 + 0x1p52);
}
static inline DoubleVector fromUnsigned(LongVector words) {
  return fromHalves(words, 0x4530000000000000u, 0x1p84 + 0x1p52);
}
#else
static inline DoubleVector fromSigned(LongVector words) {
  return __builtin_convertvector((SignedLongVector)words, DoubleVector);
}
static inline DoubleVector fromUnsigned(LongVector words) { return __builtin_convertvector(words, DoubleVector); }
#endif
static inline Doubles fromSigned(const Longs& words) {
  return inStep<Doubles>([&](int c) { return fromSigned(words.v[c]); });
}
static inline Doubles fromUnsigned(const Longs& words) {
  return inStep<Doubles>([&](int c) { return fromUnsigned(words.v[c]); });
}

// The products of the lower halves.
static inline LongVector productOfLow(LongVector a, LongVector b) {
#if defined(__AVX512F__)
  return (LongVector)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (LongVector)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__ARM_NEON)
  return (LongVector)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// A 32-bit word in the lower half of each lane; what is in the upper halves has no meaning.
struct LowWords {
  LongVector v[philoxChains];
  LowWords() = default;
  explicit LowWords(uint32_t every) {
    for (auto& vector : v) vector = LongVector{} + every;
  }
};
template <typename Each>
static inline __attribute__((always_inline)) LowWords lowWords(const Each& each) {
  LowWords result;
  for (int c = 0; c < philoxChains; ++c) result.v[c] = each(c);
  return result;
}
static inline LowWords operator^(const LowWords& a, const LowWords& b) {
  return lowWords([&](int c) { return a.v[c] ^ b.v[c]; });
}
static inline LowWords operator*(const LowWords& a, const LowWords& b) {
  return lowWords([&](int c) { return productOfLow(a.v[c], b.v[c]); });
}
static inline LowWords mulhi(const LowWords& a, const LowWords& b) {
  return lowWords([&](int c) { return productOfLow(a.v[c], b.v[c]) >> 32; });
}

static inline LongVector joined(LongVector high, LongVector low) { return high << 32 | (low & 0xffffffffu); }

// Which of longLanes blocks a lane has, so that storePairs stores them in order.
static inline LongVector longOfLane() {
  LongVector block;
  for (int lane = 0; lane < longLanes; ++lane) block[lane] = longLanes / 2 * (lane % 2) + lane / 2;
  return block;
}

// The two normals of each of longLanes blocks, block by block.
static inline void storePairs(double* out, DoubleVector x, DoubleVector y) {
#if defined(__AVX512F__)
  _mm512_storeu_pd(out, _mm512_unpacklo_pd((__m512d)x, (__m512d)y));
  _mm512_storeu_pd(out + 8, _mm512_unpackhi_pd((__m512d)x, (__m512d)y));
#elif defined(__AVX2__)
  _mm256_storeu_pd(out, _mm256_unpacklo_pd((__m256d)x, (__m256d)y));
  _mm256_storeu_pd(out + 4, _mm256_unpackhi_pd((__m256d)x, (__m256d)y));
#else
  const DoubleVector first = {x[0], y[0]}, second = {x[1], y[1]};
  memcpy(out, &first, sizeof first);
  memcpy(out + 2, &second, sizeof second);
#endif
}
