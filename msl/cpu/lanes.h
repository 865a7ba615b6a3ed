// A CPU vector as one value: Word, Int and Float hold `laneCount` lanes and know the words that msl/philox.h and
// msl/normal.h use, so that the kernel's text is the CPU's code. Include it after metal_stdlib and, like it, in an
// anonymous namespace.
#pragma once

#if defined(__AVX512F__)
constexpr int laneCount = 16;
#elif defined(__AVX2__)
constexpr int laneCount = 8;
#else
constexpr int laneCount = 4;
#endif

using WordVector = uint32_t __attribute__((vector_size(4 * laneCount)));
using IntVector = int32_t __attribute__((vector_size(4 * laneCount)));
using FloatVector = float __attribute__((vector_size(4 * laneCount)));
using DoubleVector = double __attribute__((vector_size(4 * laneCount)));  // half as many lanes

#if defined(__x86_64__) && !defined(__FMA__)
#include "exact-fma.h"
#endif

struct Int;
struct Float;

struct Word {
  WordVector v;
  Word() = default;
  Word(WordVector v) : v(v) {}
  explicit Word(uint32_t every) : v(WordVector{} + every) {}
  explicit inline Word(Int);
};

struct Int {
  IntVector v;
  Int() = default;
  Int(IntVector v) : v(v) {}
  explicit Int(int32_t every) : v(IntVector{} + every) {}
  explicit Int(Word word) : v((IntVector)word.v) {}
};

Word::Word(Int value) : v((WordVector)value.v) {}

struct Float {
  FloatVector v;
  Float() = default;
  Float(FloatVector v) : v(v) {}
  explicit Float(float every) : v(every - FloatVector{}) {}
  explicit Float(Int value) : v(__builtin_convertvector(value.v, FloatVector)) {}
};

struct Mask {
  IntVector v;
};

static inline Word operator&(Word a, Word b) { return a.v & b.v; }
static inline Word operator|(Word a, Word b) { return a.v | b.v; }
static inline Word operator^(Word a, Word b) { return a.v ^ b.v; }
static inline Word operator+(Word a, Word b) { return a.v + b.v; }
static inline Word operator-(Word a, Word b) { return a.v - b.v; }
static inline Word operator>>(Word a, int bits) { return a.v >> bits; }
static inline Word operator<<(Word a, int bits) { return a.v << bits; }
static inline Int operator&(Int a, Int b) { return a.v & b.v; }
static inline Int operator|(Int a, Int b) { return a.v | b.v; }
static inline Int operator~(Int a) { return ~a.v; }
static inline Int operator-(Int a, Int b) { return a.v - b.v; }
static inline Int operator>>(Int a, int bits) { return a.v >> bits; }
static inline Mask operator<(Int a, Int b) { return {a.v < b.v}; }
static inline Float operator+(Float a, Float b) { return a.v + b.v; }
static inline Float operator-(Float a, Float b) { return a.v - b.v; }
static inline Float operator*(Float a, Float b) { return a.v * b.v; }
static inline Float operator-(Float a) { return -a.v; }
static inline Float select(Float no, Float yes, Mask condition) { return condition.v ? yes.v : no.v; }

template <typename To>
static inline To as_type(Word from);
template <>
inline Float as_type<Float>(Word from) {
  return (FloatVector)from.v;
}
template <typename To>
static inline To as_type(Float from);
template <>
inline Word as_type<Word>(Float from) {
  return (WordVector)from.v;
}

