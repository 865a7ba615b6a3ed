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
// Other threads see at once what a thread has written: they take turns, or run on processors that agree on memory.
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

// In a loop over the threads of a group (lib/kernel/cpu/group-loops.ts) each thread has left what it gives in
// `values`; the lanes of a simdgroup, or of a quad, lie side by side. Without `alive` all take part.
template <typename T>
struct LanesInMemory {
  const T* values;
  const bool* alive;
  unsigned lanes;
  bool active(unsigned lane) const { return alive == nullptr || alive[lane]; }
  T operator[](unsigned lane) const { return values[lane]; }
};
// Writes what all lanes of a group of `width` take, to `out` for each of them.
#define COVARIUM_OF_ALL(name, width, body)                                                                   \
  namespace of_all {                                                                                         \
  template <typename T, typename R>                                                                          \
  static inline void name(const T* values, const bool* alive, uint32_t threads, R* out) {                    \
    for (uint32_t first = 0; first < threads; first += width) {                                              \
      const uint32_t end = threads - first < width ? threads : first + width;                                \
      const LanesInMemory<T> given{values + first, alive == nullptr ? nullptr : alive + first, end - first}; \
      const R all = body;                                                                                    \
      for (uint32_t i = first; i < end; ++i) out[i] = all;                                                   \
    }                                                                                                        \
  }                                                                                                          \
  }
// The same for a fold: of four groups at once, whose numbers do not wait for each other.
#define COVARIUM_FOLD_OF_ALL(function, width, begin, name)                                          \
  namespace of_all {                                                                                \
  template <typename T>                                                                             \
  static inline void function(const T* values, const bool* alive, uint32_t threads, T* out) {       \
    constexpr uint32_t together = 4;                                                                \
    uint32_t i = 0;                                                                                 \
    if (alive == nullptr) {                                                                         \
      for (; i + together * width <= threads; i += together * width) {                              \
        T all[together];                                                                            \
        for (uint32_t group = 0; group < together; ++group) {                                       \
          [[maybe_unused]] const T first = values[i + group * width];                               \
          all[group] = begin;                                                                       \
        }                                                                                           \
        for (uint32_t lane = 0; lane < width; ++lane)                                               \
          for (uint32_t group = 0; group < together; ++group)                                       \
            all[group] = name##OfBoth<T>(all[group], values[i + group * width + lane]);             \
        for (uint32_t group = 0; group < together; ++group)                                         \
          for (uint32_t lane = 0; lane < width; ++lane) out[i + group * width + lane] = all[group]; \
      }                                                                                             \
    }                                                                                               \
    for (; i < threads; i += width) {                                                               \
      const uint32_t lanes = threads - i < width ? threads - i : width;                             \
      const LanesInMemory<T> given{values + i, alive == nullptr ? nullptr : alive + i, lanes};      \
      const T all = name##In<T>(given, 0, lanes);                                                   \
      for (uint32_t lane = 0; lane < lanes; ++lane) out[i + lane] = all;                            \
    }                                                                                               \
  }                                                                                                 \
  }
// What the lane at `thread` takes from another.
#define COVARIUM_FROM_LANE(name, groupWidth, from)                                                    \
  namespace from_lane {                                                                               \
  template <typename T, typename L>                                                                   \
  static inline T name(const T* values, const bool* alive, uint32_t thread, uint32_t threads, L by) { \
    constexpr uint width = groupWidth;                                                                \
    const uint at = thread % width;                                                                   \
    const uint32_t first = thread - at;                                                               \
    const auto lane = from;                                                                           \
    const bool isThere = lane < width && first + static_cast<uint32_t>(lane) < threads;               \
    const uint32_t other = isThere ? first + static_cast<uint32_t>(lane) : thread;                    \
    return values[alive == nullptr || alive[other] ? other : thread];                                 \
  }                                                                                                   \
  }

