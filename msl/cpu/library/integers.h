// The functions of <metal_integer> beyond mathematics.h, of scalars and by component. Part of words.h, in namespace
// metal.

// A function of numbers of one type; a scalar behind a vector stands for every component.
template <typename F, typename A, typename... More>
static inline auto byComponent(F f, const A& a, const More&... more) {
  using T = typename covarium::ShapeOf<A>::Element;
  if constexpr (covarium::ShapeOf<A>::isVector) {
    covarium::ShortVector<decltype(f(T(), covarium::componentOf<T>(more, 0)...)), covarium::ShapeOf<A>::count> result;
    for (int i = 0; i < covarium::ShapeOf<A>::count; ++i)
      result[i] = f(static_cast<T>(a[i]), covarium::componentOf<T>(more, i)...);
    return result;
  } else {
    return f(a, static_cast<T>(more)...);
  }
}
template <typename V>
using IfIntegers = std::enable_if_t<std::is_integral_v<typename covarium::ShapeOf<V>::Element>>;

#define COVARIUM_INTEGERS_2(name, body)                           \
  template <typename A, typename B, typename = IfIntegers<A>>     \
  static inline auto name(const A& a, const B& b) {               \
    using T = typename covarium::ShapeOf<A>::Element;             \
    return byComponent([](T x, T y) -> T { return body; }, a, b); \
  }
#define COVARIUM_INTEGERS_3(name, body)                                   \
  template <typename A, typename B, typename C, typename = IfIntegers<A>> \
  static inline auto name(const A& a, const B& b, const C& c) {           \
    using T = typename covarium::ShapeOf<A>::Element;                     \
    return byComponent([](T x, T y, T z) -> T { return body; }, a, b, c); \
  }

template <typename T, typename Exact>
static inline T saturatedTo(Exact exact) {
  constexpr auto most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  return exact > most ? most : exact < least ? least : static_cast<T>(exact);
}
template <typename T>
static inline T highHalf(T x, T y) {
  return static_cast<T>((static_cast<__int128>(x) * static_cast<__int128>(y)) >> (8 * sizeof(T)));
}
template <>
inline ulong highHalf(ulong x, ulong y) {
  return static_cast<ulong>((static_cast<unsigned __int128>(x) * y) >> 64);
}

COVARIUM_INTEGERS_2(addsat, saturatedTo<T>(static_cast<__int128>(x) + y))
COVARIUM_INTEGERS_2(subsat, saturatedTo<T>(static_cast<__int128>(x) - y))
COVARIUM_INTEGERS_2(hadd, static_cast<T>((static_cast<__int128>(x) + y) >> 1))
COVARIUM_INTEGERS_2(rhadd, static_cast<T>((static_cast<__int128>(x) + y + 1) >> 1))
COVARIUM_INTEGERS_2(mul24, x* y)
COVARIUM_INTEGERS_2(mulhi, highHalf<T>(x, y))
COVARIUM_INTEGERS_3(mad24, x* y + z)
COVARIUM_INTEGERS_3(madhi, static_cast<T>(highHalf<T>(x, y) + z))
COVARIUM_INTEGERS_3(
    madsat,
    saturatedTo<T>(static_cast<std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>(x) * y + z))
// Of the unsigned type, which has room for it.
template <typename T>
static inline std::make_unsigned_t<T> distanceOf(T x, T y) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(x < y ? U(y) - U(x) : U(x) - U(y));
}
template <typename A, typename B, typename = IfIntegers<A>, typename = IfIntegers<B>>
static inline auto absdiff(const A& a, const B& b) {
  using namespace covarium;
  if constexpr (!ShapeOf<A>::isVector && !ShapeOf<B>::isVector) {
    using T = std::conditional_t<std::is_same_v<A, B>, A, decltype(a + b)>;
    return distanceOf<T>(static_cast<T>(a), static_cast<T>(b));
  } else {
    using T = typename ShapeOf<Common<A, B>>::Element;
    return byComponent([](T x, T y) { return distanceOf<T>(x, y); }, Common<A, B>(a), b);
  }
}
#undef COVARIUM_INTEGERS_2
#undef COVARIUM_INTEGERS_3

// `bits` of each component from bit `offset` on; of a signed number the highest is the sign.
template <typename A, typename = IfIntegers<A>>
static inline auto extract_bits(const A& a, uint offset, uint bits) {
  using T = typename covarium::ShapeOf<A>::Element;
  constexpr uint all = 8 * sizeof(T);
  return byComponent(
      [=](T x) -> T {
        if (bits == 0) return 0;
        return static_cast<T>(static_cast<T>(std::make_unsigned_t<T>(x) << (all - offset - bits)) >> (all - bits));
      },
      a);
}
template <typename A, typename B, typename = IfIntegers<A>>
static inline auto insert_bits(const A& base, const B& insert, uint offset, uint bits) {
  using T = typename covarium::ShapeOf<A>::Element;
  using U = std::make_unsigned_t<T>;
  const auto ones = static_cast<U>(bits == 0 ? 0 : static_cast<U>(~U(0)) >> (8 * sizeof(T) - bits));
  // Of no bits, the offset may be the width, by which C++ does not shift.
  const uint by = bits == 0 ? 0 : offset;
  const auto mask = static_cast<U>(ones << by);
  return byComponent([=](T x, T y) -> T { return static_cast<T>((U(x) & ~mask) | ((U(y) << by) & mask)); }, base,
                     insert);
}
template <typename A, typename = IfIntegers<A>>
static inline auto reverse_bits(const A& a) {
  using T = typename covarium::ShapeOf<A>::Element;
  return byComponent(
      [](T x) -> T {
        std::make_unsigned_t<T> left = x, reversed = 0;
        for (unsigned i = 0; i < 8 * sizeof(T); ++i, left >>= 1) reversed = (reversed << 1) | (left & 1);
        return static_cast<T>(reversed);
      },
      a);
}
