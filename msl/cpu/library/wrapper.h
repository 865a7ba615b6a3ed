// What the generated text around a user's kernel rests on (lib/kernel/cpu/translation-unit.ts). Included before
// words.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../kernel-abi.h"

namespace covarium {

static const KernelHost* kernelHost = nullptr;
constexpr unsigned simdWidth = 32;  // Apple's, and the cpu device's

// The type of argument i of a kernel.
template <typename Function>
struct Arguments;
template <typename... A>
struct Arguments<void (*)(A...)> {
  template <size_t i>
  using At = std::tuple_element_t<i, std::tuple<A...>>;
};

#include "checked.h"

template <typename A>
struct PointeeOf {
  using Type = std::remove_cv_t<std::remove_pointer_t<std::remove_reference_t<A>>>;
};
template <typename T>
struct PointeeOf<Checked<T>> {
  using Type = std::remove_cv_t<T>;
};
template <typename A>
using Pointee = typename PointeeOf<A>::Type;

// Argument i of a launch, as the kernel takes it.
template <typename A>
static inline decltype(auto) argument(void* const* slots, unsigned i) {
  if constexpr (std::is_pointer_v<A>) {
    return static_cast<A>(slots[i]);
  } else if constexpr (IsChecked<A>::value) {
    using T = typename IsChecked<A>::Element;
    return Checked<T>(static_cast<T*>(slots[i]), &extents[i], nullptr, 0);
  } else {
    return (*static_cast<std::remove_reference_t<A>*>(slots[i]));
  }
}

// A position or a size, as many of its numbers as the argument takes.
template <typename A>
static inline A place(uint32_t x, uint32_t y, uint32_t z) {
  using Bare = std::remove_cv_t<A>;
  if constexpr (std::is_integral_v<Bare>) {
    return static_cast<Bare>(x);
  } else if constexpr (std::is_constructible_v<Bare, uint32_t, uint32_t>) {
    return Bare(x, y);
  } else {
    return Bare(x, y, z);
  }
}
template <typename A>
static inline A place(const uint32_t (&size)[3]) {
  return place<A>(size[0], size[1], size[2]);
}

// Threads of the group that begins at `first` along one axis.
static inline uint32_t groupThreadsFrom(uint32_t first, uint32_t size, uint32_t threads) {
  return threads - first < size ? threads - first : size;
}

// The place of a thread where threads are run in rows and know no group; what the kernel doesn't use is not computed.
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

// Has this processor thread's memory of the library made before the kernel runs: clang keeps numbers in registers 16 to
// 31 of AVX-512 across the call that asks for it, and an allocator that fills what it gives uses them. Across a call of
// this function it keeps none.
__attribute__((noinline)) static void reachOwnMemory() {
  static thread_local char own;
  __asm__ volatile("" ::"r"(&own) : "memory");
}

// The bytes of the threadgroup variables that stand in the kernel, counted as the library is loaded.
static uint64_t staticThreadgroupBytes = 0;
template <size_t bytes, int which>
struct StaticMemory {
  static const bool counted;
};
template <size_t bytes, int which>
const bool StaticMemory<bytes, which>::counted = (staticThreadgroupBytes += (bytes + 15) / 16 * 16, true);

}  // namespace covarium
