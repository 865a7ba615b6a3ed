// The vectors of the Metal Shading Language, float2 to ulong4, by element: sizes, alignments and the ways to make one
// are Metal's. Three components take the room of four; a packed vector has no padding. Part of wrapper.h, in
// namespace covarium.

#include "swizzle.h"

// Components, with Metal's padding or packed. They are set one by one from a value; without a value they are not set.
struct Unset {};
struct Rest {};
#define COVARIUM_COMPONENTS(name, stored)                            \
  constexpr explicit name(Unset) : all{} {}                          \
  name() = default;                                                  \
  name(const name&) = default;                                       \
  name& operator=(const name& other) {                               \
    for (int i = 0; i < stored; ++i) all[i] = other.all[i];          \
    return *this;                                                    \
  }                                                                  \
  template <int... at>                                               \
  Swizzle<T, stored, at...>& swizzle() {                             \
    return *reinterpret_cast<Swizzle<T, stored, at...>*>(all);       \
  }                                                                  \
  template <int... at>                                               \
  const Swizzle<T, stored, at...>& swizzle() const {                 \
    return *reinterpret_cast<const Swizzle<T, stored, at...>*>(all); \
  }

template <typename T, int n>
struct Components;
template <typename T>
struct alignas(2 * sizeof(T)) Components<T, 2> {
  COVARIUM_COMPONENTS(Components, 2)
  union {
    T all[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    COVARIUM_SWIZZLES_2(2, x, y, 0, 1)
    COVARIUM_SWIZZLES_2(2, r, g, 0, 1)
  };
};
template <typename T>
struct alignas(4 * sizeof(T)) Components<T, 3> {
  COVARIUM_COMPONENTS(Components, 4)
  union {
    T all[4];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    COVARIUM_SWIZZLES_OF_3(4, x, y, z, 0, 1, 2)
    COVARIUM_SWIZZLES_OF_3(4, r, g, b, 0, 1, 2)
  };
};
template <typename T>
struct alignas(4 * sizeof(T)) Components<T, 4> {
  COVARIUM_COMPONENTS(Components, 4)
  union {
    T all[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    COVARIUM_SWIZZLES_OF_4(4, x, y, z, w)
    COVARIUM_SWIZZLES_OF_4(4, r, g, b, a)
  };
};

template <typename T, int n>
struct PackedComponents;
template <typename T>
struct PackedComponents<T, 2> {
  COVARIUM_COMPONENTS(PackedComponents, 2)
  union {
    T all[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    COVARIUM_SWIZZLES_2(2, x, y, 0, 1)
    COVARIUM_SWIZZLES_2(2, r, g, 0, 1)
  };
};
template <typename T>
struct PackedComponents<T, 3> {
  COVARIUM_COMPONENTS(PackedComponents, 3)
  union {
    T all[3];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    COVARIUM_SWIZZLES_OF_3(3, x, y, z, 0, 1, 2)
    COVARIUM_SWIZZLES_OF_3(3, r, g, b, 0, 1, 2)
  };
};
template <typename T>
struct PackedComponents<T, 4> {
  COVARIUM_COMPONENTS(PackedComponents, 4)
  union {
    T all[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    COVARIUM_SWIZZLES_OF_4(4, x, y, z, w)
    COVARIUM_SWIZZLES_OF_4(4, r, g, b, a)
  };
};
#undef COVARIUM_COMPONENTS

// The element and the number of elements of an expression of vectors; a scalar has one.
template <typename V>
struct Shape {
  using Element = V;
  static constexpr int count = isNumber<V> ? 1 : 0;
  static constexpr bool isVector = false;
};
template <typename T, int n>
struct Shape<ShortVector<T, n>> {
  using Element = T;
  static constexpr int count = n;
  static constexpr bool isVector = true;
};
template <typename T, int stored, int... at>
struct Shape<Swizzle<T, stored, at...>> : Shape<ShortVector<T, sizeof...(at)>> {};
template <typename T, int n>
struct PackedVector;
template <typename T, int n>
struct Shape<PackedVector<T, n>> : Shape<ShortVector<T, n>> {};

template <typename V>
using ShapeOf = Shape<std::remove_cv_t<std::remove_reference_t<V>>>;

template <typename T, int n>
struct ShortVector : Components<T, n> {
  using Components<T, n>::all;
  ShortVector() = default;
  // Every component the same.
  template <typename S, typename = std::enable_if_t<isNumber<S> || isEnumeration<S>>>
  constexpr ShortVector(S every) : Components<T, n>(Unset()) {
    for (int i = 0; i < n; ++i) all[i] = static_cast<T>(every);
  }
  // The components of scalars and vectors, in order; in braces there may be fewer, and the others are 0.
  template <typename A, typename B, typename... More,
            typename = std::enable_if_t<((ShapeOf<More>::count > 0) && ... &&
                                         (ShapeOf<A>::count > 0 && ShapeOf<B>::count > 0)) &&
                                        ShapeOf<A>::count + ShapeOf<B>::count + (ShapeOf<More>::count + ... + 0) <= n>>
  constexpr ShortVector(const A& a, const B& b, const More&... more) : Components<T, n>(Unset()) {
    int i = 0;
    put(a, i);
    put(b, i);
    (put(more, i), ...);
  }
  // One number in braces is the first, and the others are 0 (lib/kernel/cpu/rewrite.ts).
  template <typename A, typename = std::enable_if_t<(ShapeOf<A>::count > 0 && ShapeOf<A>::count <= n)>>
  constexpr ShortVector(const A& a, Rest) : Components<T, n>(Unset()) {
    int i = 0;
    put(a, i);
  }
  // An explicit conversion from another element type.
  template <typename V, typename = std::enable_if_t<ShapeOf<V>::isVector && ShapeOf<V>::count == n>, typename = void>
  constexpr explicit ShortVector(const V& other) : Components<T, n>(Unset()) {
    int i = 0;
    put(other, i);
  }
  constexpr T& operator[](int i) { return all[indexOf(i, n)]; }
  constexpr const T& operator[](int i) const { return all[indexOf(i, n)]; }

