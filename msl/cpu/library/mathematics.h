// The functions of <metal_math>, <metal_integer>, <metal_geometric> and <metal_relational> that kernels use, of scalars
// and by component. Part of words.h, in namespace metal.

#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_E_F 2.71828182845904523536f
#define M_SQRT2_F 1.41421356237309504880f
#undef INFINITY
#undef NAN
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT __FLT_MAX__

template <typename V>
using IfVector = std::enable_if_t<covarium::ShapeOf<V>::isVector>;

// The fraction of x, which is below 1 in the type R too; NaN for NaN and for an infinity.
template <typename R>
static inline float fractionOf(float x) {
  constexpr float most = 1.0f - static_cast<float>(numeric_limits<R>::epsilon()) / 2;
  const float part = x - __builtin_floorf(x);
  return part > most ? most : part;
}

// A function of one float, and by component; of a half it gives a half.
#define COVARIUM_FUNCTION(name, body)                                                        \
  template <typename T, typename = std::enable_if_t<covarium::isNumber<T>>, typename = void> \
  static inline covarium::FloatOf<T> name(T given) {                                         \
    const float x = static_cast<float>(given);                                               \
    return static_cast<covarium::FloatOf<T>>(body);                                          \
  }                                                                                          \
  template <typename V, typename = IfVector<V>>                                              \
  static inline covarium::Common<V, V> name(const V& v) {                                    \
    covarium::Common<V, V> result;                                                           \
    for (int i = 0; i < covarium::ShapeOf<V>::count; ++i) result[i] = name(v[i]);            \
    return result;                                                                           \
  }
