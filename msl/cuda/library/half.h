// Half, the float of 16 bits, by the GPU's integers: each operation is made in float and rounded to nearest, ties to
// even, which gives the bits of a processor that has halves. Part of scalars.h, in namespace covarium.

struct BrainFloat;
struct Half {
  uint16_t bits;
  Half() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, BrainFloat>>>
  constexpr Half(T value) : bits(bitsOf(static_cast<float>(value))) {}
  constexpr operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude < 0x400) return (sign == 0 ? 0x1p-24f : -0x1p-24f) * static_cast<float>(magnitude);
    const uint32_t bias = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;
    return __builtin_bit_cast(float, sign | ((magnitude << 13) + bias));
  }

 private:
  static constexpr uint16_t bitsOf(float value) {
    const auto all = __builtin_bit_cast(uint32_t, value);
    const auto sign = static_cast<uint16_t>(all >> 16 & 0x8000);
    const uint32_t magnitude = all & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 143u << 23) return static_cast<uint16_t>(sign | 0x7c00);
    // The last bit of 1/2 as a float is worth the least half, so adding 1/2 rounds to multiples of it.
    if (magnitude < 113u << 23)
      return static_cast<uint16_t>(
          sign | (__builtin_bit_cast(uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - (126u << 23)));
    return static_cast<uint16_t>(sign | ((magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13));
  }
};
