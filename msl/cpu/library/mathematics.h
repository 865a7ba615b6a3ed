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
using IfVector = std::enable_if_t<ShapeOf<V>::isVector>;

// A function of one float, and by component.
#define COVARIUM_FUNCTION(name, body)                                   \
  static inline float name(float x) { return body; }                    \
  template <typename V, typename = IfVector<V>>                         \
  static inline Common<V, V> name(const V& v) {                         \
    Common<V, V> result;                                                \
    for (int i = 0; i < ShapeOf<V>::count; ++i) result[i] = name(v[i]); \
    return result;                                                      \
  }
COVARIUM_FUNCTION(sqrt, __builtin_sqrtf(x))
COVARIUM_FUNCTION(rsqrt, 1.0f / __builtin_sqrtf(x))
COVARIUM_FUNCTION(exp, __builtin_expf(x))
COVARIUM_FUNCTION(exp2, __builtin_exp2f(x))
COVARIUM_FUNCTION(exp10, __builtin_powf(10.0f, x))
COVARIUM_FUNCTION(log, __builtin_logf(x))
COVARIUM_FUNCTION(log2, __builtin_log2f(x))
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
COVARIUM_FUNCTION(fract, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))
COVARIUM_FUNCTION(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f)
COVARIUM_FUNCTION(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
#undef COVARIUM_FUNCTION

// A function of the bits or the order of any number.
#define COVARIUM_FUNCTION_OF_ANY(name, Condition, Result, body)         \
  template <typename T, typename = std::enable_if_t<Condition<T>>>      \
  static inline Result name(T x) {                                      \
    return static_cast<Result>(body);                                   \
  }                                                                     \
  template <typename V, typename = IfVector<V>, typename = void>        \
  static inline auto name(const V& v) {                                 \
    ShortVector<decltype(name(v[0])), ShapeOf<V>::count> result;        \
    for (int i = 0; i < ShapeOf<V>::count; ++i) result[i] = name(v[i]); \
    return result;                                                      \
  }
COVARIUM_FUNCTION_OF_ANY(abs, std::is_arithmetic_v, T, x < 0 ? -x : x == 0 ? 0 : x)
COVARIUM_FUNCTION_OF_ANY(isnan, std::is_floating_point_v, bool, __builtin_isnan(x))
COVARIUM_FUNCTION_OF_ANY(isinf, std::is_floating_point_v, bool, __builtin_isinf(x))
COVARIUM_FUNCTION_OF_ANY(isfinite, std::is_floating_point_v, bool, __builtin_isfinite(x))
COVARIUM_FUNCTION_OF_ANY(popcount, std::is_integral_v, T, __builtin_popcountll(std::make_unsigned_t<T>(x)))
COVARIUM_FUNCTION_OF_ANY(clz, std::is_integral_v, T,
                         x == 0 ? 8 * sizeof x : __builtin_clzll(std::make_unsigned_t<T>(x)) - (64 - 8 * sizeof x))
COVARIUM_FUNCTION_OF_ANY(ctz, std::is_integral_v, T, x == 0 ? 8 * sizeof x : __builtin_ctzll(x))
#undef COVARIUM_FUNCTION_OF_ANY

// A function of two numbers of one type; a scalar beside a vector is every component.
#define COVARIUM_FUNCTION_OF_2(name, Condition, body)                  \
  template <typename T, typename = std::enable_if_t<Condition<T>>>     \
  static inline T name(T x, T y) {                                     \
    return static_cast<T>(body);                                       \
  }                                                                    \
  template <typename A, typename B, typename = IfVectors<A, B>>        \
  static inline Common<A, B> name(const A& a, const B& b) {            \
    using T = typename ShapeOf<Common<A, B>>::Element;                 \
    Common<A, B> result;                                               \
    for (int i = 0; i < ShapeOf<Common<A, B>>::count; ++i)             \
      result[i] = name<T>(componentOf<T>(a, i), componentOf<T>(b, i)); \
    return result;                                                     \
  }
#define COVARIUM_MIXED_FLOATS(name)                                                                                    \
  template <typename A, typename B,                                                                                    \
            typename = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && \
                                        (std::is_floating_point_v<A> || std::is_floating_point_v<B>)>,                 \
            typename = void>                                                                                           \
  static inline float name(A a, B b) {                                                                                 \
    return name<float>(static_cast<float>(a), static_cast<float>(b));                                                  \
  }
template <typename T>
static inline T lesser(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return __builtin_fminf(x, y);
  } else {
    return y < x ? y : x;
  }
}
template <typename T>
static inline T greater(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return __builtin_fmaxf(x, y);
  } else {
    return x < y ? y : x;
  }
}
COVARIUM_FUNCTION_OF_2(min, std::is_arithmetic_v, lesser<T>(x, y))
COVARIUM_FUNCTION_OF_2(max, std::is_arithmetic_v, greater<T>(x, y))
COVARIUM_FUNCTION_OF_2(fmin, std::is_floating_point_v, __builtin_fminf(x, y))
COVARIUM_FUNCTION_OF_2(fmax, std::is_floating_point_v, __builtin_fmaxf(x, y))
COVARIUM_FUNCTION_OF_2(pow, std::is_floating_point_v, __builtin_powf(x, y))
COVARIUM_FUNCTION_OF_2(powr, std::is_floating_point_v, __builtin_powf(x, y))
COVARIUM_FUNCTION_OF_2(fmod, std::is_floating_point_v, __builtin_fmodf(x, y))
COVARIUM_FUNCTION_OF_2(atan2, std::is_floating_point_v, __builtin_atan2f(x, y))
COVARIUM_FUNCTION_OF_2(copysign, std::is_floating_point_v, __builtin_copysignf(x, y))
COVARIUM_FUNCTION_OF_2(step, std::is_floating_point_v, y < x ? 0.0f : 1.0f)
COVARIUM_FUNCTION_OF_2(absdiff, std::is_integral_v, x < y ? y - x : x - y)
COVARIUM_FUNCTION_OF_2(rotate, std::is_integral_v,
                       (std::make_unsigned_t<T>(x) << (y & (8 * sizeof x - 1))) |
                           (std::make_unsigned_t<T>(x) >> (-y & (8 * sizeof x - 1))))
