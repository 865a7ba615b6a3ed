// Names of Apple's own headers that public kernels call: what the functions of namespace metal are made of. Their
// last argument says how exact the function has to be; here it is always as exact. Included after words.h if a text
// has such a name.
#pragma once

#define __METAL_MAYBE_FAST_MATH__ 0
#define __METAL_FAST_MATH__ 1
#define __METAL_PRECISE_MATH__ 2

template <typename T>
struct __is_valid_simdgroup_type {
  using E = typename covarium::ShapeOf<T>::Element;
  static constexpr bool value = covarium::isNumber<E> && sizeof(E) <= 4 && !std::is_one_of<E, bool, bfloat>;
};

#define COVARIUM_INTERNAL_1(name, function)         \
  template <typename A>                             \
  static inline auto __metal_##name(A a, int = 0) { \
    return metal::function(a);                      \
  }
#define COVARIUM_INTERNAL_2(name, function)              \
  template <typename A, typename B>                      \
  static inline auto __metal_##name(A a, B b, int = 0) { \
    return metal::function(a, b);                        \
  }
#define COVARIUM_INTERNAL_3(name, function)                   \
  template <typename A, typename B, typename C>               \
  static inline auto __metal_##name(A a, B b, C c, int = 0) { \
    return metal::function(a, b, c);                          \
  }
COVARIUM_INTERNAL_1(abs, abs)
COVARIUM_INTERNAL_1(fabs, fabs)
COVARIUM_INTERNAL_1(acos, acos)
COVARIUM_INTERNAL_1(acosh, acosh)
COVARIUM_INTERNAL_1(asin, asin)
COVARIUM_INTERNAL_1(asinh, asinh)
COVARIUM_INTERNAL_1(atan, atan)
COVARIUM_INTERNAL_1(atanh, atanh)
COVARIUM_INTERNAL_1(ceil, ceil)
COVARIUM_INTERNAL_1(cos, cos)
COVARIUM_INTERNAL_1(cosh, cosh)
COVARIUM_INTERNAL_1(cospi, cospi)
COVARIUM_INTERNAL_1(exp, exp)
COVARIUM_INTERNAL_1(exp2, exp2)
COVARIUM_INTERNAL_1(exp10, exp10)
COVARIUM_INTERNAL_1(floor, floor)
COVARIUM_INTERNAL_1(fract, fract)
COVARIUM_INTERNAL_1(ilogb, ilogb)
COVARIUM_INTERNAL_1(log, log)
COVARIUM_INTERNAL_1(log2, log2)
COVARIUM_INTERNAL_1(log10, log10)
COVARIUM_INTERNAL_1(rint, rint)
COVARIUM_INTERNAL_1(round, round)
COVARIUM_INTERNAL_1(rsqrt, rsqrt)
COVARIUM_INTERNAL_1(saturate, saturate)
COVARIUM_INTERNAL_1(sign, sign)
COVARIUM_INTERNAL_1(sin, sin)
COVARIUM_INTERNAL_1(sinh, sinh)
COVARIUM_INTERNAL_1(sinpi, sinpi)
COVARIUM_INTERNAL_1(sqrt, sqrt)
COVARIUM_INTERNAL_1(tan, tan)
COVARIUM_INTERNAL_1(tanh, tanh)
COVARIUM_INTERNAL_1(tanpi, tanpi)
COVARIUM_INTERNAL_1(trunc, trunc)
COVARIUM_INTERNAL_2(atan2, atan2)
COVARIUM_INTERNAL_2(divide, divide)
COVARIUM_INTERNAL_2(fdim, fdim)
COVARIUM_INTERNAL_2(fmax, fmax)
COVARIUM_INTERNAL_2(fmin, fmin)
COVARIUM_INTERNAL_2(fmod, fmod)
COVARIUM_INTERNAL_2(ldexp, ldexp)
COVARIUM_INTERNAL_2(nextafter, nextafter)
COVARIUM_INTERNAL_2(pow, pow)
COVARIUM_INTERNAL_2(powr, powr)
COVARIUM_INTERNAL_2(step, step)
COVARIUM_INTERNAL_3(fma, fma)
COVARIUM_INTERNAL_3(fmax3, fmax3)
COVARIUM_INTERNAL_3(fmin3, fmin3)
COVARIUM_INTERNAL_3(fmedian3, fmedian3)
COVARIUM_INTERNAL_3(clamp, clamp)
#undef COVARIUM_INTERNAL_1
#undef COVARIUM_INTERNAL_2
#undef COVARIUM_INTERNAL_3

