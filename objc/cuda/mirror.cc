#include "mirror.h"

namespace covarium::cuda {

void Mirror::fetch() {
  if (!isKept_) return;
  std::lock_guard<std::mutex> lock(fetching_);
  if (!isKept_) return;
  if (copy != nullptr) gpu_->download(contents(), copy->address(), sizeBytes());
  copy = nullptr;
  isKept_ = false;
}

void Mirror::settle(size_t offsetBytes, size_t sizeBytes) {
  std::lock_guard<std::mutex> lock(settling_);
  settled_.insert({offsetBytes, {offsetBytes, sizeBytes, false}});
}

void Mirror::takeCopy(std::shared_ptr<Block> memory) {
  copy = std::move(memory);
  isWhole = false;
  std::lock_guard<std::mutex> lock(settling_);
  for (auto& [offset, settled] : settled_) settled.isThere = false;
}

Mirror::Settled* Mirror::settledAround(const char* data, size_t sizeBytes) {
  const size_t offset = static_cast<size_t>(data - static_cast<char*>(contents()));
  std::lock_guard<std::mutex> lock(settling_);
  auto found = settled_.upper_bound(offset);
  if (found == settled_.begin()) return nullptr;
  Settled& settled = (--found)->second;
  return offset + sizeBytes <= settled.offsetBytes + settled.sizeBytes ? &settled : nullptr;
}

}  // namespace covarium::cuda
