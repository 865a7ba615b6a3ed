#include "library-kernel.h"

#include <csetjmp>
#include <cstdio>

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "../launch.h"
#include "checked-memory.h"
#include "code-line.h"
#include "command-buffer.h"
#include "group.h"
#include "open-library.h"

namespace covarium::cpu {

namespace {

constexpr unsigned simdWidth = 32;  // Apple's

// For messages, the position of the running thread of a group; what it runs for; and where a run of rows ends early.
thread_local const GridSize* runningGrid = nullptr;
thread_local ThreadPlace runningPlace;
thread_local const Execution* running = nullptr;
thread_local jmp_buf* rowsEnd = nullptr;
thread_local CheckedMemory* checkedMemory = nullptr;

void setLane(ThreadPlace& place, uint32_t lane) {
  place.index = lane;
  place.inGroup[0] = lane % place.groupSize[0];
  place.inGroup[1] = lane / place.groupSize[0] % place.groupSize[1];
  place.inGroup[2] = lane / place.groupSize[0] / place.groupSize[1];
}

std::string positionOf(uint32_t lane) {
  ThreadPlace place = runningPlace;
  setLane(place, lane);
  Size3 at;
  for (int i = 0; i < 3; ++i) at[i] = place.group[i] * runningGrid->groupThreads[i] + place.inGroup[i];
  return "Thread (" + textOf(at) + ")";
}

std::string named(const char* file, uint32_t line) {
  return "(" + std::string(file == nullptr ? "kernel" : file) + ":" + std::to_string(line) + ")";
}

struct Checked : Failure {
  Checked(const std::string& message, const char* file, uint32_t line) : Failure("ERR_KERNEL_CHECK", message) {
    this->line = line;
    path = file == nullptr ? "" : file;
  }
};

// The first error on this processor thread; the kernel's thread that made it has ended.
thread_local std::unique_ptr<Checked> found;

void leave() {
  if (auto* group = Group::running()) group->leave();
  longjmp(*rowsEnd, 1);
}

bool isCancelled() { return running != nullptr && running->isCancelled(); }

// Ends the running thread of the kernel, and keeps the reason.
void refuse(const std::string& what, const CodeLine& line) {
  const auto* group = Group::running();
  const std::string where = line.path.empty() ? "" : ", at " + named(line.path.c_str(), line.line);
  if (found == nullptr)
    found = std::make_unique<Checked>(positionOf(group == nullptr ? 0 : group->lane()) + what + where + ".",
                                      line.path.c_str(), line.line);
  leave();
}

void access(const KernelAccess& access) {
  const auto wrong = checkedMemory->wrongAccess(access);
  if (!wrong.empty()) refuse(" uses " + wrong, lineOf(access.place, access.frame));
  const auto* group = Group::running();
  if (group == nullptr) return;
  Race race;
  if (!checkedMemory->findRace(access, {group->lane(), group->simdgroup(), group->barriers(), group->exchanges()},
                               race))
    return;
  refuse(std::string(access.isWrite ? " writes " : " reads ") + race.element + ", which " +
             positionOf(race.otherLane).replace(0, 1, "t") + (race.otherWrites ? " writes" : " reads") +
             " with no barrier between them",
         lineOf(access.place, access.frame));
}

void atomic(const volatile void* address) {
  if (const auto* group = Group::running()) checkedMemory->setAtomic(address, group->lane());
}

void overrun(const KernelOverrun& overrun) {
  CodeLine line = lineOf(overrun.place, overrun.frame);
  if (line.path.empty()) line = {overrun.file, overrun.line};
  // An index of 32 bits comes without its sign.
  const int64_t index =
      overrun.index > INT32_MAX && overrun.index <= UINT32_MAX ? static_cast<int32_t>(overrun.index) : overrun.index;
  refuse(" uses element (" + std::to_string(index) + ") of an array of type (" + overrun.type + ")", line);
}

// No exception passes through a kernel's frames.
void* ownMemory(uint32_t which, const char* name, uint64_t bytes, uint64_t elementBytes) {
  void* memory = checkedMemory->ownMemory(which, name, bytes, elementBytes);
  if (memory == nullptr)
    refuse(" declares more threadgroup variables (" + std::string(name) + ") than check mode has memory for", {});
  return memory;
}

SimdLanes exchange(uint64_t bits, const char* file, uint32_t place) {
  if (auto* group = Group::running()) return group->exchange(bits, {file, place});
  return simd_exchange_bits(bits);
}

const KernelFrame** path() {
  if (auto* group = Group::running()) return group->path();
  thread_local const KernelFrame* own = nullptr;
  return &own;
}

void barrier(const char* file, uint32_t place) {
  if (auto* group = Group::running()) group->barrier({file, place});
}

// One call, so that lines of several threads do not mix.
void log(const char* text, uint64_t bytes) {
  const std::string line = std::string(text, bytes) + '\n';
  fwrite(line.data(), 1, line.size(), stderr);
}

const KernelHost host = {exchange,    simd_lane, path, barrier, reinterpret_cast<const uint32_t*>(&kernelCancellations),
                         isCancelled, leave,     log,  access,  atomic,
                         overrun,     ownMemory};

Checked diverged(const Divergence& divergence) {
  const std::string other =
      divergence.returned ? "has returned"
                          : "waits at " + named(divergence.otherPlace.file, divergence.otherPlace.line >> columnBits);
  return Checked(positionOf(divergence.waiting) + " waits at the barrier at " +
                     named(divergence.barrier.file, divergence.barrier.line >> columnBits) +
                     ", which not all threads of its group reach: " + positionOf(divergence.other).replace(0, 1, "t") +
                     " " + other + ".",
                 divergence.barrier.file, divergence.barrier.line >> columnBits);
}

// Runs a part of a kernel without fibers. A loop that finds the run cancelled jumps back here: a kernel's frames own
// nothing.
template <typename Run>
void runToItsEnd(const Execution& execution, const Run& run) {
  jmp_buf here;
  running = &execution;
  rowsEnd = &here;
  if (setjmp(here) == 0) run();
  running = nullptr;
  execution.stopIfCancelled();
}

struct alignas(64) Block {
  char bytes[64];
};

// Aligned copies of memory that is not aligned.
class Aligned {
 public:
  void* copyOf(void* memory, size_t bytes) {
    from_ = memory;
    bytes_ = bytes;
    blocks_.resize(bytes / sizeof(Block) + 1);
    memcpy(blocks_.data(), memory, bytes);
    return blocks_.data();
  }
  void copyBack() const {
    if (from_ != nullptr) memcpy(from_, blocks_.data(), bytes_);
  }

