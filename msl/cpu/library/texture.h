// Textures of one mipmap level, and samplers, in plain memory: texels lie row by row and slice by slice, without
// gaps. Included after words.h if a text uses them. A texel beyond the edges reads as zeros, and is not written.
#pragma once

#include "texel.h"
#include "sampler.h"

namespace covarium_textures {

// dimensions: coordinates of a texel within its slice; a cube's face has two.
template <typename T, metal::access how, int dimensions, bool isArray, bool isCube, bool isDepth>
class Texture {
 public:
  static constexpr bool isTexture = true;  // for arguments.h
  using Colour = std::conditional_t<isDepth, T, ShortVector<T, 4>>;
  using FloatVector = std::conditional_t<dimensions == 1, float, ShortVector<float, isCube ? 3 : dimensions>>;

  Texture() = default;
  explicit Texture(const void* memory) : header_(headerAt(memory)) {}

  // True if a function constant leaves the texture out.
  bool isNull() const { return header_.texels == nullptr; }

  uint32_t get_width(uint32_t = 0) const { return header_.size[0]; }
  template <int sides = dimensions>
  uint32_t get_height(uint32_t = 0) const {
    static_assert(sides > 1, "texture has a width only");
    return header_.size[1];
  }
  template <int sides = dimensions>
  uint32_t get_depth(uint32_t = 0) const {
    static_assert(sides > 2, "texture has no depth");
    return header_.size[2];
  }
  template <bool hasElements = isArray>
  uint32_t get_array_size() const {
    static_assert(hasElements, "texture is no array");
    return elements();
  }
  uint32_t get_num_mip_levels() const { return 1; }
  // Afterwards this thread may read what it has written.
  void fence() const {
#if defined(COVARIUM_ON_GPU)
    asm volatile("membar.gl;" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  }

  // read(coordinates [, face] [, element of the array] [, level])
  template <typename C, typename... Places>
  Colour read(const C& at, Places... places) const {
    static_assert(how != metal::access::write, "texture is only written");
    const uint32_t given[] = {static_cast<uint32_t>(places)..., 0, 0, 0};
    uint32_t place[3];
    return colourOf(isInside(at, given, isLevel(sizeof...(Places), given), place) ? texelOf(place) : nullptr);
  }

  // write(colour, coordinates [, face] [, element of the array] [, level])
  template <typename C, typename... Places>
  void write(const Colour& colour, const C& at, Places... places) const {
    static_assert(how == metal::access::write || how == metal::access::read_write, "texture is only read");
    static_assert(!isDepth, "a depth texture is only read");
    const uint32_t given[] = {static_cast<uint32_t>(places)..., 0, 0, 0};
    uint32_t place[3];
    if (!isInside(at, given, isLevel(sizeof...(Places), given), place)) return;
    unsigned char* texel = texelOf(place);
    for (uint32_t i = 0; i < header_.count; ++i)
      putComponent(texel, header_.component, i, coordinate(colour, letterOf(i)));
  }

  // sample(sampler, coordinates [, element of the array] [, options])
  template <typename... More>
  Colour sample(const metal::sampler& s, const FloatVector& at, const More&... more) const {
    static_assert(how == metal::access::sample, "texture is read or written, not sampled");
    Taps taps;
    const SampleOptions options = optionsOf(taps, at, more...);
    return sampled(s, taps, options, [](const Colour& each) { return each; });
  }

  // sample_compare(sampler, coordinates [, element of the array], value [, options])
  template <typename... More>
  T sample_compare(const metal::sampler& s, const FloatVector& at, const More&... more) const {
    static_assert(how == metal::access::sample, "texture is read or written, not sampled");
    Taps taps;
    const SampleOptions options = optionsOf(taps, at, more...);
    return sampled(s, taps, options, [&](T each) { return comparedWith(s, options, each); });
  }

  // One component of the four texels that a linear filter reads: left and below first, then counter-clockwise.
  template <typename... More>
  ShortVector<T, 4> gather(const metal::sampler& s, const FloatVector& at, const More&... more) const {
    static_assert(how == metal::access::sample, "texture is read or written, not sampled");
    Taps taps;
    const SampleOptions options = optionsOf(taps, at, more...);
    return gathered(s, taps, options,
                    [&](const Colour& each) { return coordinate(each, static_cast<int>(options.component)); });
  }
  template <typename... More>
  ShortVector<T, 4> gather_compare(const metal::sampler& s, const FloatVector& at, const More&... more) const {
    static_assert(how == metal::access::sample, "texture is read or written, not sampled");
    Taps taps;
    const SampleOptions options = optionsOf(taps, at, more...);
    return gathered(s, taps, options, [&](T each) { return comparedWith(s, options, each); });
  }

  // The first component as an atomic; coordinates and places as those of read. 0 if there is no texel.
  template <typename C, typename... Places>
  Colour atomic_load(const C& at, Places... places) const {
    auto* texel = atomicOf(at, places...);
    return Colour(texel == nullptr ? T(0) : metal::atomic_load_explicit(texel, metal::memory_order_relaxed));
  }
  template <typename C, typename... Places>
  void atomic_store(const Colour& colour, const C& at, Places... places) const {
    auto* texel = atomicOf(at, places...);
    if (texel != nullptr) metal::atomic_store_explicit(texel, coordinate(colour, 0), metal::memory_order_relaxed);
  }
#define COVARIUM_ATOMIC(name)                                                                                   \
  template <typename C>                                                                                         \
  Colour atomic_##name(const C& at, const Colour& operand) const {                                              \
    return atomic_##name(at, 0, 0, operand);                                                                    \
  }                                                                                                             \
  template <typename C>                                                                                         \
  Colour atomic_##name(const C& at, uint32_t place, const Colour& operand) const {                              \
    return atomic_##name(at, place, 0, operand);                                                                \
  }                                                                                                             \
  template <typename C>                                                                                         \
  Colour atomic_##name(const C& at, uint32_t place, uint32_t next, const Colour& operand) const {               \
    auto* texel = atomicOf(at, place, next);                                                                    \
    if (texel == nullptr) return Colour(T(0));                                                                  \
    return Colour(metal::atomic_##name##_explicit(texel, coordinate(operand, 0), metal::memory_order_relaxed)); \
  }
  COVARIUM_ATOMIC(exchange)
  COVARIUM_ATOMIC(fetch_add)
  COVARIUM_ATOMIC(fetch_sub)
  COVARIUM_ATOMIC(fetch_and)
  COVARIUM_ATOMIC(fetch_or)
  COVARIUM_ATOMIC(fetch_xor)
  COVARIUM_ATOMIC(fetch_min)
  COVARIUM_ATOMIC(fetch_max)
#undef COVARIUM_ATOMIC
  template <typename C>
  bool atomic_compare_exchange_weak(const C& at, Colour* expected, const Colour& desired) const {
    return atomic_compare_exchange_weak(at, 0, expected, desired);
  }
  template <typename C>
  bool atomic_compare_exchange_weak(const C& at, uint32_t place, Colour* expected, const Colour& desired) const {
    auto* texel = atomicOf(at, place);
    // So that a loop that waits for success ends.
    if (texel == nullptr) return true;
    T before = coordinate(*expected, 0);
    const bool isChanged = metal::atomic_compare_exchange_weak_explicit(
        texel, &before, coordinate(desired, 0), metal::memory_order_relaxed, metal::memory_order_relaxed);
    *expected = Colour(before);
    return isChanged;
  }

