#include "memory.h"

#include <algorithm>

#include "../failure.h"
#include "text.h"

namespace covarium::metal {

namespace {

// Lengths are rounded up, so that a buffer can be reused for about the same size: to the pages that the GPU maps, and
// to 1 MiB for large ones. Metal has no buffers of 0 bytes.
size_t roundedUp(size_t sizeBytes) {
  const size_t step = sizeBytes < (1 << 20) ? 1 << 14 : 1 << 20;
  return (std::max<size_t>(sizeBytes, 1) + step - 1) / step * step;
}

// The pool keeps at most the working set divided by this number.
constexpr size_t pooledFraction = 8;

constexpr char advice[] = " Close results that are no longer needed, or open the device cpu.";

// A virtual GPU may report 0: then the machine's memory is the limit.
size_t workingSetOf(id<MTLDevice> device) {
  const uint64_t told = [device recommendedMaxWorkingSetSize];
  return told != 0 ? told : [[NSProcessInfo processInfo] physicalMemory];
}

std::string bytesText(size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

MetalBuffer::MetalBuffer(std::shared_ptr<Memory> memory, Owned<id<MTLBuffer>> object, size_t sizeBytes)
    : memory_(std::move(memory)), object_(std::move(object)), sizeBytes_(sizeBytes) {}

MetalBuffer::~MetalBuffer() { memory_->recycle(std::move(object_)); }

Memory::Memory(id<MTLDevice> device) : device_(device), limitBytes_(workingSetOf(device)) {}

std::shared_ptr<MetalBuffer> Memory::allocate(size_t sizeBytes) {
  const AutoreleasePool pool;
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) throw Failure("ERR_CLOSED", "Device of the memory asked for (" + bytesText(sizeBytes) + ") is closed.");
  const size_t largest = [device_ maxBufferLength];
  if (sizeBytes > largest) {
    throw Failure("ERR_OUT_OF_MEMORY", "Memory asked for (" + bytesText(sizeBytes) +
                                           ") is more than this GPU has in one buffer (" + bytesText(largest) +
                                           "). Compute it in parts, or open the device cpu.");
  }
  const size_t length = std::min(roundedUp(sizeBytes), largest);
  Owned<id<MTLBuffer>> object = takePooled(length);
  if (!object) {
    if (liveBytes_ + pooledBytes_ + length > limitBytes_) {
      pool_.clear();
      pooledBytes_ = 0;
    }
    if (liveBytes_ + length > limitBytes_) {
      throw Failure("ERR_OUT_OF_MEMORY", "Memory asked for (" + bytesText(sizeBytes) +
                                             ") goes beyond the GPU's working set (" + bytesText(limitBytes_) +
                                             ", of which " + bytesText(liveBytes_) + " are in use)." + advice);
    }
    const auto fresh = [&] { return [device_ newBufferWithLength:length options:MTLResourceStorageModeShared]; };
    object = Owned<id<MTLBuffer>>::adopt(fresh());
    if (!object && !pool_.empty()) {
      pool_.clear();
      pooledBytes_ = 0;
      object = Owned<id<MTLBuffer>>::adopt(fresh());
    }
    if (!object)
      throw Failure("ERR_OUT_OF_MEMORY",
                    "Memory asked for (" + bytesText(sizeBytes) + ") is not to be had from the GPU." + advice);
    [object.get() setLabel:textOf("covarium " + bytesText(length))];
  }
  liveBytes_ += [object.get() length];
  return std::make_shared<MetalBuffer>(shared_from_this(), std::move(object), sizeBytes);
}

// The smallest pooled buffer that is large enough, unless more than a quarter of the size would be unused.
Owned<id<MTLBuffer>> Memory::takePooled(size_t sizeBytes) {
  const auto found = pool_.lower_bound(sizeBytes);
  if (found == pool_.end() || found->first > sizeBytes + sizeBytes / 4) return {};
  Owned<id<MTLBuffer>> object = std::move(found->second);
  pooledBytes_ -= found->first;
  pool_.erase(found);
  return object;
}

void Memory::recycle(Owned<id<MTLBuffer>> object) {
  const AutoreleasePool pool;
  const size_t length = [object.get() length];
  std::lock_guard<std::mutex> lock(mutex_);
  liveBytes_ -= length;
  if (closed_ || pooledBytes_ + length > limitBytes_ / pooledFraction) return;
  pooledBytes_ += length;
  pool_.emplace(length, std::move(object));
}

size_t Memory::liveBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return liveBytes_;
}

size_t Memory::pooledBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return pooledBytes_;
}

void Memory::close() {
  const AutoreleasePool pool;
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  pool_.clear();
  pooledBytes_ = 0;
}

}  // namespace covarium::metal