 private:
  std::vector<Block> blocks_;
  void* from_ = nullptr;
  size_t bytes_ = 0;
};

// The room that threadgroup memory takes, so that the next one begins aligned.
size_t roomFor(size_t bytes) { return (bytes + sizeof(Block) - 1) / sizeof(Block) * sizeof(Block); }

ThreadPlace placeOf(const GridSize& grid, size_t group) {
  ThreadPlace place = {};
  place.group[0] = static_cast<uint32_t>(group % grid.groups[0]);
  place.group[1] = static_cast<uint32_t>(group / grid.groups[0] % grid.groups[1]);
  place.group[2] = static_cast<uint32_t>(group / grid.groups[0] / grid.groups[1]);
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t first = place.group[axis] * grid.groupThreads[axis];
    place.groupSize[axis] = std::min(grid.groupThreads[axis], grid.threads[axis] - first);
  }
  return place;
}

GridSize gridOf(Size3 threads, Size3 group) {
  GridSize grid = {};
  for (int i = 0; i < 3; ++i) {
    grid.threads[i] = threads[i];
    grid.groupThreads[i] = group[i];
    grid.groups[i] = threads[i] / group[i] + (threads[i] % group[i] != 0);
  }
  grid.simdWidth = simdWidth;
  return grid;
}

}  // namespace

LibraryKernel::LibraryKernel(const KernelSource& source) : check_(source.check) {
  name = source.name;
  parameters = source.parameters;
  handle_ = openLibrary(name, source.library);
  const auto entry = reinterpret_cast<CovariumKernelFunction>(dlsym(handle_, "covariumKernel"));
  library_ = entry == nullptr ? nullptr : entry(&host, name.c_str());
  if (library_ == nullptr || library_->abi != kernelAbi || library_->slotCount != parameters.size()) {
    dlclose(handle_);
    throw Failure("ERR_INTERNAL", "Library of kernel (" + name + ") is not one that this version has compiled.");
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const KernelSlot& slot = library_->slots[i];
    parameters[i].sizeBytes = slot.sizeBytes;
    parameters[i].members.clear();
    for (uint32_t m = 0; m < slot.memberCount; ++m)
      parameters[i].members.emplace_back(slot.members[m].name, slot.members[m].offsetBytes);
  }
  threadExecutionWidth = simdWidth;
  staticThreadgroupMemoryBytes = *library_->staticThreadgroupBytes;
}

