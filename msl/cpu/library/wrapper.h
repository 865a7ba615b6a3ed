// What the generated text around a user's kernel uses (lib/kernel/cpu/translation-unit.ts). Included before words.h.
#pragma once

// As the system's headers have them.
using size_t = __SIZE_TYPE__;
using ptrdiff_t = __PTRDIFF_TYPE__;
using uintptr_t = __UINTPTR_TYPE__;
using int8_t = __INT8_TYPE__;
using int16_t = __INT16_TYPE__;
using int32_t = __INT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint8_t = __UINT8_TYPE__;
using uint16_t = __UINT16_TYPE__;
using uint32_t = __UINT32_TYPE__;
using uint64_t = __UINT64_TYPE__;
extern "C" void* memcpy(void*, const void*, size_t);
extern "C" int strcmp(const char*, const char*);
extern "C" int snprintf(char*, size_t, const char*, ...);

// Compilers give numbers in braces a type of this name.
namespace std {
template <typename E>
class initializer_list {
 public:
  using value_type = E;
  using iterator = const E*;
  using const_iterator = const E*;
  constexpr initializer_list() = default;
  constexpr size_t size() const { return size_; }
  constexpr const E* begin() const { return begin_; }
  constexpr const E* end() const { return begin_ + size_; }

 private:
  constexpr initializer_list(const E* begin, size_t size) : begin_(begin), size_(size) {}
  const E* begin_ = nullptr;
  size_t size_ = 0;
};
}  // namespace std

#define COVARIUM_HAS_TYPES 1
#include "../kernel-abi.h"