COVARIUM_FUNCTION(sqrt, __builtin_sqrtf(x))
COVARIUM_FUNCTION(rsqrt, 1.0f / __builtin_sqrtf(x))
COVARIUM_FUNCTION(exp, __builtin_expf(x))
COVARIUM_FUNCTION(exp2, __builtin_exp2f(x))
COVARIUM_FUNCTION(exp10, __builtin_powf(10.0f, x))
COVARIUM_FUNCTION(log, __builtin_logf(covarium::counted(x)))
COVARIUM_FUNCTION(log2, __builtin_log2f(covarium::counted(x)))
COVARIUM_FUNCTION(log10, __builtin_log10f(x))
COVARIUM_FUNCTION(sin, __builtin_sinf(x))
COVARIUM_FUNCTION(cos, __builtin_cosf(x))
COVARIUM_FUNCTION(tan, __builtin_tanf(x))
COVARIUM_FUNCTION(asin, __builtin_asinf(x))
COVARIUM_FUNCTION(acos, __builtin_acosf(x))
COVARIUM_FUNCTION(atan, __builtin_atanf(x))
COVARIUM_FUNCTION(sinh, __builtin_sinhf(x))
COVARIUM_FUNCTION(cosh, __builtin_coshf(x))
COVARIUM_FUNCTION(tanh, __builtin_tanhf(x))
COVARIUM_FUNCTION(floor, __builtin_floorf(x))
COVARIUM_FUNCTION(ceil, __builtin_ceilf(x))
COVARIUM_FUNCTION(rint, __builtin_rintf(x))
COVARIUM_FUNCTION(round, __builtin_roundf(x))
COVARIUM_FUNCTION(trunc, __builtin_truncf(x))
COVARIUM_FUNCTION(fabs, __builtin_fabsf(x))
COVARIUM_FUNCTION(fract, fractionOf<covarium::FloatOf<T>>(x))
COVARIUM_FUNCTION(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x * 0.0f : 0.0f)
COVARIUM_FUNCTION(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
#undef COVARIUM_FUNCTION

// A function of the bits or the order of any number.
#define COVARIUM_FUNCTION_OF_ANY(name, Condition, Result, body)                      \
  template <typename T, typename = std::enable_if_t<Condition<T>>>                   \
  static inline Result name(T x) {                                                   \
    return static_cast<Result>(body);                                                \
  }                                                                                  \
  template <typename V, typename = IfVector<V>, typename = void>                     \
  static inline auto name(const V& v) {                                              \
    covarium::ShortVector<decltype(name(v[0])), covarium::ShapeOf<V>::count> result; \
    for (int i = 0; i < covarium::ShapeOf<V>::count; ++i) result[i] = name(v[i]);    \
    return result;                                                                   \
  }
COVARIUM_FUNCTION_OF_ANY(abs, covarium::isNumber, T, x < T(0) ? -x : x == T(0) ? T(0) : x)
COVARIUM_FUNCTION_OF_ANY(isnan, covarium::isNumber, bool, __builtin_isnan(static_cast<float>(x)))
COVARIUM_FUNCTION_OF_ANY(isinf, covarium::isNumber, bool, __builtin_isinf(static_cast<float>(x)))
COVARIUM_FUNCTION_OF_ANY(isfinite, covarium::isNumber, bool, __builtin_isfinite(static_cast<float>(x)))
COVARIUM_FUNCTION_OF_ANY(popcount, std::is_integral_v, T, __builtin_popcountll(std::make_unsigned_t<T>(x)))
COVARIUM_FUNCTION_OF_ANY(clz, std::is_integral_v, T,
                         x == 0 ? 8 * sizeof x : __builtin_clzll(std::make_unsigned_t<T>(x)) - (64 - 8 * sizeof x))
COVARIUM_FUNCTION_OF_ANY(ctz, std::is_integral_v, T, x == 0 ? 8 * sizeof x : __builtin_ctzll(x))
#undef COVARIUM_FUNCTION_OF_ANY

// A function of two numbers of one type; a scalar beside a vector stands for every component.
#define COVARIUM_FUNCTION_OF_2(name, Condition, body)                                      \
  template <typename T, typename = std::enable_if_t<Condition<T>>>                         \
  static inline T name(T x, T y) {                                                         \
    return static_cast<T>(body);                                                           \
  }                                                                                        \
  template <typename A, typename B, typename = covarium::IfVectors<A, B>>                  \
  static inline covarium::Common<A, B> name(const A& a, const B& b) {                      \
    using T = typename covarium::ShapeOf<covarium::Common<A, B>>::Element;                 \
    covarium::Common<A, B> result;                                                         \
    for (int i = 0; i < covarium::ShapeOf<covarium::Common<A, B>>::count; ++i)             \
      result[i] = name<T>(covarium::componentOf<T>(a, i), covarium::componentOf<T>(b, i)); \
    return result;                                                                         \
  }
// Scalars of two types: the result has the type of their sum.
#define COVARIUM_MIXED(name)                                                                                      \
  template <typename A, typename B,                                                                               \
            typename = std::enable_if_t<!std::is_same_v<A, B> && covarium::isNumber<A> && covarium::isNumber<B>>, \
            typename = void>                                                                                      \
  static inline auto name(A a, B b) {                                                                             \
    using T = decltype(a + b);                                                                                    \
    return name<T>(static_cast<T>(a), static_cast<T>(b));                                                         \
  }
template <typename T>
static inline T lesserOfTwo(T x, T y) {
  if constexpr (covarium::isFloat<T>) {
    return static_cast<T>(__builtin_fminf(x, y));
  } else {
    return y < x ? y : x;
  }
}
template <typename T>
static inline T greaterOfTwo(T x, T y) {
  if constexpr (covarium::isFloat<T>) {
    return static_cast<T>(__builtin_fmaxf(x, y));
  } else {
    return x < y ? y : x;
  }
}
COVARIUM_FUNCTION_OF_2(min, covarium::isNumber, lesserOfTwo<T>(x, y))
COVARIUM_FUNCTION_OF_2(max, covarium::isNumber, greaterOfTwo<T>(x, y))
COVARIUM_FUNCTION_OF_2(fmin, covarium::isFloat, __builtin_fminf(x, y))
COVARIUM_FUNCTION_OF_2(fmax, covarium::isFloat, __builtin_fmaxf(x, y))
COVARIUM_FUNCTION_OF_2(pow, covarium::isFloat, __builtin_powf(covarium::counted(x), y))
COVARIUM_FUNCTION_OF_2(powr, covarium::isFloat, __builtin_powf(covarium::counted(x), y))
COVARIUM_FUNCTION_OF_2(fmod, covarium::isFloat, __builtin_fmodf(x, y))
COVARIUM_FUNCTION_OF_2(atan2, covarium::isFloat, __builtin_atan2f(covarium::counted(x), covarium::counted(y)))
COVARIUM_FUNCTION_OF_2(copysign, covarium::isFloat, __builtin_copysignf(x, y))
COVARIUM_FUNCTION_OF_2(step, covarium::isFloat, y < x ? 0.0f : 1.0f)
COVARIUM_FUNCTION_OF_2(rotate, std::is_integral_v,
                       (std::make_unsigned_t<T>(x) << (y & (8 * sizeof x - 1))) |
                           (std::make_unsigned_t<T>(x) >> (-y & (8 * sizeof x - 1))))
COVARIUM_MIXED(min)
COVARIUM_MIXED(max)
COVARIUM_MIXED(fmin)
COVARIUM_MIXED(fmax)
COVARIUM_MIXED(pow)
COVARIUM_MIXED(powr)
COVARIUM_MIXED(fmod)
COVARIUM_MIXED(atan2)
COVARIUM_MIXED(step)
COVARIUM_MIXED(copysign)
#undef COVARIUM_FUNCTION_OF_2
#undef COVARIUM_MIXED

template <typename T, typename = std::enable_if_t<covarium::isNumber<T>>>
static inline covarium::FloatOf<T> ldexp(T x, int exponent) {
  return static_cast<covarium::FloatOf<T>>(__builtin_ldexpf(static_cast<float>(x), exponent));
}

// For halves it is exact in double, and rounded once.
template <typename T>
static inline T fusedOf(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_fmaf(a, b, c);
  } else {
    return static_cast<T>(static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c)));
  }
}
template <typename A, typename B, typename C,
          typename = std::enable_if_t<covarium::isNumber<A> && covarium::isNumber<B> && covarium::isNumber<C>>>
