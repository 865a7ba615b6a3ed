// The arguments of a kernel, and properties of their types. Part of wrapper.h, in namespace covarium.

// The type of argument i of a kernel.
template <size_t i, typename First, typename... More>
struct TypeAt {
  using Type = typename TypeAt<i - 1, More...>::Type;
};
template <typename First, typename... More>
struct TypeAt<0, First, More...> {
  using Type = First;
};
template <typename Function>
struct Arguments;
template <typename... A>
struct Arguments<void (*)(A...)> {
  template <size_t i>
  using At = typename TypeAt<i, A...>::Type;
};

template <typename A>
using Pointee = std::remove_cv_t<std::remove_pointer_t<std::remove_reference_t<A>>>;

template <typename T>
constexpr uint32_t sizeOf = sizeof(T);
template <>
constexpr uint32_t sizeOf<void> = 1;
template <typename T>
constexpr uint32_t alignmentOf = alignof(T);
template <>
constexpr uint32_t alignmentOf<void> = 1;

// True for the types of texture.h.
template <typename A, typename = void>
constexpr bool isTexture = false;
template <typename A>
constexpr bool isTexture<A, std::enable_if_t<A::isTexture>> = true;

// An argument that a function constant leaves out.
template <typename A>
static inline A nothing() {
  if constexpr (!std::is_reference_v<A>) return std::remove_cv_t<A>();
  return *static_cast<std::remove_reference_t<A>*>(nullptr);
}

// A position or a size, as many of its numbers as the argument takes.
template <typename A>
static inline A place(uint32_t x, uint32_t y, uint32_t z) {
  using Bare = std::remove_cv_t<A>;
  if constexpr (std::is_integral_v<Bare>) {
    return static_cast<Bare>(x);
  } else if constexpr (ShapeOf<Bare>::count == 2) {
    return Bare(x, y);
  } else {
    return Bare(x, y, z);
  }
}
template <typename A>
static inline A place(const uint32_t (&size)[3]) {
  return place<A>(size[0], size[1], size[2]);
}