namespace covarium {

static const KernelHost* kernelHost = nullptr;
constexpr unsigned simdWidth = 32;  // Apple's, and the cpu device's

// An index into the library's own types. In check mode it must be that of an element, because compilers accept a
// reference to the place behind the last one.
#if defined(covarium_check_mode)
static __attribute__((noinline)) size_t overrun(size_t index, size_t count) {
  char type[32] = "T[";
  size_t end = 2;
  for (size_t place = 1000000000; place > 0; place /= 10)
    if (count >= place) type[end++] = static_cast<char>('0' + count / place % 10);
  type[end] = ']';
  kernelHost->overrun({static_cast<int64_t>(index), type, "", 0, __builtin_return_address(0),
                       *static_cast<void* const* const*>(__builtin_frame_address(0))});
  return 0;
}
template <typename I>
static constexpr size_t indexOf(I index, size_t count) {
  return static_cast<size_t>(index) < count ? static_cast<size_t>(index) : overrun(static_cast<size_t>(index), count);
}
#else
template <typename I>
static constexpr I indexOf(I index, size_t) {
  return index;
}
#endif

#define COVARIUM_CONSTEXPR constexpr
#include "traits.h"
#include "scalars.h"
#include "short-vector.h"
#include "matrix.h"
#include "arguments.h"

// Argument i of a launch, as the kernel takes it.
template <typename A>
static inline decltype(auto) argument(void* const* slots, unsigned i) {
  if constexpr (std::is_pointer_v<A>) {
    return static_cast<A>(slots[i]);
  } else if constexpr (isTexture<std::remove_cv_t<A>>) {
    return std::remove_cv_t<A>(slots[i]);
  } else {
    return (*static_cast<std::remove_reference_t<A>*>(slots[i]));
  }
}

// Threads of the group that begins at `first` along one axis.
static inline uint32_t groupThreadsFrom(uint32_t first, uint32_t size, uint32_t threads) {
  return threads - first < size ? threads - first : size;
}

// The place of a thread if threads run in rows and have no group; what the kernel doesn't use is not computed.
static inline ThreadPlace placeInRow(const GridSize& grid, uint32_t x, uint32_t y, uint32_t z) {
  ThreadPlace place;
  const uint32_t at[3] = {x, y, z};
  for (int i = 0; i < 3; ++i) {
    place.group[i] = at[i] / grid.groupThreads[i];
    place.inGroup[i] = at[i] % grid.groupThreads[i];
    place.groupSize[i] = groupThreadsFrom(at[i] - place.inGroup[i], grid.groupThreads[i], grid.threads[i]);
  }
  place.index = (place.inGroup[2] * place.groupSize[1] + place.inGroup[1]) * place.groupSize[0] + place.inGroup[0];
  return place;
}

// Allocates the library's thread-local memory for this processor thread before the kernel runs. Clang keeps numbers
// in registers 16 to 31 of AVX-512 across the call that asks for this memory, and an allocator that fills the memory
// uses these registers. Across a call of this function clang keeps nothing in them.
__attribute__((noinline)) static void reachOwnMemory() {
  static thread_local char own;
  __asm__ volatile("" ::"r"(&own) : "memory");
}

// Stands before a loop over the threads of a group, whose sizes are separate variables
// (lib/kernel/cpu/group-loops.ts). Not with assume_safety: clang then moves reads in front of writes of the same
// thread, and lets all threads share one thread's array.
#if defined(__clang__)
#define COVARIUM_VECTORS_OF_LANES _Pragma("clang loop vectorize(enable)")
#else
#define COVARIUM_VECTORS_OF_LANES _Pragma("GCC ivdep")
#endif
// The sizes of a group and the positions of its first thread. The host refuses grids where positions could wrap, so a
// compiler knows that neighbouring threads have neighbouring elements.
#define covarium_group_sizes                                                                                 \
  covarium::reachOwnMemory();                                                                                \
  const uint32_t covarium_sizex = covarium_place.groupSize[0], covarium_sizey = covarium_place.groupSize[1], \
                 covarium_sizez = covarium_place.groupSize[2],                                               \
                 covarium_firstx = covarium_place.group[0] * covarium_grid.groupThreads[0],                  \
                 covarium_firsty = covarium_place.group[1] * covarium_grid.groupThreads[1],                  \
                 covarium_firstz = covarium_place.group[2] * covarium_grid.groupThreads[2];                  \
  if (covarium_sizex > covarium::mostThreads || covarium_firstx >= covarium::mostGroupedThreads)             \
    __builtin_unreachable();
// A pointer to a variable of this processor's thread, computed once. If a compiler knew which variable it is, it
// would call for its address in each pass of a loop.
#define covarium_reach(name, variable) \
  auto* name = &(variable);            \
  __asm__("" : "+r"(name));
#define covarium_each_lane                                                                                      \
  for (uint32_t covarium_lz = 0; covarium_lz < covarium_sizez; ++covarium_lz)                                   \
    for (uint32_t covarium_ly = 0; covarium_ly < covarium_sizey; ++covarium_ly) COVARIUM_VECTORS_OF_LANES       \
  for (uint32_t covarium_lx = 0, covarium_lane = (covarium_lz * covarium_sizey + covarium_ly) * covarium_sizex; \
       covarium_lx < covarium_sizex; ++covarium_lx, ++covarium_lane)

// Gives a thread's element of an array of variables its first value.
template <typename T>
static inline void keep(T& to, const T& from) {
  if constexpr (std::is_array_v<T>) {
    memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  } else {
    to = from;
  }
}

// The bytes of the threadgroup variables that are declared in each kernel, counted as the library is loaded.
template <auto kernel>
static uint64_t staticThreadgroupBytes = 0;
template <auto kernel, size_t bytes, int which>
struct StaticMemory {
  static const bool counted;
};
template <auto kernel, size_t bytes, int which>
const bool StaticMemory<kernel, bytes, which>::counted =
    (staticThreadgroupBytes<kernel> += (bytes + 15) / 16 * 16, true);

// A threadgroup variable in check mode.
template <auto kernel, typename T, int which>
static inline T& own(const char* name) {
  return *static_cast<T*>(kernelHost->ownMemory(which, name, sizeof(T), sizeof(std::remove_all_extents_t<T>)));
}

// True if this run of the kernel has to end. It costs one read in each pass of a loop.
static constexpr bool cancelled() {
  if (__builtin_is_constant_evaluated()) return false;
  return __builtin_expect(__atomic_load_n(kernelHost->cancellations, __ATOMIC_RELAXED) != 0, 0) &&
         kernelHost->isCancelled();
}
static inline void leave() { kernelHost->leave(); }

// While it lives, this thread is in a function that was called at a place of the text, or in the loop there.
struct CallSite : KernelFrame {
  explicit CallSite(uint32_t at) : path(kernelHost->path()) {
    place = at;
    pass = 0;
    outer = *path;
    depth = outer == nullptr ? 0 : outer->depth + 1;
    *path = this;
  }
  CallSite(const CallSite&) = delete;
  ~CallSite() { *path = outer; }
  const KernelFrame** path;
};
struct Loop : CallSite {
  using CallSite::CallSite;
  bool isToCome() { return begun ? false : begun = true; }
  bool next() {
    ++pass;
    return true;
  }
  bool begun = false;
};

}  // namespace covarium

#if defined(covarium_check_mode)
#include "check.h"
#endif
