// What a launch asks of its operands and its grid, whichever device runs it.
#pragma once

#include <string>
#include <vector>

#include "device.h"

namespace covarium {

struct LaunchedKernel {
  std::string name;
  size_t buffers, paramsBytes;
  bool reduces;  // a row of threads in each threadgroup, all of them whole
};

inline std::string textOf(Size3 size) {
  return std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]);
}

// Throws a typed error unless operands, grid and threadgroup fit the kernel; sizes of buffers are the kernel's own
// affair.
inline void checkLaunch(const LaunchedKernel& kernel, const std::vector<Operand>& operands, Size3 grid,
                        Size3 threadgroup, uint64_t mostThreads) {
  const std::string called = "Kernel (" + kernel.name + ")";
  if (operands.size() != kernel.buffers + 1) {
    throw Failure("ERR_INVALID_ARGUMENT", called + " takes (" + std::to_string(kernel.buffers) +
                                              ") buffers and its params, not (" + std::to_string(operands.size()) +
                                              ") operands.");
  }
  const size_t paramsBytes = operands.back().sizeBytes();
  if (paramsBytes != kernel.paramsBytes) {
    throw Failure("ERR_INVALID_ARGUMENT", called + " has params of (" + std::to_string(kernel.paramsBytes) +
                                              ") bytes, not (" + std::to_string(paramsBytes) + ").");
  }
  const uint64_t threads = uint64_t{threadgroup[0]} * threadgroup[1] * threadgroup[2];
  if (threads == 0 || threads > mostThreads) {
    throw Failure("ERR_OUT_OF_RANGE", "Threadgroup (" + textOf(threadgroup) + ") is not of 1 to (" +
                                          std::to_string(mostThreads) + ") threads.");
  }
  const bool rows = threadgroup[1] == 1 && threadgroup[2] == 1 && grid[1] == 1 && grid[2] == 1;
  if (kernel.reduces && (!rows || grid[0] % threadgroup[0] != 0)) {
    throw Failure("ERR_OUT_OF_RANGE", "Grid (" + textOf(grid) + ") is not of whole threadgroups of (" +
                                          textOf(threadgroup) + "), rows of threads.");
  }
}

inline void checkThreadgroupMemory(const std::string& kernel, size_t neededBytes, size_t mostBytes) {
  if (neededBytes <= mostBytes) return;
  throw Failure("ERR_OUT_OF_RANGE", "Kernel (" + kernel + ") needs (" + std::to_string(neededBytes) +
                                        ") bytes of threadgroup memory, but there are (" + std::to_string(mostBytes) +
                                        ").");
}

}  // namespace covarium
