// The functions of <metal_math>, <metal_geometric> and <metal_relational> beyond mathematics.h, of scalars and by
// component. Part of words.h, in namespace metal.

template <typename V>
using IfFloats = std::enable_if_t<covarium::isNumber<typename covarium::ShapeOf<V>::Element>>;

// sin(pi x) for x in [-1/2, 1/2]; a number without a suffix would be a float here.
static inline double sinPi(double x) { return __builtin_sin(static_cast<double>(3.14159265358979323846L) * x); }
static inline float sinpiOf(float x) {
  const double r = x - 2 * __builtin_rintf(x / 2);
  return static_cast<float>(sinPi(r > 0.5f ? 1 - r : r < -0.5f ? -1 - r : r));
}
static inline float cospiOf(float x) {
  const double r = __builtin_fabsf(x - 2 * __builtin_rintf(x / 2));
  return static_cast<float>(sinPi(0.5f - r));
}

// A half below 2^-14 is subnormal, although as a float it is not.
template <typename T>
static inline bool isNormal(T x) {
  const float f = static_cast<float>(x);
  return __builtin_isnormal(f) && (!covarium::isFloat<T> || __builtin_fabsf(f) >= float(numeric_limits<T>::min()));
}

// If the argument is a half, a float result is a half too.
template <typename Result, typename T>
using ResultOf = std::conditional_t<std::is_same_v<Result, float>, covarium::FloatOf<T>, Result>;

#define COVARIUM_FLOATS(name, Result, body)                                                                   \
  template <typename A, typename = IfFloats<A>>                                                               \
  static inline auto name(const A& a) {                                                                       \
    using T = typename covarium::ShapeOf<A>::Element;                                                         \
    return byComponent([](T x) -> ResultOf<Result, T> { return static_cast<ResultOf<Result, T>>(body); }, a); \
  }
COVARIUM_FLOATS(asinh, float, __builtin_asinhf(x))
COVARIUM_FLOATS(acosh, float, __builtin_acoshf(x))
COVARIUM_FLOATS(atanh, float, __builtin_atanhf(x))
COVARIUM_FLOATS(sinpi, float, sinpiOf(x))
COVARIUM_FLOATS(cospi, float, cospiOf(x))
COVARIUM_FLOATS(tanpi, float, sinpiOf(x) / cospiOf(x))
COVARIUM_FLOATS(ilogb, int, __builtin_ilogbf(x))
COVARIUM_FLOATS(signbit, bool, __builtin_signbitf(x) != 0)
COVARIUM_FLOATS(isnormal, bool, isNormal<T>(x))
#undef COVARIUM_FLOATS

// The next number of its own type towards y.
template <typename T>
static inline T neighbourOf(T x, T y) {
  if constexpr (sizeof(T) == 2 && covarium::isFloat<T>) {
    const float from = static_cast<float>(x), to = static_cast<float>(y);
    if (!(from < to) && !(to < from)) return from == to ? y : static_cast<T>(from + to);
    ushort bits;
    memcpy(&bits, &x, sizeof bits);
    if (from == 0) {
      bits = to < 0 ? 0x8001 : 1;
    } else {
      bits += (from < to) == (from > 0) ? 1 : -1;
    }
    T next;
    memcpy(static_cast<void*>(&next), &bits, sizeof bits);
    return next;
  } else {
    return static_cast<T>(__builtin_nextafterf(x, y));
  }
}
#define COVARIUM_FLOATS_2(name, Result, body)                                                                         \
  template <typename A, typename B, typename = IfFloats<A>>                                                           \
  static inline auto name(const A& a, const B& b) {                                                                   \
    using T = typename covarium::ShapeOf<A>::Element;                                                                 \
    return byComponent([](T x, T y) -> ResultOf<Result, T> { return static_cast<ResultOf<Result, T>>(body); }, a, b); \
  }
COVARIUM_FLOATS_2(divide, float, x / y)
COVARIUM_FLOATS_2(fdim, float, __builtin_fdimf(x, y))
COVARIUM_FLOATS_2(nextafter, float, neighbourOf(x, y))
COVARIUM_FLOATS_2(isordered, bool, !__builtin_isunordered(static_cast<float>(x), static_cast<float>(y)))
COVARIUM_FLOATS_2(isunordered, bool, __builtin_isunordered(static_cast<float>(x), static_cast<float>(y)))
#undef COVARIUM_FLOATS_2

// Two results: one is returned, the other written.
template <typename A, typename = IfFloats<A>>
static inline auto modf(const A& a, A& whole) {
  whole = trunc(a);
  using T = typename covarium::ShapeOf<A>::Element;
  const auto part = [](T x, T w) -> T {
    const float f = x;
    return static_cast<T>(__builtin_copysignf(__builtin_isinf(f) ? 0.0f : f - static_cast<float>(w), f));
  };
  return byComponent(part, a, whole);
}
template <typename A, typename = IfFloats<A>>
static inline auto sincos(const A& a, A& cosine) {
  cosine = cos(a);
  return sin(a);
}
template <typename T, typename = std::enable_if_t<covarium::isNumber<T>>>
static inline covarium::FloatOf<T> frexp(T x, int& exponent) {
  return static_cast<covarium::FloatOf<T>>(__builtin_frexpf(static_cast<float>(x), &exponent));
}
template <typename T, int n>
static inline covarium::ShortVector<T, n> frexp(const covarium::ShortVector<T, n>& x,
                                                covarium::ShortVector<int, n>& exponent) {
  covarium::ShortVector<T, n> result;
  for (int i = 0; i < n; ++i) result[i] = frexp(x[i], exponent[i]);
  return result;
}
template <typename T, int n>
static inline covarium::ShortVector<T, n> ldexp(const covarium::ShortVector<T, n>& x,
                                                const covarium::ShortVector<int, n>& exponent) {
  covarium::ShortVector<T, n> result;
  for (int i = 0; i < n; ++i) result[i] = ldexp(x[i], exponent[i]);
  return result;
}