// Folds over the lanes of a simdgroup, and over the four of a quad. `first` is what the first of these lanes gives;
// `begin` is the value before the first step.
#define COVARIUM_SIMD_FOLD(name, begin, body)                                                      \
  template <typename T>                                                                            \
  static inline T name##OfBoth(const T& a, const T& b) {                                           \
    if constexpr (covarium::ShapeOf<T>::isVector) {                                                \
      T both;                                                                                      \
      for (int i = 0; i < covarium::ShapeOf<T>::count; ++i) both[i] = name##OfBoth(a[i], b[i]);    \
      return both;                                                                                 \
    } else {                                                                                       \
      return static_cast<T>(body);                                                                 \
    }                                                                                              \
  }                                                                                                \
  template <typename T, typename Lanes>                                                            \
  static inline T name##In(const Lanes& given, unsigned lane, unsigned end) {                      \
    while (lane + 1 < end && !given.active(lane)) ++lane;                                          \
    [[maybe_unused]] const T first = given[lane];                                                  \
    T all = begin;                                                                                 \
    for (; lane < end; ++lane)                                                                     \
      if (given.active(lane)) all = name##OfBoth<T>(all, given[lane]);                             \
    return all;                                                                                    \
  }                                                                                                \
  template <unsigned width, typename T>                                                            \
  static inline T name##Of(T value, const char* file, uint line) {                                 \
    if constexpr (isWide<T>) {                                                                     \
      return eachComponent(value, [=](auto each) { return name##Of<width>(each, file, line); });   \
    } else {                                                                                       \
      const auto given = exchanged(value, file, line);                                             \
      const unsigned first = covarium::kernelHost->lane() / width * width;                         \
      return name##In<T>(given, first, first + width < given.lanes ? first + width : given.lanes); \
    }                                                                                              \
  }                                                                                                \
  template <typename T>                                                                            \
  static inline auto simd_##name(const T& value, COVARIUM_CALLER) {                                \
    return name##Of<64>(covarium::plain(value), file, line);                                       \
  }                                                                                                \
  template <typename T>                                                                            \
  static inline auto quad_##name(const T& value, COVARIUM_CALLER) {                                \
    return name##Of<4>(covarium::plain(value), file, line);                                        \
  }                                                                                                \
  COVARIUM_FOLD_OF_ALL(simd_##name, covarium::simdWidth, begin, name)                              \
  COVARIUM_FOLD_OF_ALL(quad_##name, 4, begin, name)
COVARIUM_SIMD_FOLD(sum, T(0), a + b)
COVARIUM_SIMD_FOLD(product, T(1), a* b)
// A lane that gives NaN takes no part, unless all do.
COVARIUM_SIMD_FOLD(min, first, b < a || a != a ? b : a)
COVARIUM_SIMD_FOLD(max, first, a < b || a != a ? b : a)
COVARIUM_SIMD_FOLD(and, static_cast<T>(~T(0)), a& b)
COVARIUM_SIMD_FOLD(or, T(0), a | b)
COVARIUM_SIMD_FOLD(xor, T(0), a ^ b)
#undef COVARIUM_SIMD_FOLD

static inline bool simd_all(bool value, COVARIUM_CALLER) { return simd_min(uint(value), file, line) != 0; }
static inline bool simd_any(bool value, COVARIUM_CALLER) { return simd_max(uint(value), file, line) != 0; }
static inline bool quad_all(bool value, COVARIUM_CALLER) { return quad_min(uint(value), file, line) != 0; }
static inline bool quad_any(bool value, COVARIUM_CALLER) { return quad_max(uint(value), file, line) != 0; }

namespace of_all {
#define COVARIUM_OF_BOOLS(group)                                                                       \
  static inline void group##_all(const bool* values, const bool* alive, uint32_t threads, bool* out) { \
    group##_and(values, alive, threads, out);                                                          \
  }                                                                                                    \
  static inline void group##_any(const bool* values, const bool* alive, uint32_t threads, bool* out) { \
    group##_or(values, alive, threads, out);                                                           \
  }
COVARIUM_OF_BOOLS(simd)
COVARIUM_OF_BOOLS(quad)
#undef COVARIUM_OF_BOOLS
}  // namespace of_all

