// Barriers and the functions of a simdgroup, by NVIDIA's instructions for a warp: what each lane gave, in lane order,
// so that sums have the bits of the cpu device. Lanes that are elsewhere or have returned take no part. It takes the
// place of msl/cpu/library/simdgroup.h.

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
static inline mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<int>(a) | static_cast<int>(b));
}

static inline void threadgroup_barrier(mem_flags) { __syncthreads(); }

// The lanes that are here, one bit each.
static inline uint lanesHere() {
  uint mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
  return mask;
}
static inline uint ownLane() { return COVARIUM_LANE % covarium::simdWidth; }
static inline void simdgroup_barrier(mem_flags) { asm volatile("bar.warp.sync %0;" ::"r"(lanesHere()) : "memory"); }

static inline uint wordFrom(uint word, uint lane, uint here) {
  uint given;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;" : "=r"(given) : "r"(word), "r"(lane), "r"(here) : "memory");
  return given;
}

// What `lane` gave. All lanes of `here` must call it, each for any lane.
template <typename T>
static inline T givenBy(T value, uint lane, uint here) {
  constexpr uint words = (sizeof(T) + sizeof(uint) - 1) / sizeof(uint);
  uint all[words] = {};
  memcpy(static_cast<void*>(all), static_cast<const void*>(&value), sizeof value);
  for (uint i = 0; i < words; ++i) all[i] = wordFrom(all[i], lane, here);
  T given;
  memcpy(static_cast<void*>(&given), static_cast<const void*>(all), sizeof given);
  return given;
}

// What the first of these lanes gave that is here.
template <typename T>
static inline T ofFirst(T value, uint first, uint width, uint here) {
  uint lane = first;
  while (lane + 1 < first + width && (here >> lane & 1) == 0) ++lane;
  return givenBy(value, lane, here);
}

// Folds over the lanes of a simdgroup, and over the four of a quad.
#define COVARIUM_SIMD_FOLD(name, start)                           \
  template <typename T>                                           \
  static inline T name##Of(T value, uint first, uint width) {     \
    const uint here = lanesHere();                                \
    T all = start;                                                \
    for (uint lane = first; lane < first + width; ++lane) {       \
      const T given = givenBy(value, lane, here);                 \
      if ((here >> lane & 1) != 0) all = name##OfTwo(all, given); \
    }                                                             \
    return all;                                                   \
  }                                                               \
  template <typename T>                                           \
  static inline T simd_##name(T value) {                          \
    return name##Of(value, 0, covarium::simdWidth);               \
  }                                                               \
  template <typename T>                                           \
  static inline T quad_##name(T value) {                          \
    return name##Of(value, ownLane() / 4 * 4, 4);                 \
  }
#define COVARIUM_OF_TWO(name, body)                                                              \
  template <typename T>                                                                          \
  static inline T name##OfTwo(const T& x, const T& y) {                                          \
    if constexpr (covarium::ShapeOf<T>::isVector) {                                              \
      T result;                                                                                  \
      for (int i = 0; i < covarium::ShapeOf<T>::count; ++i) result[i] = name##OfTwo(x[i], y[i]); \
      return result;                                                                             \
    } else {                                                                                     \
      const T a = x, b = y;                                                                      \
      return static_cast<T>(body);                                                               \
    }                                                                                            \
  }
COVARIUM_OF_TWO(sum, a + b)
COVARIUM_OF_TWO(product, a* b)
// A lane that gives NaN takes no part, unless all do.
COVARIUM_OF_TWO(min, b < a || a != a ? b : a)
COVARIUM_OF_TWO(max, a < b || a != a ? b : a)
COVARIUM_OF_TWO(and, a& b)
COVARIUM_OF_TWO(or, a | b)
COVARIUM_OF_TWO(xor, a ^ b)
COVARIUM_SIMD_FOLD(sum, T(0))
COVARIUM_SIMD_FOLD(product, T(1))
COVARIUM_SIMD_FOLD(min, (ofFirst(value, first, width, here)))
COVARIUM_SIMD_FOLD(max, (ofFirst(value, first, width, here)))
COVARIUM_SIMD_FOLD(and, T(~T(0)))
COVARIUM_SIMD_FOLD(or, T(0))
COVARIUM_SIMD_FOLD(xor, T(0))
#undef COVARIUM_OF_TWO
#undef COVARIUM_SIMD_FOLD