 private:
  template <typename A>
  constexpr void put(const A& from, int& i) {
    if constexpr (ShapeOf<A>::isVector) {
      for (int k = 0; k < ShapeOf<A>::count; ++k) all[i++] = static_cast<T>(from[k]);
    } else {
      all[i++] = static_cast<T>(from);
    }
  }
};

template <typename T, int n>
struct PackedVector : PackedComponents<T, n> {
  using PackedComponents<T, n>::all;
  PackedVector() = default;
  constexpr PackedVector(const ShortVector<T, n>& value) : PackedComponents<T, n>(Unset()) {
    for (int i = 0; i < n; ++i) all[i] = value[i];
  }
  template <typename... A, typename = std::enable_if_t<(ShapeOf<A>::count + ... + 0) == n || sizeof...(A) == 1>,
            typename = std::enable_if_t<std::is_constructible_v<ShortVector<T, n>, const A&...>>, typename = void>
  constexpr explicit PackedVector(const A&... each) : PackedVector(ShortVector<T, n>(each...)) {}
  constexpr operator ShortVector<T, n>() const {
    ShortVector<T, n> value(T(0));
    for (int i = 0; i < n; ++i) value[i] = all[i];
    return value;
  }
  constexpr T& operator[](int i) { return all[indexOf(i, n)]; }
  constexpr const T& operator[](int i) const { return all[indexOf(i, n)]; }
};

// The vector type of an expression with one or two vectors: a scalar takes the vector's type.
template <typename A, typename B>
using Common = std::conditional_t<
    ShapeOf<A>::isVector, ShortVector<typename ShapeOf<A>::Element, ShapeOf<A>::count>,
    std::conditional_t<ShapeOf<B>::isVector, ShortVector<typename ShapeOf<B>::Element, ShapeOf<B>::count>, void>>;
template <typename A, typename B>
using IfVectors = std::enable_if_t<(ShapeOf<A>::isVector || ShapeOf<B>::isVector) && ShapeOf<A>::count != 0 &&
                                   ShapeOf<B>::count != 0 &&
                                   (!ShapeOf<A>::isVector || !ShapeOf<B>::isVector ||
                                    (ShapeOf<A>::count == ShapeOf<B>::count &&
                                     std::is_same_v<typename ShapeOf<A>::Element, typename ShapeOf<B>::Element>))>;

// Turns a swizzle or a packed vector into an ordinary vector; all else stays as it is.
template <typename V>
static inline auto plain(const V& value) {
  if constexpr (ShapeOf<V>::isVector) {
    return Common<V, V>(value);
  } else {
    return value;
  }
}

template <typename T, typename V>
static inline T componentOf(const V& value, int i) {
  if constexpr (ShapeOf<V>::isVector) {
    return value[i];
  } else {
    return static_cast<T>(value);
  }
}

// The operators of one component: a shift takes the low bits of its amount, and nothing divides by 0.
#define COVARIUM_SCALAR(name, body)                 \
  template <typename T>                             \
  static constexpr T name(const T& a, const T& b) { \
    return static_cast<T>(body);                    \
  }
COVARIUM_SCALAR(sumOf, a + b)
COVARIUM_SCALAR(differenceOf, a - b)
COVARIUM_SCALAR(productOf, a* b)
COVARIUM_SCALAR(bitsOfBoth, a& b)
COVARIUM_SCALAR(bitsOfEither, a | b)
COVARIUM_SCALAR(bitsOfOne, a ^ b)
COVARIUM_SCALAR(leftShifted, a << (b & T(8 * sizeof(T) - 1)))
COVARIUM_SCALAR(rightShifted, a >> (b & T(8 * sizeof(T) - 1)))
COVARIUM_SCALAR(dividedBy, a / divisor(b))
COVARIUM_SCALAR(remainingOf, a % divisor(b))
#undef COVARIUM_SCALAR

#define COVARIUM_OPERATOR(op, combined)                                                                            \
  template <typename A, typename B, typename = IfVectors<A, B>>                                                    \
  static inline Common<A, B> operator op(const A& a, const B& b) {                                                 \
    using V = Common<A, B>;                                                                                        \
    using T = typename ShapeOf<V>::Element;                                                                        \
    V result;                                                                                                      \
    for (int i = 0; i < ShapeOf<V>::count; ++i) result[i] = combined(componentOf<T>(a, i), componentOf<T>(b, i));  \
    return result;                                                                                                 \
  }                                                                                                                \
  template <typename A, typename B, typename = std::enable_if_t<ShapeOf<A>::isVector>, typename = IfVectors<A, B>> \
  static inline A& operator op## = (A & a, const B& b) {                                                           \
    return a = a op b;                                                                                             \
  }
COVARIUM_OPERATOR(+, sumOf)
COVARIUM_OPERATOR(-, differenceOf)
COVARIUM_OPERATOR(*, productOf)
COVARIUM_OPERATOR(/, dividedBy)
COVARIUM_OPERATOR(%, remainingOf)
COVARIUM_OPERATOR(&, bitsOfBoth)
COVARIUM_OPERATOR(|, bitsOfEither)
COVARIUM_OPERATOR(^, bitsOfOne)
#undef COVARIUM_OPERATOR

// An amount may have another element type than what is shifted.
#define COVARIUM_SHIFT(op, combined)                                                                               \
  template <                                                                                                       \
      typename A, typename B, typename = std::enable_if_t<ShapeOf<A>::isVector || ShapeOf<B>::isVector>,           \
      typename = std::enable_if_t<                                                                                 \
          std::is_integral_v<typename ShapeOf<A>::Element> && std::is_integral_v<typename ShapeOf<B>::Element> &&  \
          (!ShapeOf<A>::isVector || !ShapeOf<B>::isVector || ShapeOf<A>::count == ShapeOf<B>::count)>>             \
  static inline auto operator op(const A& a, const B& b) {                                                         \
    using T = typename ShapeOf<std::conditional_t<ShapeOf<A>::isVector, A, B>>::Element;                           \
    ShortVector<T, ShapeOf<Common<A, B>>::count> result;                                                           \
    for (int i = 0; i < ShapeOf<Common<A, B>>::count; ++i)                                                         \
      result[i] = combined(componentOf<T>(a, i), static_cast<T>(componentOf<typename ShapeOf<B>::Element>(b, i))); \
    return result;                                                                                                 \
  }                                                                                                                \
  template <typename A, typename B, typename = std::enable_if_t<ShapeOf<A>::isVector>,                             \
            typename = decltype(std::declval<A>() op std::declval<B>())>                                           \
  static inline A& operator op## = (A & a, const B& b) {                                                           \
    return a = a op b;                                                                                             \
  }
COVARIUM_SHIFT(<<, leftShifted)
COVARIUM_SHIFT(>>, rightShifted)
#undef COVARIUM_SHIFT

#define COVARIUM_COMPARISON(op)                                                                                      \
  template <typename A, typename B, typename = IfVectors<A, B>>                                                      \
  static inline ShortVector<bool, ShapeOf<Common<A, B>>::count> operator op(const A& a, const B& b) {                \
    using T = typename ShapeOf<Common<A, B>>::Element;                                                               \
    ShortVector<bool, ShapeOf<Common<A, B>>::count> result;                                                          \
    for (int i = 0; i < ShapeOf<Common<A, B>>::count; ++i) result[i] = componentOf<T>(a, i) op componentOf<T>(b, i); \
    return result;                                                                                                   \
  }
COVARIUM_COMPARISON(==)
COVARIUM_COMPARISON(!=)
COVARIUM_COMPARISON(<)
COVARIUM_COMPARISON(<=)
COVARIUM_COMPARISON(>)
COVARIUM_COMPARISON(>=)
COVARIUM_COMPARISON(&&)
COVARIUM_COMPARISON(||)
#undef COVARIUM_COMPARISON

#define COVARIUM_UNARY(op)                                                           \
  template <typename A, typename = IfVectors<A, A>>                                  \
  static inline Common<A, A> operator op(const A& a) {                               \
    using T = typename ShapeOf<A>::Element;                                          \
    Common<A, A> result;                                                             \
    for (int i = 0; i < ShapeOf<A>::count; ++i) result[i] = static_cast<T>(op a[i]); \
    return result;                                                                   \
  }
COVARIUM_UNARY(-)
COVARIUM_UNARY(~)
template <typename A, typename = IfVectors<A, A>>
static inline ShortVector<bool, ShapeOf<A>::count> operator!(const A& a) {
  ShortVector<bool, ShapeOf<A>::count> result;
  for (int i = 0; i < ShapeOf<A>::count; ++i) result[i] = !a[i];
  return result;
}
COVARIUM_UNARY(+)
#undef COVARIUM_UNARY

#define COVARIUM_STEP(mark, op)                                            \
  template <typename V, typename = std::enable_if_t<ShapeOf<V>::isVector>> \
  static inline V& operator mark(V& v) {                                   \
    return v = v op static_cast<typename ShapeOf<V>::Element>(1);          \
  }                                                                        \
  template <typename V, typename = std::enable_if_t<ShapeOf<V>::isVector>> \
  static inline Common<V, V> operator mark(V& v, int) {                    \
    const Common<V, V> before(v);                                          \
    mark v;                                                                \
    return before;                                                         \
  }
COVARIUM_STEP(++, +)
COVARIUM_STEP(--, -)
#undef COVARIUM_STEP
