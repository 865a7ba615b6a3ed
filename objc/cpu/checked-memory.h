#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel-abi.h"

namespace covarium::cpu {

// When a thread of a group does something: how many barriers the group has passed, and its simdgroup exchanges.
struct Moment {
  uint32_t lane = 0, simdgroup = 0;
  uint32_t barriers = 0, exchanges = 0;
};

// Two accesses by different threads whose order is not fixed.
struct Race {
  uint32_t otherLane = 0;
  bool otherWrites = false;
  std::string element;  // in words
};

// The memory of one launch in check mode. Each buffer and each threadgroup variable is a copy in its own region of
// the address space, so that an address tells which of them a pointer was made from, even if it is far beyond.
class CheckedMemory {
 public:
  explicit CheckedMemory(size_t slots);
  ~CheckedMemory();
  CheckedMemory(const CheckedMemory&) = delete;
  CheckedMemory& operator=(const CheckedMemory&) = delete;

  // A copy of an argument's memory, which copyBack() writes back.
  void* copyOf(size_t slot, const std::string& name, void* memory, size_t bytes, size_t elementBytes);
  void copyBack(size_t slot) const;
  // Filled with 0xff (NaN).
  void* threadgroupMemory(size_t slot, const std::string& name, size_t bytes, size_t elementBytes);
  // The same for each thread of a group; null if there is no memory for it.
  void* ownMemory(uint32_t which, const char* name, size_t bytes, size_t elementBytes);
  void beginGroup();

  // Describes what a forbidden access uses; empty if the access is allowed.
  std::string wrongAccess(const KernelAccess& access) const;
  // Whether an allowed access of threadgroup memory races with an earlier one. It is kept for later comparisons.
  bool findRace(const KernelAccess& access, const Moment& now, Race& race);
  // This thread's next accesses at this address, up to one elsewhere, are atomic and do not race.
  void setAtomic(const volatile void* address, uint32_t lane) {
    atomic_ = address;
    atomicLane_ = lane;
  }

 private:
  struct Mark {
    uint32_t group = 0;  // counted from 1: 0 is no access
    Moment when;
  };
  // Of a byte: who wrote it last, and two threads that read it.
  struct History {
    Mark written, read, alsoRead;
  };
  struct Extent {
    std::string name;
    char* begin = nullptr;
    size_t bytes = 0, elementBytes = 1;
    void* from = nullptr;
    bool isFilled = false;
    std::vector<History> histories;  // of threadgroup memory
  };
  bool isRace(const Mark& earlier, const Moment& now) const;
  // Null if there is no memory for it.
  char* findMemory(size_t region, const std::string& name, size_t bytes, size_t elementBytes);
  char* memoryOf(size_t region, const std::string& name, size_t bytes, size_t elementBytes);

  char* reserved_ = nullptr;
  size_t regionBytes_ = 0, slots_;
  uint32_t group_ = 0;
  const volatile void* atomic_ = nullptr;
  uint32_t atomicLane_ = 0;
  std::vector<Extent> extents_;
};

}  // namespace covarium::cpu
