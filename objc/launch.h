// Checks of a launch's operands and grid, which are the same on every device.
#pragma once

#include <string>
#include <vector>

#include "device.h"

namespace covarium {

struct LaunchedKernel {
  std::string name;
  size_t buffers, paramsBytes;
  bool reduces;  // each threadgroup is a row of threads, and all are whole
};

inline std::string textOf(Size3 size) {
  return std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]);
}

// Throws a typed error unless operands, grid and threadgroup fit the kernel. Sizes of buffers are left to the kernel.
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
    throw Failure("ERR_OUT_OF_RANGE", "`threadgroup` is (" + textOf(threadgroup) + "), not of 1 to (" +
                                          std::to_string(mostThreads) + ") threads.");
  }
  const bool rows = threadgroup[1] == 1 && threadgroup[2] == 1 && grid[1] == 1 && grid[2] == 1;
  if (kernel.reduces && (!rows || grid[0] % threadgroup[0] != 0)) {
    throw Failure("ERR_OUT_OF_RANGE", "`grid` is (" + textOf(grid) + "), not of whole threadgroups of (" +
                                          textOf(threadgroup) + "), rows of threads.");
  }
}

inline void checkThreadgroupMemory(const std::string& kernel, size_t neededBytes, size_t mostBytes) {
  if (neededBytes <= mostBytes) return;
  throw Failure("ERR_OUT_OF_RANGE", "Kernel (" + kernel + ") needs (" + std::to_string(neededBytes) +
                                        ") bytes of threadgroup memory, but there are (" + std::to_string(mostBytes) +
                                        ").");
}

inline std::string argumentText(const Kernel& kernel, const KernelParameter& parameter) {
  return "Argument (" + parameter.name + ") of kernel (" + kernel.name + ")";
}

// Throws unless the parameter's memory begins where the GPU takes it.
inline void requireAligned(const Kernel& kernel, const KernelParameter& parameter, size_t offsetBytes,
                           size_t alignmentBytes) {
  if (offsetBytes % alignmentBytes == 0) return;
  throw Failure("ERR_INVALID_ARGUMENT",
                argumentText(kernel, parameter) + " begins at byte (" + std::to_string(offsetBytes) +
                    ") of its memory, but the GPU takes multiples of (" + std::to_string(alignmentBytes) + ").");
}

// lib/ has checked the operand too. But its memory may have gone since, and only here is the size known of a type
// that only the compiler knows.
inline void checkUserOperand(const Kernel& kernel, const KernelParameter& parameter, const KernelOperand& given) {
  const std::string called = argumentText(kernel, parameter);
  if (parameter.kind == KernelParameter::Kind::threadgroup) {
    if (given.threadgroupBytes == 0)
      throw Failure("ERR_OUT_OF_RANGE", called + " has (0) bytes of threadgroup memory.");
    return;
  }
  const bool isBuffer = given.operand.buffer != nullptr;
  if (parameter.isTexture()) {
    if (!isBuffer) throw Failure("ERR_INVALID_ARGUMENT", called + " is a texture without memory.");
    const TextureHeader header = TextureHeader::of(given.bytes);
    const size_t needed = size_t{header.width} * header.height * header.slices * header.texelBytes();
    if (given.operand.sizeBytes() != needed)
      throw Failure("ERR_SHAPE", called + " takes (" + std::to_string(needed) + ") bytes, not (" +
                                     std::to_string(given.operand.sizeBytes()) + ").");
    return;
  }
  if (parameter.kind == KernelParameter::Kind::written && !isBuffer)
    throw Failure("ERR_INVALID_ARGUMENT", called + " is written, and is given bytes that nobody would see.");
  const size_t sizeBytes = isBuffer ? given.operand.sizeBytes() : given.bytes.size();
  if (sizeBytes == 0 || sizeBytes < parameter.sizeBytes)
    throw Failure("ERR_SHAPE", called + " takes (" + std::to_string(parameter.sizeBytes) + ") bytes or more, not (" +
                                   std::to_string(sizeBytes) + ").");
}

// Throws a typed error unless operands, grid and threadgroup fit a user's kernel.
inline void checkUserLaunch(const Kernel& kernel, const std::vector<KernelOperand>& operands, Size3 grid,
                            Size3 threadgroup) {
  if (operands.size() != kernel.parameters.size()) {
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + kernel.name + ") takes (" +
                                              std::to_string(kernel.parameters.size()) + ") arguments, not (" +
                                              std::to_string(operands.size()) + ").");
  }
  for (size_t i = 0; i < operands.size(); ++i) checkUserOperand(kernel, kernel.parameters[i], operands[i]);
  size_t memoryBytes = kernel.staticThreadgroupMemoryBytes;
  for (const KernelOperand& operand : operands) memoryBytes += (operand.threadgroupBytes + 15) / 16 * 16;
  checkThreadgroupMemory(kernel.name, memoryBytes, kernel.maxThreadgroupMemoryBytes);
  const uint64_t lanes = uint64_t{threadgroup[0]} * threadgroup[1] * threadgroup[2];
  if (lanes == 0 || lanes > kernel.maxTotalThreadsPerThreadgroup) {
    throw Failure("ERR_OUT_OF_RANGE", "`threadgroup` is (" + textOf(threadgroup) + "), not of 1 to (" +
                                          std::to_string(kernel.maxTotalThreadsPerThreadgroup) + ") threads.");
  }
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    throw Failure("ERR_OUT_OF_RANGE", "`grid` is (" + textOf(grid) + "), which has no threads.");
}

}  // namespace covarium