 private:
  static constexpr unsigned sliceNumbers = (isCube ? 1 : 0) + (isArray ? 1 : 0);
  static constexpr int planes = isCube ? 2 : dimensions;  // coordinates within a slice

  TextureHeader header_ = {};

  uint32_t elements() const { return isCube ? header_.size[2] / 6 : header_.size[2]; }

  // Where a sampler reads.
  struct Taps {
    float at[3] = {0, 0, 0};
    uint32_t slice = 0;
  };

  // The channel of component i in memory.
  uint32_t letterOf(uint32_t i) const { return header_.isBgra != 0 && i < 3 ? 2 - i : i; }

  // False for a level that does not exist.
  static bool isLevel(unsigned count, const uint32_t* given) {
    return count <= sliceNumbers || given[sliceNumbers] == 0;
  }

  // True if the texel exists. In check mode the thread ends if it does not.
  template <typename C>
  bool isInside(const C& at, const uint32_t* given, bool hasLevel, uint32_t (&place)[3]) const {
    using Element = typename ShapeOf<C>::Element;
    static_assert(std::is_integral_v<Element> && (planes == 1 || std::is_unsigned_v<Element>),
                  "coordinates of a texel are unsigned");
    static_assert(ShapeOf<C>::count == planes, "texture has another number of coordinates");
    place[0] = place[1] = place[2] = 0;
    for (int k = 0; k < planes; ++k) place[k] = static_cast<uint32_t>(coordinate(at, k));
    bool isThere = hasLevel;
#if defined(covarium_check_mode)
    if (!hasLevel) indexOf(1, 1);
#endif
    for (int k = 0; k < planes; ++k) isThere = isWithin(place[k], header_.size[k]) && isThere;
    if constexpr (isCube) {
      isThere = isWithin(given[0], 6) && isThere;
      if constexpr (isArray) isThere = isWithin(given[1], elements()) && isThere;
      place[2] = given[0] + (isArray ? 6 * given[1] : 0);
    } else if constexpr (isArray) {
      isThere = isWithin(given[0], elements()) && isThere;
      place[2] = given[0];
    }
    return isThere;
  }
  static bool isWithin(uint32_t place, uint32_t count) {
#if defined(covarium_check_mode)
    indexOf(place, count);
#endif
    return place < count;
  }

