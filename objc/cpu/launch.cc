#include "launch.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "../launch.h"
#include "group.h"

namespace covarium::cpu {

namespace {

constexpr uint32_t largestGroup = 1024;       // Apple's
constexpr size_t largestMemoryBytes = 32768;  // likewise
constexpr unsigned appleSimdWidth = 32;

void runGroup(const Kernel& kernel, void* const* slots, uint32_t row, uint32_t lanes, uint32_t width) {
  const auto body = [&](unsigned lane) { kernel.runThread(slots, row, lane, lanes, width); };
  const bool ended = Group::ofThisThread().run(lanes, width, body, true);
  if (!ended) {
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + std::string(kernel.name) +
                                              ") waits at a barrier that not all threads of group (" +
                                              std::to_string(row) + ") reach.");
  }
}

}  // namespace

const Kernel& kernelNamed(const KernelTable& table, const std::string& name) {
  std::string known;
  for (size_t i = 0; i < table.kernelCount; ++i) {
    if (name == table.kernels[i].name) return table.kernels[i];
    known += (i == 0 ? "" : ", ") + std::string(table.kernels[i].name);
  }
  throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + name + ") is unknown; there are (" + known + ").");
}

void checkLaunch(const Kernel& kernel, const std::vector<Operand>& operands, Size3 grid, Size3 threadgroup) {
  covarium::checkLaunch({kernel.name, kernel.buffers, kernel.paramsBytes, kernel.reduction}, operands, grid,
                        threadgroup, largestGroup);
}

Threadgroup threadgroupFor(const Kernel& kernel, const std::vector<void*>& slots, Size3 size) {
  Threadgroup threadgroup = {size, 0, appleSimdWidth};
  if (kernel.memoryBytes == nullptr) return threadgroup;
  threadgroup.memoryBytes = kernel.memoryBytes(slots.back(), size[0], threadgroup.simdWidth);
  checkThreadgroupMemory(kernel.name, threadgroup.memoryBytes, largestMemoryBytes);
  return threadgroup;
}

void launch(const Execution& execution, const Kernel& kernel, const std::vector<void*>& slots, Size3 grid,
            const Threadgroup& threadgroup) {
  Pool& pool = execution.pool;
  if (!kernel.reduction) {
    constexpr uint32_t piece = 4096;
    const uint32_t pieces = grid[0] / piece + (grid[0] % piece != 0);
    const size_t rows = size_t{grid[1]} * grid[2];
    pool.run(pieces * rows, [&](size_t i, unsigned) {
      execution.stopIfCancelled();
      const uint32_t begin = static_cast<uint32_t>(i % pieces) * piece;
      kernel.runMap(slots.data(), begin, begin + std::min(piece, grid[0] - begin),
                    static_cast<uint32_t>(i / pieces) % grid[1]);
    });
    return;
  }
  const uint32_t lanes = threadgroup.size[0], width = threadgroup.simdWidth;
  std::vector<std::unique_ptr<char[]>> memory(pool.threads());
  for (auto& each : memory) each.reset(new char[threadgroup.memoryBytes]);
  pool.run(grid[0] / lanes, [&](size_t row, unsigned thread) {
    execution.stopIfCancelled();
    memset(memory[thread].get(), 0xff, threadgroup.memoryBytes);
    std::vector<void*> own = slots;
    own.push_back(memory[thread].get());
    if (lanes == 1) {
      kernel.runThread(own.data(), static_cast<uint32_t>(row), 0, 1, width);
    } else {
      runGroup(kernel, own.data(), static_cast<uint32_t>(row), lanes, width);
    }
  });
}

}  // namespace covarium::cpu
