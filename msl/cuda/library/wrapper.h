// What the generated text around a user's kernel uses on the GPU (lib/kernel/cuda/translation-unit.ts). It takes the
// place of msl/cpu/library/wrapper.h, and stands in the kernel's own namespace.
#pragma once

#define COVARIUM_ON_GPU 1
#include "standard.h"

namespace covarium {
// Only the cpu device has a check mode.
template <typename I>
static constexpr I indexOf(I index, size_t) {
  return index;
}
}  // namespace covarium

#include <library/traits.h>

namespace covarium {

constexpr unsigned simdWidth = 32;  // NVIDIA's, and Apple's

#include <library/scalars.h>
#include <library/short-vector.h>
#include <library/matrix.h>
#include <library/arguments.h>

// An argument of a launch, as the kernel takes it.
template <typename A>
static inline decltype(auto) argument(void* memory) {
  if constexpr (std::is_pointer_v<A>) {
    return static_cast<A>(memory);
  } else if constexpr (isTexture<std::remove_cv_t<A>>) {
    return std::remove_cv_t<A>(memory);
  } else {
    return (*static_cast<std::remove_reference_t<A>*>(memory));
  }
}

// What is the same for all threads of a launch: objc/cuda/user-kernel.cc has the same struct.
struct GridSize {
  uint32_t threads[3];       // of the grid
  uint32_t groupThreads[3];  // of a threadgroup; those at the far edges have fewer
  uint32_t groups[3];
  uint32_t firstGroup[3];  // of this launch: there may be more groups than one launch can have
  static constexpr uint32_t simdWidth = covarium::simdWidth;
};

// One thread of a threadgroup.
struct ThreadPlace {
  uint32_t group[3];      // the threadgroup's position in the grid
  uint32_t groupSize[3];  // its threads
  uint32_t inGroup[3];    // the thread's position in it
  uint32_t index;         // the same as one number, x first
};

// False for a thread that a smaller group at an edge doesn't have. Threads are numbered, x first, within the group's
// actual size, so that simdgroups are those of Metal.
static inline bool findPlace(const GridSize& grid, ThreadPlace& place) {
  place.index = COVARIUM_LANE;
  place.group[0] = grid.firstGroup[0] + COVARIUM_GROUP_X;
  place.group[1] = grid.firstGroup[1] + COVARIUM_GROUP_Y;
  place.group[2] = grid.firstGroup[2] + COVARIUM_GROUP_Z;
  for (int i = 0; i < 3; ++i) {
    const uint32_t left = grid.threads[i] - place.group[i] * grid.groupThreads[i];
    place.groupSize[i] = left < grid.groupThreads[i] ? left : grid.groupThreads[i];
  }
  place.inGroup[0] = place.index;
  place.inGroup[1] = place.inGroup[2] = 0;
  if (grid.groupThreads[1] * grid.groupThreads[2] > 1) {
    const uint32_t row = place.index / place.groupSize[0];
    place.inGroup[0] = place.index - row * place.groupSize[0];
    place.inGroup[2] = row / place.groupSize[1];
    place.inGroup[1] = row - place.inGroup[2] * place.groupSize[1];
  }
  return place.index < place.groupSize[0] * place.groupSize[1] * place.groupSize[2];
}

}  // namespace covarium