  unsigned char* texelOf(const uint32_t (&place)[3]) const {
    const size_t row = (static_cast<size_t>(place[2]) * header_.size[1] + place[1]) * header_.size[0];
    return header_.texels + (row + place[0]) * header_.count * componentBytes(header_.component);
  }

  static T comparedWith(const metal::sampler& s, const SampleOptions& options, T each) {
    return T(compares(s.compare, options.reference, static_cast<float>(each)) ? 1 : 0);
  }

  // The colour of a texel, or of none: components that the format does not have are 0, and the last one is 1.
  Colour colourOf(unsigned char* texel) const {
    const auto read = [&](const auto& put) {
      if (texel != nullptr) readTexel<T>(texel, header_.component, header_.count, put);
    };
    if constexpr (isDepth) {
      T depth = T(0);
      read([&](uint32_t, T value) { depth = value; });
      return depth;
    } else {
      Colour colour(T(0), T(0), T(0), header_.count == 4 ? T(0) : T(1));
      read([&](uint32_t i, T value) { colour[static_cast<int>(letterOf(i))] = value; });
      return colour;
    }
  }

  template <typename C, typename... Places>
  metal::atomic<T>* atomicOf(const C& at, Places... places) const {
    static_assert(how == metal::access::read_write, "a texture with atomics is access::read_write");
    static_assert(std::is_integral_v<T> && sizeof(T) == sizeof(uint32_t), "atomics are of int or uint");
    const uint32_t given[] = {static_cast<uint32_t>(places)..., 0, 0, 0};
    uint32_t place[3];
    if (!isInside(at, given, true, place)) return nullptr;
    // The host refuses other formats: lib/kernel/texture.ts.
    if (header_.count != 1 || componentBytes(header_.component) != sizeof(T)) return nullptr;
    return reinterpret_cast<metal::atomic<T>*>(texelOf(place));
  }

  // Where a sampler reads, and how; an element of the array and options follow the coordinates.
  template <typename... More>
  SampleOptions optionsOf(Taps& taps, const FloatVector& at, const More&... more) const {
    setPlace(taps, at);
    SampleOptions options;
    if constexpr (isArray) {
      setElement(taps, options, more...);
    } else {
      (options.set(more, header_.size), ...);
    }
    return options;
  }
  template <typename I, typename... More>
  void setElement(Taps& taps, SampleOptions& options, I element, const More&... more) const {
    const uint32_t count = elements(), asked = static_cast<uint32_t>(element);
    taps.slice += (asked < count ? asked : count - 1) * (isCube ? 6 : 1);
    (options.set(more, header_.size), ...);
  }

  // The point, or the face of the cube that a direction meets, and the point on it.
  void setPlace(Taps& taps, const FloatVector& at) const {
    if constexpr (isCube) {
      const float x = __builtin_fabsf(at[0]), y = __builtin_fabsf(at[1]), z = __builtin_fabsf(at[2]);
      const int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
      const float sign = at[axis] < 0 ? -1.0f : 1.0f, length = axis == 0 ? x : axis == 1 ? y : z;
      const float s = axis == 0 ? -sign * at[2] : axis == 1 ? at[0] : sign * at[0];
      const float t = axis == 1 ? sign * at[2] : -at[1];
      taps.slice = static_cast<uint32_t>(2 * axis) + (sign < 0 ? 1 : 0);
      taps.at[0] = 0.5f * (s / length + 1.0f);
      taps.at[1] = 0.5f * (t / length + 1.0f);
    } else {
      for (int k = 0; k < dimensions; ++k) taps.at[k] = coordinate(at, k);
    }
  }

  // Along axis k, in texels from the first one's edge.
  float positionOf(const metal::sampler& s, const Taps& taps, int k) const {
    return bounded(s.isPixel != 0 ? taps.at[k] : taps.at[k] * static_cast<float>(header_.size[k]));
  }

