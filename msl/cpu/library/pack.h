// Numbers in the bytes of one word, as pictures have them: the pack and unpack functions. Included after words.h if a
// text has such a name.
#pragma once

namespace metal {

// A number in [0, 1] or [-1, 1] as an integer, rounded to the nearest, ties to even; a NaN is 0.
static inline uint covarium_fixed(float x, float least, uint most) {
  const float inside = __builtin_isnan(x) ? 0.0f : __builtin_fminf(__builtin_fmaxf(x, least), 1.0f);
  return static_cast<uint>(static_cast<int>(__builtin_rintf(inside * static_cast<float>(most))));
}
static inline float covarium_to_linear(float x) {
  return x <= 0.04045f ? x / 12.92f : __builtin_powf((x + 0.055f) / 1.055f, 2.4f);
}
static inline float covarium_to_srgb(float x) {
  const float inside = __builtin_isnan(x) ? 0.0f : __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f);
  return inside < 0.0031308f ? 12.92f * inside : 1.055f * __builtin_powf(inside, 1.0f / 2.4f) - 0.055f;
}

// `Integer` is the type of one of `count` parts; the first part is the lowest.
#define COVARIUM_PACK(F, name, count, Integer, least)                                                                 \
  static inline uint pack_##F##_to_##name(F##count v) {                                                               \
    constexpr uint bits = 8 * sizeof(Integer);                                                                        \
    uint word = 0;                                                                                                    \
    for (uint i = 0; i < count; ++i)                                                                                  \
      word |=                                                                                                         \
          (covarium_fixed(static_cast<float>(v[i]), least, std::numeric_limits<Integer>::max()) & ((1u << bits) - 1)) \
          << (bits * i);                                                                                              \
    return word;                                                                                                      \
  }                                                                                                                   \
  static inline F##count unpack_##name##_to_##F(uint word) {                                                          \
    constexpr uint bits = 8 * sizeof(Integer);                                                                        \
    F##count v;                                                                                                       \
    for (uint i = 0; i < count; ++i) {                                                                                \
      const float x = static_cast<float>(static_cast<Integer>(word >> (bits * i))) /                                  \
                      static_cast<float>(std::numeric_limits<Integer>::max());                                        \
      v[i] = static_cast<F>(__builtin_fmaxf(x, least));                                                               \
    }                                                                                                                 \
    return v;                                                                                                         \
  }
#define COVARIUM_PACKS(F)                                                                                      \
  COVARIUM_PACK(F, unorm4x8, 4, uint8_t, 0.0f)                                                                 \
  COVARIUM_PACK(F, snorm4x8, 4, int8_t, -1.0f)                                                                 \
  COVARIUM_PACK(F, unorm2x16, 2, uint16_t, 0.0f)                                                               \
  COVARIUM_PACK(F, snorm2x16, 2, int16_t, -1.0f)                                                               \
  static inline F##4 unpack_unorm4x8_srgb_to_##F(uint word) {                                                  \
    F##4 v = unpack_unorm4x8_to_##F(word);                                                                     \
    for (int i = 0; i < 3; ++i) v[i] = static_cast<F>(covarium_to_linear(((word >> (8 * i)) & 255) / 255.0f)); \
    return v;                                                                                                  \
  }                                                                                                            \
  static inline uint pack_##F##_to_srgb_unorm4x8(F##4 v) {                                                     \
    float4 x = float4(v);                                                                                      \
    for (int i = 0; i < 3; ++i) x[i] = covarium_to_srgb(x[i]);                                                 \
    return pack_float_to_unorm4x8(x);                                                                          \
  }                                                                                                            \
  static inline uint pack_##F##_to_unorm10a2(F##4 v) {                                                         \
    uint word = covarium_fixed(static_cast<float>(v[3]), 0.0f, 3) << 30;                                       \
    for (int i = 0; i < 3; ++i) word |= covarium_fixed(static_cast<float>(v[i]), 0.0f, 1023) << (10 * i);      \
    return word;                                                                                               \
  }                                                                                                            \
  static inline F##4 unpack_unorm10a2_to_##F(uint word) {                                                      \
    return F##4(float4(word & 1023, word >> 10 & 1023, word >> 20 & 1023, 0) / 1023 +                          \
                float4(0, 0, 0, (word >> 30) / 3.0f));                                                         \
  }
COVARIUM_PACKS(float)
COVARIUM_PACKS(half)
#undef COVARIUM_PACK
#undef COVARIUM_PACKS

}  // namespace metal
