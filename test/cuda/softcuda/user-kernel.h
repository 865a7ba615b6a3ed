// Kernels of users over the stand-in: SOFTCUDA_KERNEL names the library that the cpu device has of the same text,
// without threadgroup memory, and behind a colon the kernel. It runs in place of the PTX; what the launch passes is
// read as the PTX would read it.
#pragma once

#include <cstdint>
#include <vector>

// Whether there is such a library; it is loaded.
bool loadUserKernel();
unsigned userSlots();
// The grid of a launch: GridSize of msl/cuda/library/wrapper.h.
struct UserGrid {
  uint32_t threads[3], groupThreads[3], groups[3], firstGroup[3];
};
void runUserKernel(const std::vector<void*>& slots, const UserGrid& grid, const unsigned (&launched)[3]);
