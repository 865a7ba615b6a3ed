#pragma once

#include <string>
#include <vector>

#include "../device.h"
#include "simd/kernels.h"
#include "execution.h"

namespace covarium::cpu {

// The kernel of that name; throws ERR_INVALID_ARGUMENT with the names of all kernels.
const Kernel& kernelNamed(const KernelTable& table, const std::string& name);

// The check of objc/launch.h, for threadgroups of at most Apple's size.
void checkLaunch(const Kernel& kernel, const std::vector<Operand>& operands, Size3 grid, Size3 threadgroup);

// How a grid is cut: threads of a group, bytes of memory that they share, and how many of them are one simdgroup (up
// to widestSimdgroup). A map uses none of this.
struct Threadgroup {
  Size3 size;
  size_t memoryBytes;
  unsigned simdWidth;
};

// The size with the memory that the kernel needs, and Apple's simdgroups of 32; throws a typed error if the params
// ask for more than Apple's 32 KB. `slots` are as below.
Threadgroup threadgroupFor(const Kernel& kernel, const std::vector<void*>& slots, Size3 size);

// Runs a kernel over a grid, on all threads of the pool; `slots` are its buffers, then its params. A map is a plain
// loop, which the compiler has vectorized. The threads of a reduction's group are fibers on one processor thread,
// which change at barriers and simdgroup functions; a group of one is a plain call. A thread that has returned does
// not keep others waiting. Threadgroup memory has exactly memoryBytes, filled with 0xff (NaN) before each group.
void launch(const Execution& execution, const Kernel& kernel, const std::vector<void*>& slots, Size3 grid,
            const Threadgroup& threadgroup);

}  // namespace covarium::cpu