// The 64-bit products of the even and of the odd lanes, merged by one masked shuffle for each half; the compiler makes
// the products once for both.
#if defined(__AVX512F__)
static inline Float fma(Float a, Float b, Float c) {
  return (FloatVector)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v);
}
static inline __m512i evenProducts(Word a, Word b) { return _mm512_mul_epu32((__m512i)a.v, (__m512i)b.v); }
static inline __m512i oddProducts(Word a, Word b) {
  return _mm512_mul_epu32(_mm512_srli_epi64((__m512i)a.v, 32), (__m512i)b.v);  // b is the same in every lane
}
static inline Word mulhi(Word a, Word b) {
  return (WordVector)_mm512_mask_shuffle_epi32(oddProducts(a, b), 0x5555, evenProducts(a, b), _MM_PERM_CDAB);
}
static inline Word operator*(Word a, Word b) {
  return (WordVector)_mm512_mask_shuffle_epi32(evenProducts(a, b), 0xAAAA, oddProducts(a, b), _MM_PERM_CDAB);
}
#elif defined(__AVX2__)
static inline Float fma(Float a, Float b, Float c) {
  return (FloatVector)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v);
}
static inline __m256i evenProducts(Word a, Word b) { return _mm256_mul_epu32((__m256i)a.v, (__m256i)b.v); }
static inline __m256i oddProducts(Word a, Word b) {
  return _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a.v, 32), (__m256i)b.v);
}
static inline Word mulhi(Word a, Word b) {
  return (WordVector)_mm256_blend_epi32(_mm256_srli_epi64(evenProducts(a, b), 32), oddProducts(a, b), 0xAA);
}
static inline Word operator*(Word a, Word b) {
  return (WordVector)_mm256_blend_epi32(evenProducts(a, b), _mm256_slli_epi64(oddProducts(a, b), 32), 0xAA);
}
#else
static inline Float fma(Float a, Float b, Float c) {
#if defined(__x86_64__)
  return exactFma(a.v, b.v, c.v);
#else
  Float r;
  for (int lane = 0; lane < laneCount; ++lane) r.v[lane] = __builtin_fmaf(a.v[lane], b.v[lane], c.v[lane]);
  return r;
#endif
}
static inline Word mulhi(Word a, Word b) {
  Word r;
  for (int lane = 0; lane < laneCount; ++lane) r.v[lane] = mulhi(a.v[lane], b.v[lane]);
  return r;
}
static inline Word operator*(Word a, Word b) { return a.v * b.v; }
#endif

// storeBlocks stores four vectors, of which each lane holds the four normals of a block, block by block. Within each
// 128-bit part the four by four is transposed; the parts are in order because blockOfLane assigns the blocks to lanes
// accordingly.
static inline WordVector blockOfLane() {
  WordVector block;
  for (int lane = 0; lane < laneCount; ++lane) block[lane] = (laneCount / 4) * (lane % 4) + lane / 4;
  return block;
}

static inline void storeBlocks(float* out, Float a, Float b, Float c, Float d) {
#if defined(__AVX512F__)
  const __m512d ab0 = _mm512_castps_pd(_mm512_unpacklo_ps((__m512)a.v, (__m512)b.v));
  const __m512d ab1 = _mm512_castps_pd(_mm512_unpackhi_ps((__m512)a.v, (__m512)b.v));
  const __m512d cd0 = _mm512_castps_pd(_mm512_unpacklo_ps((__m512)c.v, (__m512)d.v));
  const __m512d cd1 = _mm512_castps_pd(_mm512_unpackhi_ps((__m512)c.v, (__m512)d.v));
  _mm512_storeu_pd(out, _mm512_unpacklo_pd(ab0, cd0));
  _mm512_storeu_pd(out + 16, _mm512_unpackhi_pd(ab0, cd0));
  _mm512_storeu_pd(out + 32, _mm512_unpacklo_pd(ab1, cd1));
  _mm512_storeu_pd(out + 48, _mm512_unpackhi_pd(ab1, cd1));
#elif defined(__AVX2__)
  const __m256d ab0 = _mm256_castps_pd(_mm256_unpacklo_ps((__m256)a.v, (__m256)b.v));
  const __m256d ab1 = _mm256_castps_pd(_mm256_unpackhi_ps((__m256)a.v, (__m256)b.v));
  const __m256d cd0 = _mm256_castps_pd(_mm256_unpacklo_ps((__m256)c.v, (__m256)d.v));
  const __m256d cd1 = _mm256_castps_pd(_mm256_unpackhi_ps((__m256)c.v, (__m256)d.v));
  _mm256_storeu_pd((double*)out, _mm256_unpacklo_pd(ab0, cd0));
  _mm256_storeu_pd((double*)(out + 8), _mm256_unpackhi_pd(ab0, cd0));
  _mm256_storeu_pd((double*)(out + 16), _mm256_unpacklo_pd(ab1, cd1));
  _mm256_storeu_pd((double*)(out + 24), _mm256_unpackhi_pd(ab1, cd1));
#else
  for (int lane = 0; lane < laneCount; ++lane) {
    const float z[4] = {a.v[lane], b.v[lane], c.v[lane], d.v[lane]};
    memcpy(out + 4 * lane, z, sizeof z);
  }
#endif
}