// One bit for each lane.
struct simd_vote {
  using vote_t = ulong;
  vote_t bits;
  explicit simd_vote(vote_t bits = 0) : bits(bits) {}
  explicit operator vote_t() const { return bits; }
  bool any() const { return bits != 0; }
};
static inline uint ballotOf(bool value) {
  const uint here = lanesHere();
  uint bits;
  asm volatile("{ .reg .pred given; setp.ne.u32 given, %1, 0; vote.sync.ballot.b32 %0, given, %2; }"
               : "=r"(bits)
               : "r"(uint(value)), "r"(here)
               : "memory");
  return bits;
}
static inline simd_vote simd_active_threads_mask() { return simd_vote(lanesHere()); }
static inline simd_vote simd_ballot(bool value) { return simd_vote(ballotOf(value)); }
static inline bool simd_any(bool value) { return ballotOf(value) != 0; }
static inline bool simd_all(bool value) { return ballotOf(!value) == 0; }
// The bits of this lane's quad.
static inline uint ofQuad(uint bits) { return bits >> (ownLane() / 4 * 4) & 15; }
static inline bool quad_any(bool value) { return ofQuad(ballotOf(value)) != 0; }
static inline bool quad_all(bool value) { return ofQuad(ballotOf(!value)) == 0; }
static inline bool simd_is_first() { return (lanesHere() & ((1u << ownLane()) - 1)) == 0; }
static inline bool quad_is_first() { return (ofQuad(lanesHere()) & ((1u << ownLane() % 4) - 1)) == 0; }

template <typename T>
static inline T prefixSum(T value, uint count) {
  const uint here = lanesHere();
  T sum = T(0);
  for (uint lane = 0; lane < covarium::simdWidth; ++lane) {
    const T given = givenBy(value, lane, here);
    if (lane < count && (here >> lane & 1) != 0) sum = sumOfTwo(sum, given);
  }
  return sum;
}
template <typename T>
static inline T simd_prefix_inclusive_sum(T value) {
  return prefixSum(value, ownLane() + 1);
}
template <typename T>
static inline T simd_prefix_exclusive_sum(T value) {
  return prefixSum(value, ownLane());
}

// Any integer names a lane, so that a text's own function of a ushort is chosen for its own types only.
#define COVARIUM_OF_LANES \
  template <typename T, typename L, typename = std::enable_if_t<covarium::ShapeOf<T>::count != 0>>

// The value of another lane. For a lane that is not here it is the lane's own value, which Metal leaves undefined.
COVARIUM_OF_LANES
static inline T simd_shuffle(T value, L lane) {
  const uint here = lanesHere();
  const T given = givenBy(value, lane % covarium::simdWidth, here);
  return lane < covarium::simdWidth && (here >> lane & 1) != 0 ? given : value;
}
// The same within a quad.
COVARIUM_OF_LANES
static inline T quad_shuffle(T value, L lane) {
  const uint own = ownLane();
  const uint at = static_cast<uint>(lane);
  return simd_shuffle(value, at < 4 ? own / 4 * 4 + at : own);
}
#define COVARIUM_SHUFFLES(group, width)                                                                                \
  COVARIUM_OF_LANES                                                                                                    \
  static inline T group##_broadcast(T value, L lane) { return group##_shuffle(value, lane); }                          \
  COVARIUM_OF_LANES                                                                                                    \
  static inline T group##_shuffle_down(T value, L delta) {                                                             \
    return group##_shuffle(value, ownLane() % (width) + delta);                                                        \
  }                                                                                                                    \
  COVARIUM_OF_LANES                                                                                                    \
  static inline T group##_shuffle_up(T value, L delta) { return group##_shuffle(value, ownLane() % (width) - delta); } \
  COVARIUM_OF_LANES                                                                                                    \
  static inline T group##_shuffle_xor(T value, L mask) {                                                               \
    return group##_shuffle(value, (ownLane() % (width)) ^ mask);                                                       \
  }                                                                                                                    \
  COVARIUM_OF_LANES                                                                                                    \
  static inline T group##_shuffle_rotate_down(T value, L delta) {                                                      \
    return group##_shuffle(value, (ownLane() + delta) % (width));                                                      \
  }                                                                                                                    \
  COVARIUM_OF_LANES                                                                                                    \
  static inline T group##_shuffle_rotate_up(T value, L delta) {                                                        \
    return group##_shuffle(value, (ownLane() + (width) - delta % (width)) % (width));                                  \
  }
COVARIUM_SHUFFLES(simd, covarium::simdWidth)
COVARIUM_SHUFFLES(quad, 4)
#undef COVARIUM_SHUFFLES
template <typename T>
static inline T simd_broadcast_first(T value) {
  const uint here = lanesHere();
  return givenBy(value, static_cast<uint>(__builtin_ctzll(here)), here);
}
