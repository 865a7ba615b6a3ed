// MetalCommandBuffer::launch: a kernel by name, its operands and params as they come.
#include <cstring>

#include "command-buffer.h"
#include "params.h"

namespace covarium::metal {

namespace {

size_t bytesOf(const Operand& operand) {
  return operand.length * (operand.dtype == Dtype::float64 ? 8 : operand.dtype == Dtype::uint8 ? 1 : 4);
}

std::string textOf(Size3 size) {
  return std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]);
}

// Kernels with threadgroup memory reduce: a row of lanes for each threadgroup. What sample_rows takes of it depends on
// its params, and beyond what there is it would write over what isn't its own.
void checkReduction(const Pipeline& kernel, const void* params, Size3 grid, Size3 threadgroup, size_t mostBytes) {
  if (threadgroup[1] != 1 || threadgroup[2] != 1 || grid[0] % threadgroup[0] != 0 || grid[1] != 1 || grid[2] != 1) {
    throw Failure("ERR_OUT_OF_RANGE", "Grid (" + textOf(grid) + ") is not of whole threadgroups of (" +
                                          textOf(threadgroup) + "), rows of threads.");
  }
  if (kernel.name != "sample_rows") return;
  SampleParams sample;
  memcpy(&sample, params, sizeof sample);
  const size_t neededBytes = sample_rows_bytes(sample.columns, sample.rowsPerGroup, sample.inverse);
  if (neededBytes > mostBytes) {
    throw Failure("ERR_OUT_OF_RANGE", "Kernel (sample_rows) needs (" + std::to_string(neededBytes) +
                                          ") bytes of threadgroup memory, but there are (" + std::to_string(mostBytes) +
                                          ").");
  }
}

void check(const Pipeline& kernel, const std::vector<Operand>& operands, Size3 threadgroup) {
  const std::string called = "Kernel (" + kernel.name + ")";
  if (operands.size() != kernel.buffers + 1) {
    throw Failure("ERR_INVALID_ARGUMENT", called + " takes (" + std::to_string(kernel.buffers) +
                                              ") buffers and its params, not (" + std::to_string(operands.size()) +
                                              ") operands.");
  }
  if (bytesOf(operands.back()) != kernel.paramsBytes) {
    throw Failure("ERR_INVALID_ARGUMENT", called + " has params of (" + std::to_string(kernel.paramsBytes) +
                                              ") bytes, not (" + std::to_string(bytesOf(operands.back())) + ").");
  }
  const uint64_t lanes = uint64_t{threadgroup[0]} * threadgroup[1] * threadgroup[2];
  const uint64_t most = [kernel.state.get() maxTotalThreadsPerThreadgroup];
  if (lanes == 0 || lanes > most) {
    throw Failure("ERR_OUT_OF_RANGE",
                  "Threadgroup (" + textOf(threadgroup) + ") is not of 1 to (" + std::to_string(most) + ") threads.");
  }
}

// The GPU has a copy of each array in the host's memory; of two that share a part, each copy would hold half of what
// the kernel writes.
void refuseSharedParts(const std::string& kernel, const std::vector<Operand>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (dynamic_cast<MetalBuffer*>(operands[i].buffer.get()) != nullptr) continue;
    for (size_t j = 0; j < i; ++j) {
      if (dynamic_cast<MetalBuffer*>(operands[j].buffer.get()) != nullptr) continue;
      const char *a = operands[i].as<char>(), *b = operands[j].as<char>();
      const char *endOfA = a + bytesOf(operands[i]), *endOfB = b + bytesOf(operands[j]);
      const bool apart = endOfA <= b || endOfB <= a, same = a == b && endOfA == endOfB;
      if (!apart && !same)
        throw Failure("ERR_INVALID_ARGUMENT", "Operands (" + std::to_string(j) + ") and (" + std::to_string(i) +
                                                  ") of kernel (" + kernel + ") share a part of the host's memory.");
    }
  }
}

MTLSize sizeOf(Size3 size) { return MTLSizeMake(size[0], size[1], size[2]); }

}  // namespace

void MetalCommandBuffer::launch(const std::string& name, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) {
  const AutoreleasePool pool;
  const Pipeline& kernel = engine_->gpu.shaders().pipeline(name);
  const auto off = engine_->gpu.off.find(name);
  if (off != engine_->gpu.off.end())
    throw Failure("ERR_UNSUPPORTED", "Kernel (" + name + ") is off on this GPU: " + off->second + ".");
  check(kernel, operands, threadgroup);
  if (kernel.hasThreadgroupMemory)
    checkReduction(
        kernel, operands.back().data(), grid, threadgroup,
        [engine_->gpu.device() maxThreadgroupMemoryLength] - [kernel.state.get() staticThreadgroupMemoryLength]);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return;
  std::vector<uint8_t> params(kernel.paramsBytes);
  memcpy(params.data(), operands.back().data(), params.size());
  operands.pop_back();
  refuseSharedParts(name, operands);
  GpuPart& part = onGpu(operands);
  std::vector<View> views;
  // A kernel may read what it writes.
  for (const Operand& operand : operands) views.push_back(part.view(operand, Access::readAndWrite));
  part.add(0, [&kernel, views, params, grid, threadgroup](Encoding& encoding) {
    encoding.launch(kernel, views, params.data(), sizeOf(grid), sizeOf(threadgroup));
  });
}

}  // namespace covarium::metal