template <typename T>
static inline T __metal_frexp(T x, int* exponent) {
  return metal::frexp(x, *exponent);
}
template <typename T>
static inline T __metal_modf(T x, T* whole, int = 0) {
  return metal::modf(x, *whole);
}

static inline ushort __metal_get_simdgroup_size(ushort) { return covarium::simdWidth; }

#if !defined(COVARIUM_ON_GPU)
static inline ushort __metal_get_thread_index_in_simdgroup(ushort) { return covarium::kernelHost->lane(); }
#define COVARIUM_INTERNAL_OF_LANES(name)                          \
  template <typename T>                                           \
  static inline T __metal_simd_##name(T value, COVARIUM_CALLER) { \
    return metal::simd_##name(value, file, line);                 \
  }
#define COVARIUM_INTERNAL_SHUFFLE(name)                                      \
  template <typename T>                                                      \
  static inline T __metal_simd_##name(T value, uint lane, COVARIUM_CALLER) { \
    return metal::simd_##name(value, lane, file, line);                      \
  }
#define COVARIUM_INTERNAL_FILL(name)                                                                     \
  template <typename T>                                                                                  \
  static inline T __metal_simd_##name(T value, T filling, uint delta, uint modulo = covarium::simdWidth, \
                                      COVARIUM_CALLER) {                                                 \
    return metal::simd_##name(value, filling, delta, modulo, file, line);                                \
  }
COVARIUM_INTERNAL_OF_LANES(sum)
COVARIUM_INTERNAL_OF_LANES(product)
COVARIUM_INTERNAL_OF_LANES(min)
COVARIUM_INTERNAL_OF_LANES(max)
COVARIUM_INTERNAL_OF_LANES(and)
COVARIUM_INTERNAL_OF_LANES(or)
COVARIUM_INTERNAL_OF_LANES(xor)
COVARIUM_INTERNAL_OF_LANES(broadcast_first)
COVARIUM_INTERNAL_OF_LANES(prefix_inclusive_sum)
COVARIUM_INTERNAL_OF_LANES(prefix_exclusive_sum)
COVARIUM_INTERNAL_OF_LANES(prefix_inclusive_product)
COVARIUM_INTERNAL_OF_LANES(prefix_exclusive_product)
COVARIUM_INTERNAL_SHUFFLE(broadcast)
COVARIUM_INTERNAL_SHUFFLE(shuffle)
COVARIUM_INTERNAL_SHUFFLE(shuffle_down)
COVARIUM_INTERNAL_SHUFFLE(shuffle_up)
COVARIUM_INTERNAL_SHUFFLE(shuffle_xor)
COVARIUM_INTERNAL_SHUFFLE(shuffle_rotate_down)
COVARIUM_INTERNAL_SHUFFLE(shuffle_rotate_up)
COVARIUM_INTERNAL_FILL(shuffle_and_fill_down)
COVARIUM_INTERNAL_FILL(shuffle_and_fill_up)
#undef COVARIUM_INTERNAL_OF_LANES
#undef COVARIUM_INTERNAL_SHUFFLE
#undef COVARIUM_INTERNAL_FILL
#endif

namespace metal {
template <typename... All>
using _conjunction = std::conjunction<All...>;
template <typename... All>
using _disjunction = std::disjunction<All...>;
// A value that is the same for all threads.
template <typename T>
using uniform = T;
template <typename T>
static constexpr T make_uniform(T value) {
  return value;
}
}  // namespace metal
