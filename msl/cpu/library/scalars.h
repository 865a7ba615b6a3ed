// The scalar types of the Metal Shading Language that C++ lacks, and what the other headers need of scalars. Part of
// wrapper.h, in namespace covarium.

#if defined(COVARIUM_ON_GPU)
#include <library/half.h>
// clang has it as a separate type on every processor, with the flags of lib/kernel/cpu/compiler.ts.
#elif defined(__clang__) || !defined(__FLT16_MANT_DIG__)
using Half = __fp16;
#else
using Half = _Float16;
#endif

// The upper half of a float, rounded to nearest, ties to even.
struct BrainFloat {
  uint16_t bits;
  BrainFloat() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half>>>
  constexpr BrainFloat(T value) : bits(bitsOf(static_cast<float>(value))) {}
  constexpr operator float() const { return floatOf(static_cast<uint32_t>(bits) << 16); }

 private:
  static constexpr float floatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
  static constexpr uint16_t bitsOf(float value) {
    const auto all = __builtin_bit_cast(uint32_t, value);
    if ((all & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((all >> 16) | 0x40);
    return static_cast<uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16);
  }
};

template <typename T>
constexpr bool isFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BrainFloat>;
template <typename T>
constexpr bool isNumber = std::is_arithmetic_v<T> || isFloat<T>;
template <typename T>
constexpr bool isEnumeration = std::is_enum_v<T> && std::is_convertible_v<T, long>;
// The type that a function of floats returns for an argument.
template <typename T>
using FloatOf = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BrainFloat>, T, float>;

// A bfloat beside a bfloat or an integer is a bfloat, beside a float it is a float.
#define COVARIUM_SMALL(F, op)                                                                               \
  constexpr F operator op(F a, F b) { return F(static_cast<float>(a) op static_cast<float>(b)); }           \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> ||                              \
                                                    (!std::is_same_v<F, Half> && std::is_same_v<T, Half>)>> \
  constexpr auto operator op(F a, T b) {                                                                    \
    using R = std::conditional_t<std::is_integral_v<T>, F, float>;                                          \
    return static_cast<R>(static_cast<float>(a) op static_cast<float>(b));                                  \
  }                                                                                                         \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> ||                              \
                                                    (!std::is_same_v<F, Half> && std::is_same_v<T, Half>)>> \
  constexpr auto operator op(T a, F b) {                                                                    \
    using R = std::conditional_t<std::is_integral_v<T>, F, float>;                                          \
    return static_cast<R>(static_cast<float>(a) op static_cast<float>(b));                                  \
  }                                                                                                         \
  template <typename T, typename = std::enable_if_t<isNumber<T>>>                                           \
  constexpr F& operator op## = (F & a, T b) {                                                               \
    return a = F(static_cast<float>(a) op static_cast<float>(b));                                           \
  }
#define COVARIUM_SMALL_FLOAT(F) \
  COVARIUM_SMALL(F, +)          \
  COVARIUM_SMALL(F, -)          \
  COVARIUM_SMALL(F, *)          \
  COVARIUM_SMALL(F, /)          \
  constexpr F operator-(F a) { return F(-static_cast<float>(a)); }
COVARIUM_SMALL_FLOAT(BrainFloat)
#if defined(COVARIUM_ON_GPU)
COVARIUM_SMALL_FLOAT(Half)
#endif
#undef COVARIUM_SMALL_FLOAT
#undef COVARIUM_SMALL

// Right operands of / and %, and of << and >>, as lib/kernel/cpu/arithmetic.ts marks them.
template <typename T>
struct Divisor {
  T value;
};
template <typename T>
struct Shift {
  T value;
};
template <typename T>
constexpr auto divisor(const T& value) {
  if constexpr (std::is_integral_v<T> || isEnumeration<T>) {
    return Divisor<decltype(+value)>{value};
  } else {
    return value;
  }
}
template <typename T>
constexpr auto shift(const T& value) {
  if constexpr (std::is_integral_v<T> || isEnumeration<T>) {
    return Shift<decltype(+value)>{value};
  } else {
    return value;
  }
}

// The quotient by 0 is 0 and the remainder the dividend, as on arm64; the least number by -1 is itself.
template <typename T>
constexpr T quotientOf(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(a));
  return static_cast<T>(a / b);
}
template <typename T>
constexpr T remainderOf(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return 0;
  return static_cast<T>(a % b);
}
template <typename A, typename B>
constexpr auto operator/(const A& a, Divisor<B> b) {
  if constexpr (std::is_integral_v<A> || isEnumeration<A>) {
    using T = decltype(+a + b.value);
    return quotientOf<T>(static_cast<T>(a), static_cast<T>(b.value));
  } else {
    return a / b.value;
  }
}
template <typename A, typename B>
constexpr auto operator%(const A& a, Divisor<B> b) {
  if constexpr (std::is_integral_v<A> || isEnumeration<A>) {
    using T = decltype(+a + b.value);
    return remainderOf<T>(static_cast<T>(a), static_cast<T>(b.value));
  } else {
    return a % b.value;
  }
}
// A shift takes the low bits of its amount; a left operand is promoted to 32 bits or more.
template <typename A, typename B>
constexpr auto operator<<(const A& a, Shift<B> b) {
  if constexpr (std::is_integral_v<A> || isEnumeration<A>) {
    return +a << (b.value & static_cast<B>(8 * sizeof(+a) - 1));
  } else {
    return a << b.value;
  }
}
template <typename A, typename B>
constexpr auto operator>>(const A& a, Shift<B> b) {
  if constexpr (std::is_integral_v<A> || isEnumeration<A>) {
    return +a >> (b.value & static_cast<B>(8 * sizeof(+a) - 1));
  } else {
    return a >> b.value;
  }
}
template <typename A, typename B>
constexpr A& operator/=(A& a, Divisor<B> b) {
  return a = static_cast<A>(a / b);
}
template <typename A, typename B>
constexpr A& operator%=(A& a, Divisor<B> b) {
  return a = static_cast<A>(a % b);
}
template <typename A, typename B>
constexpr A& operator<<=(A& a, Shift<B> b) {
  return a = static_cast<A>(a << b);
}
template <typename A, typename B>
constexpr A& operator>>=(A& a, Shift<B> b) {
  return a = static_cast<A>(a >> b);
}

// Subnormal numbers count as 0, but the C library's log, log2, pow and atan2 take their bits apart: they get a true 0
// of the same sign. No compiler leaves the sum out, as it does not know the sign.
static inline float counted(float x) { return x + __builtin_copysignf(0.0f, x); }
