// The vectors of the Metal Shading Language, float2 to ulong4, by element: sizes, alignments and the ways to make one
// are Metal's. Three components take the room of four; a packed vector has no room to spare.
#pragma once

#include "swizzle.h"

template <typename T, int n>
struct Components;
template <typename T>
struct alignas(2 * sizeof(T)) Components<T, 2> {
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

// What an expression of vectors is made of: its element and how many, for scalars one.
template <typename V>
struct Shape {
  using Element = V;
  static constexpr int count = std::is_arithmetic_v<V> ? 1 : 0;
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
  ShortVector(const ShortVector& other) { copy(other); }
  ShortVector& operator=(const ShortVector& other) {
    copy(other);
    return *this;
  }
  // Every component the same.
  template <typename S, typename = std::enable_if_t<std::is_arithmetic_v<S>>>
  ShortVector(S every) {
    for (int i = 0; i < n; ++i) all[i] = static_cast<T>(every);
  }
  // The components of scalars and vectors, in order.
  template <typename A, typename B, typename... More,
            typename = std::enable_if_t<ShapeOf<A>::count + ShapeOf<B>::count + (ShapeOf<More>::count + ... + 0) == n>>
  ShortVector(const A& a, const B& b, const More&... more) {
    int i = 0;
    put(a, i);
    put(b, i);
    (put(more, i), ...);
  }
  // Another element type, named.
  template <typename V, typename = std::enable_if_t<ShapeOf<V>::isVector && ShapeOf<V>::count == n>, typename = void>
  explicit ShortVector(const V& other) {
    int i = 0;
    put(other, i);
  }
  T& operator[](int i) { return all[i]; }
  const T& operator[](int i) const { return all[i]; }

 private:
  void copy(const ShortVector& other) {
    for (int i = 0; i < n; ++i) all[i] = other.all[i];
  }
  template <typename A>
  void put(const A& from, int& i) {
    if constexpr (ShapeOf<A>::isVector) {
      for (int k = 0; k < ShapeOf<A>::count; ++k) all[i++] = static_cast<T>(from[k]);
    } else {
      all[i++] = static_cast<T>(from);
    }
  }
};

template <typename T, int n>
struct PackedVector {
  T all[n];
  PackedVector() = default;
  PackedVector(const ShortVector<T, n>& value) {
    for (int i = 0; i < n; ++i) all[i] = value[i];
  }
  template <typename... S, typename = std::enable_if_t<sizeof...(S) == n && (std::is_arithmetic_v<S> && ...)>>
  PackedVector(S... each) : all{static_cast<T>(each)...} {}
  operator ShortVector<T, n>() const {
    ShortVector<T, n> value;
    for (int i = 0; i < n; ++i) value[i] = all[i];
    return value;
  }
  T& operator[](int i) { return all[i]; }
  const T& operator[](int i) const { return all[i]; }
};

#define COVARIUM_VECTORS(T)                 \
  using T##2 = ShortVector<T, 2>;           \
  using T##3 = ShortVector<T, 3>;           \
  using T##4 = ShortVector<T, 4>;           \
  using packed_##T##2 = PackedVector<T, 2>; \
  using packed_##T##3 = PackedVector<T, 3>; \
  using packed_##T##4 = PackedVector<T, 4>
#define COVARIUM_ALL_VECTORS \
  COVARIUM_VECTORS(bool);    \
  COVARIUM_VECTORS(char);    \
  COVARIUM_VECTORS(uchar);   \
  COVARIUM_VECTORS(short);   \
  COVARIUM_VECTORS(ushort);  \
  COVARIUM_VECTORS(int);     \
  COVARIUM_VECTORS(uint);    \
  COVARIUM_VECTORS(long);    \
  COVARIUM_VECTORS(ulong);   \
  COVARIUM_VECTORS(float);
COVARIUM_ALL_VECTORS
namespace metal {
COVARIUM_ALL_VECTORS
}  // namespace metal
#undef COVARIUM_ALL_VECTORS
#undef COVARIUM_VECTORS

// The vector of an expression of one or two: the scalar takes the vector's type.
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

template <typename T, typename V>
static inline T componentOf(const V& value, int i) {
  if constexpr (ShapeOf<V>::isVector) {
    return value[i];
  } else {
    return static_cast<T>(value);
  }
}

#define COVARIUM_OPERATOR(op)                                                                                      \
  template <typename A, typename B, typename = IfVectors<A, B>>                                                    \
  static inline Common<A, B> operator op(const A& a, const B& b) {                                                 \
    using V = Common<A, B>;                                                                                        \
    using T = typename ShapeOf<V>::Element;                                                                        \
    V result;                                                                                                      \
    for (int i = 0; i < ShapeOf<V>::count; ++i)                                                                    \
      result[i] = static_cast<T>(componentOf<T>(a, i) op componentOf<T>(b, i));                                    \
    return result;                                                                                                 \
  }                                                                                                                \
  template <typename A, typename B, typename = std::enable_if_t<ShapeOf<A>::isVector>, typename = IfVectors<A, B>> \
  static inline A& operator op## = (A & a, const B& b) {                                                           \
    return a = a op b;                                                                                             \
  }
COVARIUM_OPERATOR(+)
COVARIUM_OPERATOR(-)
COVARIUM_OPERATOR(*)
COVARIUM_OPERATOR(/)
COVARIUM_OPERATOR(%)
COVARIUM_OPERATOR(&)
COVARIUM_OPERATOR(|)
COVARIUM_OPERATOR(^)
COVARIUM_OPERATOR(<<)
COVARIUM_OPERATOR(>>)
#undef COVARIUM_OPERATOR

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
COVARIUM_UNARY(!)
#undef COVARIUM_UNARY
