// Barriers and the functions of a simdgroup, through the host's table: what each lane gave, in lane order. Lanes that
// have returned take no part. Part of words.h, in namespace metal.

// The file and the place are the caller's: lanes at two calls on one line do not exchange with each other.
#if defined(__clang__)
#define COVARIUM_COLUMN (__builtin_COLUMN() < (1 << covarium::columnBits) ? __builtin_COLUMN() : 0)
#else
#define COVARIUM_COLUMN 0
#endif
#define COVARIUM_CALLER \
  const char *file = __builtin_FILE(), uint line = (uint(__builtin_LINE()) << covarium::columnBits) + COVARIUM_COLUMN

enum class mem_flags {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16,
  mem_device_and_threadgroup = 3
};
static inline mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<int>(a) | static_cast<int>(b));
}

static inline mem_flags operator&(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<int>(a) & static_cast<int>(b));
}
static inline void threadgroup_barrier(mem_flags, COVARIUM_CALLER) { covarium::kernelHost->barrier(file, line); }
static inline void threadgroup_barrier(mem_flags, thread_scope, COVARIUM_CALLER) {
  covarium::kernelHost->barrier(file, line);
}
// What a thread has written, others see at once: they take turns, or run on processors that agree on memory.
static inline void atomic_thread_fence(mem_flags, memory_order = memory_order_seq_cst,
                                       thread_scope = thread_scope_device) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void simdgroup_barrier(mem_flags, COVARIUM_CALLER) { covarium::kernelHost->exchange(0, file, line); }

template <typename T>
static inline covarium::SimdValues<T> exchanged(T value, const char* file, uint line) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a lane exchanges at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return {covarium::kernelHost->exchange(bits, file, line)};
}

// Vectors of more than 8 bytes go component by component.
template <typename T>
constexpr bool isWide = covarium::ShapeOf<T>::isVector && sizeof(T) > sizeof(uint64_t);
template <typename T, typename F>
static inline auto eachComponent(T value, F f) {
  for (int i = 0; i < covarium::ShapeOf<T>::count; ++i) value[i] = f(value[i]);
  return value;
}

// Of the lanes of a simdgroup, and of the four of a quad.
#define COVARIUM_SIMD_FOLD(name, start, body)                                                    \
  template <typename T>                                                                          \
  static inline T name##OfBoth(const T& a, const T& b) {                                         \
    if constexpr (covarium::ShapeOf<T>::isVector) {                                              \
      T both;                                                                                    \
      for (int i = 0; i < covarium::ShapeOf<T>::count; ++i) both[i] = name##OfBoth(a[i], b[i]);  \
      return both;                                                                               \
    } else {                                                                                     \
      return static_cast<T>(body);                                                               \
    }                                                                                            \
  }                                                                                              \
  template <unsigned width, typename T>                                                          \
  static inline T name##Of(T value, const char* file, uint line) {                               \
    if constexpr (isWide<T>) {                                                                   \
      return eachComponent(value, [=](auto each) { return name##Of<width>(each, file, line); }); \
    } else {                                                                                     \
      const auto given = exchanged(value, file, line);                                           \
      const unsigned first = covarium::kernelHost->lane() / width * width;                       \
      T all = start;                                                                             \
      for (unsigned lane = first; lane < given.lanes && lane < first + width; ++lane)            \
        if (given.active(lane)) all = name##OfBoth<T>(all, given[lane]);                         \
      return all;                                                                                \
    }                                                                                            \
  }                                                                                              \
  template <typename T>                                                                          \
  static inline auto simd_##name(const T& value, COVARIUM_CALLER) {                              \
    return name##Of<64>(covarium::plain(value), file, line);                                     \
  }                                                                                              \
  template <typename T>                                                                          \
  static inline auto quad_##name(const T& value, COVARIUM_CALLER) {                              \
    return name##Of<4>(covarium::plain(value), file, line);                                      \
  }