LibraryKernel::~LibraryKernel() { dlclose(handle_); }

void LibraryKernel::run(const Execution& execution, const std::vector<KernelOperand>& operands, Size3 threads,
                        Size3 threadgroup) const {
  std::vector<void*> slots;
  std::vector<uint64_t> slotBytes;
  std::vector<Aligned> aligned(operands.size());
  std::vector<TextureHeader> headers;
  headers.reserve(operands.size());
  std::unique_ptr<CheckedMemory> checked;
  if (check_) checked = std::make_unique<CheckedMemory>(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const KernelOperand& operand = operands[i];
    const bool isBuffer = operand.operand.buffer != nullptr;
    void* memory = isBuffer ? operand.operand.data() : const_cast<uint8_t*>(operand.bytes.data());
    const size_t bytes = isBuffer ? operand.operand.sizeBytes() : operand.bytes.size();
    const bool isTexture = parameters[i].isTexture();
    if (isTexture) headers.push_back(TextureHeader::of(operand.bytes));
    // A typed array may begin where a vector may not.
    if (check_ && operand.threadgroupBytes == 0) {
      const size_t elementBytes = isTexture ? headers.back().texelBytes() : library_->slots[i].sizeBytes;
      memory = checked->copyOf(i, parameters[i].name, memory, bytes, elementBytes);
    } else if (reinterpret_cast<uintptr_t>(memory) %
                   (isTexture ? headers.back().componentBytes() : library_->slots[i].alignBytes) !=
               0) {
      memory = aligned[i].copyOf(memory, bytes);
    }
    if (isTexture) headers.back().texels = reinterpret_cast<uintptr_t>(memory);
    slots.push_back(isTexture ? &headers.back() : memory);
    slotBytes.push_back(bytes + operand.threadgroupBytes);
  }
  GridSize grid = gridOf(threads, threadgroup);
  grid.slotBytes = slotBytes.data();
  if (check_) {
    runChecked(execution, slots, operands, grid, *checked);
  } else if (library_->runRow != nullptr) {
    runRows(execution, slots.data(), grid);
  } else {
    runGroups(execution, slots, operands, grid);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!parameters[i].isWritten()) continue;
    if (check_) {
      checked->copyBack(i);
    } else {
      aligned[i].copyBack();
    }
  }
}

void LibraryKernel::runRows(const Execution& execution, void* const* slots, const GridSize& grid) const {
  constexpr uint32_t piece = 4096;
  const uint32_t pieces = grid.threads[0] / piece + (grid.threads[0] % piece != 0);
  const size_t rows = size_t{grid.threads[1]} * grid.threads[2];
  // Several short rows make a task, so that it is worth waking a thread for.
  const size_t rowsAtOnce = pieces > 1 ? 1 : std::max<size_t>(1, piece / grid.threads[0]);
  const size_t blocks = (rows + rowsAtOnce - 1) / rowsAtOnce;
  execution.pool.run(pieces * blocks, [&](size_t task, unsigned) {
    const uint32_t begin = static_cast<uint32_t>(task % pieces) * piece;
    const uint32_t end = begin + std::min(piece, grid.threads[0] - begin);
    const size_t first = task / pieces * rowsAtOnce, last = std::min(rows, first + rowsAtOnce);
    for (size_t row = first; row < last; ++row) {
      execution.stopIfCancelled();
      runRow(execution, slots, grid, begin, end, row);
    }
  });
}

// A part of one row.
void LibraryKernel::runRow(const Execution& execution, void* const* slots, const GridSize& grid, uint32_t begin,
                           uint32_t end, size_t row) const {
  runToItsEnd(execution, [&] {
    library_->runRow(slots, grid, begin, end, static_cast<uint32_t>(row % grid.threads[1]),
                     static_cast<uint32_t>(row / grid.threads[1]));
  });
}

