#pragma once

#import <Metal/Metal.h>

#include <map>
#include <memory>
#include <mutex>

#include "../buffer.h"
#include "owned.h"

namespace covarium::metal {

class Memory;

// Shared storage: the GPU and the host see the same bytes.
class MetalBuffer : public Buffer {
 public:
  MetalBuffer(std::shared_ptr<Memory> memory, Owned<id<MTLBuffer>> object, size_t sizeBytes);
  ~MetalBuffer() override;
  // Not to be used while a commit that uses the buffer is in flight.
  void* contents() const override { return [object_.get() contents]; }
  size_t sizeBytes() const override { return sizeBytes_; }
  id<MTLBuffer> object() const { return object_.get(); }

 private:
  std::shared_ptr<Memory> memory_;
  Owned<id<MTLBuffer>> object_;
  size_t sizeBytes_;  // what was asked for; the object may be larger
};

// Buffers of one device. They are kept for reuse after they are given back, up to a limit, because the system zeroes
// and maps each new buffer. Any thread may call.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  explicit Memory(id<MTLDevice> device);
  // Contents unspecified. Throws ERR_OUT_OF_MEMORY beyond maxBufferLength, beyond recommendedMaxWorkingSetSize for all
  // buffers together, and where the system has no more; ERR_CLOSED after close().
  std::shared_ptr<MetalBuffer> allocate(size_t sizeBytes);
  size_t liveBytes() const;
  size_t pooledBytes() const;
  // The working set that the system recommends as the most, or the machine's memory if it recommends none.
  size_t limitBytes() const { return limitBytes_; }
  // Frees what is kept; afterwards nothing is kept or allocated, because the GPU may be gone.
  void close();

 private:
  friend class MetalBuffer;
  void recycle(Owned<id<MTLBuffer>> object);
  Owned<id<MTLBuffer>> takePooled(size_t sizeBytes);

  id<MTLDevice> device_;  // its owner outlives the use of the buffers, which retain it too
  size_t limitBytes_;
  mutable std::mutex mutex_;
  std::multimap<size_t, Owned<id<MTLBuffer>>> pool_;  // by length
  size_t pooledBytes_ = 0, liveBytes_ = 0;
  bool closed_ = false;
};

}  // namespace covarium::metal
