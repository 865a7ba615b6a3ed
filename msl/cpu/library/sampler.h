// How a texture is sampled: the words, and where a sampler reads. Part of texture.h.

namespace covarium_textures {

// How coordinates change from one thread to the next.
template <int n>
struct Gradient {
  ShortVector<float, n> dx, dy;
  Gradient(const ShortVector<float, n>& x, const ShortVector<float, n>& y) : dx(x), dy(y) {}
};

// True for the settings of which the text makes a sampler.
template <typename S>
constexpr bool isSetting = std::is_enum_v<S>;

}  // namespace covarium_textures

namespace metal {

enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };
enum class access { sample, read, write, read_write };
enum class coord { normalized, pixel };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class component { x, y, z, w };
// Metal's numbers.
#define COVARIUM_ADDRESSES {clamp_to_edge, repeat = 2, mirrored_repeat, clamp_to_zero, clamp_to_border}
enum class address COVARIUM_ADDRESSES;
enum class s_address COVARIUM_ADDRESSES;
enum class t_address COVARIUM_ADDRESSES;
enum class r_address COVARIUM_ADDRESSES;
#undef COVARIUM_ADDRESSES
enum class compare_func { never, less, equal, less_equal, greater, not_equal, greater_equal, always, none = never };
enum class border_color { transparent_black, opaque_black, opaque_white };
struct max_anisotropy {
  constexpr explicit max_anisotropy(int) {}
};
struct lod_clamp {
  float least, most;
  constexpr lod_clamp(float least, float most) : least(least), most(most) {}
};

// Ways to give the level of detail: all textures have only one level, but it chooses between the filters.
struct bias {
  float lod;
  explicit bias(float value) : lod(value) {}
};
struct level {
  float lod;
  explicit level(float value) : lod(value) {}
};
struct min_lod_clamp {
  float lod;
  explicit min_lod_clamp(float value) : lod(value) {}
};
struct gradient2d : covarium_textures::Gradient<2> {
  using Gradient::Gradient;
};
struct gradient3d : covarium_textures::Gradient<3> {
  using Gradient::Gradient;
};
struct gradientcube : covarium_textures::Gradient<3> {
  using Gradient::Gradient;
};

}  // namespace metal

namespace covarium_textures {
template <>
constexpr bool isSetting<metal::max_anisotropy> = true;
template <>
constexpr bool isSetting<metal::lod_clamp> = true;
}  // namespace covarium_textures

namespace metal {

// The fields, in their order, are those that lib/kernel/texture.ts writes.
struct sampler {
  uint32_t isPixel = 0, addresses[3] = {0, 0, 0}, mag = 0, min = 0, mip = 0, compare = 0, border = 0, unused = 0;
  float leastLod = 0, mostLod = __FLT_MAX__;

  constexpr sampler() = default;
  template <typename... Settings, typename = std::enable_if_t<(covarium_textures::isSetting<Settings> && ...)>>
  constexpr explicit sampler(Settings... settings) {
    (set(settings), ...);
  }

 private:
  constexpr void set(coord value) { isPixel = value == coord::pixel; }
  constexpr void set(filter value) { mag = min = static_cast<uint32_t>(value); }
  constexpr void set(mag_filter value) { mag = static_cast<uint32_t>(value); }
  constexpr void set(min_filter value) { min = static_cast<uint32_t>(value); }
  constexpr void set(mip_filter value) { mip = static_cast<uint32_t>(value); }
  constexpr void set(address value) {
    for (uint32_t& each : addresses) each = static_cast<uint32_t>(value);
  }
  constexpr void set(s_address value) { addresses[0] = static_cast<uint32_t>(value); }
  constexpr void set(t_address value) { addresses[1] = static_cast<uint32_t>(value); }
  constexpr void set(r_address value) { addresses[2] = static_cast<uint32_t>(value); }
  constexpr void set(compare_func value) { compare = static_cast<uint32_t>(value); }
  constexpr void set(border_color value) { border = static_cast<uint32_t>(value); }
  constexpr void set(max_anisotropy) {}
  constexpr void set(lod_clamp value) { leastLod = value.least, mostLod = value.most; }
};

}  // namespace metal

namespace covarium_textures {

// Where along one axis a sampler reads for place i of n: a texel, or -1 for the border.
static inline int wrapped(int i, int n, uint32_t address) {
  if (i >= 0 && i < n) return i;
  switch (address) {
    case 0:
      return i < 0 ? 0 : n - 1;
    case 1: {
      const int mirrored = i < 0 ? -1 - i : i;
      return mirrored < n ? mirrored : n - 1;
    }
    case 2: {
      const int rest = i % n;
      return rest < 0 ? rest + n : rest;
    }
    case 3: {
      const int rest = i % (2 * n), inside = rest < 0 ? rest + 2 * n : rest;
      return inside < n ? inside : 2 * n - 1 - inside;
    }
    default:
      return -1;
  }
}

// A coordinate, in texels, limited to what an int holds.
static inline float bounded(float x) {
  return __builtin_isnan(x) ? 0.0f : __builtin_fminf(__builtin_fmaxf(x, -1e9f), 1e9f);
}

static inline bool compares(uint32_t how, float reference, float value) {
  switch (how) {
    case 1:
      return reference < value;
    case 2:
      return reference == value;
    case 3:
      return reference <= value;
    case 4:
      return reference > value;
    case 5:
      return reference != value;
    case 6:
      return reference >= value;
    default:
      return how == 7;
  }
}

// What a call of sample or gather gives after its coordinates and its slice.
struct SampleOptions {
  float lod = 0;
  int offset[3] = {0, 0, 0};
  uint32_t component = 0;
  float reference = 0;  // the value that a texel is compared with

  template <typename Option>
  void set(const Option& option, const uint32_t (&size)[3]) {
    if constexpr (std::is_same_v<Option, metal::component>) {
      component = static_cast<uint32_t>(option);
    } else if constexpr (ShapeOf<Option>::isVector) {
      for (int k = 0; k < ShapeOf<Option>::count; ++k) offset[k] = option[k];
    } else if constexpr (isNumber<Option>) {
      reference = static_cast<float>(option);
    } else if constexpr (std::is_same_v<Option, metal::min_lod_clamp>) {
      lod = __builtin_fmaxf(lod, option.lod);
    } else if constexpr (std::is_same_v<Option, metal::level> || std::is_same_v<Option, metal::bias>) {
      lod = option.lod;
    } else {
      setGradient(option, size);
    }
  }

 private:
  template <int n>
  void setGradient(const Gradient<n>& gradient, const uint32_t (&size)[3]) {
    float x = 0, y = 0;
    for (int k = 0; k < n; ++k) {
      const float scale = static_cast<float>(size[k]);
      x += gradient.dx[k] * scale * gradient.dx[k] * scale;
      y += gradient.dy[k] * scale * gradient.dy[k] * scale;
    }
    lod = 0.5f * __builtin_log2f(__builtin_fmaxf(x, y));
  }
};

}  // namespace covarium_textures