static inline auto fma(A a, B b, C c) {
  using T = covarium::FloatOf<decltype(a * b + c)>;
  return fusedOf<T>(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
}
template <typename A, typename B, typename C,
          typename V = decltype(std::declval<A>() * std::declval<B>() + std::declval<C>()), typename = IfVector<V>,
          typename = void>
static inline V fma(const A& a, const B& b, const C& c) {
  using T = typename covarium::ShapeOf<V>::Element;
  V result;
  for (int i = 0; i < covarium::ShapeOf<V>::count; ++i)
    result[i] =
        fusedOf<T>(covarium::componentOf<T>(a, i), covarium::componentOf<T>(b, i), covarium::componentOf<T>(c, i));
  return result;
}
template <typename A, typename B, typename C>
static inline auto clamp(const A& x, const B& least, const C& most) {
  return min(max(x, least), most);
}
template <typename A, typename B, typename C>
static inline auto mix(const A& a, const B& b, const C& t) {
  if constexpr (covarium::ShapeOf<A>::isVector || covarium::ShapeOf<B>::isVector) {
    using V = covarium::Common<A, B>;
    return V(a) + (V(b) - V(a)) * t;
  } else {
    return a + (b - a) * t;
  }
}
template <typename A, typename B, typename C>
static inline auto smoothstep(const A& edge0, const B& edge1, const C& x) {
  const auto t = saturate((x - edge0) / (edge1 - edge0));
  return t * t * (3 - 2 * t);
}

// Scalars beside vectors stand for every component. A scalar condition is true or false as in `if`; a vector of signed
// integers holds where the highest bit is set.
template <typename A, typename B, typename C>
static inline auto select(const A& no, const B& yes, const C& condition) {
  using K = typename covarium::ShapeOf<C>::Element;
  const auto holds = [](K k) { return !covarium::ShapeOf<C>::isVector || std::is_unsigned_v<K> ? k != 0 : k < 0; };
  if constexpr (covarium::ShapeOf<C>::isVector) {
    using T = typename covarium::ShapeOf<std::conditional_t<covarium::ShapeOf<A>::isVector, A, B>>::Element;
    covarium::ShortVector<T, covarium::ShapeOf<C>::count> result;
    for (int i = 0; i < covarium::ShapeOf<C>::count; ++i)
      result[i] = holds(condition[i]) ? covarium::componentOf<T>(yes, i) : covarium::componentOf<T>(no, i);
    return result;
  } else if constexpr (covarium::ShapeOf<A>::isVector || covarium::ShapeOf<B>::isVector) {
    return holds(condition) ? covarium::Common<A, B>(yes) : covarium::Common<A, B>(no);
  } else {
    return holds(condition) ? yes : no;
  }
}
static inline bool any(bool x) { return x; }
static inline bool all(bool x) { return x; }
template <typename V, typename = IfVector<V>>
static inline bool any(const V& v) {
  bool found = false;
  for (int i = 0; i < covarium::ShapeOf<V>::count; ++i) found |= v[i] != 0;
  return found;
}
template <typename V, typename = IfVector<V>>
static inline bool all(const V& v) {
  bool found = true;
  for (int i = 0; i < covarium::ShapeOf<V>::count; ++i) found &= v[i] != 0;
  return found;
}

template <typename A, typename B, typename = covarium::IfVectors<A, B>>
static inline auto dot(const A& a, const B& b) {
  const auto products = a * b;
  auto sum = products[0];
  for (int i = 1; i < covarium::ShapeOf<A>::count; ++i) sum += products[i];
  return sum;
}
template <typename V, typename = IfVector<V>>
static inline auto length_squared(const V& v) {
  return dot(v, v);
}
template <typename V, typename = IfVector<V>>
static inline auto length(const V& v) {
  return sqrt(dot(v, v));
}
template <typename A, typename B, typename = covarium::IfVectors<A, B>>
static inline auto distance(const A& a, const B& b) {
  return length(a - b);
}
template <typename V, typename = IfVector<V>>
static inline covarium::Common<V, V> normalize(const V& v) {
  return covarium::Common<V, V>(v) * rsqrt(dot(v, v));
}
template <typename A, typename B, typename = covarium::IfVectors<A, B>>
static inline covarium::Common<A, B> cross(const A& a, const B& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
