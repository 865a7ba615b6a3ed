#include <new>
#include <utility>

#include "blas.h"

namespace covarium::cpu {

namespace {

constexpr std::align_val_t alignment{64};  // a line of the cache

struct Scratch {
  void* memory = nullptr;
  size_t sizeBytes = 0;
  ~Scratch() { operator delete(memory, alignment); }
};

}  // namespace

void* productScratch(int which, size_t sizeBytes) {
  thread_local Scratch scratch[5];
  auto& [memory, held] = scratch[which];
  if (held >= sizeBytes) return memory;
  held = 0;
  operator delete(std::exchange(memory, nullptr), alignment);
  memory = operator new(sizeBytes, alignment);
  held = sizeBytes;
  return memory;
}

}  // namespace covarium::cpu
