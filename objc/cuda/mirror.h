#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "gpu.h"

namespace covarium::cuda {

// Smaller memory is not worth pinning so that the GPU reaches it at the full rate of the bus.
constexpr size_t leastPinnedBytes = 1 << 16;

// Memory of the host, of which the GPU may have a copy. Settled bytes are copied to the GPU once; a kept buffer is only
// on the GPU until the host asks for it.
class Mirror : public Buffer {
 public:
  Mirror(std::shared_ptr<Gpu> gpu, std::shared_ptr<Buffer> host, bool isKept, bool isPinned)
      : gpu_(std::move(gpu)), host_(std::move(host)), isKept_(isKept), isPinned_(isPinned) {}
  void* contents() const override { return host_->contents(); }
  size_t sizeBytes() const override { return host_->sizeBytes(); }
  void settle(size_t offsetBytes, size_t sizeBytes) override;
  void fetch() override;

  // Bytes that were settled together. Only the queue's thread uses `isThere`.
  struct Settled {
    size_t offsetBytes, sizeBytes;
    bool isThere;  // in the GPU's copy
  };
  // Those that contain these bytes of the contents; null if there are none.
  Settled* settledAround(const char* data, size_t sizeBytes);
  bool isSettled() { return settledAround(static_cast<char*>(contents()), sizeBytes()) != nullptr; }
  bool isKept() const { return isKept_; }
  // Whether the GPU copies from and to the host's memory at the full rate of the bus.
  bool isPinned() const { return isPinned_; }
  // The GPU's memory for the whole buffer; null until there is some. Commits use it one after the other; fetch() uses
  // it only between commits or within one.
  std::shared_ptr<Block> copy;
  // Takes new memory for the copy, in which nothing is there yet.
  void takeCopy(std::shared_ptr<Block> memory);
  // True if the copy has all bytes of the buffer, not only settled ones that are there.
  bool isWhole = false;

 private:
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Buffer> host_;
  std::atomic<bool> isKept_;
  const bool isPinned_;
  std::mutex fetching_, settling_;
  std::map<size_t, Settled> settled_;  // by the offset
};

// The buffer if it is kept on the GPU; else null.
inline Mirror* keptOf(const std::shared_ptr<Buffer>& buffer) {
  auto* mirror = dynamic_cast<Mirror*>(buffer.get());
  return mirror != nullptr && mirror->isKept() ? mirror : nullptr;
}

}  // namespace covarium::cuda
