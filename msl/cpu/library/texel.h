// The texels of textures in memory: numbers of a format. Part of texture.h, which is included in the kernel's own
// namespace.

namespace covarium_textures {

using covarium::Half;
using covarium::indexOf;
using covarium::isFloat;
using covarium::isNumber;
using covarium::ShapeOf;
using covarium::ShortVector;

// What an argument's memory says of a texture: the first fields of objc/kernel.h's, which are those that a kernel
// needs.
struct TextureHeader {
  unsigned char* texels;
  uint32_t size[3];    // texels along x and y, slices
  uint32_t component;  // a Component
  uint32_t count;      // of a texel's components: 1, 2 or 4
  uint32_t isBgra;     // blue lies in front of green and red
};

struct Component {
  enum : uint32_t { unorm8, snorm8, uint8, sint8, unorm16, snorm16, uint16, sint16, float16, uint32, sint32, float32 };
};

// The memory of this type at an address.
template <typename C>
static inline C& texelAt(unsigned char* at, uint32_t i) {
  return reinterpret_cast<C*>(at)[i];
}

// Check mode knows the memory of texels, but not that of the header.
#if defined(covarium_check_mode)
__attribute__((noinline, no_sanitize("address")))
#endif
static inline TextureHeader headerAt(const void* memory) {
  TextureHeader header;
  memcpy(static_cast<void*>(&header), memory, sizeof header);
  return header;
}

// Calls put(i, component i of a texel, as a number of the texture's type) for each.
template <typename T, typename Put>
static inline void readTexel(unsigned char* at, uint32_t component, uint32_t count, const Put& put) {
#define COVARIUM_CASE(name, C, value)      \
  case Component::name:                    \
    for (uint32_t i = 0; i < count; ++i) { \
      const C each = texelAt<C>(at, i);    \
      put(i, static_cast<T>(value));       \
    }                                      \
    break;
  switch (component) {
    COVARIUM_CASE(unorm8, uint8_t, static_cast<float>(each) / 255.0f)
    COVARIUM_CASE(snorm8, int8_t, __builtin_fmaxf(static_cast<float>(each) / 127.0f, -1.0f))
    COVARIUM_CASE(uint8, uint8_t, each)
    COVARIUM_CASE(sint8, int8_t, each)
    COVARIUM_CASE(unorm16, uint16_t, static_cast<float>(each) / 65535.0f)
    COVARIUM_CASE(snorm16, int16_t, __builtin_fmaxf(static_cast<float>(each) / 32767.0f, -1.0f))
    COVARIUM_CASE(uint16, uint16_t, each)
    COVARIUM_CASE(sint16, int16_t, each)
    COVARIUM_CASE(float16, Half, static_cast<float>(each))
    COVARIUM_CASE(uint32, uint32_t, each)
    COVARIUM_CASE(sint32, int32_t, each)
    COVARIUM_CASE(float32, float, each)
  }
#undef COVARIUM_CASE
}

// A number of [least, 1] as one of [least * most, most], rounded to nearest, ties to even; NaN becomes 0.
static inline int normalizedOf(float value, float least, float most) {
  const float inside = __builtin_isnan(value) ? 0.0f : __builtin_fminf(__builtin_fmaxf(value, least), 1.0f);
  return static_cast<int>(__builtin_rintf(inside * most));
}

// The nearest integer that a component can hold.
template <typename C, typename T>
static inline C saturatedTo(T value) {
  if constexpr (std::is_signed_v<C>) {
    constexpr auto most = static_cast<int64_t>((uint64_t{1} << (8 * sizeof(C) - 1)) - 1);
    const auto wide = static_cast<int64_t>(value);
    return static_cast<C>(wide > most ? most : wide < -most - 1 ? -most - 1 : wide);
  } else {
    constexpr auto most = static_cast<uint64_t>(static_cast<C>(~C{0}));
    const auto wide = static_cast<uint64_t>(value);
    return static_cast<C>(wide > most ? most : wide);
  }
}

template <typename T>
static inline void putComponent(unsigned char* at, uint32_t component, uint32_t i, T value) {
  switch (component) {
    case Component::unorm8:
      texelAt<uint8_t>(at, i) = static_cast<uint8_t>(normalizedOf(static_cast<float>(value), 0.0f, 255.0f));
      break;
    case Component::snorm8:
      texelAt<int8_t>(at, i) = static_cast<int8_t>(normalizedOf(static_cast<float>(value), -1.0f, 127.0f));
      break;
    case Component::uint8:
      texelAt<uint8_t>(at, i) = saturatedTo<uint8_t>(value);
      break;
    case Component::sint8:
      texelAt<int8_t>(at, i) = saturatedTo<int8_t>(value);
      break;
    case Component::unorm16:
      texelAt<uint16_t>(at, i) = static_cast<uint16_t>(normalizedOf(static_cast<float>(value), 0.0f, 65535.0f));
      break;
    case Component::snorm16:
      texelAt<int16_t>(at, i) = static_cast<int16_t>(normalizedOf(static_cast<float>(value), -1.0f, 32767.0f));
      break;
    case Component::uint16:
      texelAt<uint16_t>(at, i) = saturatedTo<uint16_t>(value);
      break;
    case Component::sint16:
      texelAt<int16_t>(at, i) = saturatedTo<int16_t>(value);
      break;
    case Component::float16:
      texelAt<Half>(at, i) = static_cast<Half>(static_cast<float>(value));
      break;
    case Component::uint32:
      texelAt<uint32_t>(at, i) = saturatedTo<uint32_t>(value);
      break;
    case Component::sint32:
      texelAt<int32_t>(at, i) = saturatedTo<int32_t>(value);
      break;
    default:
      texelAt<float>(at, i) = static_cast<float>(value);
  }
}

static inline uint32_t componentBytes(uint32_t component) {
  return component <= Component::sint8 ? 1 : component <= Component::float16 ? 2 : 4;
}

// Coordinate k of a vector, or of a number, which has one.
template <typename C>
static inline auto coordinate(const C& at, int k) {
  if constexpr (ShapeOf<C>::isVector) {
    return static_cast<typename ShapeOf<C>::Element>(at[k]);
  } else {
    return at;
  }
}

}  // namespace covarium_textures
