#pragma once

#include <atomic>
#include <mutex>

#include "gpu.h"

namespace covarium::cuda {

// Smaller memory is not worth pinning so that the GPU reaches it at the full rate of the bus.
constexpr size_t leastPinnedBytes = 1 << 16;

// Memory of the host, of which the GPU may have a copy. A settled buffer is copied to the GPU once; a kept buffer is
// only on the GPU until the host asks for it.
class Mirror : public Buffer {
 public:
  Mirror(std::shared_ptr<Gpu> gpu, std::shared_ptr<Buffer> host, bool isKept, bool isPinned)
      : gpu_(std::move(gpu)), host_(std::move(host)), isKept_(isKept), isPinned_(isPinned) {}
  void* contents() const override { return host_->contents(); }
  size_t sizeBytes() const override { return host_->sizeBytes(); }
  void settle() override { isSettled_ = true; }
  void fetch() override;

  bool isSettled() const { return isSettled_; }
  bool isKept() const { return isKept_; }
  // Whether the GPU copies from and to the host's memory at the full rate of the bus.
  bool isPinned() const { return isPinned_; }
  // The GPU's copy of the whole buffer; null until there is one. Commits use it one after the other; fetch() uses it
  // only between commits or within one.
  std::shared_ptr<Block> copy;

 private:
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Buffer> host_;
  std::atomic<bool> isSettled_{false}, isKept_;
  const bool isPinned_;
  std::mutex fetching_;
};

// The buffer if it is kept on the GPU; else null.
inline Mirror* keptOf(const std::shared_ptr<Buffer>& buffer) {
  auto* mirror = dynamic_cast<Mirror*>(buffer.get());
  return mirror != nullptr && mirror->isKept() ? mirror : nullptr;
}

}  // namespace covarium::cuda