void LibraryKernel::runGroups(const Execution& execution, const std::vector<void*>& slots,
                              const std::vector<KernelOperand>& operands, const GridSize& grid) const {
  const size_t groups = size_t{grid.groups[0]} * grid.groups[1] * grid.groups[2];
  // Threadgroup memory of each processor thread, filled with 0xff (NaN) before each group.
  size_t memoryBytes = 0;
  for (const KernelOperand& operand : operands) memoryBytes += roomFor(operand.threadgroupBytes);
  std::vector<std::vector<Block>> memory(execution.pool.threads());
  // Several short groups make a task, so that it is worth waking a thread for.
  const size_t together = std::min<size_t>(64, std::max<size_t>(1, groups / (size_t{execution.pool.threads()} * 64)));
  execution.pool.run((groups + together - 1) / together, [&](size_t task, unsigned thread) {
    std::vector<void*> own = slots;
    memory[thread].resize(memoryBytes / sizeof(Block));
    auto* const begin = reinterpret_cast<char*>(memory[thread].data());
    auto* next = begin;
    for (size_t slot = 0; slot < own.size(); ++slot) {
      if (operands[slot].threadgroupBytes == 0) continue;
      own[slot] = next;
      next += roomFor(operands[slot].threadgroupBytes);
    }
    const size_t end = std::min(groups, (task + 1) * together);
    for (size_t group = task * together; group < end; ++group) {
      execution.stopIfCancelled();
      if (memoryBytes != 0) memset(begin, 0xff, memoryBytes);
      runGroup(execution, own.data(), grid, placeOf(grid, group));
    }
  });
}

// Check mode runs one group after the other on this thread: each has all of the memory, and the first error that is
// found is the first of the grid.
void LibraryKernel::runChecked(const Execution& execution, std::vector<void*> slots,
                               const std::vector<KernelOperand>& operands, const GridSize& grid,
                               CheckedMemory& checked) const {
  const size_t groups = size_t{grid.groups[0]} * grid.groups[1] * grid.groups[2];
  checkedMemory = &checked;
  for (size_t i = 0; i < groups; ++i) {
    execution.stopIfCancelled();
    checked.beginGroup();
    for (size_t slot = 0; slot < slots.size(); ++slot)
      if (operands[slot].threadgroupBytes != 0)
        slots[slot] = checked.threadgroupMemory(slot, parameters[slot].name, operands[slot].threadgroupBytes,
                                                library_->slots[slot].sizeBytes);
    runGroup(execution, slots.data(), grid, placeOf(grid, i));
  }
}

void LibraryKernel::runGroup(const Execution& execution, void* const* slots, const GridSize& grid,
                             ThreadPlace place) const {
  if (library_->runGroup != nullptr) {
    runToItsEnd(execution, [&] { library_->runGroup(slots, grid, place); });
    return;
  }
  running = &execution;
  runningGrid = &grid;
  runningPlace = place;
  found.reset();
  Group& group = Group::ofThisThread();
  const bool ended = group.run(
      place.groupSize[0] * place.groupSize[1] * place.groupSize[2], grid.simdWidth,
      [&](unsigned lane) {
        ThreadPlace own = place;
        setLane(own, lane);
        library_->runThread(slots, grid, own);
      },
      check_, isCancelled);
  running = nullptr;
  execution.stopIfCancelled();
  if (found != nullptr) throw Checked(*found);
  if (!ended) throw diverged(group.divergence());
}

void CpuCommandBuffer::launch(const std::shared_ptr<const covarium::Kernel>& kernel,
                              std::vector<KernelOperand> operands, Size3 grid, Size3 threadgroup) {
  const auto library = std::dynamic_pointer_cast<const LibraryKernel>(kernel);
  if (library == nullptr)
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + kernel->name + ") belongs to another device.");
  checkUserLaunch(*library, operands, grid, threadgroup);
  if (library->runsGroups() && grid[0] > mostGroupedThreads)
    throw Failure("ERR_OUT_OF_RANGE", "`grid[0]` is (" + std::to_string(grid[0]) + "), larger than (" +
                                          std::to_string(mostGroupedThreads) +
                                          "), the most where threads wait for each other.");
  record([library, operands = std::move(operands), grid, threadgroup](const Execution& execution) {
    library->run(execution, operands, grid, threadgroup);
  });
}

}  // namespace covarium::cpu