// One bit for each lane.
struct simd_vote {
  using vote_t = ulong;
  vote_t bits;
  explicit simd_vote(vote_t bits = 0) : bits(bits) {}
  explicit operator vote_t() const { return bits; }
  bool any() const { return bits != 0; }
  bool all() const { return bits == 0xffffffff; }
};
struct quad_vote {
  using vote_t = uint;
  vote_t bits;
  explicit quad_vote(vote_t bits = 0) : bits(bits & 15) {}
  explicit operator vote_t() const { return bits; }
  bool any() const { return bits != 0; }
  bool all() const { return bits == 15; }
};
static inline simd_vote simd_active_threads_mask(COVARIUM_CALLER) {
  return simd_vote(exchanged(0u, file, line).activeMask);
}
template <typename Lanes>
static inline simd_vote ballotIn(const Lanes& given) {
  ulong bits = 0;
  for (unsigned lane = 0; lane < given.lanes; ++lane)
    if (given.active(lane) && given[lane] != 0) bits |= ulong(1) << lane;
  return simd_vote(bits);
}
static inline simd_vote simd_ballot(bool value, COVARIUM_CALLER) {
  return ballotIn(exchanged(uint(value), file, line));
}
COVARIUM_OF_ALL(simd_ballot, covarium::simdWidth, ballotIn(given))
static inline quad_vote quad_ballot(bool value, COVARIUM_CALLER) {
  const ulong bits = simd_ballot(value, file, line).bits;
  return quad_vote(static_cast<uint>(bits >> (covarium::kernelHost->lane() / 4 * 4)));
}
static inline quad_vote quad_active_threads_mask(COVARIUM_CALLER) { return quad_ballot(true, file, line); }
static inline bool isFirstOf(unsigned width, const char* file, uint line) {
  const auto given = exchanged(0u, file, line);
  const unsigned own = covarium::kernelHost->lane();
  for (unsigned lane = own / width * width; lane < own; ++lane)
    if (given.active(lane)) return false;
  return true;
}
static inline bool simd_is_first(COVARIUM_CALLER) { return isFirstOf(64, file, line); }
static inline bool quad_is_first(COVARIUM_CALLER) { return isFirstOf(4, file, line); }

#define COVARIUM_PREFIX_OF(function, prefix, width, inclusive)                                \
  template <typename T>                                                                       \
  static inline auto function(const T& value, COVARIUM_CALLER) {                              \
    return prefix(covarium::plain(value), width, inclusive, file, line);                      \
  }                                                                                           \
  namespace of_all {                                                                          \
  template <typename T>                                                                       \
  static inline void function(const T* values, const bool* alive, uint32_t threads, T* out) { \
    prefix(values, alive, threads, out, width, inclusive);                                    \
  }                                                                                           \
  }
