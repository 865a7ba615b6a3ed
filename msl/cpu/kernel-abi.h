// Between the CPU device and a library that holds one kernel of a user's, compiled at run time (lib/kernel/cpu): plain
// structs, because the two may be built by different compilers.
#pragma once

#include <cstdint>

#include "threadgroup.h"

namespace covarium {

constexpr uint32_t kernelAbi = 1;

// What is the same for all threads of a launch.
struct GridSize {
  uint32_t threads[3];       // of the grid
  uint32_t groupThreads[3];  // of a threadgroup; those at the far edges may have fewer
  uint32_t groups[3];
  uint32_t simdWidth;
  const uint64_t* slotBytes;  // of each slot's memory
};

// One thread of a threadgroup.
struct ThreadPlace {
  uint32_t group[3];      // the threadgroup's position in the grid
  uint32_t groupSize[3];  // its threads
  uint32_t inGroup[3];    // the thread's position in it
  uint32_t index;         // the same as one number, x first
};

// An access that the kernel must not make, found in check mode.
struct KernelViolation {
  const char* buffer;
  int64_t index;
  uint64_t length;
  const char* file;
  uint32_t line;
};

// What the kernel asks of the device while it runs. `file` and `line` are the user's own.
struct KernelHost {
  SimdLanes (*exchange)(uint64_t bits, const char* file, uint32_t line);
  unsigned (*lane)();
  void (*barrier)(const char* file, uint32_t line);
  void (*violation)(const KernelViolation& violation);
};

struct KernelMember {
  const char* name;
  uint32_t offsetBytes;
};

// A buffer or a constant, in the order of the kernel's arguments; threadgroup memory has no members.
struct KernelSlot {
  uint32_t sizeBytes;  // of one element, or of the struct
  uint32_t alignBytes;
  uint32_t memberCount;
  const KernelMember* members;
};

struct KernelLibrary {
  uint32_t abi;
  uint32_t slotCount;
  const KernelSlot* slots;
  uint64_t staticThreadgroupBytes;
  // Threads [begin, end) of one row of the grid; null where threads wait for each other.
  void (*runRow)(void* const* slots, const GridSize& grid, uint32_t begin, uint32_t end, uint32_t y, uint32_t z);
  void (*runThread)(void* const* slots, const GridSize& grid, const ThreadPlace& place);
};

}  // namespace covarium

// What a library exports: covariumKernel(host).
extern "C" typedef const covarium::KernelLibrary* (*CovariumKernelFunction)(const covarium::KernelHost* host);