COVARIUM_SIMD_FOLD(sum, T(0), a + b)
COVARIUM_SIMD_FOLD(product, T(1), a* b)
COVARIUM_SIMD_FOLD(min, value, b < a ? b : a)
COVARIUM_SIMD_FOLD(max, value, a < b ? b : a)
COVARIUM_SIMD_FOLD(and, static_cast<T>(~T(0)), a& b)
COVARIUM_SIMD_FOLD(or, T(0), a | b)
COVARIUM_SIMD_FOLD(xor, T(0), a ^ b)
#undef COVARIUM_SIMD_FOLD

static inline bool simd_all(bool value, COVARIUM_CALLER) { return simd_min(uint(value), file, line) != 0; }
static inline bool simd_any(bool value, COVARIUM_CALLER) { return simd_max(uint(value), file, line) != 0; }
static inline bool quad_all(bool value, COVARIUM_CALLER) { return quad_min(uint(value), file, line) != 0; }
static inline bool quad_any(bool value, COVARIUM_CALLER) { return quad_max(uint(value), file, line) != 0; }

// A bit a lane.
struct simd_vote {
  using vote_t = ulong;
  vote_t bits;
  explicit simd_vote(vote_t bits = 0) : bits(bits) {}
  explicit operator vote_t() const { return bits; }
  bool any() const { return bits != 0; }
  bool all() const { return bits == 0xffffffff; }
};
static inline simd_vote simd_active_threads_mask(COVARIUM_CALLER) {
  return simd_vote(exchanged(0u, file, line).activeMask);
}
static inline simd_vote simd_ballot(bool value, COVARIUM_CALLER) {
  const auto given = exchanged(uint(value), file, line);
  ulong bits = 0;
  for (unsigned lane = 0; lane < given.lanes; ++lane)
    if (given.active(lane) && given[lane] != 0) bits |= ulong(1) << lane;
  return simd_vote(bits);
}
static inline bool isFirstOf(unsigned width, const char* file, uint line) {
  const auto given = exchanged(0u, file, line);
  const unsigned own = covarium::kernelHost->lane();
  for (unsigned lane = own / width * width; lane < own; ++lane)
    if (given.active(lane)) return false;
  return true;
}
static inline bool simd_is_first(COVARIUM_CALLER) { return isFirstOf(64, file, line); }
static inline bool quad_is_first(COVARIUM_CALLER) { return isFirstOf(4, file, line); }

#define COVARIUM_PREFIX(name, start, op)                                                                  \
  template <typename T>                                                                                   \
  static inline T prefix_##name(T value, bool inclusive, const char* file, uint line) {                   \
    if constexpr (isWide<T>) {                                                                            \
      return eachComponent(value, [=](auto each) { return prefix_##name(each, inclusive, file, line); }); \
    } else {                                                                                              \
      const auto given = exchanged(value, file, line);                                                    \
      T all = T(start);                                                                                   \
      const unsigned own = covarium::kernelHost->lane();                                                  \
      for (unsigned lane = 0; lane < own + inclusive; ++lane)                                             \
        if (given.active(lane)) all = static_cast<T>(all op given[lane]);                                 \
      return all;                                                                                         \
    }                                                                                                     \
  }                                                                                                       \
  template <typename T>                                                                                   \
  static inline auto simd_prefix_inclusive_##name(const T& value, COVARIUM_CALLER) {                      \
    return prefix_##name(covarium::plain(value), true, file, line);                                       \
  }                                                                                                       \
  template <typename T>                                                                                   \
  static inline auto simd_prefix_exclusive_##name(const T& value, COVARIUM_CALLER) {                      \
    return prefix_##name(covarium::plain(value), false, file, line);                                      \
  }
COVARIUM_PREFIX(sum, 0, +)
COVARIUM_PREFIX(product, 1, *)
#undef COVARIUM_PREFIX

// Any integer names a lane, so that a text's own function of a ushort is chosen for its own types only.
#define COVARIUM_OF_LANES \
  template <typename T, typename L, typename = std::enable_if_t<covarium::ShapeOf<T>::count != 0>>

