#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel-abi.h"

namespace covarium::cpu {

// The memory of one launch in check mode. Each buffer and each threadgroup variable is a copy in a region of its own of
// the address space, so that an address tells which of them a pointer was made from, however far it is beyond.
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
  // The same for each thread of a group.
  void* ownMemory(uint32_t which, const char* name, size_t bytes, size_t elementBytes);
  void beginGroup();

  // What an access that may not be made uses, in words; empty for one that may.
  std::string wrongAccess(const KernelAccess& access) const;

 private:
  struct Extent {
    std::string name;
    char* begin = nullptr;
    size_t bytes = 0, elementBytes = 1;
    void* from = nullptr;
    bool isFilled = false;
  };
  char* memoryOf(size_t region, const std::string& name, size_t bytes, size_t elementBytes);

  char* reserved_ = nullptr;
  size_t regionBytes_ = 0, slots_;
  std::vector<Extent> extents_;
};

}  // namespace covarium::cpu
