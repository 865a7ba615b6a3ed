// The kernels of msl/, run by the CPU device's launcher: the one door to objc/cpu's launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace softmetal {

constexpr size_t maximumThreadgroupBytes = 32768;

struct KernelFacts {
  unsigned buffers;
  size_t paramsBytes;
  bool usesThreadgroupMemory;
};

// Null where the CPU's table has no kernel of that name.
const KernelFacts* kernelNamed(const std::string& name);

struct Bound {
  char* bytes;
  size_t length;
  bool readOnly;
};

struct Dispatch {
  std::string kernel;
  std::vector<Bound> buffers;   // in order of their index
  std::vector<uint8_t> params;  // of the constant argument
  size_t threadgroupBytes;
  std::array<uint32_t, 3> threads, threadgroup;
};

// Runs it to its end on this thread and the `threads` of the settings; ends the process where the kernel can't run.
void execute(const Dispatch& dispatch);

}  // namespace softmetal