  // What a sampler finds at whole coordinates, which may lie beyond the edges.
  Colour tap(const metal::sampler& s, const Taps& taps, const int (&at)[3]) const {
    uint32_t place[3] = {0, 0, taps.slice};
    if (isNull()) return colourOf(nullptr);
    for (int k = 0; k < planes; ++k) {
      // A sampler's address mode does not apply to the edges of a cube's face.
      const uint32_t address = isCube ? 0 : s.addresses[k];
      const int texel = wrapped(at[k], static_cast<int>(header_.size[k]), address);
      if (texel < 0) return borderOf(s, address);
      place[k] = static_cast<uint32_t>(texel);
    }
    return colourOf(texelOf(place));
  }
  Colour borderOf(const metal::sampler& s, uint32_t address) const {
    if (address == 4) return colourOf(nullptr);
    const T colour = T(s.border == 2 ? 1 : 0), alpha = T(s.border == 0 ? 0 : 1);
    if constexpr (isDepth) {
      return colour;
    } else {
      return Colour(colour, colour, colour, alpha);
    }
  }

  // The value of change(colour) at the nearest texel, or between the neighbours.
  template <typename Change>
  auto sampled(const metal::sampler& s, const Taps& taps, const SampleOptions& options, Change change) const {
    const float lod = __builtin_fminf(__builtin_fmaxf(options.lod, s.leastLod), s.mostLod);
    const bool isLinear = isFloat<T> && (lod > 0 ? s.min : s.mag) == 1;
    int first[3] = {0, 0, 0};
    float rest[3] = {0, 0, 0};
    for (int k = 0; k < planes; ++k) {
      const float position = positionOf(s, taps, k) - (isLinear ? 0.5f : 0.0f);
      const float whole = __builtin_floorf(position);
      first[k] = static_cast<int>(whole) + options.offset[k];
      rest[k] = position - whole;
    }
    if (!isLinear) return change(tap(s, taps, first));
    using Sum = std::conditional_t<std::is_same_v<decltype(change(Colour(T(0)))), T>, float, ShortVector<float, 4>>;
    Sum sum = Sum(0.0f);
    for (int corner = 0; corner < 1 << planes; ++corner) {
      int at[3] = {first[0], first[1], first[2]};
      float weight = 1;
      for (int k = 0; k < planes; ++k) {
        const int isNext = corner >> k & 1;
        at[k] += isNext;
        weight *= isNext != 0 ? rest[k] : 1.0f - rest[k];
      }
      // A neighbour without weight is not added: it may be anything.
      if (weight != 0) sum = sum + weight * Sum(change(tap(s, taps, at)));
    }
    return decltype(change(Colour(T(0))))(sum);
  }

  template <typename Change>
  ShortVector<T, 4> gathered(const metal::sampler& s, const Taps& taps, const SampleOptions& options,
                             Change change) const {
    static_assert(planes == 2, "gather is of two dimensions");
    int first[2];
    for (int k = 0; k < 2; ++k)
      first[k] = static_cast<int>(__builtin_floorf(positionOf(s, taps, k) - 0.5f)) + options.offset[k];
    const auto at = [&](int x, int y) {
      const int place[3] = {first[0] + x, first[1] + y, 0};
      return change(tap(s, taps, place));
    };
    return ShortVector<T, 4>(at(0, 1), at(1, 1), at(1, 0), at(0, 0));
  }
};

}  // namespace covarium_textures

namespace metal {

#define COVARIUM_TEXTURE(name, dimensions, isArray, isCube, isDepth)                                  \
  template <typename T, access how = access::sample, memory_coherence = memory_coherence_threadgroup> \
  using name = covarium_textures::Texture<T, how, dimensions, isArray, isCube, isDepth>;
COVARIUM_TEXTURE(texture1d, 1, false, false, false)
COVARIUM_TEXTURE(texture1d_array, 1, true, false, false)
COVARIUM_TEXTURE(texture2d, 2, false, false, false)
COVARIUM_TEXTURE(texture2d_array, 2, true, false, false)
COVARIUM_TEXTURE(texture3d, 3, false, false, false)
COVARIUM_TEXTURE(texturecube, 2, false, true, false)
COVARIUM_TEXTURE(texturecube_array, 2, true, true, false)
COVARIUM_TEXTURE(depth2d, 2, false, false, true)
COVARIUM_TEXTURE(depth2d_array, 2, true, false, true)
COVARIUM_TEXTURE(depthcube, 2, false, true, true)
COVARIUM_TEXTURE(depthcube_array, 2, true, true, true)
#undef COVARIUM_TEXTURE
template <typename T, access how = access::read, memory_coherence = memory_coherence_threadgroup>
using texture_buffer = covarium_textures::Texture<T, how, 1, false, false, false>;

template <typename T>
static inline bool is_null_texture(const T& texture) {
  return texture.isNull();
}

}  // namespace metal
