#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "../buffer.h"

namespace covarium::cpu {

// Page-aligned memory, kept for reuse after its buffer is gone: touching a fresh page costs more than the numbers that
// go into it. What is kept is bounded; large blocks ask for huge pages.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  ~Memory();
  // Contents unspecified. Throws ERR_OUT_OF_MEMORY, before anything is touched, for more than the machine has.
  std::shared_ptr<Buffer> allocate(size_t sizeBytes);
  size_t liveBytes() const;
  size_t pooledBytes() const;

 private:
  class Block;
  void recycle(void* contents, size_t sizeBytes);
  void* takePooled(size_t& sizeBytes);

  mutable std::mutex mutex_;
  std::multimap<size_t, void*> pool_;  // by size
  size_t pooledBytes_ = 0;
  size_t liveBytes_ = 0;
};

// Bytes of memory that this process may use: the machine's, or its control group's if that is less.
size_t usableMemoryBytes();

}  // namespace covarium::cpu
