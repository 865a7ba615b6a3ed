#include "launch.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "fiber.h"
#include "threadgroup.h"

namespace covarium {

namespace {

enum class State { ready, atSimdExchange, atBarrier, done };

// One threadgroup while it runs. Lanes are resumed in order, each until it waits or returns; those that wait go on when
// all living lanes of their simdgroup, or of the group, have come to the same place.
struct Group {
  std::vector<std::unique_ptr<cpu::Fiber>> fibers;
  std::vector<State> states;
  std::vector<unsigned> exchanges;       // of each lane, counted: the parity names the half of `given` it uses
  std::vector<uint64_t> given[2];        // a lane is never more than one exchange ahead of its simdgroup
  std::vector<uint64_t> activeMasks[2];  // of each simdgroup
  unsigned lanes = 0, simdWidth = 1, current = 0;

  void resize(unsigned count, unsigned width) {
    lanes = count;
    simdWidth = width;
    while (fibers.size() < count) fibers.push_back(std::make_unique<cpu::Fiber>());
    states.assign(count, State::ready);
    exchanges.assign(count, 0);
    for (int half = 0; half < 2; ++half) {
      given[half].assign(count, 0);
      activeMasks[half].assign(count / simdWidth + 1, 0);
    }
  }

  void wait(State state) {
    states[current] = state;
    fibers[current]->leave();
  }

  // Whether lanes [first, last) all wait at `state` or are done, and some wait.
  bool gathered(unsigned first, unsigned last, State state) const {
    bool any = false;
    for (unsigned lane = first; lane < last; ++lane) {
      if (states[lane] != state && states[lane] != State::done) return false;
      any |= states[lane] == state;
    }
    return any;
  }

  bool releaseSimdgroups() {
    bool released = false;
    for (unsigned first = 0; first < lanes; first += simdWidth) {
      const unsigned last = std::min(first + simdWidth, lanes);
      if (!gathered(first, last, State::atSimdExchange)) continue;
      uint64_t active = 0;
      unsigned half = 0;
      for (unsigned lane = first; lane < last; ++lane) {
        if (states[lane] != State::atSimdExchange) continue;
        active |= uint64_t{1} << (lane - first);
        half = exchanges[lane] % 2;
        states[lane] = State::ready;
      }
      activeMasks[half][first / simdWidth] = active;
      released = true;
    }
    return released;
  }

  bool releaseBarrier() {
    if (!gathered(0, lanes, State::atBarrier)) return false;
    for (auto& state : states)
      if (state == State::atBarrier) state = State::ready;
    return true;
  }

  void runReady() {
    for (current = 0; current < lanes; ++current) {
      if (states[current] != State::ready) continue;
      fibers[current]->resume();
      if (fibers[current]->finished()) states[current] = State::done;
    }
  }
};

thread_local Group* running = nullptr;  // null inside a group of one

}  // namespace

void threadgroup_barrier() {
  if (running != nullptr) running->wait(State::atBarrier);
}

unsigned simd_lane() { return running == nullptr ? 0 : running->current % running->simdWidth; }

SimdLanes simd_exchange_bits(uint64_t bits) {
  if (running == nullptr) {
    thread_local uint64_t own;
    own = bits;
    return {&own, 1, 1};
  }
  Group& group = *running;
  const unsigned lane = group.current, width = group.simdWidth, first = lane / width * width;
  const unsigned half = ++group.exchanges[lane] % 2;
  group.given[half][lane] = bits;
  group.wait(State::atSimdExchange);
  return {&group.given[half][first], group.activeMasks[half][first / width], std::min(width, group.lanes - first)};
}

namespace cpu {

namespace {

constexpr uint32_t largestGroup = 1024;       // Apple's
constexpr size_t largestMemoryBytes = 32768;  // likewise
constexpr unsigned appleSimdWidth = 32;

void runGroup(Group& group, const Kernel& kernel, void* const* slots, uint32_t row, uint32_t lanes, uint32_t width) {
  group.resize(lanes, width);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    group.fibers[lane]->start(
        [&kernel, slots, row, lane, lanes, width] { kernel.runThread(slots, row, lane, lanes, width); });
  }
  running = &group;
  while (true) {
    group.runReady();
    const bool simd = group.releaseSimdgroups(), barrier = group.releaseBarrier();
    if (!simd && !barrier) break;
  }
  running = nullptr;
  for (const State state : group.states) {
    if (state != State::done) {
      throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + std::string(kernel.name) +
                                                ") waits at a barrier that not all threads of group (" +
                                                std::to_string(row) + ") reach.");
    }
  }
}

std::string textOf(Size3 size) {
  return std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]);
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
  const std::string called = "Kernel (" + std::string(kernel.name) + ")";
  if (operands.size() != kernel.buffers + 1) {
    throw Failure("ERR_INVALID_ARGUMENT", called + " takes (" + std::to_string(kernel.buffers) +
                                              ") buffers and its params, not (" + std::to_string(operands.size()) +
                                              ") operands.");
  }
  const size_t paramsBytes = operands.back().length * (operands.back().dtype == Dtype::float64 ? 8
                                                       : operands.back().dtype == Dtype::uint8 ? 1
                                                                                               : 4);
  if (paramsBytes != kernel.paramsBytes) {
    throw Failure("ERR_INVALID_ARGUMENT", called + " has params of (" + std::to_string(kernel.paramsBytes) +
                                              ") bytes, not (" + std::to_string(paramsBytes) + ").");
  }
  const uint64_t lanes = uint64_t{threadgroup[0]} * threadgroup[1] * threadgroup[2];
  if (lanes == 0 || lanes > largestGroup || (kernel.reduction && (threadgroup[1] != 1 || threadgroup[2] != 1))) {
    throw Failure("ERR_OUT_OF_RANGE", "Threadgroup (" + textOf(threadgroup) + ") is not of 1 to (" +
                                          std::to_string(largestGroup) + ") threads.");
  }
  if (kernel.reduction && (grid[0] % threadgroup[0] != 0 || grid[1] != 1 || grid[2] != 1)) {
    throw Failure("ERR_OUT_OF_RANGE", "Grid (" + textOf(grid) + ") is not of whole threadgroups of (" +
                                          std::to_string(threadgroup[0]) + ").");
  }
}

Threadgroup threadgroupFor(const Kernel& kernel, const std::vector<void*>& slots, Size3 size) {
  Threadgroup threadgroup = {size, 0, appleSimdWidth};
  if (kernel.memoryBytes == nullptr) return threadgroup;
  threadgroup.memoryBytes = kernel.memoryBytes(slots.back(), size[0], threadgroup.simdWidth);
  if (threadgroup.memoryBytes > largestMemoryBytes) {
    throw Failure("ERR_OUT_OF_RANGE",
                  "Kernel (" + std::string(kernel.name) + ") needs (" + std::to_string(threadgroup.memoryBytes) +
                      ") bytes of threadgroup memory, but there are (" + std::to_string(largestMemoryBytes) + ").");
  }
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
  std::vector<Group> groups(pool.threads());
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
      runGroup(groups[thread], kernel, own.data(), static_cast<uint32_t>(row), lanes, width);
    }
  });
}

}  // namespace cpu
}  // namespace covarium