template <typename A, typename B, typename C>
static inline auto min3(const A& a, const B& b, const C& c) {
  return min(a, min(b, c));
}
template <typename A, typename B, typename C>
static inline auto max3(const A& a, const B& b, const C& c) {
  return max(a, max(b, c));
}
template <typename A, typename B, typename C>
static inline auto median3(const A& a, const B& b, const C& c) {
  return max(min(a, b), min(max(a, b), c));
}
#define COVARIUM_FLOATS_3(name, other)                          \
  template <typename A, typename B, typename C>                 \
  static inline auto name(const A& a, const B& b, const C& c) { \
    return other(a, b, c);                                      \
  }
COVARIUM_FLOATS_3(fmin3, min3)
COVARIUM_FLOATS_3(fmax3, max3)
COVARIUM_FLOATS_3(fmedian3, median3)
#undef COVARIUM_FLOATS_3

template <typename A, typename B, typename = covarium::IfVectors<A, B>>
static inline auto distance_squared(const A& a, const B& b) {
  return length_squared(a - b);
}
template <typename A, typename B, typename = covarium::IfVectors<A, B>>
static inline covarium::Common<A, B> reflect(const A& incident, const B& normal) {
  return incident - 2 * dot(normal, incident) * normal;
}
template <typename A, typename B, typename = covarium::IfVectors<A, B>>
static inline covarium::Common<A, B> refract(const A& incident, const B& normal, float eta) {
  const float cosine = dot(normal, incident);
  const float k = 1.0f - eta * eta * (1.0f - cosine * cosine);
  if (k < 0) return covarium::Common<A, B>(0.0f);
  return eta * incident - (eta * cosine + sqrt(k)) * normal;
}
template <typename A, typename B, typename C, typename = covarium::IfVectors<A, B>>
static inline covarium::Common<A, B> faceforward(const A& normal, const B& incident, const C& reference) {
  return dot(reference, incident) < 0.0f ? covarium::Common<A, B>(normal) : covarium::Common<A, B>(-normal);
}

// The same functions in two more namespaces. A text may add its own functions there, which would hide those that only
// a using-directive makes visible.
#define COVARIUM_EXACTNESS       \
  using namespace metal;         \
  using metal::abs;              \
  using metal::acos;             \
  using metal::acosh;            \
  using metal::asin;             \
  using metal::asinh;            \
  using metal::atan;             \
  using metal::atan2;            \
  using metal::atanh;            \
  using metal::ceil;             \
  using metal::clamp;            \
  using metal::copysign;         \
  using metal::cos;              \
  using metal::cosh;             \
  using metal::cospi;            \
  using metal::cross;            \
  using metal::distance;         \
  using metal::distance_squared; \
  using metal::divide;           \
  using metal::dot;              \
  using metal::exp;              \
  using metal::exp10;            \
  using metal::exp2;             \
  using metal::fabs;             \
  using metal::faceforward;      \
  using metal::fdim;             \
  using metal::floor;            \
  using metal::fma;              \
  using metal::fmax;             \
  using metal::fmax3;            \
  using metal::fmedian3;         \
  using metal::fmin;             \
  using metal::fmin3;            \
  using metal::fmod;             \
  using metal::fract;            \
  using metal::frexp;            \
  using metal::ilogb;            \
  using metal::isfinite;         \
  using metal::isinf;            \
  using metal::isnan;            \
  using metal::isnormal;         \
  using metal::isordered;        \
  using metal::isunordered;      \
  using metal::ldexp;            \
  using metal::length;           \
  using metal::length_squared;   \
  using metal::log;              \
  using metal::log10;            \
  using metal::log2;             \
  using metal::max;              \
  using metal::max3;             \
  using metal::median3;          \
  using metal::min;              \
  using metal::min3;             \
  using metal::mix;              \
  using metal::modf;             \
  using metal::nextafter;        \
  using metal::normalize;        \
  using metal::pow;              \
  using metal::powr;             \
  using metal::reflect;          \
  using metal::refract;          \
  using metal::rint;             \
  using metal::round;            \
  using metal::rsqrt;            \
  using metal::saturate;         \
  using metal::select;           \
  using metal::sign;             \
  using metal::signbit;          \
  using metal::sin;              \
  using metal::sincos;           \
  using metal::sinh;             \
  using metal::sinpi;            \
  using metal::smoothstep;       \
  using metal::sqrt;             \
  using metal::step;             \
  using metal::tan;              \
  using metal::tanh;             \
  using metal::tanpi;            \
  using metal::trunc;
namespace precise {
COVARIUM_EXACTNESS
}
namespace fast {
COVARIUM_EXACTNESS
}
#undef COVARIUM_EXACTNESS