// The value of another lane; a lane that does not exist gives one's own, which Metal leaves undefined.
COVARIUM_OF_LANES
static inline auto simd_shuffle(const T& from, L lane, COVARIUM_CALLER) {
  const auto value = covarium::plain(from);
  if constexpr (isWide<decltype(value)>) {
    return eachComponent(value, [=](auto each) { return simd_shuffle(each, lane, file, line); });
  } else {
    const auto given = exchanged(value, file, line);
    return lane < given.lanes && given.active(lane) ? given[lane] : value;
  }
}
// The same within a quad.
COVARIUM_OF_LANES
static inline auto quad_shuffle(const T& value, L lane, COVARIUM_CALLER) {
  const uint own = covarium::kernelHost->lane();
  const uint at = static_cast<uint>(lane);
  return simd_shuffle(value, at < 4 ? own / 4 * 4 + at : own, file, line);
}
#define COVARIUM_SHUFFLES(group, width)                                                                              \
  COVARIUM_OF_LANES                                                                                                  \
  static inline auto group##_broadcast(const T& value, L lane, COVARIUM_CALLER) {                                    \
    return group##_shuffle(value, lane, file, line);                                                                 \
  }                                                                                                                  \
  COVARIUM_OF_LANES                                                                                                  \
  static inline auto group##_shuffle_down(const T& value, L delta, COVARIUM_CALLER) {                                \
    return group##_shuffle(value, covarium::kernelHost->lane() % (width) + delta, file, line);                       \
  }                                                                                                                  \
  COVARIUM_OF_LANES                                                                                                  \
  static inline auto group##_shuffle_up(const T& value, L delta, COVARIUM_CALLER) {                                  \
    return group##_shuffle(value, covarium::kernelHost->lane() % (width) - delta, file, line);                       \
  }                                                                                                                  \
  COVARIUM_OF_LANES                                                                                                  \
  static inline auto group##_shuffle_xor(const T& value, L mask, COVARIUM_CALLER) {                                  \
    return group##_shuffle(value, (covarium::kernelHost->lane() % (width)) ^ mask, file, line);                      \
  }                                                                                                                  \
  COVARIUM_OF_LANES                                                                                                  \
  static inline auto group##_shuffle_rotate_down(const T& value, L delta, COVARIUM_CALLER) {                         \
    return group##_shuffle(value, (covarium::kernelHost->lane() + delta) % (width), file, line);                     \
  }                                                                                                                  \
  COVARIUM_OF_LANES                                                                                                  \
  static inline auto group##_shuffle_rotate_up(const T& value, L delta, COVARIUM_CALLER) {                           \
    return group##_shuffle(value, (covarium::kernelHost->lane() + (width) - delta % (width)) % (width), file, line); \
  }
COVARIUM_SHUFFLES(simd, covarium::simdWidth)
COVARIUM_SHUFFLES(quad, 4)
#undef COVARIUM_SHUFFLES
// Beyond the simdgroup, or beyond `modulo` lanes of it, a lane takes from `filling`.
COVARIUM_OF_LANES
static inline auto simd_shuffle_and_fill_down(const T& value, const T& filling, L delta,
                                              uint modulo = covarium::simdWidth, COVARIUM_CALLER) {
  const uint own = covarium::kernelHost->lane(), first = own / modulo * modulo, at = own % modulo + delta;
  const auto from = simd_shuffle(value, first + at % modulo, file, line);
  const auto other = simd_shuffle(filling, first + at % modulo, file, line);
  return at < modulo ? from : other;
}
COVARIUM_OF_LANES
static inline auto simd_shuffle_and_fill_up(const T& value, const T& filling, L delta,
                                            uint modulo = covarium::simdWidth, COVARIUM_CALLER) {
  const uint own = covarium::kernelHost->lane(), first = own / modulo * modulo, at = own % modulo + modulo - delta;
  const auto from = simd_shuffle(value, first + at % modulo, file, line);
  const auto other = simd_shuffle(filling, first + at % modulo, file, line);
  return at >= modulo ? from : other;
}
template <typename T>
static inline auto simd_broadcast_first(const T& from, COVARIUM_CALLER) {
  const auto value = covarium::plain(from);
  if constexpr (isWide<decltype(value)>) {
    return eachComponent(value, [=](auto each) { return simd_broadcast_first(each, file, line); });
  } else {
    const auto given = exchanged(value, file, line);
    return given[static_cast<unsigned>(__builtin_ctzll(given.activeMask))];
  }
}

#include "simdgroup-matrix.h"