#define COVARIUM_PREFIX(name, start, op)                                                                         \
  template <typename T>                                                                                          \
  static inline T prefix_##name(T value, unsigned width, bool inclusive, const char* file, uint line) {          \
    if constexpr (isWide<T>) {                                                                                   \
      return eachComponent(value, [=](auto each) { return prefix_##name(each, width, inclusive, file, line); }); \
    } else {                                                                                                     \
      const auto given = exchanged(value, file, line);                                                           \
      T all = T(start);                                                                                          \
      const unsigned own = covarium::kernelHost->lane();                                                         \
      for (unsigned lane = own / width * width; lane < own + inclusive; ++lane)                                  \
        if (given.active(lane)) all = static_cast<T>(all op given[lane]);                                        \
      return all;                                                                                                \
    }                                                                                                            \
  }                                                                                                              \
  namespace of_all {                                                                                             \
  template <typename T>                                                                                          \
  static inline void prefix_##name(const T* values, const bool* alive, uint32_t threads, T* out, uint width,     \
                                   bool inclusive) {                                                             \
    T all = T(start);                                                                                            \
    for (uint32_t i = 0; i < threads; ++i) {                                                                     \
      if (i % width == 0) all = T(start);                                                                        \
      if (!inclusive) out[i] = all;                                                                              \
      if (alive == nullptr || alive[i]) all = static_cast<T>(all op values[i]);                                  \
      if (inclusive) out[i] = all;                                                                               \
    }                                                                                                            \
  }                                                                                                              \
  }                                                                                                              \
  COVARIUM_PREFIX_OF(simd_prefix_inclusive_##name, prefix_##name, covarium::simdWidth, true)                     \
  COVARIUM_PREFIX_OF(simd_prefix_exclusive_##name, prefix_##name, covarium::simdWidth, false)                    \
  COVARIUM_PREFIX_OF(quad_prefix_inclusive_##name, prefix_##name, 4, true)                                       \
  COVARIUM_PREFIX_OF(quad_prefix_exclusive_##name, prefix_##name, 4, false)
COVARIUM_PREFIX(sum, 0, +)
COVARIUM_PREFIX(product, 1, *)
#undef COVARIUM_PREFIX
#undef COVARIUM_PREFIX_OF

// Any integer names a lane, so that a text's own function of a ushort is chosen for its own types only.
#define COVARIUM_OF_LANES \
  template <typename T, typename L, typename = std::enable_if_t<covarium::ShapeOf<T>::count != 0>>

// The value of another lane. For a lane that does not exist it is the lane's own value, which Metal leaves undefined.
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

// `at` is the lane itself among the `width` of its simdgroup or quad; `from` is the lane that it takes from.
#define COVARIUM_SHUFFLE(name, from)                                      \
  COVARIUM_OF_LANES                                                       \
  static inline auto simd_##name(const T& value, L by, COVARIUM_CALLER) { \
    const uint at = covarium::kernelHost->lane();                         \
    constexpr uint width = covarium::simdWidth;                           \
    (void)at, (void)width;                                                \
    return simd_shuffle(value, from, file, line);                         \
  }                                                                       \
  COVARIUM_OF_LANES                                                       \
  static inline auto quad_##name(const T& value, L by, COVARIUM_CALLER) { \
    const uint at = covarium::kernelHost->lane() % 4;                     \
    constexpr uint width = 4;                                             \
    (void)at, (void)width;                                                \
    return quad_shuffle(value, from, file, line);                         \
  }                                                                       \
  COVARIUM_FROM_LANE(simd_##name, covarium::simdWidth, from)              \
  COVARIUM_FROM_LANE(quad_##name, 4, from)
COVARIUM_SHUFFLE(broadcast, by)
COVARIUM_SHUFFLE(shuffle_down, at + by)
COVARIUM_SHUFFLE(shuffle_up, at - by)
COVARIUM_SHUFFLE(shuffle_xor, at ^ by)
COVARIUM_SHUFFLE(shuffle_rotate_down, (at + by) % width)
COVARIUM_SHUFFLE(shuffle_rotate_up, (at + width - by % width) % width)
#undef COVARIUM_SHUFFLE
COVARIUM_FROM_LANE(simd_shuffle, covarium::simdWidth, by)
COVARIUM_FROM_LANE(quad_shuffle, 4, by)

// Beyond the simdgroup or the quad, or beyond `modulo` lanes of it, a lane takes from `filling`.
#define COVARIUM_SHUFFLE_AND_FILL(group, width)                                                                    \
  COVARIUM_OF_LANES                                                                                                \
  static inline auto group##_shuffle_and_fill_down(const T& value, const T& filling, L delta, uint modulo = width, \
                                                   COVARIUM_CALLER) {                                              \
    const uint own = covarium::kernelHost->lane(), first = own / modulo * modulo, at = own % modulo + delta;       \
    const auto from = simd_shuffle(value, first + at % modulo, file, line);                                        \
    const auto other = simd_shuffle(filling, first + at % modulo, file, line);                                     \
    return at < modulo ? from : other;                                                                             \
  }                                                                                                                \
  COVARIUM_OF_LANES                                                                                                \
  static inline auto group##_shuffle_and_fill_up(const T& value, const T& filling, L delta, uint modulo = width,   \
                                                 COVARIUM_CALLER) {                                                \
    const uint own = covarium::kernelHost->lane(), first = own / modulo * modulo;                                  \
    const uint at = own % modulo + modulo - delta;                                                                 \
    const auto from = simd_shuffle(value, first + at % modulo, file, line);                                        \
    const auto other = simd_shuffle(filling, first + at % modulo, file, line);                                     \
    return at >= modulo ? from : other;                                                                            \
  }
COVARIUM_SHUFFLE_AND_FILL(simd, covarium::simdWidth)
COVARIUM_SHUFFLE_AND_FILL(quad, 4)
#undef COVARIUM_SHUFFLE_AND_FILL
template <typename T, typename Lanes>
static inline T firstIn(const Lanes& given) {
  unsigned lane = 0;
  while (lane + 1 < given.lanes && !given.active(lane)) ++lane;
  return given[lane];
}
COVARIUM_OF_ALL(simd_broadcast_first, covarium::simdWidth, firstIn<T>(given))
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

#undef COVARIUM_OF_ALL
#undef COVARIUM_FOLD_OF_ALL
#undef COVARIUM_FROM_LANE

#include "simdgroup-matrix.h"