COVARIUM_MIXED_FLOATS(min)
COVARIUM_MIXED_FLOATS(max)
COVARIUM_MIXED_FLOATS(pow)
#undef COVARIUM_FUNCTION_OF_2
#undef COVARIUM_MIXED_FLOATS

static inline uint mulhi(uint a, uint b) { return static_cast<uint>((static_cast<ulong>(a) * b) >> 32); }
static inline int mulhi(int a, int b) { return static_cast<int>((static_cast<long>(a) * b) >> 32); }
static inline float ldexp(float x, int exponent) { return __builtin_ldexpf(x, exponent); }

static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
template <int n>
static inline ShortVector<float, n> fma(const ShortVector<float, n>& a, const ShortVector<float, n>& b,
                                        const ShortVector<float, n>& c) {
  ShortVector<float, n> result;
  for (int i = 0; i < n; ++i) result[i] = fma(a[i], b[i], c[i]);
  return result;
}
template <typename A, typename B, typename C>
static inline auto clamp(const A& x, const B& least, const C& most) {
  return min(max(x, least), most);
}
template <typename A, typename B, typename C>
static inline auto mix(const A& a, const B& b, const C& t) {
  return a + (b - a) * t;
}
template <typename A, typename B, typename C>
static inline auto smoothstep(const A& edge0, const B& edge1, const C& x) {
  const auto t = saturate((x - edge0) / (edge1 - edge0));
  return t * t * (3.0f - 2.0f * t);
}

template <typename T, typename = std::enable_if_t<!ShapeOf<T>::isVector>>
static inline T select(T no, T yes, bool condition) {
  return condition ? yes : no;
}
template <typename A, typename B, int n, typename = IfVectors<A, B>>
static inline Common<A, B> select(const A& no, const B& yes, const ShortVector<bool, n>& condition) {
  Common<A, B> result;
  for (int i = 0; i < n; ++i) result[i] = condition[i] ? yes[i] : no[i];
  return result;
}
static inline bool any(bool x) { return x; }
static inline bool all(bool x) { return x; }
template <int n>
static inline bool any(const ShortVector<bool, n>& v) {
  bool found = false;
  for (int i = 0; i < n; ++i) found |= v[i];
  return found;
}
template <int n>
static inline bool all(const ShortVector<bool, n>& v) {
  bool found = true;
  for (int i = 0; i < n; ++i) found &= v[i];
  return found;
}

template <typename A, typename B, typename = IfVectors<A, B>>
static inline auto dot(const A& a, const B& b) {
  const auto products = a * b;
  auto sum = products[0];
  for (int i = 1; i < ShapeOf<A>::count; ++i) sum += products[i];
  return sum;
}
template <typename V, typename = IfVector<V>>
static inline float length_squared(const V& v) {
  return dot(v, v);
}
template <typename V, typename = IfVector<V>>
static inline float length(const V& v) {
  return sqrt(dot(v, v));
}
template <typename A, typename B, typename = IfVectors<A, B>>
static inline float distance(const A& a, const B& b) {
  return length(a - b);
}
template <typename V, typename = IfVector<V>>
static inline Common<V, V> normalize(const V& v) {
  return v * rsqrt(dot(v, v));
}
static inline ShortVector<float, 3> cross(const ShortVector<float, 3>& a, const ShortVector<float, 3>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

namespace precise {
using namespace metal;
}
namespace fast {
using namespace metal;
}
