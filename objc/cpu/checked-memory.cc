#include "checked-memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "../failure.h"

namespace covarium::cpu {

namespace {

constexpr size_t mostOwn = 64;  // threadgroup variables of a kernel
constexpr size_t page = 1 << 16;

size_t roundedUp(size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

// Each region has as much address space as a 32-bit index reaches in elements of 16 bytes, or as the system gives.
CheckedMemory::CheckedMemory(size_t slots) : slots_(slots), extents_(slots + mostOwn) {
  for (regionBytes_ = size_t{1} << 37; regionBytes_ >= size_t{1} << 30; regionBytes_ /= 4) {
    void* mapped =
        mmap(nullptr, regionBytes_ * extents_.size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) continue;
    reserved_ = static_cast<char*>(mapped);
    return;
  }
  throw std::bad_alloc();
}

CheckedMemory::~CheckedMemory() { munmap(reserved_, regionBytes_ * extents_.size()); }

// A quarter of the region lies in front of the memory.
char* CheckedMemory::findMemory(size_t region, const std::string& name, size_t bytes, size_t elementBytes) {
  if (bytes > regionBytes_ / 2) return nullptr;
  Extent& extent = extents_[region];
  if (extent.begin == nullptr) {
    char* begin = reserved_ + region * regionBytes_ + regionBytes_ / 4;
    if (mprotect(begin, roundedUp(bytes), PROT_READ | PROT_WRITE) != 0) return nullptr;
    extent = {name, begin, bytes, elementBytes, nullptr, false, {}};
  }
  return extent.begin;
}

char* CheckedMemory::memoryOf(size_t region, const std::string& name, size_t bytes, size_t elementBytes) {
  char* memory = findMemory(region, name, bytes, elementBytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* CheckedMemory::copyOf(size_t slot, const std::string& name, void* memory, size_t bytes, size_t elementBytes) {
  char* copy = memoryOf(slot, name, bytes, elementBytes);
  memcpy(copy, memory, bytes);
  extents_[slot].from = memory;
  return copy;
}

void CheckedMemory::copyBack(size_t slot) const {
  const Extent& extent = extents_[slot];
  memcpy(extent.from, extent.begin, extent.bytes);
}

void* CheckedMemory::threadgroupMemory(size_t slot, const std::string& name, size_t bytes, size_t elementBytes) {
  char* memory = memoryOf(slot, name, bytes, elementBytes);
  extents_[slot].histories.resize(bytes);
  return memset(memory, 0xff, bytes);
}

void* CheckedMemory::ownMemory(uint32_t which, const char* name, size_t bytes, size_t elementBytes) {
  char* memory = which < mostOwn ? findMemory(slots_ + which, name, bytes, elementBytes) : nullptr;
  if (memory == nullptr) return nullptr;
  Extent& extent = extents_[slots_ + which];
  if (!extent.isFilled) memset(memory, 0xff, bytes);
  extent.histories.resize(bytes);
  extent.isFilled = true;
  return memory;
}

void CheckedMemory::beginGroup() {
  for (Extent& extent : extents_) extent.isFilled = false;
  ++group_;
}

// Lanes of one simdgroup are ordered by what they exchange too.
bool CheckedMemory::isRace(const Mark& earlier, const Moment& now) const {
  const Moment& then = earlier.when;
  if (earlier.group != group_ || then.lane == now.lane || then.barriers != now.barriers) return false;
  return then.simdgroup != now.simdgroup || then.exchanges == now.exchanges;
}

bool CheckedMemory::findRace(const KernelAccess& access, const Moment& now, Race& race) {
  const bool isAtomic = atomic_ == access.address && atomicLane_ == now.lane;
  if (!isAtomic) atomic_ = nullptr;
  const auto* address = static_cast<const char*>(access.address);
  if (address < reserved_ || address >= reserved_ + regionBytes_ * extents_.size()) return false;
  Extent& extent = extents_[static_cast<size_t>(address - reserved_) / regionBytes_];
  if (extent.histories.empty() || isAtomic) return false;
  const auto first = static_cast<size_t>(address - extent.begin);
  const Mark mark = {group_, now};
  for (size_t at = first; at < first + access.bytes; ++at) {
    History& history = extent.histories[at];
    const Mark* other = nullptr;
    if (isRace(history.written, now)) other = &history.written;
    if (access.isWrite && isRace(history.read, now)) other = &history.read;
    if (access.isWrite && isRace(history.alsoRead, now)) other = &history.alsoRead;
    if (other != nullptr) {
      race = {other->when.lane, other == &history.written,
              "element (" + std::to_string(at / extent.elementBytes) + ") of (" + extent.name + ")"};
      return true;
    }
    if (access.isWrite) {
      history.written = mark;
    } else {
      if (isRace(history.read, now)) history.alsoRead = history.read;
      history.read = mark;
    }
  }
  return false;
}

std::string CheckedMemory::wrongAccess(const KernelAccess& access) const {
  const auto* address = static_cast<const char*>(access.address);
  const auto value = reinterpret_cast<uintptr_t>(address);
  if (value < page) return "a pointer that points to nothing (nullptr)";
  const auto first = reinterpret_cast<uintptr_t>(reserved_);
  // Any other memory is a variable of the thread's own, or a constant of the text.
  if (value < first || value >= first + regionBytes_ * extents_.size()) return "";
  const Extent& extent = extents_[(value - first) / regionBytes_];
  if (extent.begin == nullptr) return "memory that belongs to no buffer";
  const int64_t offset = address - extent.begin;
  if (offset >= 0 && static_cast<uint64_t>(offset) + access.bytes <= extent.bytes) return "";
  const auto size = static_cast<int64_t>(extent.elementBytes);
  const int64_t last = offset + static_cast<int64_t>(access.bytes) - 1;
  const int64_t at = offset < 0 ? offset : last;
  const int64_t element = at >= 0 ? at / size : -((size - 1 - at) / size);
  return "element (" + std::to_string(element) + ") of buffer (" + extent.name + "), which has (" +
         std::to_string(extent.bytes / extent.elementBytes) + ")";
}

}  // namespace covarium::cpu
